"""The runner of a session's statements: the steps that all statements share, before and after the
function of each.

Enters: statements with their transaction and parameters. Leaves: outcomes; effects are staged in
the transaction and happen at its commit. Each statement has a function of its own
(`engine.execution.registry`). Must not know messages or sockets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from engine.catalog.image import CatalogImage
from engine.commit.transaction import Transaction
from engine.execution.defining import allowed, define, own_image
from engine.execution.outcome import Outcome
from engine.execution.prepared import Prepared
from engine.execution.registry import do
from engine.execution.resolving import resolved
from engine.execution.temporary import TemporaryRelations
from engine.execution.work import Work
from engine.ingest.copy_in import CopyIn
from engine.sessions.activity import live_rows
from engine.sessions.again import statement_again
from engine.statements.copy_from import open_copy
from engine.statements.copy_into_table import CopyIntoTable
from engine.statements.drop import drop_relation, drop_temporary
from engine.statements.prepare import executed, explained
from engine.statements.write import target_of
from sql.errors import SqlError
from sql.parse.statements.copy import CopyFrom
from sql.parse.statements.cursors import Fetch
from sql.parse.statements.declaration import Statement
from sql.parse.statements.drop import DropRelation
from sql.parse.statements.explain import Explain
from sql.parse.statements.insert import Insert
from sql.parse.statements.prepared import Execute
from sql.tree.expressions import Literal

if TYPE_CHECKING:
    from engine.sessions.session import Session

# The number of tries of a statement that meets a conflict, with longer and longer waits in between:
# half a second together.
CONFLICT_ATTEMPTS = 10
CONFLICT_WAIT_S = 0.01


class StatementRunner:
    """The runner of one session's statements, each inside the transaction that the session
    gives.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._server = session.server
        self.temporary = TemporaryRelations(session.connection.process_id)
        # True while one Query runs several statements: they are in one transaction without BEGIN.
        self.in_sequence = False

    def image(self) -> CatalogImage:
        """Return the catalog that the session's next statement sees."""
        transaction = self._session.block.open
        known = None if transaction is None else transaction.image or transaction.snapshot
        return known or self._server.catalog.image

    def current_image(self) -> CatalogImage:
        """Return the catalog whose roles and privileges count: the newest, as the session's
        transaction has changed it.
        """
        transaction = self._session.block.open
        return (None if transaction is None else transaction.image) or self._server.catalog.image

    def work(
        self,
        transaction: Transaction,
        parameters: tuple[Literal, ...] = (),
        prepared: Prepared | None = None,
    ) -> Work:
        """Return the work with which the next statement is done."""
        session, server = self._session, self._server
        return Work(
            server,
            transaction,
            session.settings,
            session.identity,
            session.names,
            session.sequences,
            session.backend.locks,
            self.temporary,
            server.engines.kernels,
            server.engines.upper,
            session.threads,
            session,
            lambda image, role: live_rows(session, image, role),
            session.inbox,
            self.run,
            transaction.explicit or self.in_sequence,
            self.in_sequence,
            parameters,
            prepared,
        )

    async def run(
        self, statement: Statement, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        """Do one statement. Raises SqlError; the session then ends the transaction."""
        self._session.identity.look()
        work = self.work(transaction, parameters, prepared)
        try:
            execute = statement.statement if isinstance(statement, Explain) else statement
            if isinstance(execute, Execute):
                self._prepare(execute, work)
                prepared, parameters = await executed(execute, work)
                if isinstance(statement, Explain):
                    statement, prepared = explained(statement, prepared.statement), None
                else:
                    statement = prepared.statement
                work = self.work(transaction, parameters, prepared)
            self._prepare(statement, work)
            outcome = await self._tried(statement, work)
        except SqlError:
            self._tell(work.notices)
            raise
        outcome.notices, work.notices[:] = tuple(work.notices), []
        self._tell(outcome.notices)
        return outcome

    async def _tried(self, statement: Statement, work: Work) -> Outcome:
        """Do a statement; after a conflict with another transaction on tables it is done again, as
        long as nothing of it was seen.
        """
        session, transaction = self._session, work.transaction
        untouched = transaction.tables is None and not transaction.is_durable and not transaction.holds_ddl_lock
        attempts = CONFLICT_ATTEMPTS if untouched else 1
        is_first = transaction.is_untouched
        staged_count = len(transaction.operations)
        if isinstance(statement, Insert) and statement.on_conflict and untouched and not transaction.explicit:
            target = target_of(statement, work.image, session.settings.captured())
            if target is not None:
                await session.cancellable(session.block.take_turn(target.description.name))
        while True:
            attempts -= 1
            try:
                outcome = await self._once(statement, work)
                step = statement_again(session, outcome, statement, work.parameters, work.prepared)
                transaction.note_again(step, is_first)
                return outcome
            except SqlError as error:
                if error.sqlstate != "40001" or not attempts:
                    raise
            work.notices.clear()
            transaction.start_over(staged_count)
            session.block.release_ddl_lock(transaction)
            transaction.image = None
            await session.cancellable(asyncio.sleep(CONFLICT_WAIT_S * (CONFLICT_ATTEMPTS - attempts)))

    async def _once(self, written: Statement, work: Work) -> Outcome:
        if work.transaction.snapshot is not None and written.defines:
            # The names are those of the newest catalog.
            await own_image(work)
        image = work.image
        statement = await allowed(written, work)
        return await (define(written, (image, statement), work) if statement.defines else do(statement, work))

    def _prepare(self, statement: Statement, work: Work) -> None:
        """Tell the transaction what this statement needs of the session.

        Raises 25006 for a statement that writes where nothing may be written.
        """
        settings, transaction = work.settings, work.transaction
        transaction.time_zone = settings.time_zone
        if transaction.tables is not None:
            transaction.tables.time_zone = settings.time_zone
        work.sequences.read_only = settings.read_only
        if statement.writes:
            work.require_writable(statement.tag)

    def _tell(self, notices: Sequence[SqlError]) -> None:
        for notice in notices:
            self._session.tell(notice)

    def describe(self, prepared: Prepared) -> None:
        """Set the columns of statements that give the rows of another one, as EXECUTE and FETCH
        do.
        """
        statement, names = prepared.statement, self._session.names
        if isinstance(statement, Execute):
            known = names.statements.get(statement.name)
            if known is not None:
                known.refresh(self.image(), self._session.settings)
            prepared.schema = None if known is None else known.schema
        elif isinstance(statement, Fetch):
            portal = names.portals.get(statement.name)
            prepared.schema = None if portal is None or statement.moves else portal.prepared.schema

    async def open_copy(
        self, statement: CopyFrom, transaction: Transaction, autocommit: bool
    ) -> CopyIn | CopyIntoTable:
        """Return the COPY that takes the client's data. Raises the errors of the statement."""
        self._session.identity.look()
        work = self.work(transaction)
        found = resolved(statement, work.image, work.settings.captured())
        assert isinstance(found, CopyFrom), statement
        transaction.note_again(None, is_first=False)
        if not work.identity.bypasses():
            work.identity.checks(work.image).check(found)
        return await work.threads.with_text(found.text, open_copy, found, work, autocommit)

    async def before_commit(self, transaction: Transaction) -> None:
        """Do what ON COMMIT of temporary tables says. Raises SqlError."""
        work = self.work(transaction)
        try:
            for entry in self.temporary.dropped_at_commit(transaction, self._server.catalog.image):
                name = entry.description.name
                await drop_relation(DropRelation("", "table", ((name, 0),), if_exists=False, cascade=True), work)
            for entry in self.temporary.emptied_at_commit(transaction, self._server.catalog.image):
                assert transaction.tables is not None
                await work.threads.in_worker(transaction.tables.truncate, entry)
        finally:
            self._tell(work.notices)

    async def drop_temporary(self, transaction: Transaction) -> None:
        """Drop the session's temporary relations. Raises SqlError."""
        await drop_temporary(self.work(transaction))
