"""Rows of vectors: validity as a bitmap of 64-bit words, strings of 16 bytes, for the loops of
`ringbuffer.vectors.loops`.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_word, store_word
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK


@kernel
def is_valid(validity: int, row: int) -> bool:
    """Tell whether a row is not NULL; without a bitmap (0) none is."""
    return validity == 0 or (load_word(validity + 8 * (row >> 6)) >> (row & 63)) & 1 == 1


@kernel
def store_null(validity: int, row: int) -> int:
    """Write that a row is NULL."""
    place = validity + 8 * (row >> 6)
    store_word(place, load_word(place) & ~(1 << (row & 63)))
    return 0


@kernel
def store_text(place: int, w0: int, w1: int, heap: int) -> int:
    """Write a string, with the address of its bytes if it is not inline."""
    store_word(place, w0)
    store_word(place + 8, w1 + heap if w0 & LENGTH_MASK > INLINE_BYTES_MAX else w1)
    return 0
