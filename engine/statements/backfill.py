"""CREATE VIEW ... WITH (backfill = ...): a new view counts rows that are there before those of its
stream; so do aggregates that CREATE OR REPLACE VIEW adds, alone.

Enters: the statement, and the entry of its view. Leaves: the states of the view with the groups of
these rows, which its stream pipeline has made of them as of inserted rows. The rows are those of
one snapshot of the tables, or of files of the server. What was written to the stream since then is
taken from the ring, the last of it while the view is committed, so that a transaction that has
written to both is counted once. Must not commit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from engine.catalog.image import CatalogImage, StreamEntry, TableEntry
from engine.execution.identity import Identity
from engine.execution.work import Work
from engine.ingest.file_rows import FileRows
from engine.ingest.insert import InsertTarget, make_target
from engine.statements.table_writes import settled
from engine.statements.write import MORSEL_ROWS, insert_target
from engine.streams.backfills import Progress
from engine.streams.row_errors import view_error
from engine.streams.stream import arrived, has_arrival
from ringbuffer.memory.arrow import morsel_from_arrow
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.error_codes import RowError
from ringbuffer.ring.ring import OverwrittenError
from sql.bind.queries.query import bind_query
from sql.bind.writes.insert import BoundInsert, bind_insert
from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError, not_supported
from sql.names.relation_keys import as_written, name_of, schema_of
from sql.parse.parse import parse
from sql.parse.statements.create_view import CreateView, is_file, is_query
from sql.parse.statements.insert import Insert
from sql.parse.statements.select import Select
from sql.tree.relations import BoundQuery
from sql.tree.walks import scans
from views.model.steps import pipeline_expressions
from views.model.trees import uses_now
from views.upkeep.chain import Chain
from views.upkeep.commit_buffers import is_large
from views.upkeep.export.state_values import zeroed
from views.upkeep.lifecycle import emptied_view

HINT = "The option is a table, a query over tables, or a .csv or .parquet file, with columns of the stream."


class TableRows:
    """The rows of a query over tables, as those of an INSERT into the stream.

    All of them are in memory.
    """

    def __init__(self, stream: StreamEntry, source: BoundInsert, work: Work) -> None:
        self._target = insert_target(stream, source, work)
        self._source = source
        self._work = work
        self._rows: pa.Table | None = None

    def count(self) -> int:
        """Run the query, and return how many rows there are."""
        transaction = self._work.transaction
        source = settled(self._source, (), transaction.now_us)
        assert isinstance(source, BoundInsert)
        rows = self._work.server.transactions.begin_tables(transaction).query(source.source, {})
        self._rows = rows
        return len(rows)

    def read(self) -> Iterator[Morsel]:
        """Yield the rows that were counted, as whole rows of the stream."""
        rows, target, work = self._rows, self._target, self._work
        assert rows is not None, "the query was run"
        for start in range(0, rows.num_rows, MORSEL_ROWS):
            piece = morsel_from_arrow(rows.slice(start, min(MORSEL_ROWS, rows.num_rows - start)), target.layout)
            yield target.rows(piece, work.transaction.now_us, work.settings.time_zone)


@dataclass
class Backfill:
    """A backfill of a new view.

    Attributes:
        source: where its rows are.
        position: how many tuples the stream had when the snapshot was taken; more are counted
            then.
    """

    stream: StreamEntry
    source: TableRows | FileRows
    work: Work
    progress: Progress
    position: int = 0

    def begin(self) -> None:
        """Take the snapshot of the rows. Raises 25001 where the transaction has one already."""
        transaction = self.work.transaction
        if transaction.tables is not None or transaction.operations:
            raise SqlError("25001", "CREATE VIEW WITH (backfill) cannot run inside a transaction block")

        def note() -> None:
            self.position = self.stream.stream.ring.tuples_count

        self.work.server.transactions.begin_tables(transaction, note=note)

    def fill(self, chains: Sequence[Chain]) -> None:
        """Let new states of the view begin with the rows. Raises SqlError, 57014 when cancelled."""
        self._read(chains)
        for chain in chains:
            chain.state.is_filled = True
        # One of them takes what is left for all.
        chains[0].state.completes = lambda: self._catch_up(chains)

    def fill_added(self, chains: Sequence[Chain]) -> None:
        """Let aggregates that were added to states count the rows, and no other aggregate. Raises
        as `fill`.
        """
        sides = [emptied_view(chain, chain.state_oid) for chain in chains]
        self._read(sides)
        for chain, side in zip(chains, sides, strict=True):
            chain.state.completes = partial(self._complete, chain, side, sides)

    def _complete(self, chain: Chain, side: Chain, sides: Sequence[Chain]) -> None:
        """Add what the added aggregates have counted in `side` to the groups that a state has
        inherited.
        """
        self._catch_up(sides)
        grouping = chain.state.program.grouping
        newest = max(slot.generation for slot in grouping.inputs)
        chain.state.groups.add(zeroed(table, grouping, newest) for table in side.state.groups.merged.tables)

    def _read(self, chains: Sequence[Chain]) -> None:
        """Count the rows in states that nobody reads yet."""
        for chain in chains:
            refuse_unlike(chain)
        work, running = self.work, self.work.server.transactions.backfills
        running.append(self.progress)
        try:
            self.progress.rows_total = self.source.count()
            self.progress.phase = "counting rows"
            for rows in self.source.read():
                work.threads.check_cancelled()
                now_us = work.transaction.now_us
                self._count(chains, rows if has_arrival(rows, self.stream.stream) else arrived(rows, now_us))
                self.progress.rows_done += rows.rows_count
            self.progress.phase = "catching up with the stream"
            self._catch_up(chains)
        finally:
            running.remove(self.progress)

    def _catch_up(self, chains: Sequence[Chain]) -> None:
        """Count the tuples that came since the snapshot."""
        ring = self.stream.stream.ring
        while self.position < (end := ring.tuples_count):
            try:
                rows = ring.read(self.position, min(end - self.position, MORSEL_ROWS))
            except OverwrittenError:
                raise SqlError(
                    "55000",
                    f'more tuples came into stream "{name_of(self.stream.description.name)}" '
                    "than it keeps while a view over it was backfilled",
                    hint="Give the stream a larger capacity, or the backfill fewer rows.",
                ) from None
            self._count(chains, rows)
            self.position += rows.rows_count
        for chain in chains:
            chain.state.groups.merge(chain.state.groups.swap())
            if chain.state.groups.watermark is not None:
                chain.state.groups.watermark.advance()

    def _count(self, chains: Sequence[Chain], rows: Morsel) -> None:
        for chain in chains:
            groups = chain.state.groups
            try:
                chain.state.apply(rows, self.work.transaction.now_us)
            except RowError as error:
                raise view_error(chain, error) from None
            if is_large(groups.buffer.local):
                groups.merge(groups.swap())
        require_caps(chains, self.work)


def require_caps(chains: Sequence[Chain], work: Work) -> None:
    """Raise 53200 where states of one view have more than its caps allow."""
    caps = chains[0].definition.caps
    counts = [chain.state.groups.counts for chain in chains]
    total = sum(one.groups + one.groups_waiting for one in counts)
    size = sum(chain.state.bytes_count for chain in chains)
    most = caps.bytes_max or work.server.config.view_bytes_max
    if 0 < caps.groups_max < total or 0 < most < size:
        message = f'view "{chains[0].definition.shown}" would have {total:,} groups of {size:,} bytes'
        detail = f"Its max_groups is {caps.groups_max:,}, and it may have {most:,} bytes; 0 is no limit."
        raise SqlError("53200", message, detail=detail)


def new_backfill(statement: CreateView, bound: BoundQuery, work: Work) -> Backfill:
    """Return the backfill of a new view, whose query is `bound`.

    Raises 42501 without the right to read its rows, and the errors of its query.
    """
    assert statement.backfill is not None
    work.require_alone("CREATE VIEW WITH (backfill)")
    entry = filled_stream(bound, work.image)
    progress = Progress(work.settings.captured().process_id, statement.name, entry.description.name)
    return Backfill(entry, rows_of(statement.backfill, entry, work), work, progress)


def filled_stream(bound: BoundQuery, image: CatalogImage) -> StreamEntry:
    """Return the stream of a view, whose rows those of a backfill are to be like. Raises 0A000."""
    found = [entry for scan in scans(bound.root) if isinstance(entry := image.entries.get(scan.name), StreamEntry)]
    if len({entry.description.name for entry in found}) != 1:
        raise not_supported("a backfill of a view that reads several streams")
    return found[0]


def rows_of(text: str, stream: StreamEntry, work: Work) -> TableRows | FileRows:
    """Return the rows that the option means. Raises 42501, and the errors of its query."""
    settings, now_us = work.settings, work.transaction.now_us
    if is_file(text):

        def target(names: Sequence[str]) -> InsertTarget:
            places = [(name, 0) for name in names]
            return make_target(stream, places, work.server.engines.tables, now_us, settings.time_zone)

        return FileRows(text, work.server.config, target, now_us, settings.time_zone, settings.input_styles)
    return TableRows(stream, bound_rows(text, stream, work.image, settings.captured(), work.identity), work)


def bound_rows(
    text: str, stream: StreamEntry, image: CatalogImage, settings: SessionSettings, identity: Identity
) -> BoundInsert:
    """Return the rows of a table or query as those of an INSERT into the columns of their names.

    Raises 42501, and the errors of the option, which are not of the statement's text.
    """
    try:
        return _bound(text, stream.description.name, image, settings, identity)
    except SqlError as error:
        error.position = None
        error.hint = error.hint or HINT
        raise


def _bound(text: str, stream: str, image: CatalogImage, settings: SessionSettings, identity: Identity) -> BoundInsert:
    statements = parse(text if is_query(text) else f"TABLE {text}")
    if len(statements) != 1 or not isinstance(statements[0], Select):
        raise SqlError("22023", f'invalid value for option "backfill": "{text}"')
    query = statements[0].query
    found = bind_query(query, image, settings)
    identity.require(image, found)
    for relation in sorted(found.relations):
        if not isinstance(image.entries.get(relation), TableEntry):
            raise not_supported(f'a backfill from a relation that is no table, as "{name_of(relation)}",', hint=HINT)
    names = tuple((column.name, 0) for column in found.root.schema)
    written = as_written((schema_of(stream), name_of(stream)))
    return bind_insert(Insert(text, written, 0, names, (), query), image, settings)


def refuse_unlike(chain: Chain) -> None:
    """Raise 0A000 for a view for which rows that are there are unlike those that are inserted."""
    if chain.joins_at_arrival:
        raise not_supported("a backfill of a view that joins tables as they are at the arrival of rows")
    if any(map(uses_now, pipeline_expressions(chain.plan.maintained))):
        raise not_supported("a backfill of a view that asks for the time at which rows are inserted")
