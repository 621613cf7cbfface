"""The way from an open socket to a session: encryption, the identity of the client, and the
greeting.

Enters: the messages before there is a session. Leaves: the connection's session, or FATAL errors.
`engine.server.authentication` decides what a client has to prove.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.server.authentication import Login
from sql.errors import SqlError
from sql.wire import writer
from sql.wire.messages import CancelRequest, FrontendMessage, GssRequest, Password, SslRequest, Startup, Violation
from sql.wire.startup import MINOR_VERSION_MAX, PROTOCOL_VERSION_MAX

if TYPE_CHECKING:
    from engine.server.connection import Connection
    from engine.server.server import Server


class Admission:
    """The admission of one client."""

    def __init__(self, connection: Connection, server: Server) -> None:
        self._connection = connection
        self._server = server
        self._startup: Startup | None = None
        self._login: Login | None = None

    def handle(self, message: FrontendMessage) -> None:
        """Handle a message that comes before there is a session.

        Raises SqlError, which ends the connection.
        """
        connection = self._connection
        match message:
            case SslRequest() if self._server.door.tls is not None:
                connection.conversation.grant_encryption()
                connection.write(b"S")
                connection.encrypt(self._server.door.tls)
            case SslRequest() | GssRequest():
                connection.write(b"N")
            case CancelRequest():
                self._server.cancel(message)
                connection.terminate()
            case Startup():
                self._start(message)
            case Password():
                self._answer(message)
            case Violation():
                connection.terminate(message.error)

    def _start(self, startup: Startup) -> None:
        """Ask the client to prove its name, or take its word."""
        connection = self._connection
        self._startup = startup
        if startup.minor_version > MINOR_VERSION_MAX or startup.protocol_options:
            connection.write(writer.negotiate_protocol_version(PROTOCOL_VERSION_MAX, startup.protocol_options))
        authenticator = self._server.door.authenticator
        self._login = authenticator.begin(startup.parameters, connection.address, connection.is_encrypted)
        if self._login.exchange is None:
            self._let_in(self._login)
            return
        connection.write(writer.authentication_sasl(self._login.exchange.mechanisms))
        connection.go_on(connection.conversation.ask_password())

    def _answer(self, message: Password) -> None:
        connection, login = self._connection, self._login
        assert login is not None
        reply, is_in = login.answer(message.payload)
        connection.write(reply)
        if is_in:
            self._let_in(login)
        else:
            connection.go_on(connection.conversation.ask_password())

    def _let_in(self, login: Login) -> None:
        """Make the client's session, and send the greeting."""
        connection = self._connection
        assert self._startup is not None
        parameters = self._startup.parameters
        try:
            connected = (one.role for one in self._server.sessions.values())
            authenticator = self._server.door.authenticator
            connection.role = authenticator.role_of(login, parameters["database"], connected)
            self._server.register(connection)
            session = self._server.open_session(connection, parameters)
        except SqlError as error:
            error.severity = "FATAL"
            raise
        connection.write(writer.authentication_ok())
        for name, value in session.startup_reports().items():
            connection.write(writer.parameter_status(name, value))
        connection.write(writer.backend_key_data(connection.process_id, connection.secret_key))
        connection.write(writer.ready_for_query("I"))
        connection.begin(session)
        connection.go_on(connection.conversation.let_in())
