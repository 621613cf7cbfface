"""The statements that write rows which a query yields: INSERT, UPDATE and DELETE of tables, INSERT ... SELECT into streams, COPY of tables.

Enters: statements with their transaction and parameters. Leaves: outcomes; the effects are in the transaction's part on tables, or staged.
Must not know messages or sockets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from engine.catalog import CatalogImage, StreamEntry, TableEntry
from engine.copy_into_table import CopyIntoTable, copy_target
from engine.insert import make_target
from engine.prepared import Prepared
from engine.reading import refuse_streams, view_inputs
from engine.results import Outcome
from engine.staging import StatementStage
from engine.table_changes import refuse_joined
from engine.table_writes import BoundWrite, TableWriter, settled
from engine.transaction import Transaction
from ringbuffer.arrow import morsel_from_arrow
from sql.bind.delete import BoundDelete, bind_delete
from sql.bind.insert import BoundInsert, bind_insert
from sql.bind.update import BoundUpdate, bind_update
from sql.errors import SqlError, not_supported
from sql.expressions import Literal
from sql.settings import Settings
from sql.statements.statement import CopyFrom, Delete, Insert, Update
from views.refresh import Reader

if TYPE_CHECKING:
    from engine.session import Session

MORSEL_ROWS = 65_536
Write = Insert | Update | Delete


class WriteStatements:
    """Runs the writing statements of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._database = session.database

    async def write(
        self, statement: Write, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        """Do INSERT, UPDATE or DELETE of a table, or INSERT ... SELECT into a stream."""
        return await self._session.in_worker(self._write, statement, transaction, parameters, prepared)

    def open_copy(self, statement: CopyFrom, entry: TableEntry, transaction: Transaction) -> CopyIntoTable:
        """Return the COPY into a table that takes the client's data. Raises what the statement has wrong."""
        session = self._session
        refuse_read_only(session.settings, "COPY FROM")
        if statement.options.publish_ms is not None:
            raise not_supported("COPY with publish into a table", hint="Rows of a table appear when the COPY is over.")
        name = entry.description.name

        def open_writer() -> TableWriter:
            tables = self._database.begin_tables(transaction)
            image = session.runner.image()
            if image.entries.get(name) is not entry:
                raise SqlError("40001", f'table "{name}" was altered while COPY began')
            refuse_joined(name, image.entries.values())
            return TableWriter(tables, entry, {}, transaction.now_us, session.settings.time_zone)

        target = copy_target(entry, statement.columns)
        block_bytes = self._database.config.copy_block_bytes
        return CopyIntoTable(target, statement, open_writer, session.settings.time_zone, block_bytes)

    def _write(
        self, statement: Write, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        session = self._session
        refuse_read_only(session.settings, type(statement).__name__.upper())
        tables = self._database.begin_tables(transaction)
        # The snapshot of the rows has a catalog of its own.
        image = session.runner.image()
        bound = self._bound(statement, image, prepared)
        refuse_streams(bound.relations, image)
        reader = Reader(transaction.now_us, session.check_cancelled)
        inputs = view_inputs(self._database, transaction, image, bound.relations, reader)
        session.check_cancelled()
        bound = settled(bound, parameters, transaction.now_us)
        entry = image.entries[bound.relation.name]
        if isinstance(entry, StreamEntry):
            assert isinstance(bound, BoundInsert), bound
            rows = tables.query(bound.source, inputs)
            stage = self._staged(entry, bound, rows, image, transaction)
            transaction.operations.append(stage)
            return Outcome(f"INSERT 0 {stage.rows_count}")
        assert isinstance(entry, TableEntry), entry
        refuse_joined(entry.description.name, image.entries.values())
        return TableWriter(tables, entry, inputs, transaction.now_us, session.settings.time_zone).run(bound)

    def _bound(self, statement: Write, image: CatalogImage, prepared: Prepared | None) -> BoundWrite:
        settings = self._session.settings
        if prepared is not None:
            prepared.refresh(image, settings)
            assert isinstance(prepared.bound, BoundInsert | BoundUpdate | BoundDelete)
            return prepared.bound
        match statement:
            case Insert():
                return bind_insert(statement, image, settings.captured())
            case Update():
                return bind_update(statement, image, settings.captured())
            case Delete():
                return bind_delete(statement, image, settings.captured())

    def _staged(
        self, entry: StreamEntry, bound: BoundInsert, rows: pa.Table, image: CatalogImage, transaction: Transaction
    ) -> StatementStage:
        """Return a query's rows on their way into a stream, staged morsel by morsel."""
        names = [(entry.stream.columns[index].name, 0) for index in bound.targets]
        target = make_target(entry, names, self._database.tables, transaction.now_us)
        stage = self._database.stage(entry, image, transaction.now_us)
        try:
            for start in range(0, rows.num_rows, MORSEL_ROWS):
                self._session.check_cancelled()
                stage.add(target.rows(morsel_from_arrow(rows.slice(start, MORSEL_ROWS), target.layout)))
        except BaseException:
            stage.close()
            raise
        return stage


def refuse_read_only(settings: Settings, what: str) -> None:
    """Raise 25006 for a statement that writes in a read-only transaction."""
    if settings.value("transaction_read_only") == "on":
        raise SqlError("25006", f"cannot execute {what} in a read-only transaction")
