"""The outcome of a finished statement: its tag, and its rows, whole or piece by piece."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.rows import encode_data_rows
from sql.errors import SqlError
from sql.tree.relations import OutputColumn, Schema
from sql.types.datatypes import TEXT, SqlType
from sql.wire import writer
from views.model.arrow_schema import encoded_family


@dataclass
class Outcome:
    """A finished statement.

    Attributes:
        tag: of CommandComplete; '#' in it stands for the number of rows sent.
        schema: None for a statement without rows.
        sent: rows of `table` that the client has got already (a portal with a row limit).
        more: returns the rows after those of `table`, None at their end; the statement goes on
            until then.
        copying: messages of COPY TO that are made while they are sent; `sent` counts their rows.
        formats: of a simple Query's answer, as a binary cursor has it.
        passed: rows that were sent and are not in `table` any more.
        is_in_file: the rows of `table` are in a file, and in memory only while they are read.
        notices: for the client, before the rest.
        within: of rows that go on for ever, returns those that come within so many seconds; None:
            as long as it takes.
    """

    tag: str
    schema: Schema | None = None
    table: pa.Table | None = None
    sent: int = 0
    more: Callable[[], Awaitable[pa.Table | None]] | None = None
    copying: AsyncIterator[bytes] | None = None
    formats: Sequence[int] = ()
    passed: int = 0
    is_in_file: bool = False
    notices: Sequence[SqlError] = ()
    within: Callable[[float | None], Awaitable[pa.Table]] | None = None

    @property
    def position(self) -> int:
        """The number of rows that the client has got or passed."""
        return self.passed + self.sent

    @property
    def is_whole(self) -> bool:
        """Tell whether all rows are in `table`, so that a cursor may go back."""
        return self.more is None and not self.passed

    def let_go(self) -> None:
        """Forget the rows that were sent."""
        assert self.table is not None
        self.passed += self.sent
        self.table, self.sent = self.table.slice(self.sent), 0

    @property
    def goes_on(self) -> bool:
        """Tell whether rows are still to be made."""
        return self.more is not None or self.copying is not None

    async def next_piece(self) -> bool:
        """Let `table` be the next rows; False when there are none. Raises SqlError."""
        if self.more is None:
            return False
        piece = await self.more()
        if piece is None:
            self.more = None
            return False
        self.passed += self.sent
        self.table, self.sent, self.is_in_file = piece, 0, False
        return True


# Of a portal without a name whose rows were all sent at once: the next Execute finds none.
AT_END = Outcome("SELECT 0")


def text_outcome(tag: str, names: Sequence[str], rows: Sequence[Sequence[str | None]], kind: SqlType = TEXT) -> Outcome:
    """Return an outcome of columns of text, or of a type like it, as SHOW and EXPLAIN give them."""
    schema = tuple(OutputColumn(name, kind) for name in names)
    columns = [pa.array([row[index] for row in rows], pa.string()) for index in range(len(names))]
    return Outcome(tag, schema, pa.Table.from_arrays(columns, names=list(names)))


def row_description(schema: Schema, formats: Sequence[int]) -> bytes:
    """Return the RowDescription of `schema`; formats as in Bind (none, one, or one per column)."""
    codes = expand(formats, len(schema))
    return writer.row_description(
        [(column.name, column.type, code, column.origin) for column, code in zip(schema, codes, strict=True)]
    )


def expand(formats: Sequence[int], columns_count: int) -> Sequence[int]:
    """Return one format code per column from Bind's short forms."""
    if len(formats) == columns_count:
        return formats
    return [formats[0] if formats else 0] * columns_count


def encode(
    table: pa.Table, schema: Schema, formats: Sequence[int], forms: Forms
) -> tuple[bytes, npt.NDArray[np.int64]]:
    """Return all rows as DataRow messages, and the end offset of each."""
    families = [encoded_family(column.type) for column in schema]
    return encode_data_rows(table.columns, families, list(expand(formats, len(schema))), forms, table.num_rows)
