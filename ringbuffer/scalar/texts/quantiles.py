"""Quantiles of the values that a KLL sketch has seen (Karnin, Lang, Liberty 2016), read from its
bytes, and the words whose order is that of floats.

A sketch is words: MAGIC, how many values it has seen, the state of its coin, its levels, how many
items it has room for, the smallest and the largest value, the items of each of LEVELS_MAX levels,
and from word HEADER_WORDS on the items, those of the highest level first. An item of level h stands
for 2^h values. `ringbuffer.groups.quantiles` makes them. Must not allocate.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import bits_of_float, float_from_bits, load_word, signed_word
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.memory.error_codes import NOT_A_SKETCH, OK, PERCENTILE_RANGE
from ringbuffer.scalar.numbers.int128 import unsigned_word
from ringbuffer.scalar.texts.text_values import text_address

MAGIC = 0x316C6C6B_51544C4B
SEEN, COIN, LEVELS, ROOM, SMALLEST, LARGEST, SIZES = 1, 2, 3, 4, 5, 6, 7
LEVELS_MAX = 40
HEADER_WORDS = SIZES + LEVELS_MAX
FLIPPED = (1 << 63) - 1
NAN_WORD = 0x7FF8000000000000


@kernel
def word_at(address: int, place: int) -> int:
    """Return a word of a sketch."""
    word: int = load_word(address + 8 * place)
    return word


@kernel
def float_order(value: float) -> int:
    """Return a word whose order is that of floats: equal ones have one word, NaN the largest."""
    if np.isnan(value):
        return NAN_WORD
    if value == 0.0:
        return 0
    word: int = signed_word(bits_of_float(np.float64(value)))
    return word if word >= 0 else word ^ FLIPPED


@kernel
def word_order(word: int) -> int:
    """Return the word of an integer, a date or a time."""
    return word


@kernel
def is_quantiles(w0: int, w1: int, heap: int) -> bool:
    """Tell whether a string is a sketch: what its header says agrees with its length."""
    length = w0 & LENGTH_MASK
    if length < 8 * HEADER_WORDS:
        return False
    address = text_address(w0, w1, heap)
    levels = word_at(address, LEVELS)
    if word_at(address, 0) != MAGIC or not 1 <= levels <= LEVELS_MAX:
        return False
    items, seen = 0, 0
    for level in range(LEVELS_MAX):
        size = word_at(address, SIZES + level)
        if not 0 <= size <= length or (level >= levels and size != 0):
            return False
        items += size
        seen += size << level
    same: bool = seen == word_at(address, SEEN) and seen > 0 and length == 8 * (HEADER_WORDS + items)
    return same


@kernel
def word_quantile(w0: int, w1: int, heap: int, fraction: float) -> tuple[int, int]:
    """Return (the smallest item up to which there is this share of the values, error code)."""
    if not 0.0 <= fraction <= 1.0:
        return 0, PERCENTILE_RANGE
    if not is_quantiles(w0, w1, heap):
        return 0, NOT_A_SKETCH
    address = text_address(w0, w1, heap)
    seen, low, high = word_at(address, SEEN), word_at(address, SMALLEST), word_at(address, LARGEST)
    wanted = int(np.ceil(fraction * np.float64(seen)))
    if wanted <= 1:
        return low, OK
    if wanted >= seen:
        return high, OK
    while low < high:
        middle = (low & high) + ((low ^ high) >> 1)
        below, largest, smallest = low, low, high
        below = 0
        place = HEADER_WORDS
        for back in range(LEVELS_MAX):
            level = LEVELS_MAX - 1 - back
            for _ in range(word_at(address, SIZES + level)):
                item = word_at(address, place)
                if item <= middle:
                    below += 1 << level
                    largest = max(largest, item)
                else:
                    smallest = min(smallest, item)
                place += 1
        if below >= wanted:
            high = largest
        else:
            low = smallest
    return low, OK


@kernel
def float_quantile(w0: int, w1: int, heap: int, fraction: float) -> tuple[float, int]:
    """Return (the quantile of floats that `float_order` made words of, error code)."""
    word, error = word_quantile(w0, w1, heap, fraction)
    if word < 0:
        word ^= FLIPPED
    return float_from_bits(unsigned_word(word)), error


@kernel
def share_up_to(w0: int, w1: int, heap: int, value: float) -> tuple[float, int]:
    """Return (the share of the floats that are up to a value, error code)."""
    if not is_quantiles(w0, w1, heap):
        return 0.0, NOT_A_SKETCH
    address, limit = text_address(w0, w1, heap), float_order(value)
    if limit >= word_at(address, LARGEST):
        return 1.0, OK
    below, place = 0, HEADER_WORDS
    for back in range(LEVELS_MAX):
        level = LEVELS_MAX - 1 - back
        for _ in range(word_at(address, SIZES + level)):
            if word_at(address, place) <= limit:
                below += 1 << level
            place += 1
    return np.float64(below) / np.float64(word_at(address, SEEN)), OK
