"""The rows of an answer until its client has them: in memory at first, and in a file from a certain
size on.

Enters: DuckDB's batches, as they are computed. Leaves: one Arrow table, whose columns lie in memory
or, not read before they are needed, in a file that has no name any more and goes with the table,
however slow the client is. Raises 53200 for more than an answer may have, 53100 and 58030 where the
disk fails.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from engine.storage.errors import disk_error
from sql.errors import SqlError

RESULT_BYTES_MAX = 1 << 31
RESULT_MEMORY_BYTES = 1 << 26


@dataclass(frozen=True, slots=True)
class ResultLimits:
    """The limits of one answer: in memory, and in all.

    Attributes:
        folder: for the file of rows beyond the memory; None: there is no file.
    """

    memory_bytes_max: int = RESULT_MEMORY_BYTES
    bytes_max: int = RESULT_BYTES_MAX
    folder: Path | None = None


DEFAULT_LIMITS = ResultLimits()


def collected(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, limits: ResultLimits, form: Callable[[pa.Table], pa.Table]
) -> pa.Table:
    """Return the rows of all batches.

    form: gives each batch the types of the answer. Raises SqlError, and the errors of `batches`.
    """
    kept: list[pa.RecordBatch] = []
    bytes_count = 0
    with ExitStack() as stack:
        file: ResultFile | None = None
        for batch in batches:
            bytes_count += batch.nbytes
            if bytes_count > limits.bytes_max:
                raise too_large(limits.bytes_max)
            kept.append(batch)
            if limits.folder is not None and bytes_count > limits.memory_bytes_max:
                rows = form(pa.Table.from_batches(kept, schema))
                kept.clear()
                if file is None:
                    file = stack.enter_context(ResultFile(limits.folder, rows.schema))
                file.write(rows)
        rest = form(pa.Table.from_batches(kept, schema))
        return rest if file is None else file.table(rest)


def in_file(rows: pa.Table, limits: ResultLimits) -> pa.Table:
    """Return rows as they are in a file; without a folder they stay in memory. Raises SqlError."""
    if limits.folder is None:
        return rows
    with ResultFile(limits.folder, rows.schema) as file:
        return file.table(rows)


class ResultFile:
    """A file of rows that are read from their place in the file."""

    def __init__(self, folder: Path, schema: pa.Schema) -> None:
        """Make the file. Raises SqlError."""
        try:
            descriptor, self._name = tempfile.mkstemp(prefix="answer-", dir=folder)
            os.close(descriptor)
            self._sink = pa.OSFile(self._name, "wb")
        except OSError as error:
            raise disk_error(error, "make a file for an answer") from None
        self._writer = pa.ipc.new_stream(self._sink, schema)

    def write(self, rows: pa.Table) -> None:
        """Append rows. Raises SqlError."""
        try:
            self._writer.write_table(rows)
        except OSError as error:
            raise disk_error(error, "write the rows of an answer") from None

    def table(self, rest: pa.Table) -> pa.Table:
        """Return all rows that were written, and the rest. Raises SqlError."""
        self.write(rest)
        try:
            self._writer.close()
            self._sink.close()
            with pa.memory_map(self._name) as source, pa.ipc.open_stream(source) as reader:
                return reader.read_all()
        except OSError as error:
            raise disk_error(error, "read the rows of an answer") from None

    def __enter__(self) -> ResultFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._sink.close()
        os.unlink(self._name)


def too_large(bytes_max: int) -> SqlError:
    """Return the error of an answer that is not collected to its end."""
    hint = "Ask for fewer rows with WHERE, LIMIT or GROUP BY, or raise result_bytes_max."
    return SqlError("53200", "the answer is too large", detail=f"It has more than {bytes_max:,} bytes.", hint=hint)
