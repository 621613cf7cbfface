"""The transaction that a session is in, if any: how it begins, fails, commits and rolls back.

Enters: BEGIN, COMMIT, ROLLBACK and the like, the ends of messages, errors. Leaves: a committed or
dropped `Transaction`, with everything that ends together with it: portals, settings, the DDL lock.
Must not know messages.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from typing import TYPE_CHECKING

from engine.commit.log_answer import awaited_answer
from engine.commit.named_batches import named_batch
from engine.commit.parts import end
from engine.commit.staging import StatementStage
from engine.commit.string_admission import FullBufferError
from engine.commit.transaction import Again, Transaction
from engine.execution.after_commit import follow_commit
from engine.execution.outcome import Outcome
from engine.ingest.copy_in import ROOM_WAIT_S
from engine.sessions.savepoints import Savepoints
from engine.sessions.temporary_end import end_temporary
from sql.errors import CONFLICT, SqlError
from sql.parse.statements.declaration import Statement
from sql.parse.statements.transaction import Transaction as TransactionStatement

if TYPE_CHECKING:
    from engine.sessions.session import Session

# A commit of more staged rows than this goes to a worker thread, so that the event loop keeps
# serving.
INLINE_COMMIT_ROWS_MAX = 4096
# Longer than the transaction of one statement takes; a turn may also be held by a client that never
# says Sync.
TURN_WAIT_S_MAX = 0.5
ENDS = frozenset({"commit", "rollback", "rollback to", "prepare"})
ABORTED = "current transaction is aborted, commands ignored until end of transaction block"


class TransactionBlock:
    """The transaction boundaries of one session.

    Attributes:
        open: the transaction, explicit or implicit, or None between two.
    """

    def __init__(self, session: Session) -> None:
        self.open: Transaction | None = None
        self._session = session
        self._server = session.server
        self._turn: asyncio.Lock | None = None
        self._savepoints = Savepoints(session, self)
        session.settings.check_batch = self._check_batch

    @property
    def status(self) -> str:
        """The status in ReadyForQuery: I(dle), T(ransaction block), E (failed block)."""
        transaction = self.open
        return "I" if transaction is None or not transaction.explicit else "E" if transaction.failed else "T"

    def current(self) -> Transaction:
        """Return the open transaction; an implicit one is begun when there is none."""
        if self.open is None:
            self.open = self._server.transactions.begin()
            self.open.sequences = self._session.sequences
            self.open.locks = self._session.backend.locks
            self.open.holds_snapshot = self._session.has_savepoints
        return self.open

    def require_usable(self, statement: Statement) -> None:
        """Raise 25P02 in a failed transaction, except for statements that end the transaction or go
        back to a savepoint.
        """
        if self.open is not None and self.open.failed and not ends_transaction(statement):
            raise SqlError("25P02", ABORTED)

    async def run(self, statement: TransactionStatement) -> Outcome:
        """Do the statement. Raises SqlError when a commit fails; everything is rolled back then."""
        transaction = self.open
        match statement.action:
            case "begin":
                return self._begin(statement)
            case "savepoint" | "release" | "rollback to":
                return await self._savepoints.run(statement)
            case "prepare" | "commit prepared" | "rollback prepared":
                return self._refuse_two_phases(statement)
        if transaction is None or not transaction.explicit:
            if statement.chain:
                word = statement.action.upper()
                raise SqlError("25P01", f"{word} AND CHAIN can only be used in transaction blocks")
            self._session.notice("25P01", "there is no transaction in progress", "WARNING")
        commits = statement.action == "commit" and not (transaction is not None and transaction.failed)
        if commits:
            await self.commit()
        else:
            self.roll_back()
        if statement.chain:
            self.current().explicit = True
            self._session.settings.begin(statement.modes)
        return Outcome("COMMIT" if commits else "ROLLBACK")

    def _begin(self, statement: TransactionStatement) -> Outcome:
        if self.open is not None and self.open.explicit:
            self._session.notice("25001", "there is already a transaction in progress", "WARNING")
        else:
            transaction = self.current()
            # A mode that is refused leaves no block open.
            self._session.settings.begin(statement.modes)
            transaction.explicit = True
        return Outcome("START TRANSACTION" if statement.text[:5].lower() == "start" else "BEGIN")

    def _refuse_two_phases(self, statement: TransactionStatement) -> Outcome:
        """Answer the words of two-phase commit as PostgreSQL does where no transaction may be
        prepared.
        """
        transaction = self.open
        in_block = transaction is not None and transaction.explicit
        if statement.action != "prepare":
            if in_block or self._session.runner.in_sequence:
                raise SqlError("25001", f"{statement.action.upper()} cannot run inside a transaction block")
            raise SqlError("42704", f'prepared transaction with identifier "{statement.name}" does not exist')
        if not in_block:
            self._session.notice("25P01", "there is no transaction in progress", "WARNING")
        failed = transaction is not None and transaction.failed
        self.roll_back()
        if in_block and not failed:
            hint = "Set max_prepared_transactions to a nonzero value."
            raise SqlError("55000", "prepared transactions are disabled", hint=hint)
        return Outcome("ROLLBACK")

    # The end.

    async def end_implicit(self) -> None:
        """Commit the implicit transaction of a message or pipeline, if one is open."""
        if self.open is not None and not self.open.explicit:
            await self.commit()

    def end_implicit_now(self) -> Awaitable[None] | None:
        """Commit the implicit transaction, if there is one, as far as that needs no waiting.

        Return the rest.
        """
        return None if self.open is None or self.open.explicit else self.commit_now()

    async def commit(self) -> None:
        """Commit the open transaction. Raises SqlError; everything is rolled back then."""
        if self.open is not None:
            try:
                await self._session.runner.before_commit(self.open)
            except BaseException:
                self.roll_back()
                raise
        rest = self.commit_now()
        if rest is not None:
            await rest

    def commit_now(self) -> Awaitable[None] | None:
        """Commit the open transaction, as far as that needs no waiting.

        Return the rest, None when it is done.

        Both raise SqlError.
        """
        transaction, self.open = self.open, None
        if transaction is None:
            return None
        committed = False
        rest: Awaitable[None] | None = None
        again = transaction.again
        try:
            if transaction.operations or transaction.is_durable:
                transaction.waits_for_log = self._session.settings.waits_for_log
                settings = self._session.settings
                rest = self._begin_commit(transaction) if not settings.batch else self._begin_batch(transaction)
            else:
                transaction.end_tables()
            committed = True
        except SqlError as error:
            self._after_end(transaction, committed)
            if again is None or error.sqlstate != CONFLICT:
                raise
            return self._commit_again(again, error)
        except BaseException:
            self._after_end(transaction, committed)
            raise
        if rest is None:
            self._after_end(transaction, committed)
        return rest

    async def _commit_again(self, again: Again, error: SqlError) -> None:
        """Do the only statement of a transaction once more, after the transaction could not be
        committed, and commit.
        """
        try:
            more = await again.once_more(error)
            assert self.open is not None
            self.open.again = more
        except BaseException:
            self.roll_back()
            raise
        await self.commit()

    def _begin_commit(self, transaction: Transaction) -> Awaitable[None] | None:
        """Commit rows of streams right here, and larger work on a worker thread.

        Return the awaitable, if there is one.
        """
        if is_large(transaction):
            return self._finish_commit(transaction, self._commit_aside(transaction))
        loop = asyncio.get_running_loop()
        answer, future = awaited_answer(loop)
        committer = self._server.committer
        try:
            done = committer.commit_soon(transaction, answer)
        except BaseException:
            transaction.drop()
            raise
        if done:
            end(transaction)
            return None
        if done is None:
            return self._finish_commit(transaction, self._commit_aside(transaction))
        committer.log.flush_soon(answer, loop.call_soon)
        return self._finish_commit(transaction, future)

    def _check_batch(self) -> None:
        if self.open is not None and self.open.writes:
            hint = "Name a batch before its transaction writes."
            raise SqlError("25001", "antumbra.batch cannot be changed after the transaction has written", hint=hint)

    def _begin_batch(self, transaction: Transaction) -> Awaitable[None]:
        return self._finish_commit(transaction, self._commit_batch(transaction))

    async def _commit_batch(self, transaction: Transaction) -> SqlError | None:
        """Commit what is named by a batch, unless it was committed before; return the error."""
        session, server = self._session, self._server
        role = session.identity.current(session.runner.current_image().roles)
        arguments = transaction, session.settings.batch, role, server.committer.log, server.clock.now_us()
        try:
            with session.timeout.running():
                found = await session.in_thread(named_batch, *arguments)
        except SqlError as error:
            return error
        if isinstance(found, SqlError):
            session.tell(found)
            transaction.drop()
            return None
        transaction.batch = found
        return await self._commit_aside(transaction)

    async def _commit_aside(self, transaction: Transaction) -> SqlError | None:
        # Others wait for the locks of transactions that change tables or definitions.
        waits = self._session.settings.waits_for_room and not transaction.is_durable
        while True:
            try:
                if waits:
                    await self._wait_for_room(transaction)
                await self._session.in_thread(self._server.committer.commit, transaction)
            except FullBufferError as error:
                if not waits or error.is_lasting:
                    return error
            except SqlError as error:
                return error
            else:
                return None

    async def _wait_for_room(self, transaction: Transaction) -> None:
        """Wait until string buffers have room.

        Raises 57014, and FullBufferError if they never will.
        """
        session = self._session
        with session.timeout.running():
            while True:
                try:
                    return self._server.committer.require_room(transaction)
                except FullBufferError as error:
                    if error.is_lasting:
                        raise
                await session.cancellable(asyncio.sleep(ROOM_WAIT_S))
                session.check_cancelled()

    async def _finish_commit(self, transaction: Transaction, answer: Awaitable[SqlError | None]) -> None:
        committed = False
        again = transaction.again
        try:
            error = await answer
            if error is not None:
                transaction.drop()
                if again is None or error.sqlstate != CONFLICT:
                    # A copy, because all transactions of one flush get the same.
                    raise replace(error)
            else:
                end(transaction)
                committed = True
        finally:
            self._after_end(transaction, committed)
        if again is not None and error is not None:
            await self._commit_again(again, error)

    def roll_back(self) -> None:
        """Drop the open transaction."""
        transaction, self.open = self.open, None
        if transaction is not None:
            transaction.drop()
            self._after_end(transaction, committed=False)

    def end(self) -> None:
        """Drop the open transaction, and all locks: the session is over."""
        self.roll_back()
        self._session.backend.locks.end()
        end_temporary(self._session)

    def fail(self) -> None:
        """Fail: an explicit block keeps nothing and waits for its end, an implicit one is over."""
        transaction = self.open
        if transaction is None or not transaction.explicit:
            self.roll_back()
            return
        transaction.failed = True
        if transaction.savepoints:
            self._savepoints.undo_after(transaction.savepoints[-1])
            return
        transaction.drop()
        self._session.settings.rollback()
        self._session.backend.locks.end_transaction()
        self.release_ddl_lock(transaction)

    async def take_turn(self, table: str) -> None:
        """Wait for the turn on a table, and have it until the transaction ends."""
        if self._turn is None:
            self._turn = await self._session.shared.turns.take(table, TURN_WAIT_S_MAX)

    def _after_end(self, transaction: Transaction, committed: bool) -> None:
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.release()
        self._session.backend.locks.end_transaction()
        self.release_ddl_lock(transaction)
        self._session.names.end_transaction(committed)
        self._session.sequences.end_transaction()
        if committed and transaction.after_commit:
            follow_commit(transaction.after_commit, self._server, self._session.inbox)
        if committed:
            self._session.settings.commit()
        else:
            self._session.settings.rollback()

    def release_ddl_lock(self, transaction: Transaction) -> None:
        """Let the next transaction define.

        Definitions that this one has built and not committed are given up.
        """
        self._server.definitions.end(transaction)


def ends_transaction(statement: Statement) -> bool:
    """Tell whether a statement may be run in a failed transaction block: it ends the block, or goes
    back to a savepoint.
    """
    return isinstance(statement, TransactionStatement) and statement.action in ENDS


def is_large(transaction: Transaction) -> bool:
    """Tell whether committing takes long enough to leave the event loop to others."""
    if transaction.is_durable:
        return True
    rows_count = 0
    for operation in transaction.operations:
        if not isinstance(operation, StatementStage):
            return True
        rows_count += operation.rows_count
    return rows_count > INLINE_COMMIT_ROWS_MAX
