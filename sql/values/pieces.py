"""Long texts and bytes in pieces: one call for all of one would keep the interpreter from every
other thread as long as it takes.
"""

from __future__ import annotations

from typing import TypeVar

Data = TypeVar("Data", str, bytes)

# Characters or bytes that are worked on at once, by most functions in less than a millisecond; a
# multiple of four.
PIECE = 1 << 20


def pieces_of(data: Data, size: int = PIECE) -> list[Data]:
    """Return slices of `size`, the last one shorter."""
    return [data] if len(data) <= size else [data[start : start + size] for start in range(0, len(data), size)]
