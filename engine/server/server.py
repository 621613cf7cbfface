"""The listening socket: who may connect, who can be cancelled, and the goodbye to all of them at
the end.

Enters: sockets, and `open_session`, which makes the session of a connection. Leaves: connections
(`engine.server.connection`), each of which handles its client's messages. Must not know messages or
SQL.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
import itertools
import secrets
import ssl
import sys
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import TypeVar

from engine.scheduler.deep_trees import make_room
from engine.server.authentication import Authenticator
from engine.server.connection import REPLY_BATCH_BYTES, Connection
from engine.sessions.session_registry import Neighbours, SessionProtocol
from sql.errors import SqlError
from sql.wire.messages import CancelRequest

T = TypeVar("T")

# How long a thread may keep the interpreter from the event loop, which needs it after each sync of
# the disk. The slowest INSERTs beside refreshes wait for Python's own 5 ms, once or twice
# (bench/race/beside.py).
SWITCH_INTERVAL_S = 0.0005


@dataclass(frozen=True, slots=True)
class ServerLimits:
    """The limits of the wire.

    Attributes:
        superuser_reserved_connections: of connections_max, those that only superusers get.
        strangers_max: sockets whose clients are not let in yet.
        strangers_per_address_max: of those, from one address (see `origin`).
        read_high_water_bytes: received but not yet handled bytes of a connection, above which its
            socket is not read.
        write_high_water_bytes: replies that the client has not taken, above which its messages
            wait.
    """

    connections_max: int = 100
    superuser_reserved_connections: int = 3
    strangers_max: int = 400
    strangers_per_address_max: int = 100
    startup_wait_s_max: float = 60.0
    shutdown_wait_s_max: float = 10.0
    message_bytes_max: int = 256 * 1024 * 1024
    read_high_water_bytes: int = 4 * 1024 * 1024
    write_high_water_bytes: int = 1024 * 1024

    def __post_init__(self) -> None:
        assert self.connections_max > self.superuser_reserved_connections >= 0
        assert self.strangers_max > 0 and self.strangers_per_address_max > 0
        assert self.message_bytes_max >= self.read_high_water_bytes > 0
        assert self.write_high_water_bytes >= REPLY_BATCH_BYTES


@dataclass(frozen=True, slots=True)
class Door:
    """The way in for clients.

    Attributes:
        tls: None when no encryption is offered.
    """

    authenticator: Authenticator
    tls: ssl.SSLContext | None


OpenSession = Callable[[Connection, Mapping[str, str]], SessionProtocol]


def run(main: Coroutine[object, None, T]) -> T:
    """Run `main` on uvloop where it is installed (about a fifth faster here), else on asyncio's own
    loop.
    """
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    make_room()
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)


async def serve(
    host: str,
    port: int,
    limits: ServerLimits,
    door: Door,
    open_session: OpenSession,
    ready: Callable[[str, int], None],
    stop: asyncio.Event,
) -> None:
    """Listen until `stop` is set, then say goodbye to every client.

    ready: called with the address once clients can connect (port 0 asks the system for a free one).
    open_session(connection, startup parameters): may raise SqlError, which refuses the client.
    Raises OSError when the address can't be had.
    """
    server = Server(limits, door, open_session)
    listener = await asyncio.get_running_loop().create_server(
        server.connection, host, port, backlog=1024, reuse_address=True
    )
    try:
        address = listener.sockets[0].getsockname()
        ready(address[0], address[1])
        await stop.wait()
    finally:
        listener.close()
        await server.say_goodbye()


class Server:
    """The connections of one listener."""

    def __init__(self, limits: ServerLimits, door: Door, open_session: OpenSession) -> None:
        self.limits = limits
        self.door = door
        self.open_session = open_session
        self.connections: set[Connection] = set()
        self.strangers: set[Connection] = set()
        self._strangers_of: Counter[str] = Counter()
        self.sessions: dict[int, Connection] = {}
        self.neighbours = Neighbours(self.sessions)
        self._process_ids = itertools.count(1)

    def connection(self) -> Connection:
        """Return the protocol object of a new socket."""
        return Connection(self)

    def take_in(self, connection: Connection) -> None:
        """Take a new socket in.

        Raises SqlError when too many clients have not shown yet who they are.
        """
        self.connections.add(connection)
        address = origin(connection.address)
        of_address = self._strangers_of[address]
        if len(self.strangers) >= self.limits.strangers_max or of_address >= self.limits.strangers_per_address_max:
            raise too_many_clients()
        self.strangers.add(connection)
        self._strangers_of[address] = of_address + 1

    def is_known(self, connection: Connection) -> None:
        """Note that a client is let in, or gone."""
        if connection in self.strangers:
            self.strangers.remove(connection)
            address = origin(connection.address)
            self._strangers_of[address] -= 1
            if not self._strangers_of[address]:
                del self._strangers_of[address]

    def register(self, connection: Connection) -> None:
        """Give `connection`, whose client is let in, its process id and secret.

        Raises SqlError when there are too many.
        """
        free = self.limits.connections_max - len(self.sessions)
        if free <= 0:
            raise too_many_clients()
        if free <= self.limits.superuser_reserved_connections and not self.door.authenticator.is_superuser(
            connection.role
        ):
            reserved = "remaining connection slots are reserved for non-replication superuser connections"
            raise SqlError("53300", reserved)
        connection.process_id = next(self._process_ids)
        connection.secret_key = secrets.randbits(32)
        self.sessions[connection.process_id] = connection
        self.is_known(connection)

    def cancel(self, request: CancelRequest) -> None:
        """Cancel the statement of the addressed session.

        A wrong key is ignored silently, as the protocol wants.
        """
        connection = self.sessions.get(request.process_id)
        if connection is None or connection.session is None:
            return
        if hmac.compare_digest(connection.secret_key.to_bytes(4, "big"), request.secret_key.to_bytes(4, "big")):
            connection.session.cancel()

    async def say_goodbye(self) -> None:
        """End every connection: running statements are cancelled and awaited for a while."""
        endings = [connection.shut_down() for connection in list(self.connections)]
        if endings:
            await asyncio.gather(*endings)


def too_many_clients() -> SqlError:
    """Return the error for a client that finds no place."""
    return SqlError("53300", "sorry, too many clients already")


def origin(address: str) -> str:
    """Return the key of one address: IPv4's.

    For IPv6 the network of 64 bits, which one machine has to itself; this machine.
    """
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        mapped = found.ipv4_mapped
        if mapped is None:
            return "loopback" if found.is_loopback else str(ipaddress.IPv6Network((int(found) >> 64 << 64, 64)))
        found = mapped
    return "loopback" if found.is_loopback else str(found)
