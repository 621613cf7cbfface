"""Count-min sketches (Cormode, Muthukrishnan 2005) and Bloom filters (1970), read from their bytes,
and the hashes of values that they note.

A sketch is words: its MAGIC, the kind of the values that it has seen, how many rows those were, and
ROWS rows of COLUMNS counters each, or FILTER_WORDS words of bits. The last four bits of a hash are
the kind of its value, since 1 and '1' are not equal. Places come from further hashes.
`ringbuffer.groups.counters` makes the sketches. Must not allocate.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_word
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.memory.error_codes import NOT_A_SKETCH, OK, SKETCH_OF_OTHERS
from ringbuffer.scalar.texts.sketches import SEED, finished, float_state, mixed_with, numeric_state, text_state
from ringbuffer.scalar.texts.text_values import text_address

COUNTERS_MAGIC, FILTER_MAGIC = 0x314E494D_54435543, 0x314D4F4F_4C425542
KIND, SEEN, HEADER_WORDS = 1, 2, 3
# A count is too large by more than e / COLUMNS = 0.27 % of the rows in e^-ROWS = 0.7 % of all
# cases.
ROWS, COLUMN_BITS = 5, 10
COLUMNS = 1 << COLUMN_BITS
COUNTERS_BYTES = 8 * (HEADER_WORDS + ROWS * COLUMNS)
# 16,384 values set 6 of 2^17 bits each: 2 % of others seem to be among them.
FILTER_HASHES, FILTER_BITS = 6, 17
FILTER_WORDS = 1 << (FILTER_BITS - 6)
FILTER_BYTES = 8 * (HEADER_WORDS + FILTER_WORDS)
KIND_BITS = 4
KIND_MASK = (1 << KIND_BITS) - 1
COLUMN_SHIFT, BIT_SHIFT = 64 - COLUMN_BITS, 64 - FILTER_BITS


@kernel
def kept_hash(mixed: int, kind: int) -> int:
    """Return the hash of a hash state, with the kind of its value."""
    word: int = finished(mixed) & ~KIND_MASK | kind
    return word


@kernel
def word_hash(word: int, kind: int) -> int:
    """Return the hash of an integer, a date or a time."""
    hashed: int = kept_hash(mixed_with(SEED, word), kind)
    return hashed


@kernel
def float_hash(value: float, kind: int) -> int:
    """Return the hash of a float."""
    hashed: int = kept_hash(float_state(value), kind)
    return hashed


@kernel
def numeric_hash(lo: int, hi: int, scale: int, kind: int) -> int:
    """Return the hash of a decimal of any scale."""
    hashed: int = kept_hash(numeric_state(lo, hi, scale), kind)
    return hashed


@kernel
def text_hash(w0: int, w1: int, heap: int, kind: int) -> int:
    """Return the hash of a string."""
    hashed: int = kept_hash(text_state(w0, w1, heap), kind)
    return hashed


@kernel
def next_hash(mixed: int, number: int) -> int:
    """Return the hash that says the next place of a value."""
    hashed: int = mixed_with(mixed, number)
    return hashed


@kernel
def counter_place(mixed: int, row: int) -> int:
    """Return the word of a value's counter in a row."""
    return HEADER_WORDS + row * COLUMNS + ((mixed >> COLUMN_SHIFT) & (COLUMNS - 1))


@kernel
def problem_of(w0: int, address: int, magic: int, size: int, hashed: int) -> int:
    """Return the error code of reading a string as a sketch that has seen values of this kind."""
    if (w0 & LENGTH_MASK) != size or load_word(address) != magic:
        return NOT_A_SKETCH
    return OK if load_word(address + 8 * KIND) == (hashed & KIND_MASK) else SKETCH_OF_OTHERS


@kernel
def counted(w0: int, w1: int, heap: int, hashed: int) -> tuple[int, int]:
    """Return (about how many rows had a value, never less than had it; error code)."""
    address = text_address(w0, w1, heap)
    error = problem_of(w0, address, COUNTERS_MAGIC, COUNTERS_BYTES, hashed)
    if error != OK:
        return 0, error
    least, mixed = load_word(address + 8 * SEEN), hashed
    for row in range(ROWS):
        mixed = next_hash(mixed, row)
        least = min(least, load_word(address + 8 * counter_place(mixed, row)))
    return least, OK


@kernel
def contained(w0: int, w1: int, heap: int, hashed: int) -> tuple[bool, int]:
    """Return (whether a value may be among those that were seen, error code)."""
    address = text_address(w0, w1, heap)
    error = problem_of(w0, address, FILTER_MAGIC, FILTER_BYTES, hashed)
    if error != OK:
        return False, error
    mixed = hashed
    for number in range(FILTER_HASHES):
        mixed = next_hash(mixed, number)
        bit = (mixed >> BIT_SHIFT) & ((1 << FILTER_BITS) - 1)
        if (load_word(address + 8 * (HEADER_WORDS + (bit >> 6))) >> (bit & 63)) & 1 == 0:
            return False, OK
    return True, OK
