"""The place of a row in a COPY: its data is decoded again line by line after a row of it has
failed.

Enters: a decoder that has read nothing, and bytes. Leaves: lines with their rows or errors. Only
errors take this way.
"""

from __future__ import annotations

from collections.abc import Iterator

from ringbuffer.decode.copy_decoder import CopyDecoder
from ringbuffer.memory.columns import Morsel

# More than errors show of a line.
SHOWN_BYTES_MAX = 1024


def read_by_line(decoder: CopyDecoder, data: bytes, header: bool) -> Iterator[tuple[int, str, list[Morsel]]]:
    """Yield for each row the number of its last line, from 1, the beginning of its text, and the
    row.

    Raises RowError.

    header: the first line is skipped.
    """
    end = b"\n" if b"\n" in data else b"\r"
    view = memoryview(data)
    number = first = start = 0
    while start <= len(data):
        number += 1
        stop = data.find(end, start)
        is_last = stop < 0
        stop = len(data) if is_last else stop + 1
        morsels = decoder.feed(view[start:stop])
        morsels += decoder.feed(end) if is_last else []
        start = stop + is_last
        if morsels:
            shown = data[first : min(stop, first + SHOWN_BYTES_MAX)]
            yield number, shown.decode(errors="replace").rstrip("\r\n"), morsels
        if morsels or (header and number == 1):
            first = start
