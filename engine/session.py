"""One client's session: frontend messages in, effects and replies out, transaction boundaries in between.

Enters: messages of `sql.wire.messages`, strictly in order. Leaves: bytes to the connection. `handle` returns None when it is done at
once (the hot paths: single-row INSERT, repeated read of unchanged views) and an awaitable when work goes to a thread. What a statement
does is in `engine.statements`; this file only knows the protocol's order of events.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from engine.copy_in import CopyIn
from engine.hot_path import HotPath
from engine.prepared import Portal, Prepared, describe_portal, describe_prepared, make_portal, prepare
from engine.results import Outcome, send_rows
from engine.staging import StatementStage
from engine.statements import StatementRunner
from engine.transaction import Transaction
from sql.errors import SqlError
from sql.expressions import Literal
from sql.parse import parse
from sql.settings import Settings
from sql.statements.statement import CopyFrom, Empty, Statement
from sql.statements.statement import Transaction as TransactionStatement
from sql.wire import writer
from sql.wire.messages import (
    Bind,
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
    from engine.database import Database
    from engine.server import Connection

Result = TypeVar("Result")

# A commit of more staged rows than this goes to a worker thread, so that the event loop keeps serving.
INLINE_COMMIT_ROWS_MAX = 4096
ABORTED = "current transaction is aborted, commands ignored until end of transaction block"


class Session:
    """The state of one connection: settings, transaction, prepared statements, portals, and a COPY under way."""

    def __init__(self, database: Database, connection: Connection, settings: Settings, user: str) -> None:
        self.database = database
        self.connection = connection
        self.settings = settings
        self.user = user
        self.transaction: Transaction | None = None
        self.cancelled = threading.Event()
        # Views whose upper pipelines a running statement may be waiting for.
        self.refreshing: tuple[str, ...] = ()
        self.runner = StatementRunner(self)
        self._hot = HotPath(self)
        self._prepared: dict[str, Prepared] = {}
        self._portals: dict[str, Portal] = {}
        self._copy: CopyIn | None = None
        self._remaining: Sequence[Statement] = ()
        self._simple = False
        self._publish_task: asyncio.Task[None] | None = None

    # What the server calls.

    def handle(self, message: FrontendMessage) -> Awaitable[None] | None:
        """Act on one message. Client errors are answered here; anything else that is raised is a bug of ours."""
        kind = type(message)
        if kind is Query:
            assert isinstance(message, Query)
            return self._query(message.text)
        if kind is CopyData:
            assert isinstance(message, CopyData)
            return self._copy_data(message)
        if kind is Sync:
            return self._sync()
        return self._handle_rarer(message)

    def cancel(self) -> None:
        """Stop what runs now, from any thread; it ends with 57014."""
        self.cancelled.set()
        self.database.tables.interrupt(self)
        for name in self.refreshing:
            self.database.workers.submit(self.database.upper.cancel, name)

    def close(self) -> None:
        """Drop what the session holds: an open transaction is rolled back."""
        if self._copy is not None:
            self._copy.drop()
            self._copy = None
        self._roll_back()

    def abort_after_bug(self) -> str | None:
        """Bring the session back to order after an exception that was not the client's; the server has answered XX000.

        Return the transaction status for ReadyForQuery after a Query, None in the extended protocol.
        """
        if self._copy is not None:
            self._copy.drop()
            self._copy = None
        self._remaining = ()
        self._fail_transaction()
        return self._status() if self._simple else None

    def startup_reports(self) -> Mapping[str, str]:
        """Return the settings that the client is told of before its first query."""
        return dict(self.settings.reports())

    # Simple protocol.

    def _query(self, text: str) -> Awaitable[None] | None:
        self.cancelled.clear()
        self._simple = True
        try:
            if self._hot.try_query(text, self.runner.image()):
                self._end_implicit_now()
                self._ready()
                return None
        except SqlError as error:
            self._fail(error)
            self._ready()
            return None
        return self._query_parsed(text)

    async def _query_parsed(self, text: str) -> None:
        try:
            self._remaining = parse(text)
        except SqlError as error:
            self._fail(error)
            self._ready()
            return
        if all(isinstance(statement, Empty) for statement in self._remaining):
            self.connection.write(writer.EMPTY_QUERY_RESPONSE)
            self._ready()
            return
        await self._run_remaining()

    async def _run_remaining(self) -> None:
        """Run the rest of a Query; stops at a COPY FROM STDIN, whose end calls this again."""
        try:
            while self._remaining:
                statement, self._remaining = self._remaining[0], self._remaining[1:]
                if isinstance(statement, Empty):
                    continue
                if isinstance(statement, CopyFrom):
                    self._start_copy(statement, alone=not self._remaining)
                    return
                outcome = await self._run(statement, ())
                await send_rows(self.connection, outcome, self.settings)
            await self._end_implicit()
        except SqlError as error:
            self._remaining = ()
            self._fail(error)
        self._ready()

    # Extended protocol.

    def _handle_rarer(self, message: FrontendMessage) -> Awaitable[None] | None:
        try:
            match message:
                case Parse():
                    return self._guarded(self._parse(message))
                case Bind():
                    self._bind(message)
                case Describe():
                    return self._guarded(self._describe(message))
                case Execute():
                    return self._execute(message)
                case Close():
                    (self._prepared if message.kind == "S" else self._portals).pop(message.name, None)
                    self.connection.write(writer.CLOSE_COMPLETE)
                case Flush():
                    self.connection.flush()
                case CopyDone():
                    return self._copy_done()
                case CopyFail():
                    return self._copy_failed(message.reason)
                case FunctionCall():
                    raise SqlError("0A000", "function calls by OID are not supported", hint="Use SELECT function(...).")
                case Malformed():
                    self._simple = not message.extended
                    raise message.error
                case _:
                    raise SqlError("08P01", f"unexpected message {type(message).__name__}", severity="FATAL")
        except SqlError as error:
            self._fail_extended(error)
            if isinstance(message, FunctionCall) or (isinstance(message, Malformed) and not message.extended):
                self._ready()
        return None

    async def _guarded(self, work: Awaitable[None]) -> None:
        try:
            await work
        except SqlError as error:
            self._fail_extended(error)

    async def _parse(self, message: Parse) -> None:
        self._simple = False
        self.cancelled.clear()
        if message.name and message.name in self._prepared:
            raise SqlError("42P05", f'prepared statement "{message.name}" already exists')
        self._prepared.pop("", None) if not message.name else None
        prepared = prepare(message.text, message.parameter_oids, self.runner.image(), self.settings)
        self.require_usable(prepared.statement)
        self._prepared[message.name] = prepared
        self.connection.write(writer.PARSE_COMPLETE)

    def _bind(self, message: Bind) -> None:
        prepared = self._prepared_named(message.statement)
        self.require_usable(prepared.statement)
        if message.portal and message.portal in self._portals:
            raise SqlError("42P03", f'cursor "{message.portal}" already exists')
        prepared.refresh(self.runner.image(), self.settings)
        self._portals[message.portal] = make_portal(prepared, message, self.settings)
        self.connection.write(writer.BIND_COMPLETE)

    async def _describe(self, message: Describe) -> None:
        if message.kind == "S":
            prepared = self._prepared_named(message.name)
            self.connection.write(describe_prepared(prepared))
        else:
            self.connection.write(describe_portal(self._portal_named(message.name)))

    def _execute(self, message: Execute) -> Awaitable[None] | None:
        self.cancelled.clear()
        portal = self._portal_named(message.portal)
        statement = portal.prepared.statement
        if isinstance(statement, Empty):
            self.connection.write(writer.EMPTY_QUERY_RESPONSE)
            return None
        if isinstance(statement, CopyFrom):
            self.require_usable(statement)
            self._remaining = ()
            self._start_copy(statement, alone=True)
            return None
        if portal.outcome is None and self._hot.try_portal(portal, self.runner.image()):
            return None
        return self._guarded(self._execute_slow(portal, message.row_limit))

    async def _execute_slow(self, portal: Portal, row_limit: int) -> None:
        if portal.outcome is None:
            portal.outcome = await self._run(portal.prepared.statement, portal.parameters(), portal.prepared)
        await send_rows(
            self.connection,
            portal.outcome,
            self.settings,
            formats=portal.result_formats,
            row_limit=row_limit,
            described=True,
        )

    def _sync(self) -> Awaitable[None] | None:
        if self._copy is not None:
            return None
        transaction = self.transaction
        if transaction is not None and not transaction.explicit and is_large(transaction):
            return self._sync_slow()
        try:
            self._end_implicit_now()
        except SqlError as error:
            self._fail(error)
        self._ready()
        return None

    async def _sync_slow(self) -> None:
        try:
            await self._end_implicit()
        except SqlError as error:
            self._fail(error)
        self._ready()

    def _prepared_named(self, name: str) -> Prepared:
        prepared = self._prepared.get(name)
        if prepared is None:
            shown = (
                f'prepared statement "{name}" does not exist' if name else "unnamed prepared statement does not exist"
            )
            raise SqlError("26000", shown)
        return prepared

    def _portal_named(self, name: str) -> Portal:
        portal = self._portals.get(name)
        if portal is None:
            raise SqlError("34000", f'portal "{name}" does not exist')
        return portal

    def deallocate(self, name: str | None) -> None:
        """DEALLOCATE name, or ALL."""
        if name is None:
            self._prepared.clear()
        elif self._prepared.pop(name, None) is None:
            raise SqlError("26000", f'prepared statement "{name}" does not exist')

    # COPY FROM STDIN.

    def _start_copy(self, statement: CopyFrom, alone: bool) -> None:
        self.require_usable(statement)
        transaction = self.current_transaction()
        self._copy = self.runner.open_copy(statement, transaction, autocommit=alone and not transaction.operations)
        self.connection.write(self._copy.response())
        self.connection.conversation.begin_copy_in()
        self.connection.flush()

    def _copy_data(self, message: CopyData) -> Awaitable[None] | None:
        if self._copy is None:
            return None
        if not self._copy.take(message.data):
            self._publish_later(self._copy)
            return None
        return self._copy_step(self._copy)

    async def _copy_step(self, copy: CopyIn) -> None:
        try:
            self.check_cancelled()
            await self.in_worker(copy.decode)
        except SqlError as error:
            if self._copy is copy:
                await self._copy_ended(copy, copy.with_published(error))
        else:
            self._publish_later(copy)

    def _publish_later(self, copy: CopyIn) -> None:
        """See to it that rows of a publishing COPY are committed in time even if the client sends nothing more."""
        wait_s = copy.publish_wait_s()
        if wait_s is not None and self._publish_task is None:
            self._publish_task = asyncio.get_running_loop().create_task(self._publish_after(copy, wait_s))

    async def _publish_after(self, copy: CopyIn, wait_s: float) -> None:
        await asyncio.sleep(wait_s)
        self._publish_task = None
        if self._copy is copy:
            await self._copy_step(copy)
            self.connection.flush()

    async def _copy_done(self) -> None:
        copy = self._copy
        if copy is None:
            return
        try:
            self.check_cancelled()
            await self.in_worker(copy.finish)
            transaction = self.current_transaction()
            transaction.operations.extend(copy.stages())
            if not transaction.explicit and not self._remaining and self._simple:
                await self._end_implicit()
        except SqlError as error:
            await self._copy_ended(copy, copy.with_published(error))
            return
        self._copy = None
        self.connection.write(writer.command_complete(f"COPY {copy.rows_count}"))
        if self._simple:
            await self._run_remaining()

    async def _copy_failed(self, reason: str) -> None:
        if self._copy is not None:
            await self._copy_ended(self._copy, SqlError("57014", f"COPY from stdin failed: {reason}"))

    async def _copy_ended(self, copy: CopyIn, error: SqlError) -> None:
        copy.drop()
        self._copy = None
        self._remaining = ()
        self.connection.conversation.end_copy_in()
        if self._simple:
            self._fail(error)
            self._ready()
        else:
            self._fail_extended(error)

    # Transactions.

    def current_transaction(self) -> Transaction:
        """Return the open transaction; an implicit one is begun when there is none."""
        if self.transaction is None:
            self.transaction = self.database.begin()
        return self.transaction

    async def _run(
        self, statement: Statement, parameters: tuple[Literal, ...], prepared: Prepared | None = None
    ) -> Outcome:
        self.require_usable(statement)
        self.check_cancelled()
        if isinstance(statement, TransactionStatement):
            return await self._transaction_statement(statement)
        return await self.runner.run(statement, self.current_transaction(), parameters, prepared)

    async def _transaction_statement(self, statement: TransactionStatement) -> Outcome:
        transaction = self.transaction
        if statement.action == "begin":
            if transaction is not None and transaction.explicit:
                self.notice("25001", "there is already a transaction in progress", "WARNING")
            else:
                self.current_transaction().explicit = True
                self.settings.begin(statement.modes)
            return Outcome("BEGIN")
        if transaction is None or not transaction.explicit:
            self.notice("25P01", "there is no transaction in progress", "WARNING")
        tag = "COMMIT" if statement.action == "commit" else "ROLLBACK"
        if statement.action == "commit" and transaction is not None and not transaction.failed:
            await self._commit()
        else:
            self._roll_back()
            tag = "ROLLBACK" if transaction is not None and transaction.failed else tag
        if statement.chain:
            self.current_transaction().explicit = True
            self.settings.begin(statement.modes)
        return Outcome(tag)

    def _end_implicit_now(self) -> None:
        """Commit the implicit transaction on this thread; only for small ones."""
        transaction = self.transaction
        if transaction is None or transaction.explicit:
            return
        self.transaction = None
        try:
            if transaction.operations:
                self.database.commit(transaction)
        except SqlError:
            self._after_end(transaction, committed=False)
            raise
        self._after_end(transaction, committed=True)

    async def _end_implicit(self) -> None:
        transaction = self.transaction
        if transaction is not None and not transaction.explicit:
            await self._commit()

    async def _commit(self) -> None:
        transaction = self.transaction
        assert transaction is not None
        self.transaction = None
        committed = False
        try:
            if is_large(transaction):
                await self.in_worker(self.database.commit, transaction)
            elif transaction.operations:
                self.database.commit(transaction)
            committed = True
        finally:
            self._after_end(transaction, committed)

    def _roll_back(self) -> None:
        transaction, self.transaction = self.transaction, None
        if transaction is not None:
            transaction.drop()
            self._after_end(transaction, committed=False)

    def _after_end(self, transaction: Transaction, committed: bool) -> None:
        if transaction.holds_ddl_lock:
            transaction.holds_ddl_lock = False
            self.database.ddl_lock.release()
        self._portals.clear()
        if committed:
            self.settings.commit()
        else:
            self.settings.rollback()
        self.report_settings()

    def _fail_transaction(self) -> None:
        transaction = self.transaction
        if transaction is not None and transaction.explicit:
            transaction.failed = True
            transaction.drop()
            self._portals.clear()
        else:
            self._roll_back()

    def _fail(self, error: SqlError) -> None:
        self._fail_transaction()
        self.connection.write(writer.error_response(error))

    def _fail_extended(self, error: SqlError) -> None:
        self._fail(error)
        self.connection.conversation.fail_until_sync()

    # What statements use.

    def notice(self, sqlstate: str, text: str, severity: str = "NOTICE", hint: str | None = None) -> None:
        """Send a notice, if client_min_messages lets it through."""
        if self.settings.lets_through(severity):
            self.connection.write(writer.notice_response(SqlError(sqlstate, text, severity=severity, hint=hint)))

    def report_settings(self) -> None:
        """Tell the client of reported settings that changed."""
        for name, value in self.settings.changed_reports():
            self.connection.write(writer.parameter_status(name, value))

    async def in_worker(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Run blocking work on a worker thread; the event loop serves the other connections meanwhile."""
        return await asyncio.get_running_loop().run_in_executor(self.database.workers, work, *arguments)

    def require_usable(self, statement: Statement) -> None:
        """Raise 25P02 in a failed transaction, except for the statements that end it."""
        if self.transaction is None or not self.transaction.failed:
            return
        if isinstance(statement, TransactionStatement) and statement.action != "begin":
            return
        raise SqlError("25P02", ABORTED)

    def check_cancelled(self) -> None:
        """Raise 57014 once the client has asked to cancel the statement."""
        if self.cancelled.is_set():
            raise SqlError("57014", "canceling statement due to user request")

    def _status(self) -> str:
        transaction = self.transaction
        return "I" if transaction is None or not transaction.explicit else "E" if transaction.failed else "T"

    def _ready(self) -> None:
        self.connection.write(writer.READY_FOR_QUERY[self._status()])


def open_session(database: Database, connection: Connection, parameters: Mapping[str, str]) -> Session:
    """Return the session of a client that has sent its startup parameters. Raises SqlError for a setting that can't be."""
    settings = Settings.for_startup(parameters)
    settings.process_id = connection.process_id
    return Session(database, connection, settings, parameters["user"])


def is_large(transaction: Transaction) -> bool:
    """Tell whether committing takes long enough to leave the event loop to others."""
    rows_count = 0
    for operation in transaction.operations:
        if not isinstance(operation, StatementStage):
            return True
        rows_count += operation.rows_count
    return rows_count > INLINE_COMMIT_ROWS_MAX
