"""Sorted tables of constants in which kernels look values up, so that a list of any length is one
call.

A table is at an address: the count, the keys in ascending order, and for each key a number, which
is what is found. Keys are one word; three words, by which decimals are compared; or the two words
of a text, whose bytes are at an offset from the constants when it is long. Texts are in the order
of their first words, and of equal ones in that of their second ones or of their bytes: any order
will do.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_word
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK
from ringbuffer.scalar.texts.text_values import compare_bytes, text_address

WORD_BYTES = 8
MISSING = -1


@kernel
def find_word(table: int, word: int) -> int:
    """Return the number of a key of one word, or MISSING. table: address."""
    count = load_word(table)
    keys = table + WORD_BYTES
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        if load_word(keys + WORD_BYTES * middle) < word:
            low = middle + 1
        else:
            high = middle
    if low < count and load_word(keys + WORD_BYTES * low) == word:
        number: int = load_word(keys + WORD_BYTES * (count + low))
        return number
    return MISSING


@kernel
def find_words(table: int, first: int, second: int, third: int) -> int:
    """Return the number of a key of three words, or MISSING. table: address."""
    count = load_word(table)
    keys = table + WORD_BYTES
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        key = keys + 3 * WORD_BYTES * middle
        found = load_word(key)
        wanted = first
        if found == wanted:
            found, wanted = load_word(key + WORD_BYTES), second
            if found == wanted:
                found, wanted = load_word(key + 2 * WORD_BYTES), third
                if found == wanted:
                    number: int = load_word(keys + WORD_BYTES * (3 * count + middle))
                    return number
        if found < wanted:
            low = middle + 1
        else:
            high = middle
    return MISSING


@kernel
def find_text(table: int, constants: int, w0: int, w1: int, heap: int) -> int:
    """Return the number of a text, or MISSING. table, constants: addresses."""
    count = load_word(table)
    keys = table + WORD_BYTES
    length = w0 & LENGTH_MASK
    low, high = 0, count
    while low < high:
        middle = (low + high) >> 1
        key = keys + 2 * WORD_BYTES * middle
        head, tail = load_word(key), load_word(key + WORD_BYTES)
        if head != w0:
            order = -1 if head < w0 else 1
        elif length <= INLINE_BYTES_MAX:
            order = (1 if tail > w1 else 0) - (1 if tail < w1 else 0)
        else:
            order = compare_bytes(constants + tail, text_address(w0, w1, heap), length)
        if order == 0:
            number: int = load_word(keys + WORD_BYTES * (2 * count + middle))
            return number
        if order < 0:
            low = middle + 1
        else:
            high = middle
    return MISSING
