"""The statements that write rows which a query yields: INSERT, UPDATE and DELETE of tables, INSERT ... SELECT into streams, COPY of tables.

Enters: statements with their transaction and parameters. Leaves: outcomes; the effects are in the transaction's part on tables, or staged.
Must not know messages or sockets.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pyarrow as pa

from engine.catalog.image import CatalogImage, StreamEntry, TableEntry, ViewEntry
from engine.catalog.joined_tables import refuse_joined
from engine.commit.staging import StatementStage
from engine.commit.transaction import Transaction
from engine.ingest.copy_decoders import received_text
from engine.ingest.copy_in import CopyIn
from engine.ingest.insert import make_target
from engine.ingest.server_files import open_to_read
from engine.sessions.prepared import Prepared
from engine.sessions.transaction_block import ROOM_WAIT_S
from engine.statements.copy_into_table import CopyIntoTable, copy_target
from engine.statements.outcome import Outcome
from engine.statements.reading import scan_inputs, scan_settings, views_among
from engine.statements.row_locks import read_locked
from engine.statements.table_writes import BoundWrite, TableWriter, queries_of, settled, with_queries
from engine.storage.errors import disk_error
from ringbuffer.memory.arrow import morsel_from_arrow
from sql.bind.constraints import bind_copied
from sql.bind.delete import BoundDelete, bind_delete
from sql.bind.insert import BoundInsert, bind_insert
from sql.bind.update import BoundUpdate, bind_update
from sql.errors import SqlError, not_supported
from sql.names.suggestions import did_you_mean
from sql.parse.statements.copy import CopyFrom
from sql.parse.statements.delete import Delete
from sql.parse.statements.insert import Insert
from sql.parse.statements.update import Update
from sql.settings.settings import Settings
from sql.tree.expressions import Literal
from views.upkeep.refresh import Reader

if TYPE_CHECKING:
    from engine.sessions.session import Session

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
        """Do INSERT, UPDATE or DELETE of a table, or an INSERT into a stream whose rows come from a query."""
        session = self._session
        image = session.runner.image()
        bound = await session.with_text(statement.text, self._bound, statement, image, prepared)
        # It may wait: for room in a stream, or for those who have locks.
        return await session.in_thread(self._write, statement, image, bound, transaction, parameters, prepared)

    def open_copy(self, statement: CopyFrom, transaction: Transaction, autocommit: bool) -> CopyIn | CopyIntoTable:
        """Return the COPY that takes the data. Raises what the statement has wrong. autocommit: it is a transaction of its own."""
        image = self._session.runner.image()
        refuse_read_only(self._session.settings, "COPY FROM")
        entry = copied_entry(statement, image)
        if isinstance(entry, TableEntry):
            return self._copy_into_table(statement, entry, transaction)
        return self._copy_into_stream(statement, entry, image, transaction, autocommit)

    async def copy_file(self, statement: CopyFrom, transaction: Transaction) -> Outcome:
        """Do COPY FROM a file of the server."""
        in_block = transaction.explicit or transaction.operations or self._session.runner.in_sequence
        copy = self.open_copy(statement, transaction, autocommit=not in_block)
        # It may wait for room in a stream.
        return await self._session.in_thread(self._read_file, statement, copy, transaction)

    def _read_file(self, statement: CopyFrom, copy: CopyIn | CopyIntoTable, transaction: Transaction) -> Outcome:
        config = self._database.config
        assert statement.file is not None, statement.text
        try:
            text = received_text(statement.options, self._session.settings.encoding)
            with open_to_read(config.copy_directory, statement.file) as file:
                wrong: SqlError | None = None
                while wrong is None and (data := file.read(config.copy_block_bytes)):
                    self._session.check_cancelled()
                    if text is not None:
                        data, wrong = text.feed(data)
                    if copy.take(data) or wrong is not None:
                        self._decode(copy)
            if text is not None and wrong is None:
                _, wrong = text.feed(b"", is_end=True)
            if wrong is not None:
                self._decode(copy)
                wrong.context = copy.place
                raise wrong
            copy.finish()
        except OSError as error:
            copy.drop()
            raise copy.with_published(disk_error(error, f'read from file "{statement.file}"')) from None
        except SqlError as error:
            copy.drop()
            raise copy.with_published(error) from None
        transaction.operations.extend(copy.stages())
        return Outcome(f"COPY {copy.rows_count}")

    def _decode(self, copy: CopyIn | CopyIntoTable) -> None:
        copy.decode()
        while isinstance(copy, CopyIn) and copy.needs_room:
            time.sleep(ROOM_WAIT_S)
            self._session.check_cancelled()
            copy.decode()

    def _copy_into_table(self, statement: CopyFrom, entry: TableEntry, transaction: Transaction) -> CopyIntoTable:
        session = self._session
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

        where = statement.where
        condition = (
            None
            if where is None
            else bind_copied(where, entry.description, session.runner.image(), session.settings.captured())
        )
        target = copy_target(entry, statement.columns, condition)
        block_bytes = self._database.config.copy_block_bytes
        zone, styles = session.settings.time_zone, session.settings.input_styles
        return CopyIntoTable(target, statement, open_writer, zone, styles, block_bytes)

    def _copy_into_stream(
        self, statement: CopyFrom, entry: StreamEntry, image: CatalogImage, transaction: Transaction, autocommit: bool
    ) -> CopyIn:
        if statement.where is not None:
            raise not_supported("COPY ... WHERE into a stream", hint="Give the condition to its views.")
        target = make_target(
            entry, statement.columns, self._database.tables, transaction.now_us, self._session.settings.time_zone
        )
        publish_ms = statement.options.publish_ms
        if publish_ms and not autocommit:
            raise SqlError(
                "25001",
                "COPY with publish cannot run inside a transaction block",
                hint="Leave publish out, or run the COPY by itself in autocommit mode.",
            )
        settings = self._session.settings
        if publish_ms is None and autocommit:
            publish_ms = settings.publish_interval_ms
        return CopyIn(
            self._database,
            target,
            statement.options,
            image,
            transaction.now_us,
            settings.time_zone,
            settings.input_styles,
            publish_ms or None,
            settings.waits_for_room,
            settings.waits_for_log,
        )

    def _write(
        self,
        statement: Write,
        image: CatalogImage,
        bound: BoundWrite,
        transaction: Transaction,
        parameters: tuple[Literal, ...],
        prepared: Prepared | None,
    ) -> Outcome:
        session = self._session
        tables = self._database.begin_tables(transaction, views_among(bound.relations, image))
        # The snapshot of the rows has a catalog of its own.
        if session.runner.image() is not image:
            image = session.runner.image()
            bound = self._bound(statement, image, prepared)
        session.identity.require(image, bound)
        entry = image.entries[bound.relation.name]
        if isinstance(entry, StreamEntry) and bound.relation.name in bound.relations:
            raise SqlError(
                "0A000",
                f'cannot insert into stream "{bound.relation.name}" from a query that reads it',
                hint="Keep the query's rows with CREATE TABLE AS, and insert from the table.",
            )
        reader = Reader(transaction.now_us, session.check_cancelled, session)
        bound = settled(bound, parameters, transaction.now_us)
        roots, scanning = queries_of(bound), scan_settings(session.settings, transaction)
        roots, inputs = scan_inputs(self._database, transaction, image, bound.relations, roots, reader, scanning)
        session.check_cancelled()
        bound = with_queries(bound, roots)
        inputs |= read_locked(tables, bound.locked, inputs, read_only=False)
        if isinstance(entry, StreamEntry):
            assert isinstance(bound, BoundInsert), bound
            rows = tables.query(bound.source, inputs)
            stage = self._staged(entry, bound, rows, image, transaction)
            transaction.operations.append(stage)
            return Outcome(f"INSERT 0 {stage.rows_count}")
        assert isinstance(entry, TableEntry), entry
        refuse_joined(entry.description.name, image.entries.values())
        tables.announce(entry)
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
        names = [(entry.stream.row[index].name, 0) for index in bound.targets]
        target = make_target(entry, names, self._database.tables, transaction.now_us, self._session.settings.time_zone)
        stage = self._database.stage(entry, image, transaction.now_us)
        try:
            for start in range(0, rows.num_rows, MORSEL_ROWS):
                self._session.check_cancelled()
                piece = morsel_from_arrow(rows.slice(start, min(MORSEL_ROWS, rows.num_rows - start)), target.layout)
                stage.add(target.rows(piece, transaction.now_us, self._session.settings.time_zone))
        except BaseException:
            stage.close()
            raise
        return stage


def copied_entry(statement: CopyFrom, image: CatalogImage) -> StreamEntry | TableEntry:
    """Return what the rows of a COPY go into. Raises 42P01, or 42809 as PostgreSQL does for what takes no rows."""
    name = statement.name
    entry = image.entries.get(name)
    if isinstance(entry, StreamEntry | TableEntry):
        return entry
    if entry is None:
        hint = did_you_mean(name, image.relation_names())
        raise SqlError("42P01", f'relation "{name}" does not exist', hint=hint, position=statement.name_position)
    kind = "sequence" if entry.description.kind == "sequence" else "view"
    hint = f"Rows go into the stream below it: {entry.stream_name}." if isinstance(entry, ViewEntry) else None
    raise SqlError("42809", f'cannot copy to {kind} "{name}"', hint=hint, position=statement.name_position)


def refuse_read_only(settings: Settings, what: str) -> None:
    """Raise 25006 for a statement that writes in a read-only transaction."""
    if settings.value("transaction_read_only") == "on":
        raise SqlError("25006", f"cannot execute {what} in a read-only transaction")
