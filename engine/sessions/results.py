"""What a statement yields, and how its rows reach the client: whole, or portal slice by portal slice.

Enters: an Arrow table with its SQL schema. Leaves: RowDescription, DataRow and CommandComplete bytes. Rows are encoded once, in bulk,
by the ring buffer's encoders; a row limit cuts the encoded bytes at row ends.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from engine.neighbours import ClientConnection
from ringbuffer.encode_rows import encode_data_rows
from ringbuffer.output_forms import Forms
from sql.datatypes import TEXT, SqlType
from sql.relations import OutputColumn, Schema
from sql.settings import Shown
from sql.wire import writer
from sql.wire.recoding import sent_rows
from views.arrow_schema import encoded_family

# Rows are encoded and sent in batches of this many, with back-pressure between them.
BATCH_ROWS = 16_384
BATCH_BYTES = 4 * 1024 * 1024


@dataclass
class Outcome:
    """A finished statement. tag: of CommandComplete; '#' in it stands for the rows sent.

    schema None: no rows. sent: rows of `table` that the client has got already (a portal with a row limit).
    more: returns the rows behind those of `table`, None at their end; the statement goes on until then.
    copying: messages of COPY TO that are made while they are sent; `sent` counts their rows.
    formats: of a simple Query's answer, as a binary cursor has it. passed: rows that were sent and are not in `table` any more.
    """

    tag: str
    schema: Schema | None = None
    table: pa.Table | None = None
    sent: int = 0
    more: Callable[[], Awaitable[pa.Table | None]] | None = None
    copying: AsyncIterator[bytes] | None = None
    formats: Sequence[int] = ()
    passed: int = 0

    @property
    def position(self) -> int:
        """How many rows the client has got or gone past."""
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
        self.table, self.sent = piece, 0
        return True


def text_outcome(tag: str, names: Sequence[str], rows: Sequence[Sequence[str | None]], kind: SqlType = TEXT) -> Outcome:
    """Return an outcome of columns of text, or of what looks like it, as SHOW and EXPLAIN give them."""
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


def batch_rows(table: pa.Table) -> int:
    """Return how many rows to encode at once: few of wide ones, since others wait meanwhile."""
    bytes_count: int = max(table.nbytes, 1)
    rows_count: int = max(table.num_rows, 1)
    return max(1, min(BATCH_ROWS, BATCH_BYTES * rows_count // bytes_count))


async def send_rows(
    connection: ClientConnection,
    outcome: Outcome,
    check_cancelled: Callable[[], None],
    shown: Shown,
    formats: Sequence[int] = (),
    row_limit: int = 0,
    described: bool = False,
) -> None:
    """Send the outcome: description (unless `described`), rows from where the last Execute stopped, and how it ended.

    check_cancelled: asked between batches; it raises SqlError. What has written something is past that: it is committed, or will be.
    """
    if outcome.schema is None or outcome.table is None:
        if outcome.copying is not None:
            async for piece in outcome.copying:
                connection.write(piece)
                await connection.drain()
                check_cancelled()
        connection.write(writer.command_complete(outcome.tag.replace("#", str(outcome.sent))))
        return
    if not described:
        connection.write(row_description(outcome.schema, formats))
    sent = 0
    while row_limit <= 0 or sent < row_limit:
        left = outcome.table.num_rows - outcome.sent
        if left == 0:
            if outcome.more is not None:
                await connection.drain()
                check_cancelled()
            if not await outcome.next_piece():
                break
            continue
        count = min(left, batch_rows(outcome.table), row_limit - sent if row_limit > 0 else BATCH_ROWS)
        data, _ = encode(outcome.table.slice(outcome.sent, count), outcome.schema, formats, Forms(*shown))
        if connection.encoding.converts:
            types = [column.type for column in outcome.schema]
            data = sent_rows(data, types, expand(formats, len(types)), connection.encoding)
        connection.write(data)
        outcome.sent += count
        sent += count
        if count < left:
            await connection.drain()
            if outcome.tag.startswith("SELECT"):
                check_cancelled()
    if row_limit > 0 and sent == row_limit:
        connection.write(writer.PORTAL_SUSPENDED)
    else:
        connection.write(writer.command_complete(outcome.tag.replace("#", str(sent))))
