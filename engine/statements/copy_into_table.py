"""COPY table FROM STDIN: bytes of any size in, checked rows in the transaction out.

Enters: CopyData payloads. Kernels decode the columns whose types have kernels; the others arrive as
texts and are read by column. Nothing is published before the transaction commits. Must not write to
the socket.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from engine.catalog.image import TableEntry
from engine.ingest.copy_arrow import ArrowDecoder
from engine.ingest.copy_decoders import Decoder, field_fallback, make_decoder
from engine.ingest.copy_lines import read_by_line
from engine.ingest.field_readers import ColumnError, FieldReader, arriving_layout, has_kernel
from engine.ingest.received_copy import ReceivedCopy
from engine.statements.table_writes import TableWriter
from engine.streams.failing_rows import FailingRowError
from ringbuffer.decode.copy_binary import BinaryDecoder
from ringbuffer.memory.arrow import morsel_to_arrow
from ringbuffer.memory.columns import Layout, Morsel, PhysicalType
from ringbuffer.memory.error_codes import RowError
from sql.bind.readers import with_zone
from sql.bind.substitute import substitute_now
from sql.bind.writes.write_target import ROWS, columns_schema, listed_columns, stored
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.errors import not_supported
from sql.parse.statements.copy import CopyFrom
from sql.times.input_styles import InputStyles
from sql.tree.expressions import Column, Expression, Literal
from sql.tree.relations import OutputColumn, Project, Relation, Scan

# DuckDB's row groups are of this size: smaller pieces would be written one by one.
INSERTED_ROWS_MIN = 122_880


@dataclass(frozen=True)
class CopyTarget:
    """A table and the columns that the lines give.

    Attributes:
        layout: the columns that the decoder makes: texts where there is no kernel.
        whole: whole rows of the table over the given columns; None where the lines give just that.
        kept: tells whether a whole row is for the table.
    """

    entry: TableEntry
    targets: tuple[int, ...]
    layout: Layout
    whole: Relation | None
    kept: Relation | None

    @property
    def columns(self) -> tuple[ColumnDescription, ...]:
        """The columns of a line."""
        return tuple(self.entry.description.columns[index] for index in self.targets)


def copy_target(
    entry: TableEntry, names: Sequence[tuple[str, int]] | None, where: Expression | None = None
) -> CopyTarget:
    """Return the target of a column list and WHERE.

    Raises 42703 and 42701 with the name's position.
    """
    relation = entry.description
    if not relation.columns:
        raise not_supported("COPY into a table without columns")
    targets = listed_columns(relation, names)
    # NULLs are refused later, with the whole row in DETAIL.
    layout = tuple(replace(arriving_layout(relation.columns[index]), not_null=False) for index in targets)
    kept = None if where is None else Project(Scan(ROWS, "rows", columns_schema(relation)), (("kept", where),))
    return CopyTarget(entry, targets, layout, _whole_rows(relation, targets), kept)


class CopyIntoTable(ReceivedCopy):
    """One COPY into a table under way.

    Attributes:
        open_writer: gives the writer, on a worker thread.
    """

    def __init__(
        self,
        target: CopyTarget,
        statement: CopyFrom,
        open_writer: Callable[[], TableWriter],
        time_zone: str,
        styles: InputStyles,
        block_bytes: int,
        oid: Callable[[str, str], int],
    ) -> None:
        name = target.entry.description.name
        super().__init__(name, target.columns, statement.options, time_zone, styles, block_bytes)
        self._target = target
        self._open_writer = open_writer
        self._reader = FieldReader(time_zone, styles, oid)
        self._pending_rows: list[pa.Table] = []
        self._pending_count = 0
        self._writer: TableWriter | None = None
        self._decoder = self._new_decoder(self._options.header)

    def decode(self) -> bool:
        """Decode, check and insert a block; return whether another one waits.

        Raises SqlError. Runs on a worker thread.
        """
        self._decode(is_end=False)
        return self._blocks.is_full

    def finish(self) -> None:
        """Decode the last bytes and insert all rows. Raises SqlError."""
        self._decode(is_end=True)
        self._insert()
        table = self._table_writer()
        table.transaction.references.check(table.now_us)

    def _decode(self, is_end: bool) -> None:
        if self._dropped.is_set():
            return
        data, carried, lines_before = self._taken(is_end)
        start = 0
        for morsel in self._morsels(data, is_end):
            if self._dropped.is_set():
                return
            try:
                self._add(morsel_to_arrow(morsel, self._target.layout))
            except (FailingRowError, ColumnError) as failure:
                line, text = self._line(b"".join((carried, *data)), lines_before, start + failure.row)
                raise self._placed(failure, line, text if self._has_lines else None) from None
            start += morsel.rows_count

    def _morsels(self, data: Sequence[bytes | memoryview], is_end: bool) -> Iterator[Morsel]:
        """Yield the rows of `data`. Raises SqlError at the first line that is no row."""
        try:
            yield from self._decoder.feed(*data)
            if is_end:
                yield from self._decoder.finish()
        except RowError as error:
            raise self._unread(error) from None

    def _add(self, given: pa.Table) -> None:
        """Check rows and keep them until they are enough to be inserted."""
        arrays = []
        for column, layout, values in zip(self._target.columns, self._target.layout, given.columns, strict=True):
            array = values.combine_chunks()
            if not has_kernel(column.type):
                assert layout.physical == PhysicalType.TEXT, layout
                array = self._reader.column(column, array, self._is_binary)
            arrays.append(array)
        rows = pa.Table.from_arrays(arrays, names=[column.name for column in self._target.columns])
        table = self._table_writer()
        if self._target.whole is not None:
            whole = with_zone(substitute_now(self._target.whole, table.now_us), self._time_zone)
            rows = table.transaction.query(whole, {ROWS: rows})
            rows = rows.rename_columns([column.name for column in table.entry.description.columns])
        rows = self._checked(table, rows)
        self._pending_rows.append(rows)
        self._pending_count += rows.num_rows
        self.rows_count += rows.num_rows
        if self._pending_count >= INSERTED_ROWS_MIN:
            self._insert()

    def _checked(self, table: TableWriter, rows: pa.Table) -> pa.Table:
        """Return the rows that WHERE keeps. Raises the error of the first bad row among them."""
        if self._target.kept is None:
            table.check(rows, self._target.targets)
            return rows
        kept = table.transaction.query(substitute_now(self._target.kept, table.now_us), {ROWS: rows}).column(0)
        rows = rows.filter(kept)
        try:
            table.check(rows, self._target.targets)
        except FailingRowError as failure:
            failure.row = pc.indices_nonzero(kept)[failure.row].as_py()
            raise
        return rows

    def _insert(self) -> None:
        rows, self._pending_rows, self._pending_count = self._pending_rows, [], 0
        table = self._table_writer()
        if rows:
            table.transaction.insert(table.entry, pa.concat_tables(rows))

    def _table_writer(self) -> TableWriter:
        if self._writer is None:
            self._writer = self._open_writer()
        return self._writer

    def _new_decoder(self, header: bool) -> Decoder:
        target = self._target
        fallback = field_fallback(target.columns, self._time_zone, self._styles)
        options = replace(self._options, header=header)
        return make_decoder(target.entry.description, target.layout, fallback, options, self._time_zone)

    def _line(self, data: bytes, lines_before: int, row: int) -> tuple[int, str]:
        """Return number and text of the line of a row of `data`, which is decoded again line by
        line: only errors come here.
        """
        if not self._has_lines:
            return lines_before + row + 1, ""
        header = self._options.header and lines_before == 0
        decoder = self._new_decoder(header)
        assert not isinstance(decoder, BinaryDecoder | ArrowDecoder)
        for number, text, _ in read_by_line(decoder, data, header):
            if decoder.rows_count > row:
                return lines_before + number, text
        raise AssertionError("the row was decoded before")


def _whole_rows(relation: RelationDescription, targets: Sequence[int]) -> Relation | None:
    """Return all columns of the table over the given rows, with defaults for the rest."""
    if list(targets) == list(range(len(relation.columns))):
        return None
    schema = tuple(OutputColumn(relation.columns[index].name, relation.columns[index].type) for index in targets)
    items: list[tuple[str, Expression]] = []
    for index, column in enumerate(relation.columns):
        if index in targets:
            items.append((column.name, Column(targets.index(index), column.name, column.type)))
        else:
            default = Literal(None, column.type) if column.default is None else column.default
            items.append((column.name, stored(default, column)))
    return Project(Scan(ROWS, "rows", schema), tuple(items))
