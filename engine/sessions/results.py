"""The result of a statement, and the way of its rows to the client: whole, or portal slice by
portal slice.

Enters: an Arrow table with its SQL schema. Leaves: RowDescription, DataRow and CommandComplete
bytes. Rows are encoded once, in bulk, by the ring buffer's encoders; a row limit cuts the encoded
bytes at row ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import pyarrow as pa

from engine.execution.outcome import Outcome, encode, expand, row_description
from engine.scheduler.threads import Threads
from engine.sessions.session_registry import ClientConnection
from ringbuffer.encode.output_forms import Forms
from sql.settings.settings import Shown
from sql.wire import writer
from sql.wire.recoding import sent_rows

Result = TypeVar("Result")

# Rows are encoded and sent in batches of this many, with back-pressure between them.
BATCH_ROWS = 16_384
BATCH_BYTES = 4 * 1024 * 1024


def batch_rows(table: pa.Table, bytes_count: int) -> int:
    """Return how many rows to encode at once: few if they are wide, since others wait meanwhile."""
    rows_count: int = max(table.num_rows, 1)
    return max(1, min(BATCH_ROWS, BATCH_BYTES * rows_count // max(bytes_count, 1)))


async def at_once(work: Callable[..., Result], *arguments: Any) -> Result:
    """Do what takes so little that nobody notices."""
    return work(*arguments)


async def send_rows(
    connection: ClientConnection,
    outcome: Outcome,
    threads: Threads,
    shown: Shown,
    formats: Sequence[int] = (),
    row_limit: int = 0,
    described: bool = False,
) -> None:
    """Send the outcome: description (unless `described`), rows from where the last Execute stopped,
    and the end.

    Between batches it raises SqlError after a cancel. A statement that has written something is
    past that: it is committed, or will be.
    """
    if outcome.schema is None or outcome.table is None:
        if outcome.copying is not None:
            async for piece in outcome.copying:
                connection.write(piece)
                await connection.drain()
                threads.check_cancelled()
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
                threads.check_cancelled()
            if not await outcome.next_piece():
                break
            continue
        rows, bytes_count = outcome.table, outcome.table.nbytes
        count = min(left, batch_rows(rows, bytes_count), row_limit - sent if row_limit > 0 else BATCH_ROWS)
        if count < rows.num_rows:
            rows = rows.slice(outcome.sent, count)
            bytes_count = rows.nbytes
        # One row may have hundreds of megabytes.
        work = threads.in_thread if bytes_count > 2 * BATCH_BYTES else at_once
        data, _ = await work(encode, rows, outcome.schema, formats, Forms(*shown))
        if connection.encoding.converts:
            types = [column.type for column in outcome.schema]
            data = sent_rows(data, types, expand(formats, len(types)), connection.encoding)
        connection.write(data)
        outcome.sent += count
        sent += count
        if count < left:
            await connection.drain()
            if outcome.tag.startswith("SELECT"):
                threads.check_cancelled()
    if row_limit > 0 and sent == row_limit:
        connection.write(writer.PORTAL_SUSPENDED)
    else:
        connection.write(writer.command_complete(outcome.tag.replace("#", str(sent))))
