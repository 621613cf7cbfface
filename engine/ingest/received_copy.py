"""The parts that COPY FROM STDIN into streams and into tables share: blocks of what was received,
the header, the words of CONTEXT.

Enters: CopyData payloads. Leaves: blocks that are due for a decoder. Must not decode.
"""

from __future__ import annotations

import threading

from engine.commit.staging import StatementStage
from engine.ingest.copy_blocks import Blocks
from engine.ingest.copy_decoders import Decoder
from engine.ingest.copy_header import HeaderMatch
from engine.ingest.field_readers import ColumnError
from engine.streams.failing_rows import FailingRowError
from engine.streams.row_errors import copy_error, shown
from ringbuffer.memory.error_codes import RowError
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from sql.parse.statements.parts import CopyOptions
from sql.times.input_styles import InputStyles
from sql.wire import writer


class ReceivedCopy:
    """One COPY under way.

    Attributes:
        rows_count: rows decoded so far.

    Arguments:
        relation: its name. columns: those that the lines give.
    """

    _decoder: Decoder

    def __init__(
        self,
        relation: str,
        columns: tuple[ColumnDescription, ...],
        options: CopyOptions,
        time_zone: str,
        styles: InputStyles,
        block_bytes: int,
    ) -> None:
        self.rows_count = 0
        self._relation = relation
        self._columns = columns
        self._options = options
        self._is_binary = options.format == "binary"
        self._has_lines = options.format in ("text", "csv")
        self._time_zone = time_zone
        self._styles = styles
        self._blocks = Blocks(block_bytes)
        self._dropped = threading.Event()
        self._header_match = HeaderMatch(relation, columns, options)

    def response(self) -> bytes:
        """Return the message CopyInResponse."""
        return writer.copy_in_response(int(not self._has_lines), len(self._columns))

    @property
    def place(self) -> str:
        """The line that is being read, in the words of CONTEXT."""
        return self._place(self._decoder.lines_count + 1)

    def take(self, data: bytes | memoryview) -> bool:
        """Collect a payload; True when a block is full, so that decoding is due."""
        self._blocks.add(data)
        return self._blocks.is_full

    @property
    def is_too_full(self) -> bool:
        """True when so much waits to be decoded that the client has to wait, too."""
        return self._blocks.is_too_full

    def publish_wait_s(self) -> float | None:
        """Return how long the rows of an idle client may wait to be published.

        None: until the commit, or there are no such rows.
        """
        return None

    def stages(self) -> list[StatementStage]:
        """Return what the transaction has to commit besides its part on tables."""
        return []

    def drop(self) -> None:
        """Forget all rows that are not published. Any thread may call it, more than once."""
        self._dropped.set()

    def with_published(self, error: SqlError) -> SqlError:
        """Return an error that says how many rows are committed already, if any are."""
        return error

    def _taken(self, is_end: bool) -> tuple[list[bytes | memoryview], bytes | memoryview, int]:
        """Return the payloads of the next block, the bytes of a line that the decoder has before
        it, as far as they are at hand, and how many lines came before.
        """
        data = self._header_match.passed(self._blocks.take(is_end), is_end)
        decoder = self._decoder
        # Nothing can be wrong with bytes that are only kept; of a long row they would be copied
        # again and again.
        carried = memoryview(b"") if not is_end and decoder.keeps(sum(map(len, data))) else decoder.pending_bytes
        return data, carried, decoder.lines_count

    def _place(self, line: int) -> str:
        return f"COPY {self._relation}, line {line}"

    def _placed(self, failure: FailingRowError | ColumnError, line: int, text: str | None) -> SqlError:
        """Return the error of a row with its place. text: of the line, None: it has none."""
        if isinstance(failure, ColumnError):
            return failure.at(self._place(line), self._is_binary)
        failure.context = self._place(line) if text is None else f'{self._place(line)}: "{shown(text)}"'
        return failure

    def _unread(self, error: RowError) -> SqlError:
        """Return the error of a line that is no row."""
        return copy_error(error, self._columns, self._relation, self._time_zone, self._styles)
