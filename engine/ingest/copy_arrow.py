"""COPY ... (FORMAT arrow): an Arrow stream to morsels; its fields are the columns by their names.

Enters: bytes cut anywhere. Leaves: morsels of at most 65,536 rows as `decoders` of the other
formats give them, or PostgreSQL's error of the first bad value, with its row. Nothing is done per
row. Must not know streams or tables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import pyarrow as pa

from engine.ingest.arrow_columns import Convert, conversion
from engine.ingest.arrow_messages import BAD_FORMAT
from engine.ingest.arrow_stream import ArrowStream, Field
from engine.streams.row_errors import within
from engine.tables.arrow_values import FieldError
from ringbuffer.memory.arrow import morsel_from_arrow
from ringbuffer.memory.columns import Layout, Morsel
from ringbuffer.memory.row_block import MORSEL_ROWS_MAX
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from sql.names.suggestions import did_you_mean


class ArrowDecoder:
    """A decoder that takes bytes of an Arrow stream and returns morsels.

    Attributes:
        rows_count: rows of all morsels so far.

    Arguments:
        relation: the name, for errors.
        columns: of the COPY, in the order of `layout`.
    """

    pending_bytes = memoryview(b"")

    def __init__(self, relation: str, columns: Sequence[ColumnDescription], layout: Layout) -> None:
        self.rows_count = 0
        self._relation = relation
        self._columns = columns
        self._layout = layout
        self._stream = ArrowStream(self._match)
        # By column: the place of its field, and how its arrays are converted.
        self._fields: list[tuple[int, Convert]] = []

    @property
    def lines_count(self) -> int:
        """How many rows have become rows of morsels."""
        return self.rows_count

    def keeps(self, bytes_count: int) -> bool:
        """Tell that nobody needs the bytes again: errors have their places."""
        return True

    def feed(self, *pieces: bytes | bytearray | memoryview) -> Iterator[Morsel]:
        """Take some bytes and yield the rows of the batches that are complete, one morsel after the
        other: a few bytes may be many rows. Raises SqlError.
        """
        for batch in chain.from_iterable(map(self._stream.feed, pieces)):
            for start in range(0, batch.num_rows, MORSEL_ROWS_MAX):
                yield self._morsel(batch.slice(start, MORSEL_ROWS_MAX))

    def finish(self) -> list[Morsel]:
        """Return nothing. Raises 22P04 for a stream that is cut off."""
        if not self._stream.is_at_end:
            raise SqlError(BAD_FORMAT, "unexpected end of the Arrow stream")
        return []

    def _match(self, fields: list[Field]) -> None:
        """Find the field of each column. Raises 22P04 and 42804."""
        known = [column.name for column in self._columns]
        names = [name for name, _, _ in fields]
        for name in names:
            if name not in known or names.count(name) > 1:
                problem = "is there twice" if name in known else "is no column of the COPY"
                hint = (
                    did_you_mean(name, known, "the column") or "Name the columns: COPY relation (column, ...) FROM ..."
                )
                raise SqlError(BAD_FORMAT, f'Arrow field "{name}" {problem}', hint=hint)
        for column, layout in zip(self._columns, self._layout, strict=True):
            if column.name not in names:
                hint = "Name the columns that the data have: COPY relation (column, ...) FROM ..."
                raise SqlError(BAD_FORMAT, f'missing Arrow field for column "{column.name}"', hint=hint)
            place = names.index(column.name)
            _, given, shown = fields[place]
            convert = conversion(column, layout, given)
            if convert is None:
                raise SqlError(
                    "42804",
                    f'column "{column.name}" is of type {column.type.sql_name} but the Arrow field is of type {shown}',
                    hint="Cast the field before you send it.",
                )
            self._fields.append((place, convert))

    def _morsel(self, batch: pa.RecordBatch) -> Morsel:
        arrays = []
        for column, (place, convert) in zip(self._columns, self._fields, strict=True):
            try:
                arrays.append(convert(batch.column(place)))
            except FieldError as found:
                line = self.rows_count + found.index + 1
                shown = f"COPY {self._relation}, line {line}, column {column.name}"
                shown += f': "{found.text}"' if found.text else ""
                found.error.context = within(found.error, shown)
                raise found.error from None
        table = pa.Table.from_arrays(arrays, names=[column.name for column in self._columns])
        self.rows_count += batch.num_rows
        return morsel_from_arrow(table, self._layout)
