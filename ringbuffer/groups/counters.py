"""Count-min sketches and Bloom filters as states: strings of one size in the heap of the table,
none before the first value. Counters merge into their sums and bits into their union, in any order.
The layout is that of `ringbuffer.scalar.texts.counters`.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.hash_table import HEAP_ADDRESS, HEAP_USED, Words, copy_memory
from ringbuffer.memory.addresses import load_word, store_word
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.scalar.texts.counters import (
    BIT_SHIFT,
    COUNTERS_BYTES,
    COUNTERS_MAGIC,
    FILTER_BITS,
    FILTER_BYTES,
    FILTER_HASHES,
    FILTER_MAGIC,
    HEADER_WORDS,
    KIND,
    KIND_MASK,
    ROWS,
    SEEN,
    counter_place,
    next_hash,
)


@kernel
def counters_room(rows: Words, at: int) -> int:
    """Return how many bytes of the heap it takes to count a value."""
    return 0 if rows[at] != 0 else COUNTERS_BYTES


@kernel
def filter_room(rows: Words, at: int) -> int:
    """Return how many bytes of the heap it takes to set a value's bits."""
    return 0 if rows[at] != 0 else FILTER_BYTES


@kernel
def begun(control: Words, rows: Words, at: int, magic: int, size: int, hashed: int) -> int:
    """Return the address of a sketch, which begins here where there is none."""
    if rows[at] == 0:
        begin = control[HEAP_USED]
        control[HEAP_USED] = begin + size
        rows[at], rows[at + 1] = (magic & LENGTH_MASK) << 32 | size, begin
        for place in range(size >> 3):
            store_word(control[HEAP_ADDRESS] + begin + 8 * place, 0)
        store_word(control[HEAP_ADDRESS] + begin, magic)
        store_word(control[HEAP_ADDRESS] + begin + 8 * KIND, hashed & KIND_MASK)
    address: int = control[HEAP_ADDRESS] + rows[at + 1]
    store_word(address + 8 * SEEN, load_word(address + 8 * SEEN) + 1)
    return address


@kernel
def note_counter(control: Words, rows: Words, at: int, hashed: int) -> None:
    """Count a value by its hash. The heap of the table has `counters_room`."""
    address, mixed = begun(control, rows, at, COUNTERS_MAGIC, COUNTERS_BYTES, hashed), hashed
    for row in range(ROWS):
        mixed = next_hash(mixed, row)
        place = address + 8 * counter_place(mixed, row)
        store_word(place, load_word(place) + 1)


@kernel
def note_bits(control: Words, rows: Words, at: int, hashed: int) -> None:
    """Set the bits of a value by its hash. The heap of the table has `filter_room`."""
    address, mixed = begun(control, rows, at, FILTER_MAGIC, FILTER_BYTES, hashed), hashed
    for number in range(FILTER_HASHES):
        mixed = next_hash(mixed, number)
        bit = (mixed >> BIT_SHIFT) & ((1 << FILTER_BITS) - 1)
        place = address + 8 * (HEADER_WORDS + (bit >> 6))
        store_word(place, load_word(place) | 1 << (bit & 63))


@kernel
def merge_words(control: Words, rows: Words, at: int, w0: int, theirs: int) -> None:
    """Add a sketch of the same kind at an address: its rows and counters, or its bits. The heap of
    the table has room for it.
    """
    size = w0 & LENGTH_MASK
    if rows[at] == 0:
        begin = control[HEAP_USED]
        copy_memory(control[HEAP_ADDRESS] + begin, theirs, size)
        control[HEAP_USED] = begin + size
        rows[at], rows[at + 1] = w0, begin
        return
    ours, are_bits = control[HEAP_ADDRESS] + rows[at + 1], size == FILTER_BYTES
    for place in range(SEEN, size >> 3):
        mine, more = load_word(ours + 8 * place), load_word(theirs + 8 * place)
        store_word(ours + 8 * place, mine | more if are_bits and place > SEEN else mine + more)
