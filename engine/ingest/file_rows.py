"""Rows of files of the server, Parquet or CSV, as whole rows of a stream.

Enters: the name of a file below `copy_directory`; * in its last step stands for any text. Leaves:
rows as COPY makes them, with its errors, which tell the file and the row. The columns are found by
name: the first line of a CSV file has them. A field of a Parquet file becomes a column as that of
COPY ... (FORMAT arrow) does. Must not stage rows.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa
import pyarrow.ipc

from engine.ingest.arrow_messages import BAD_FORMAT
from engine.ingest.copy_header import LINE_BYTES_MAX, LINE_END, csv_fields
from engine.ingest.insert import InsertTarget
from engine.ingest.server_files import files_named, open_to_read
from engine.ingest.stream_copy import StreamCopy
from engine.settings.config import ServerConfig
from engine.storage.errors import disk_error
from engine.streams.row_errors import within
from ringbuffer.memory.columns import Morsel
from ringbuffer.memory.row_block import MORSEL_ROWS_MAX
from sql.errors import SqlError
from sql.parse.statements.parts import CopyOptions
from sql.times.input_styles import InputStyles

CSV = CopyOptions(format="csv", delimiter=",", null="", header=True)
ARROW = CopyOptions(format="arrow")
# So many bytes of the columns are read of a Parquet file at once.
BATCH_BYTES = 1 << 26
HINT = "All columns of the file have to be columns of the stream."

Target = Callable[[Sequence[str]], InsertTarget]


class FileCopy(StreamCopy):
    """The COPY of one file."""

    def __init__(
        self, target: InsertTarget, options: CopyOptions, now_us: int, time_zone: str, styles: InputStyles
    ) -> None:
        super().__init__(target, options, now_us, time_zone, styles, block_bytes=1)
        self._made: list[Morsel] = []

    def _take_rows(self, rows: Morsel) -> None:
        self._made.append(rows)

    def rows(self, pieces: Iterator[bytes | memoryview]) -> Iterator[Morsel]:
        """Yield the rows of the contents of a file. Raises SqlError."""
        for piece in pieces:
            self.take(piece)
            self._decode(False)
            yield from self._made
            self._made.clear()
        self._decode(True)
        yield from self._made


@dataclass(frozen=True)
class FileRows:
    """The rows of files.

    Attributes:
        name: as it was written.
        target: returns the target of columns. Raises 42703 and 42701.
    """

    name: str
    config: ServerConfig
    target: Target
    now_us: int
    time_zone: str
    styles: InputStyles

    def count(self) -> int | None:
        """Return how many rows there are, None where only reading tells."""
        if not is_parquet(self.name):
            return None
        return sum(self._in_file(file, lambda opened: parquet_file(opened).metadata.num_rows) for file in self._files())

    def read(self) -> Iterator[Morsel]:
        """Yield the rows. Raises SqlError."""
        for name in self._files():
            try:
                with open_to_read(self.config.copy_directory, name) as file:
                    yield from self._parquet(file) if is_parquet(name) else self._csv(file)
            except (SqlError, OSError, pa.ArrowException) as error:
                raise self._failure(error, name) from None

    def _files(self) -> list[str]:
        return files_named(self.config.copy_directory, self.name)

    def _in_file(self, name: str, ask: Callable[[BinaryIO], int]) -> int:
        try:
            with open_to_read(self.config.copy_directory, name) as file:
                return ask(file)
        except (SqlError, OSError, pa.ArrowException) as error:
            raise self._failure(error, name) from None

    def _copy(self, names: Sequence[str], options: CopyOptions) -> FileCopy:
        try:
            target = self.target(names)
        except SqlError as error:
            error.position, error.hint = None, error.hint or HINT
            raise
        return FileCopy(target, options, self.now_us, self.time_zone, self.styles)

    def _csv(self, file: BinaryIO) -> Iterator[Morsel]:
        head = file.readline(LINE_BYTES_MAX + 1)
        if len(head) > LINE_BYTES_MAX:
            raise SqlError("54000", "the header line is too long")
        if not head:
            raise SqlError(BAD_FORMAT, "a CSV file has the names of its columns in its first line")
        line = LINE_END.split(head, 1)[0].decode("utf-8-sig", errors="replace")
        names = [field or "" for field in csv_fields(line, CSV)]
        file.seek(0)
        blocks = iter(lambda: file.read(self.config.copy_block_bytes), b"")
        yield from self._copy(names, CSV).rows(blocks)

    def _parquet(self, file: BinaryIO) -> Iterator[Morsel]:
        source = parquet_file(file)
        yield from self._copy(source.schema_arrow.names, ARROW).rows(arrow_stream(source))

    def _failure(self, error: SqlError | OSError | pa.ArrowException, name: str) -> SqlError:
        if isinstance(error, SqlError):
            error.context = within(error, f'file "{name}"')
            return error
        if isinstance(error, OSError) and error.errno is not None:
            return disk_error(error, f'read from file "{name}"')
        return SqlError(BAD_FORMAT, f'could not read file "{name}" as Parquet: {str(error).splitlines()[0]}')


def is_parquet(name: str) -> bool:
    """Tell from its name whether a file is a Parquet file."""
    return name.lower().endswith(".parquet")


def parquet_file(file: BinaryIO) -> pa.parquet.ParquetFile:
    """Return an open Parquet file. Raises pa.ArrowException and OSError."""
    # Takes 0.2 s, which few servers need.
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(file)


def arrow_stream(source: pa.parquet.ParquetFile) -> Iterator[bytes]:
    """Yield the rows of a Parquet file as an Arrow stream, piece by piece."""
    metadata = source.metadata
    size = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    rows = max(1, min(MORSEL_ROWS_MAX, BATCH_BYTES * metadata.num_rows // max(size, 1)))
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, source.schema_arrow) as writer:
        for batch in source.iter_batches(batch_size=rows, use_threads=False):
            writer.write_batch(batch)
            yield sink.getvalue()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue()
