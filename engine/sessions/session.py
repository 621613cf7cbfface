"""One client's session: frontend messages in, effects and replies out.

Enters: messages of `sql.wire.messages`, strictly in order. Leaves: bytes to the connection.
`handle` returns None when it is done at once (the hot paths: small INSERTs, repeated reads of
unchanged views) and an awaitable when work goes to a thread. Statements are done in
`engine.statements`, and transactions begin and end in `engine.sessions.transaction_block`; this
file knows the protocol's order of events.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Any, TypeVar

from engine.dialect.cursors import keep_rows
from engine.execution.identity import Identity
from engine.execution.names import Names
from engine.execution.outcome import AT_END, Outcome
from engine.execution.prepared import Portal, Prepared, describe_portal, describe_prepared, make_portal
from engine.scheduler.collecting import LONG_TEXT, collected_later
from engine.scheduler.threads import TEXT_AT_ONCE_MAX, Threads
from engine.sessions import long_texts
from engine.sessions.activity import Doing
from engine.sessions.backend import SessionBackend
from engine.sessions.bind_runs import BindRuns
from engine.sessions.cancelling import Cancelling
from engine.sessions.copy_exchange import CopyExchange
from engine.sessions.inbox import SessionInbox
from engine.sessions.reads_at_once import Plan, ReadsAtOnce
from engine.sessions.results import send_rows
from engine.sessions.row_inserts import RowInserts
from engine.sessions.runner import StatementRunner
from engine.sessions.session_registry import ClientConnection
from engine.sessions.staged_inserts import StagedInserts
from engine.sessions.timeouts import IdleTimeout, StatementTimeout
from engine.sessions.transaction_block import ABORTED, TransactionBlock
from engine.tables.sequence_functions import SequenceSession
from sql.errors import SqlError
from sql.parse.statements.copy import CopyFrom
from sql.parse.statements.declaration import Empty, Statement
from sql.parse.statements.transaction import Transaction as TransactionStatement
from sql.settings.settings import Settings, Shown
from sql.tree.expressions import Literal
from sql.wire import writer
from sql.wire.messages import (
    Bind,
    BindRun,
    Close,
    CopyData,
    CopyDone,
    CopyFail,
    Describe,
    Execute,
    Flush,
    FrontendMessage,
    FunctionCall,
    Malformed,
    Parse,
    Query,
    Sync,
)

if TYPE_CHECKING:
    from engine.sessions.shared import Shared

Result = TypeVar("Result")


class Session:
    """The state of one connection: settings, transaction, prepared statements, portals, and a COPY
    under way.
    """

    def __init__(self, shared: Shared, connection: ClientConnection, settings: Settings, user: str, role: int) -> None:
        self.shared, self.server = shared, shared.server
        self.connection = connection
        self.settings = settings
        self.block = TransactionBlock(self)
        self.runner = StatementRunner(self)
        self.identity = Identity(settings, role, user, self.runner.current_image)
        # Whether the client uses savepoints: its transaction blocks keep their snapshots then.
        self.is_simple = self.has_savepoints = self.is_translated = False
        self.doing = Doing(self.server.clock)
        loop = asyncio.get_running_loop()
        self._cancelling = Cancelling(self, loop)
        self.threads = threads = Threads(shared.workers, self.doing, self._cancelling)
        self.check_cancelled, self.cancellable = threads.check_cancelled, threads.cancellable
        self.in_worker, self.in_thread = threads.in_worker, threads.in_thread
        self.backend = SessionBackend(self, loop, self._cancelling.is_asked)
        self.sequences = SequenceSession(backend=self.backend, may=self.identity.may, settings=settings.captured)
        self.timeout = StatementTimeout(loop, settings, self.cancel)
        self.idle = IdleTimeout(self, loop)
        self._copy = CopyExchange(self)
        self.under_way = self._copy.under_way
        self.names = Names(self.server.config.session_memory_bytes)
        self.staged = StagedInserts(self)
        self.reads = ReadsAtOnce(self, self.names)
        self.packets = RowInserts(self, self.names.statements)
        self.inbox = SessionInbox(self)
        self._remaining: deque[Statement] = deque()
        # How its only statement is run, where it is prepared.
        self._plan: Plan | None = None
        self._actions: dict[type, Callable[[Any], Awaitable[None] | None]] = {
            Query: partial(long_texts.in_dialect, self, self._query),
            Parse: partial(long_texts.in_dialect, self, self._parse),
            Bind: self._bind,
            BindRun: BindRuns(self).do,
            Describe: self._describe,
            Execute: self._execute,
            Sync: self._sync,
            Close: self._close,
            Flush: self._flush,
            CopyData: self._copy.take,
            CopyDone: self._copy.done,
            CopyFail: self._copy.failed,
            FunctionCall: self._function_call,
            Malformed: self._malformed,
        }

    def handle(self, message: FrontendMessage) -> Awaitable[None] | None:
        """Act on one message.

        Client errors are answered here; every other exception is a bug of ours.
        """
        if self.idle.is_running:
            self.idle.stop()
        action = self._actions.get(type(message))
        if action is None:
            raise SqlError("08P01", f"unexpected message {type(message).__name__}", severity="FATAL")
        try:
            return action(message)
        except SqlError as error:
            # An error before a statement begins, or after its end, is answered like the statement's
            # own errors: a Query and a Sync are always followed by ReadyForQuery.
            if self.is_simple or isinstance(message, Query | FunctionCall | Sync):
                self.fail_query(error)
            else:
                self.fail_pipeline(error)
            return None

    def cancel(self) -> None:
        """Stop the running statement, which ends with 57014. On the event loop."""
        self._cancelling.ask()

    def end(self) -> None:
        """Stop the running statement as `cancel` does, but with 57P01: the connection is about to
        be closed.
        """
        self.timeout.ends = True
        self.cancel()

    def close(self) -> None:
        """Drop everything that the session holds: an open transaction is rolled back."""
        self.idle.stop()
        self._copy.drop()
        self.inbox.end()
        self.block.end()

    async def abort_after_bug(self) -> str | None:
        """Bring the session back to order after an exception that was not the client's.

        The server has answered XX000.

        Return the transaction status for ReadyForQuery after a Query, None in the extended
        protocol.
        """
        self._remaining.clear()
        await self._copy.drop_decoded()
        self.timeout.stop()
        self.block.fail()
        return self.block.status if self.is_simple else None

    def startup_reports(self) -> Mapping[str, str]:
        """Return the settings that the client is told of before its first query."""
        return dict(self.settings.reports())

    def _query(self, message: Query) -> Awaitable[None] | None:
        self.begin_message(simple=True)
        self.names.drop_unnamed()
        self.doing.begin(message.text)
        try:
            reply = long_texts.done_at_once(self, message.text, self.runner.image())
            if reply is None:
                work = self._query_parsed(message.text)
                return collected_later(work) if len(message.text) > LONG_TEXT else work
            rest = self.block.end_implicit_now()
            if rest is not None:
                return self._committed(rest, reply)
            self.connection.write(reply)
            self._ready()
        except SqlError as error:
            self.fail_query(error)
        return None

    async def _committed(self, rest: Awaitable[None], reply: bytes = b"") -> None:
        try:
            await rest
            if reply:
                self.connection.write(reply)
            self._ready()
        except SqlError as error:
            self.fail_query(error)

    async def _query_parsed(self, text: str) -> None:
        try:
            reply = await long_texts.staged(self, text)
            if reply is not None:
                self.connection.write(reply)
                self._ready()
                return
            self._plan = plan = self.reads.plan(text)
            self._remaining = deque(await long_texts.parsed(self, text) if plan is None else plan[:1])
            if plan is None:
                prepared = self.reads.shapes.parsed(text, self._remaining)
                self._plan = None if prepared is None else (prepared.statement, (), prepared)
        except SqlError as error:
            self.fail_query(error)
            return
        if all(isinstance(statement, Empty) for statement in self._remaining):
            self.connection.write(writer.EMPTY_QUERY_RESPONSE)
        self.runner.in_sequence = len(self._remaining) > 1
        await self.run_remaining()

    @property
    def has_more_statements(self) -> bool:
        """True while statements of the Query's text are still to be run."""
        return bool(self._remaining)

    async def run_remaining(self) -> None:
        """Run the rest of a Query; stops at a COPY FROM STDIN, whose end calls this method
        again.
        """
        turn_began_s = monotonic()
        try:
            while self._remaining:
                if monotonic() - turn_began_s > long_texts.TURN_S:
                    # Thousands of small statements are no reason to keep the event loop from the
                    # others.
                    await asyncio.sleep(0)
                    turn_began_s = monotonic()
                statement = self._remaining.popleft()
                if isinstance(statement, Empty):
                    continue
                if isinstance(statement, CopyFrom) and statement.file is None:
                    self.block.require_usable(statement)
                    await self._copy.begin(statement, alone=not self._remaining)
                    return
                plan = self._plan if self._plan is not None and self._plan[0] is statement else (statement, ())
                outcome = await self.run(*plan)
                shown = self.settings.shown
                if not self._remaining:
                    # The client must not read success before the commit has succeeded.
                    await self.block.end_implicit()
                await self._send(outcome, shown, outcome.formats)
            await self.block.end_implicit()
            self._ready()
        except SqlError as error:
            self.fail_query(error)

    def fail_query(self, error: SqlError) -> None:
        """Answer a Query with an error."""
        self._remaining.clear()
        self.timeout.stop()
        if self._told(error):
            self._ready()

    def _parse(self, message: Parse) -> Awaitable[None] | None:
        self.begin_message(simple=False)
        if not message.name:
            self.names.statements.pop("", None)
        size = len(message.text)
        prepared = long_texts.decoded(self, message) if size <= long_texts.LITERALS_AT_ONCE_MAX else None
        if prepared is None and size > TEXT_AT_ONCE_MAX:
            return self._aside(
                long_texts.timed(self, long_texts.prepared, self, message), partial(self._keep_prepared, message)
            )
        self._keep_prepared(message, prepared or long_texts.prepared(self, message))
        return None

    async def _aside(self, work: Awaitable[Result], keep: Callable[[Result], None]) -> None:
        try:
            keep(await work)
        except SqlError as error:
            self.fail_pipeline(error)

    def _keep_prepared(self, message: Parse, prepared: Prepared) -> None:
        prepared.shown_text, prepared.made_us = message.text, self.server.clock.now_us()
        self.names.keep_statement(message.name, prepared)
        self.connection.write(writer.PARSE_COMPLETE)

    def _bind(self, message: Bind) -> Awaitable[None] | None:
        self.is_simple = False
        self.identity.look()
        prepared = self.names.statement(message.statement)
        portal = make_portal(prepared, message)
        self.block.require_usable(prepared.statement)
        self.names.require_free_portal(message.portal)
        image = self.runner.image()
        if not long_texts.is_long(portal, image, self.settings):
            prepared.refresh(image, self.settings)
            self.runner.describe(prepared)
            is_read = self.staged.decode_row(portal, image) or not prepared.parameter_types
            if is_read or not message.is_larger_than(long_texts.PARAMETERS_AT_ONCE_BYTES_MAX):
                if not is_read:
                    portal.decode_parameters(self.settings)
                self._keep_portal(portal)
                return None
        return self._aside(long_texts.timed(self, long_texts.read_portal, self, portal, image), self._keep_portal)

    def _keep_portal(self, portal: Portal) -> None:
        self.names.keep_portal(portal.message.portal, portal)
        self.connection.write(writer.BIND_COMPLETE)

    def _describe(self, message: Describe) -> None:
        self.is_simple = False
        if message.kind == "S":
            prepared = self.names.statement(message.name)
            description = describe_prepared(prepared)
        else:
            portal = self.names.portal(message.name)
            prepared = portal.prepared
            description = describe_portal(portal)
        if prepared.schema is not None and self.block.status == "E":
            raise SqlError("25P02", ABORTED)
        self.connection.write(description)

    def _execute(self, message: Execute) -> Awaitable[None] | None:
        self.begin_message(simple=False)
        portal = self.names.portal(message.portal)
        statement = portal.prepared.statement
        self.doing.begin(portal.prepared.shown_text)
        if isinstance(statement, Empty):
            self.connection.write(writer.EMPTY_QUERY_RESPONSE)
            return None
        self.block.require_usable(statement)
        if portal.is_spent:
            raise SqlError("55000", f'portal "{message.portal}" cannot be run')
        portal.is_spent = portal.prepared.schema is None
        if isinstance(statement, CopyFrom) and statement.file is None:
            self._remaining.clear()
            return self._execute_slow(portal, message.row_limit)
        if portal.outcome is None:
            image = self.runner.image()
            read = self.reads.find_portal(portal, message.row_limit, image) if portal.row is None else None
            if read is not None:
                portal.outcome = AT_END
            reply = read or long_texts.staged_at_once(self, portal, image)
            if reply is not None:
                self.connection.write(reply)
                return None
        executed = self._execute_slow(portal, message.row_limit)
        return collected_later(executed) if len(portal.prepared.shown_text) > LONG_TEXT else executed

    async def _execute_slow(self, portal: Portal, row_limit: int) -> None:
        try:
            reply = None if portal.row is None else await long_texts.staged_portal(self, portal)
            if reply is not None:
                self.connection.write(reply)
                return
            statement = portal.prepared.statement
            if isinstance(statement, CopyFrom) and statement.file is None:
                await self._copy.begin(statement, alone=True)
                return
            if portal.outcome is None:
                portal.outcome = await self.run(long_texts.executed(self, portal), portal.values, portal.prepared)
            elif portal.outcome.more is not None:
                self.timeout.start()
            await self._send(portal.outcome, self.settings.shown, portal.result_formats, row_limit, described=True)
            await keep_rows(portal, self.names, self.server.result_limits, self.threads)
        except SqlError as error:
            self.fail_pipeline(error)

    def _close(self, message: Close) -> None:
        self.is_simple = False
        self.names.drop(message.kind, message.name)
        self.connection.write(writer.CLOSE_COMPLETE)

    def _flush(self, _: Flush) -> None:
        self.connection.flush()

    def _sync(self, _: Sync) -> Awaitable[None] | None:
        self.is_simple = False
        if self.block.open is None:
            self.names.end_transaction(committed=True)
        rest = self.block.end_implicit_now()
        if rest is not None:
            return self._committed(rest)
        self._ready()
        return None

    def fail_pipeline(self, error: SqlError) -> None:
        """Answer a message of the extended protocol with an error.

        All messages until Sync are skipped.
        """
        if self._told(error):
            self.connection.conversation.fail_until_sync()

    def _told(self, error: SqlError) -> bool:
        """Tell the client of an error, in the encoding that it still has, and undo.

        Return False when the session has ended.
        """
        if error.severity != "FATAL":
            self.connection.write(writer.error_response(long_texts.told(self, error)))
        self.block.fail()
        if error.severity == "FATAL":
            self.connection.terminate(error)
        return error.severity != "FATAL"

    def _function_call(self, _: FunctionCall) -> None:
        self.fail_query(SqlError("0A000", "function calls by OID are not supported", hint="Use SELECT function(...)."))

    async def _malformed(self, message: Malformed) -> None:
        if self._copy.is_open:
            await self._copy.end_with(message.error)
        elif message.extended:
            self.is_simple = False
            self.fail_pipeline(message.error)
        else:
            self.fail_query(message.error)

    def notice(
        self, sqlstate: str, text: str, severity: str = "NOTICE", hint: str | None = None, detail: str | None = None
    ) -> None:
        """Send a notice, if client_min_messages lets it through."""
        self.tell(SqlError(sqlstate, text, severity=severity, hint=hint, detail=detail))

    def tell(self, notice: SqlError) -> None:
        """Send a notice that has been made, if client_min_messages lets it through."""
        if self.settings.lets_through(notice.severity):
            self.connection.write(writer.notice_response(self.identity.told(notice)))

    async def run(
        self, statement: Statement, parameters: tuple[Literal, ...], prepared: Prepared | None = None
    ) -> Outcome:
        """Do a statement in the transaction that is open, or in a new one. Raises SqlError."""
        self.block.require_usable(statement)
        self.check_cancelled()
        if isinstance(statement, TransactionStatement):
            return await self.block.run(statement)
        self.timeout.start()
        outcome: Outcome | None = None
        try:
            transaction = self.block.current()
            transaction.serializable = self.settings.is_serializable
            with self._cancelling.running():
                outcome = await self.runner.run(statement, transaction, parameters, prepared)
            return outcome
        except SqlError as error:
            raise self.timeout.error_or(error) from None
        finally:
            if outcome is None or not outcome.goes_on:
                self.timeout.stop()

    async def _send(
        self, outcome: Outcome, shown: Shown, formats: Sequence[int] = (), row_limit: int = 0, described: bool = False
    ) -> None:
        """Send an outcome's rows, or a part of them.

        Rows that are still to be made count for statement_timeout.
        """
        try:
            with self._cancelling.running():
                await send_rows(self.connection, outcome, self.threads, shown, formats, row_limit, described)
        except SqlError as error:
            raise self.timeout.error_or(error) from None
        finally:
            self.timeout.stop()

    def begin_message(self, simple: bool, looks: bool = True) -> None:
        """Begin a message that runs a statement; a cancel of the message before is over."""
        self.is_simple, self.runner.in_sequence, self.timeout.is_over = simple, False, False
        if looks:
            self.identity.look()
        self._cancelling.forget()

    def _ready(self) -> None:
        for name, value in self.settings.changed_reports():
            self.connection.write(writer.parameter_status(name, value))
        if self.inbox.has_messages and self.block.open is None:
            self.connection.write(self.inbox.take())
        # The last step that can fail: after ReadyForQuery nothing may be said.
        self.idle.start()
        self.connection.write(writer.READY_FOR_QUERY[self.block.status])


def open_session(shared: Shared, connection: ClientConnection, parameters: Mapping[str, str]) -> Session:
    """Return the session of a client that has sent its startup parameters.

    Raises SqlError for a setting that can't be.
    """
    settings = Settings.for_startup(parameters, shared.settings)
    settings.process_id = connection.process_id
    connection.follow(settings)
    return Session(shared, connection, settings, parameters["user"], connection.role)
