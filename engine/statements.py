"""What each statement does in a session: one method per statement.

Enters: statements with their transaction and parameters. Leaves: outcomes; effects are staged in the transaction and happen at its commit.
Must not know messages or sockets.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.catalog import CatalogImage, Entry, StreamEntry, ViewEntry
from engine.copy_in import CopyIn
from engine.definitions import build_continuous_view, build_stream, drop, require_free
from engine.explaining import explain
from engine.insert import InsertTarget, evaluate_rows, make_target
from engine.prepared import SHOW_ALL_COLUMNS, Prepared
from engine.reading import Reading, keep, read
from engine.results import Outcome, text_outcome
from engine.transaction import Transaction
from ringbuffer.encode_copy import CopyFormat, encode_copy_rows
from sql.bind.insert import BoundInsert, bind_insert
from sql.bind.query import bind_query
from sql.bind.substitute import substitute_parameters
from sql.errors import SqlError, not_supported
from sql.expressions import Literal
from sql.names import did_you_mean
from sql.relations import BoundQuery, Values
from sql.settings import canonical_name
from sql.statements.statement import (
    Cleanup,
    CopyFrom,
    CopyTo,
    CreateStream,
    CreateView,
    Deallocate,
    Discard,
    DropRelation,
    Explain,
    Insert,
    Select,
    SetVariable,
    Show,
    Statement,
)
from sql.wire import writer
from views.refresh import Reader

if TYPE_CHECKING:
    from engine.session import Session

COPY_ROWS_PER_MESSAGE = 16_384


class StatementRunner:
    """Runs the statements of one session, each inside the transaction that the session gives."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._database = session.database
        self._warned: set[str] = set()
        # True while one Query runs several statements: they are in one transaction without BEGIN.
        self.in_sequence = False

    def image(self) -> CatalogImage:
        """Return the catalog that the session's next statement sees."""
        transaction = self._session.block.open
        if transaction is not None and transaction.image is not None:
            return transaction.image
        return self._database.image

    async def run(
        self, statement: Statement, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        """Do one statement. Raises SqlError; the session then ends the transaction."""
        match statement:
            case Select():
                return await self._select(statement, transaction, parameters, prepared)
            case Insert():
                return await self._insert(statement, transaction, parameters, prepared)
            case CreateStream():
                return await self._create_stream(statement, transaction)
            case CreateView():
                return await self._create_view(statement, transaction)
            case DropRelation():
                return await self._drop(statement, transaction)
            case CopyTo():
                return await self._copy_to(statement, transaction)
            case Explain():
                return await self._explain(statement, transaction)
            case SetVariable():
                return self._set(statement, transaction)
            case Show():
                return self._show(statement)
            case Deallocate():
                self._session.deallocate(statement.name)
                return Outcome("DEALLOCATE ALL" if statement.name is None else "DEALLOCATE")
            case Discard():
                return self._discard(statement, transaction)
            case Cleanup():
                return Outcome(statement.tag)
            case _:
                raise not_supported(type(statement).__name__)

    def open_copy(self, statement: CopyFrom, transaction: Transaction, autocommit: bool) -> CopyIn:
        """Return the COPY that takes the client's data. Raises what the statement has wrong."""
        image = self.image()
        entry = self._stream_entry(image, statement.name, statement.name_position, "copy to")
        target = make_target(entry, statement.columns, self._database.tables, transaction.now_us)
        if statement.options.header_match:
            raise not_supported("COPY with HEADER MATCH", hint="HEADER true passes the first line over.")
        publish_ms = statement.options.publish_ms
        if publish_ms is not None and not autocommit:
            raise SqlError(
                "25001",
                "COPY with publish cannot run inside a transaction block",
                hint="Leave publish out, or run the COPY by itself in autocommit mode.",
            )
        if publish_ms is None and autocommit:
            publish_ms = self._session.settings.publish_interval_ms or None
        return CopyIn(
            self._database,
            target,
            statement.options,
            image,
            transaction.now_us,
            self._session.settings.time_zone,
            publish_ms,
        )

    # Reading.

    async def _select(
        self, statement: Select, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        image = self.image()
        if prepared is not None:
            prepared.refresh(image, self._session.settings)
            bound = prepared.bound
            assert isinstance(bound, BoundQuery)
        else:
            bound = bind_query(statement.query, image, self._session.settings.captured())
        reading = await self._read(bound, image, transaction, parameters)
        if not parameters and transaction.image is None:
            keep(self._database.answers, statement.text, image, reading, self._session.settings)
        return reading.outcome

    async def _read(
        self, bound: BoundQuery, image: CatalogImage, transaction: Transaction, parameters: tuple[Literal, ...]
    ) -> Reading:
        self._refuse_streams(bound, image)
        self._warn_of_lost_contents(bound, image)
        reader = Reader(transaction.now_us, self._session.check_cancelled)
        session = self._session
        session.refreshing = tuple(name for name in bound.relations if _has_upper_part(image.entries.get(name)))
        try:
            return await session.in_worker(read, self._database, image, bound, parameters, reader, session)
        finally:
            session.refreshing = ()

    def _refuse_streams(self, bound: BoundQuery, image: CatalogImage) -> None:
        for name in sorted(bound.relations):
            if isinstance(image.entries.get(name), StreamEntry):
                raise SqlError(
                    "0A000",
                    f'SELECT from stream "{name}" is not supported yet',
                    hint=f"Create a continuous view over it: CREATE VIEW v AS SELECT ... FROM {name} GROUP BY ...",
                )

    def _warn_of_lost_contents(self, bound: BoundQuery, image: CatalogImage) -> None:
        for name in sorted(bound.relations - self._warned):
            entry = image.entries.get(name)
            if isinstance(entry, ViewEntry) and entry.restored:
                self._warned.add(name)
                self._session.notice(
                    "01000",
                    f'contents of view "{name}" did not survive the last restart of the server',
                    "WARNING",
                    hint="The view counts the rows committed since then. Definitions survive a restart, contents do not yet.",
                )

    async def _copy_to(self, statement: CopyTo, transaction: Transaction) -> Outcome:
        image = self.image()
        if statement.query is None:
            raise self._not_copied(statement, image)
        bound = bind_query(statement.query, image, self._session.settings.captured())
        reading = await self._read(bound, image, transaction, ())
        return await self._session.in_worker(self._copy_outcome, statement, bound, reading)

    def _not_copied(self, statement: CopyTo, image: CatalogImage) -> SqlError:
        """Return why a relation can't be copied by its name: it is not there, it is a view (as in PostgreSQL), or a stream."""
        entry = image.entries.get(statement.name)
        if entry is None:
            return unknown_relation(statement.name, statement.name_position, image)
        kind = "stream" if isinstance(entry, StreamEntry) else "view"
        return SqlError(
            "42809",
            f'cannot copy from {kind} "{statement.name}"',
            hint="Try the COPY (SELECT ...) TO variant." if kind == "view" else "Streams are read through views.",
            position=statement.name_position,
        )

    def _copy_outcome(self, statement: CopyTo, bound: BoundQuery, reading: Reading) -> Outcome:
        options, schema, table = statement.options, bound.root.schema, reading.outcome.table
        assert table is not None
        form = CopyFormat(
            options.format,
            options.delimiter,
            options.null,
            options.header,
            options.quote,
            options.escape,
            options.force_quote,
        )
        names = [column.name for column in schema]
        families = [column.type.family for column in schema]
        parts = [writer.copy_out_response(0, len(schema))]
        first = True
        for start in range(0, max(table.num_rows, 1), COPY_ROWS_PER_MESSAGE):
            rows = table.slice(start, COPY_ROWS_PER_MESSAGE)
            data = encode_copy_rows(rows.columns, names, families, form, self._session.settings.time_zone, header=first)
            first = False
            if data:
                parts.append(data)
        parts.append(writer.COPY_DONE)
        return Outcome(f"COPY {table.num_rows}", copy_out=b"".join(parts))

    async def _explain(self, statement: Explain, transaction: Transaction) -> Outcome:
        lines = await self._session.in_worker(
            explain, statement, self._database, self.image(), self._session.settings.captured()
        )
        return text_outcome("EXPLAIN", ["QUERY PLAN"], [[line] for line in lines])

    # Writing.

    async def _insert(
        self, statement: Insert, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        image = self.image()
        entry = self._stream_entry(image, statement.name, statement.name_position, "insert into")
        if statement.query is not None:
            raise not_supported("INSERT ... SELECT")
        if statement.returning:
            raise not_supported("RETURNING on a stream")
        if prepared is not None:
            prepared.refresh(image, self._session.settings)
            bound = prepared.bound
        else:
            bound = bind_insert(statement, image, self._session.settings.captured())
        assert isinstance(bound, BoundInsert)
        root = substitute_parameters(bound.source, parameters) if parameters else bound.source
        assert isinstance(root, Values)
        target = self._bound_target(entry, bound, transaction)
        rows = await self._session.in_worker(
            evaluate_rows, self._database.tables, target, root, transaction.now_us, self._session
        )
        stage = self._database.stage(entry, image, transaction.now_us)
        await self._session.in_worker(stage.add, rows)
        transaction.operations.append(stage)
        return Outcome(f"INSERT 0 {rows.rows_count}")

    def _bound_target(self, entry: StreamEntry, bound: BoundInsert, transaction: Transaction) -> InsertTarget:
        names = [(entry.stream.columns[index].name, 0) for index in bound.targets]
        return make_target(entry, names, self._database.tables, transaction.now_us)

    def _stream_entry(self, image: CatalogImage, name: str, position: int, verb: str) -> StreamEntry:
        entry = image.entries.get(name)
        if entry is None:
            raise unknown_relation(name, position, image)
        if not isinstance(entry, StreamEntry):
            raise SqlError(
                "55000" if verb == "insert into" else "42809",
                f'cannot {verb} view "{name}"',
                hint=f"Rows go into the stream below it: {entry.stream_name}."
                if isinstance(entry, ViewEntry)
                else None,
            )
        return entry

    # Definitions.

    async def _own_image(self, transaction: Transaction) -> CatalogImage:
        """Return the image that a DDL statement of this transaction changes; one transaction at a time does DDL."""
        if not transaction.holds_ddl_lock:
            await self._session.cancellable(self._database.ddl_lock.acquire())
            transaction.holds_ddl_lock = True
            transaction.image = self._database.image
            self._session.check_cancelled()
        assert transaction.image is not None
        return transaction.image

    async def _create_stream(self, statement: CreateStream, transaction: Transaction) -> Outcome:
        image = await self._own_image(transaction)
        if statement.if_not_exists and statement.name in image.entries:
            self._session.notice("42P07", f'relation "{statement.name}" already exists, skipping')
            return Outcome("CREATE FOREIGN TABLE")
        require_free(image, statement.name, statement.name_position)
        captured = self._session.settings.captured()
        entry = build_stream(statement, image, captured, image.next_oid, self._database.config.stream_capacity_default)
        transaction.change_catalog(image.with_entry(entry))
        return Outcome("CREATE FOREIGN TABLE")

    async def _create_view(self, statement: CreateView, transaction: Transaction) -> Outcome:
        if statement.or_replace:
            raise not_supported("CREATE OR REPLACE VIEW", hint="DROP VIEW it first; its contents start anew.")
        image = await self._own_image(transaction)
        require_free(image, statement.name, statement.name_position)
        captured = self._session.settings.captured()
        entry = await self._session.in_worker(
            build_continuous_view, statement, image, captured, self._database.kernels_dir, self._database.upper
        )
        transaction.built.append(entry.view)
        for notice in entry.view.notices:
            self._session.notice("00000", notice)
        transaction.change_catalog(image.with_entry(entry))
        return Outcome("CREATE VIEW")

    async def _drop(self, statement: DropRelation, transaction: Transaction) -> Outcome:
        image = await self._own_image(transaction)
        changed, notices = drop(statement, image)
        for notice in notices:
            self._session.notice("00000", notice)
        transaction.change_catalog(changed)
        return Outcome("DROP FOREIGN TABLE" if statement.kind == "stream" else "DROP VIEW")

    # Session.

    def _set(self, statement: SetVariable, transaction: Transaction) -> Outcome:
        self._session.settings.set(statement.name, statement.value, statement.local)
        if statement.local and not self._in_block(transaction):
            what = "SET TRANSACTION" if statement.name == "transaction" else "SET LOCAL"
            self._session.notice("25P01", f"{what} can only be used in transaction blocks", "WARNING")
        return Outcome("RESET" if statement.text[:5].lower() == "reset" else "SET")

    def _in_block(self, transaction: Transaction) -> bool:
        return transaction.explicit or self.in_sequence

    def _show(self, statement: Show) -> Outcome:
        settings = self._session.settings
        if statement.name == "all":
            return text_outcome("SHOW", SHOW_ALL_COLUMNS, settings.show_all())
        return text_outcome("SHOW", [canonical_name(statement.name)], [[settings.show(statement.name)]])

    def _discard(self, statement: Discard, transaction: Transaction) -> Outcome:
        if statement.what == "all":
            if self._in_block(transaction):
                raise SqlError("25001", "DISCARD ALL cannot run inside a transaction block")
            self._session.deallocate(None)
            self._session.settings.reset_all()
        return Outcome(f"DISCARD {statement.what.upper()}")


def unknown_relation(name: str, position: int, image: CatalogImage) -> SqlError:
    """Return the 42P01 error, with a hint when a known name is close."""
    hint = did_you_mean(name, image.relation_names())
    return SqlError("42P01", f'relation "{name}" does not exist', hint=hint, position=position)


def _has_upper_part(entry: Entry | None) -> bool:
    return isinstance(entry, ViewEntry) and entry.view.plan.upper is not None
