"""The outputs of views: what each version that a schedule makes has changed, as rows of a stream.

Enters: a view that is due. Leaves: one commit, which has the changes in the view's stream and its
rows in a table beside it, so that a crash leaves both or none: the sum of all changes is always
what the table has. Must not know schedules.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from engine.catalog.image import CatalogImage, StreamEntry, TableEntry, ViewEntry
from engine.commit.committer import Committer
from engine.commit.staging import StatementStage
from engine.commit.transaction import Transaction
from engine.commit.transactions import Transactions
from engine.execution.reading import Reading, StatementReader
from engine.ingest.insert import make_target
from engine.scans.answer_cache import KeptAnswer
from engine.scans.engines import QueryEngines
from engine.scans.scans import ScanSettings
from engine.scans.view_versions import changed_rows, told_changes
from engine.tables.sequence_functions import SequenceSession
from ringbuffer.memory.arrow import morsel_from_arrow
from sql.bind.queries.view_versions import VERSION, view_keys
from sql.bind.writes.write_target import stored
from sql.names.relation_keys import emitted_key, output_key
from sql.tree.expressions import Column
from sql.tree.relations import ROW_ID, BoundQuery, OutputColumn, Scan, Schema, project
from views.model.arrow_schema import arrow_schema
from views.upkeep.refresh import Reader

MORSEL_ROWS = 65_536
ZONE = "UTC"


class ViewOutputs:
    """The outputs of one server's views. One thread at a time is at work on a view."""

    def __init__(self, engines: QueryEngines, transactions: Transactions, committer: Committer) -> None:
        self._engines = engines
        self._transactions = transactions
        self._committer = committer
        self._sequences = SequenceSession()
        # By the oid of the view: what the version rests on of which all is told.
        self._told: dict[int, KeptAnswer | None] = {}
        self._newest = 0

    def emit(self, view: ViewEntry, image: CatalogImage, reader: Reader) -> None:
        """Make a version of a view that has an output, and commit what it changes.

        Raises SqlError.
        """
        oid, told = view.description.oid, self._told.get(view.description.oid)
        if told is not None and told.holds(image):
            return
        for gone in [one for one in self._told if image.by_oid(one) is None]:
            del self._told[gone]
        transaction = self._transactions.begin()
        emission = Emission(self._engines, self._transactions, transaction, view, image, reader, self._sequences)
        try:
            reading = emission.read()
            if reading is None or reading.outcome.table is None:
                return
            self._newest = max(self._newest + 1, self._engines.clock.now_us(), self._committer.log.newest_us)
            if emission.write(reading.outcome.table, self._newest):
                self._committer.commit(transaction)
            self._told[oid] = reading.rests_on(image)
        finally:
            transaction.drop()


class Emission:
    """One commit of the changes of a view."""

    def __init__(
        self,
        engines: QueryEngines,
        transactions: Transactions,
        transaction: Transaction,
        view: ViewEntry,
        image: CatalogImage,
        reader: Reader,
        sequences: SequenceSession,
    ) -> None:
        self._engines = engines
        self._transactions = transactions
        self._transaction = transaction
        self._image = image
        self._reader = reader
        self._view = view.description
        self._sequences = sequences
        stream, table = (image.entries[key(view.description.oid)] for key in (output_key, emitted_key))
        assert isinstance(stream, StreamEntry) and isinstance(table, TableEntry), view
        self._stream, self._table = stream, table

    def read(self) -> Reading | None:
        """Return the rows of the view, None where definitions change meanwhile."""
        view, now_us = self._view, self._transaction.now_us
        root = Scan(view.name, "view", tuple(OutputColumn(one.name, one.type) for one in view.columns))
        bound = view.query or BoundQuery(root, (), frozenset({view.name}), stable=False)
        scanning = ScanSettings(from_newest=False, timeout_s=0.0, bytes_max=0, now_us=now_us)
        reader = StatementReader(
            self._engines, self._transactions, self._transaction, self._image, self._reader, scanning, self._sequences
        )
        return reader.read(bound, ())

    def write(self, rows: pa.Table, version: int) -> bool:
        """Stage what has changed, and keep what is told of; return whether that is anything."""
        tables = self._transactions.begin_tables(self._transaction)
        name, schema = self._table.description.name, self._kept_schema
        after = self._as_kept(rows, schema)
        found = tables.query_plain(Scan(name, "table", (*schema, ROW_ID)), {})
        before, numbers = found.select(range(len(schema))), found.column(len(schema))
        keys, token = view_keys(self._view, self._image), self._reader.token
        old, new = changed_rows(self._engines.tables, schema, keys, before, after, token)
        self._reader.check()
        if len(old):
            told = told_changes(schema, keys, before, after, old, new)
            versions = pa.array([version] * len(old), pa.int64())
            self._stage(pa.Table.from_arrays([*told.columns, versions], names=[*told.column_names, VERSION.name]))
            tables.delete(self._table, pa.table([numbers.take(pc.drop_null(old))], names=["number"]))
            tables.insert(self._table, after.take(pc.drop_null(new)))
        return len(old) > 0

    @property
    def _kept_schema(self) -> Schema:
        """The columns of the table of what is told of."""
        return tuple(OutputColumn(one.name, one.type) for one in self._table.description.columns)

    def _as_kept(self, rows: pa.Table, schema: Schema) -> pa.Table:
        """Return rows of the view in the columns of its table."""
        named = pa.Table.from_arrays(rows.columns, names=[one.name for one in schema])
        scan = Scan(
            "rows",
            "rows",
            tuple(OutputColumn(one.name, was.type) for one, was in zip(schema, self._view.columns, strict=True)),
        )
        items = tuple(
            (column.name, stored(Column(place, column.name, scan.schema[place].type), column))
            for place, column in enumerate(self._table.description.columns)
        )
        root = project(scan, items)
        if root is not scan:
            named = self._engines.tables.run(root, {scan.name: named}, self._reader.token)
        return named.cast(arrow_schema(schema))

    def _stage(self, rows: pa.Table) -> None:
        """Let rows go into the stream with the transaction."""
        now_us = self._transaction.now_us
        target = make_target(self._stream, None, self._engines.tables, now_us, ZONE)
        stage: StatementStage = self._transactions.stage(self._stream, self._image, now_us)
        self._transaction.operations.append(stage)
        for start in range(0, rows.num_rows, MORSEL_ROWS):
            self._reader.check()
            piece = morsel_from_arrow(rows.slice(start, MORSEL_ROWS), target.layout)
            stage.add(target.rows(piece, now_us, ZONE))
