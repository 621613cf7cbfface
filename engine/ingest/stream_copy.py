"""COPY into a stream, but for where the rows go: bytes of any size to whole rows of the stream, and
the places of errors.

Enters: CopyData payloads, or the contents of a file. Leaves: whole rows, given to `_take_rows`.
Must not stage or commit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import replace

from engine.ingest.copy_arrow import ArrowDecoder
from engine.ingest.copy_decoders import Decoder, make_decoder
from engine.ingest.copy_lines import read_by_line
from engine.ingest.field_readers import ColumnError, FieldReader
from engine.ingest.insert import InsertTarget
from engine.ingest.received_copy import ReceivedCopy
from engine.streams.failing_rows import FailingRowError
from ringbuffer.decode.copy_binary import BinaryDecoder
from ringbuffer.memory.columns import Layout, Morsel
from ringbuffer.memory.error_codes import RowError
from sql.errors import SqlError
from sql.parse.statements.parts import CopyOptions
from sql.times.input_styles import InputStyles


class StreamCopy(ReceivedCopy, ABC):
    """One COPY into a stream under way."""

    def __init__(
        self,
        target: InsertTarget,
        options: CopyOptions,
        now_us: int,
        time_zone: str,
        styles: InputStyles,
        block_bytes: int,
    ) -> None:
        super().__init__(target.entry.description.name, target.columns, options, time_zone, styles, block_bytes)
        self._target = target
        self._now_us = now_us
        self._reader = None if target.is_decoded else FieldReader(time_zone, styles)
        self._decoder = self._new_decoder(target.arriving, options.header)

    @abstractmethod
    def _take_rows(self, rows: Morsel) -> None:
        """Take decoded rows."""

    def _settle(self) -> None:
        """Wait until all rows are taken. Raises what that raises: an earlier row's error."""

    def _decode(self, is_end: bool = False) -> None:
        if self._dropped.is_set():
            return
        data, carried, lines_before = self._taken(is_end)
        try:
            self._add(self._decoder.feed(*data))
            if is_end:
                self._add(self._decoder.finish())
        except (RowError, FailingRowError, ColumnError) as error:
            # The error of an earlier row comes first.
            self._settle()
            if isinstance(self._decoder, ArrowDecoder):
                assert not isinstance(error, RowError), error
                raise self.with_published(self._placed(error, self.rows_count + 1 + error.row, None)) from None
            failure = self._first_failure(b"".join((carried, *data)), lines_before)
            if failure is not None:
                raise self.with_published(failure) from None
            assert not isinstance(error, ColumnError), error
            raise self.with_published(self._unread(error) if isinstance(error, RowError) else error) from None

    def _add(self, morsels: Iterable[Morsel]) -> None:
        for morsel in morsels:
            if self._dropped.is_set():
                return
            rows = self._whole(morsel)
            self._take_rows(rows)
            self.rows_count += rows.rows_count

    def _whole(self, morsel: Morsel) -> Morsel:
        target = self._target
        if self._reader is not None:
            morsel = self._reader.rows(morsel, target.columns, target.layout, [self._is_binary] * len(target.layout))
        return target.rows(morsel, self._now_us, self._time_zone)

    def _new_decoder(self, layout: Layout, header: bool) -> Decoder:
        target, options = self._target, replace(self._options, header=header)
        fallback = target.fallback(self._time_zone, self._styles)
        return make_decoder(target.entry.description, layout, fallback, options, self._time_zone)

    def _first_failure(self, data: bytes, lines_before: int) -> SqlError | None:
        """Return the error of the first row with a forbidden NULL or a field that is read by
        column, with its place.

        None: another error comes before it.
        """
        header = self._options.header and lines_before == 0
        decoder = self._new_decoder(tuple(replace(one, not_null=False) for one in self._target.arriving), header)
        rows_before = 0
        try:
            if isinstance(decoder, BinaryDecoder | ArrowDecoder):
                found: Iterable[tuple[int, str, Iterable[Morsel]]] = [(0, "", decoder.feed(data))]
            else:
                found = read_by_line(decoder, data, header)
            for number, text, morsels in found:
                for morsel in morsels:
                    try:
                        self._whole(morsel)
                    except (FailingRowError, ColumnError) as failure:
                        line = lines_before + (number or rows_before + 1 + failure.row)
                        return self._placed(failure, line, text if number else None)
                    rows_before += morsel.rows_count
        except RowError:
            pass
        return None
