"""The place of a row in a COPY: its data is decoded again line by line after a row of it has
failed.

Enters: a decoder that has read nothing, and bytes. Leaves: lines with their rows or errors. Only
errors take this way.
"""

from __future__ import annotations

from collections.abc import Iterator

from ringbuffer.decode.copy_decoder import CopyDecoder
from ringbuffer.memory.columns import Morsel


def read_by_line(decoder: CopyDecoder, data: bytes, header: bool) -> Iterator[tuple[int, str, list[Morsel]]]:
    """Yield for each row the number of its last line, from 1, its text, and the row.

    Raises RowError.

    header: the first line is skipped.
    """
    end = b"\n" if b"\n" in data else b"\r"
    lines = [line + end for line in data.split(end)]
    first = 0
    for number, line in enumerate(lines, 1):
        morsels = decoder.feed(line)
        if morsels:
            yield number, b"".join(lines[first:number]).decode(errors="replace").rstrip("\r\n"), morsels
        if morsels or (header and number == 1):
            first = number
