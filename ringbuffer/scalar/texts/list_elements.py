"""Values as elements of a list: the bytes that `ringbuffer.memory.stored_values` gives them, each
after its length.

Lists are such elements one after the other, so that a group's list grows by appending. A NULL has
length -1 and no bytes. Elements are texts (w0, w1, heap), as in text_values.py; those of at most
eight bytes are inline.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import bits_of_float, copy_bytes, store_int16, store_int32, store_word
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.memory.error_codes import SCRATCH_FULL
from ringbuffer.memory.stored_values import DECIMAL_BYTES, LENGTH_BYTES, SCALE_BYTES
from ringbuffer.scalar.texts.text_functions import Scratch, keep, reserve
from ringbuffer.scalar.texts.text_values import text_address

signed_word: Any = np.int64
real: Any = np.float32
bits: Any = bits_of_float
copy_memory: Any = copy_bytes
put_int16: Any = store_int16
put_int32: Any = store_int32
put_word: Any = store_word

# The first word of the element of a NULL.
NULL_ELEMENT = LENGTH_BYTES - (1 << 32)


@kernel
def word_element(word: int, width: int) -> tuple[int, int, int]:
    """Return (w0, w1, heap) of the element of an integer of `width` bytes."""
    unused = 64 - 8 * width
    tail = (word & ((1 << (8 * width)) - 1)) if unused > 0 else word
    return LENGTH_BYTES + width | width << 32, tail, 0


@kernel
def float64_element(value: float) -> tuple[int, int, int]:
    """Return (w0, w1, heap) of the element of a double precision."""
    return word_element(signed_word(bits(value)), 8)


@kernel
def float32_element(value: float) -> tuple[int, int, int]:
    """Return (w0, w1, heap) of the element of a real."""
    return word_element(signed_word(real(value).view(np.int32)), 4)


@kernel
def text_element(w0: int, w1: int, heap: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of the element of a value that is bytes."""
    length = w0 & LENGTH_MASK
    target = reserve(scratch, LENGTH_BYTES + length)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    put_int32(target, np.int32(length))
    copy_memory(target + LENGTH_BYTES, text_address(w0, w1, heap), length)
    return keep(scratch, target, LENGTH_BYTES + length)


@kernel
def numeric_element(lo: int, hi: int, scale: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of the element of a numeric."""
    target = reserve(scratch, LENGTH_BYTES + SCALE_BYTES + DECIMAL_BYTES)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    head, size = target + LENGTH_BYTES, 8
    put_int16(head, np.int16(scale))
    put_word(head + SCALE_BYTES, lo)
    put_word(head + SCALE_BYTES + 8, hi)
    word = hi
    if hi == lo >> 63:
        word, size = lo, 0
    # As many bytes as hold the rest in two's complement.
    size += 1
    while not -128 <= word <= 127:
        word >>= 8
        size += 1
    put_int32(target, np.int32(SCALE_BYTES + size))
    return keep(scratch, target, LENGTH_BYTES + SCALE_BYTES + size)
