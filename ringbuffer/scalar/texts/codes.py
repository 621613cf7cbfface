"""Code points of characters, and integers as hexadecimal digits, for kernels.

Texts are the words of text_values.py; new ones lie in the scratch heap of text_functions.py. Must
not raise.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_byte, store_byte
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.memory.error_codes import SCRATCH_FULL
from ringbuffer.scalar.texts.text_functions import Scratch, keep, reserve
from ringbuffer.scalar.texts.text_values import text_address

DIGITS_MAX = 16


@kernel
def text_first_code(w0: int, w1: int, heap: int) -> int:
    """Return the code point of the first character, 0 of an empty text."""
    if w0 & LENGTH_MASK == 0:
        return 0
    address = text_address(w0, w1, heap)
    code: int = load_byte(address)
    if code < 0x80:
        return code
    size = 2 if code < 0xE0 else 3 if code < 0xF0 else 4
    code &= 0x7F >> size
    for place in range(1, size):
        code = code << 6 | (load_byte(address + place) & 0x3F)
    return code


@kernel
def int64_to_hexadecimal(value: int, scratch: Scratch, bits: int) -> tuple[int, int, int, int]:
    """Return the hexadecimal digits of an integer of so many bits in two's complement."""
    target = reserve(scratch, DIGITS_MAX)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    digits = 0
    while digits < 1 or (digits < bits // 4 and shifted(value, digits, bits) != 0):
        digits += 1
    for place in range(digits):
        digit = shifted(value, digits - 1 - place, bits) & 15
        store_byte(target + place, digit + (48 if digit < 10 else 87))
    return keep(scratch, target, digits)


@kernel
def shifted(value: int, digits: int, bits: int) -> int:
    """Return the bits of an integer above so many hexadecimal digits, without those of its sign."""
    left = bits - 4 * digits
    return value >> 4 * digits & ((1 << left) - 1 if left < 64 else -1)
