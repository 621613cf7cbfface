"""Savepoints of a session's transaction block: SAVEPOINT, RELEASE, ROLLBACK TO.

Enters: the statements, and the failure of another one. Leaves: the block as it was at a savepoint:
rows staged for streams, definitions, tables, settings, cursors, effects after COMMIT. Snapshots,
and numbers taken from sequences, stay as they are. Must not know messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.commit.transaction import Savepoint, Transaction
from engine.execution.outcome import Outcome
from engine.tables.write_journal import TableMark
from sql.errors import SqlError, not_supported
from sql.parse.statements.transaction import Transaction as TransactionStatement

if TYPE_CHECKING:
    from engine.sessions.session import Session
    from engine.sessions.transaction_block import TransactionBlock

NAMES = {"savepoint": "SAVEPOINT", "release": "RELEASE SAVEPOINT", "rollback to": "ROLLBACK TO SAVEPOINT"}


class Savepoints:
    """The savepoints of one session."""

    def __init__(self, session: Session, block: TransactionBlock) -> None:
        self._session = session
        self._block = block

    async def run(self, statement: TransactionStatement) -> Outcome:
        """Do the statement.

        Raises 25P01 outside of a block, 3B001 for an unknown name, and 40001 if the way back is
        gone.
        """
        transaction = self._block.open
        if transaction is None or not transaction.explicit:
            raise SqlError("25P01", f"{NAMES[statement.action]} can only be used in transaction blocks")
        if statement.action == "savepoint":
            await self._define(statement.name, transaction)
            return Outcome("SAVEPOINT")
        names = [savepoint.name for savepoint in transaction.savepoints]
        if statement.name not in names:
            raise SqlError("3B001", f'savepoint "{statement.name}" does not exist')
        place = len(names) - 1 - names[::-1].index(statement.name)
        if statement.action == "release":
            del transaction.savepoints[place:]
            return Outcome("RELEASE")
        await self._go_back(transaction, transaction.savepoints[place])
        del transaction.savepoints[place + 1 :]
        return Outcome("ROLLBACK")

    def undo_after(self, savepoint: Savepoint) -> None:
        """Undo all changes but those of tables, which nobody can look at before ROLLBACK TO."""
        transaction = self._block.open
        assert transaction is not None, "savepoints are in a block"
        self._session.settings.go_back(savepoint.settings)
        self._session.names.keep_portals(savepoint.portals)
        transaction.undo_after(savepoint)
        if savepoint.image is None:
            self._block.release_ddl_lock(transaction)

    async def _define(self, name: str, transaction: Transaction) -> None:
        tables = transaction.tables
        if tables is not None:
            if tables.journal is None and tables.changed:
                raise not_supported("SAVEPOINT after writing to tables before BEGIN")
            await self._session.in_worker(self._hold, transaction)
        transaction.holds_snapshot = self._session.has_savepoints = True
        savepoint = Savepoint(
            name,
            len(transaction.operations),
            transaction.image,
            len(transaction.after_commit),
            self._session.settings.mark(),
            frozenset(self._session.names.portals),
            None if tables is None else tables.mark(),
        )
        transaction.savepoints.append(savepoint)

    async def _go_back(self, transaction: Transaction, savepoint: Savepoint) -> None:
        tables = transaction.tables
        if tables is not None:
            assert transaction.snapshot is not None
            image = savepoint.image or transaction.snapshot
            await self._session.in_worker(self._hold, transaction)
            await self._session.in_worker(tables.roll_back_to, savepoint.tables or TableMark(), image)
        self.undo_after(savepoint)
        transaction.failed = False

    def _hold(self, transaction: Transaction) -> None:
        assert transaction.tables is not None
        self._session.server.transactions.hold(transaction.tables)
