"""The values that came most often, as a state that grows: a string in the heap of the table (Misra,
Gries 1982, with the medians of DataSketches; Agarwal et al., "Mergeable summaries", 2012).

A sketch is words: MAGIC, how many rows were seen, how many each count has lost at most, how many
entries there are, and the entries: count, hash, bytes of the text, and the text, in whole words.
Where there are more than ENTRIES_MAX, the median of the counts is taken from all of them, and
those without a count go. So no count has lost more than 2 / ENTRIES_MAX of the rows, in any split
and any order. Words of a state: the string, and the bytes of its place in the heap.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.aggregates import LIST_BYTES_MAX, TOO_LONG
from ringbuffer.groups.hash_table import HEAP_ADDRESS, HEAP_USED, Words, copy_memory, equal_bytes
from ringbuffer.memory.addresses import store_word
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.scalar.texts.quantiles import word_at
from ringbuffer.scalar.texts.sketches import text_state
from ringbuffer.scalar.texts.text_values import text_address

MAGIC = 0x31504F54_504F5441
SEEN, LOST, ENTRIES, HEADER_WORDS, ENTRY_WORDS = 1, 2, 3, 4, 3
ENTRIES_MAX = 256
HEADER_BYTES, ENTRY_BYTES = 8 * HEADER_WORDS, 8 * ENTRY_WORDS


@kernel
def top_room(rows: Words, at: int, w0: int) -> int:
    """Return how many bytes of the heap it takes to count a text, or to add a sketch."""
    length = max(rows[at] & LENGTH_MASK, HEADER_BYTES) + ENTRY_BYTES + ((w0 & LENGTH_MASK) + 7 & ~7)
    if rows[at + 2] == TOO_LONG or length <= rows[at + 2] or length > LIST_BYTES_MAX:
        return 0
    room: int = 2 * length
    return room


@kernel
def top_address(control: Words, rows: Words, at: int, w0: int) -> int:
    """Return the address of a sketch with room for a text or another sketch; 0 where it would be
    too long.
    """
    room = top_room(rows, at, w0)
    length = max(rows[at] & LENGTH_MASK, HEADER_BYTES) + ENTRY_BYTES + ((w0 & LENGTH_MASK) + 7 & ~7)
    if rows[at + 2] == TOO_LONG or length > LIST_BYTES_MAX:
        rows[at + 2] = TOO_LONG
        return 0
    if room != 0:
        begin = control[HEAP_USED]
        copy_memory(control[HEAP_ADDRESS] + begin, control[HEAP_ADDRESS] + rows[at + 1], rows[at] & LENGTH_MASK)
        control[HEAP_USED] = begin + room
        rows[at + 1], rows[at + 2] = begin, room
    address: int = control[HEAP_ADDRESS] + rows[at + 1]
    if rows[at] == 0:
        for place in range(HEADER_WORDS):
            store_word(address + 8 * place, 0)
        store_word(address, MAGIC)
        rows[at] = (MAGIC & LENGTH_MASK) << 32 | HEADER_BYTES
    return address


@kernel
def note_top(control: Words, rows: Words, at: int, w0: int, w1: int, heap: int) -> None:
    """Count a text. The heap of the table has `top_room`."""
    address = top_address(control, rows, at, w0)
    if address == 0:
        return
    store_word(address + 8 * SEEN, word_at(address, SEEN) + 1)
    text, size = text_address(w0, w1, heap), w0 & LENGTH_MASK
    length = counted_text(address, rows[at] & LENGTH_MASK, 1, text_state(w0, w1, heap), size, text)
    rows[at] = (MAGIC & LENGTH_MASK) << 32 | length


@kernel
def merge_top(control: Words, rows: Words, at: int, w0: int, theirs: int) -> None:
    """Add a sketch at an address. The heap of the table has `top_room`."""
    address = top_address(control, rows, at, w0)
    if address == 0:
        return
    for place in (SEEN, LOST):
        store_word(address + 8 * place, word_at(address, place) + word_at(theirs, place))
    length, entry = rows[at] & LENGTH_MASK, theirs + HEADER_BYTES
    for _ in range(word_at(theirs, ENTRIES)):
        count, hashed, size = word_at(entry, 0), word_at(entry, 1), word_at(entry, 2)
        length = counted_text(address, length, count, hashed, size, entry + ENTRY_BYTES)
        entry += entry_bytes(size)
    rows[at] = (MAGIC & LENGTH_MASK) << 32 | length


@kernel
def entry_bytes(size: int) -> int:
    """Return the bytes of the entry of a text."""
    return ENTRY_BYTES + (size + 7 & ~7)


@kernel
def counted_text(address: int, length: int, count: int, hashed: int, size: int, text: int) -> int:
    """Count a text, and return the length of the sketch."""
    entry, entries = address + HEADER_BYTES, word_at(address, ENTRIES)
    for _ in range(entries):
        known = word_at(entry, 2)
        if word_at(entry, 1) == hashed and known == size and equal_bytes(entry + ENTRY_BYTES, text, size):
            store_word(entry, word_at(entry, 0) + count)
            return length
        entry += entry_bytes(known)
    store_word(entry, count)
    store_word(entry + 8, hashed)
    store_word(entry + 16, size)
    if size != 0:
        # The rest of the last word is not of the text.
        store_word(entry + entry_bytes(size) - 8, 0)
    copy_memory(entry + ENTRY_BYTES, text, size)
    store_word(address + 8 * ENTRIES, entries + 1)
    length += entry_bytes(size)
    if entries < ENTRIES_MAX:
        return length
    return without_median(address, length)


@kernel
def without_median(address: int, length: int) -> int:
    """Take the median of the counts from all of them, and return the length that is left."""
    entries, median = word_at(address, ENTRIES), median_count(address)
    store_word(address + 8 * LOST, word_at(address, LOST) + median)
    source = target = address + HEADER_BYTES
    left = 0
    for _ in range(entries):
        size, count = entry_bytes(word_at(source, 2)), word_at(source, 0) - median
        if count > 0:
            for place in range(size >> 3):
                store_word(target + 8 * place, word_at(source, place))
            store_word(target, count)
            target += size
            left += 1
        source += size
    store_word(address + 8 * ENTRIES, left)
    rest: int = target - address
    return rest


@kernel
def median_count(address: int) -> int:
    """Return the smallest count up to which half of the entries count."""
    entries, low, high = word_at(address, ENTRIES), 1, word_at(address, SEEN)
    while low < high:
        middle, below, largest, smallest = (low + high) >> 1, 0, low, high
        entry = address + HEADER_BYTES
        for _ in range(entries):
            count = word_at(entry, 0)
            if count <= middle:
                below += 1
                largest = max(largest, count)
            else:
                smallest = min(smallest, count)
            entry += entry_bytes(word_at(entry, 2))
        if 2 * below >= entries:
            high = largest
        else:
            low = smallest
    return low


@kernel
def is_top(w0: int, w1: int, heap: int) -> bool:
    """Tell whether a string is a sketch: its entries fill its length."""
    length = w0 & LENGTH_MASK
    if length < HEADER_BYTES:
        return False
    address = text_address(w0, w1, heap)
    entries, end, entry = word_at(address, ENTRIES), address + length, address + HEADER_BYTES
    if word_at(address, 0) != MAGIC or not 0 <= entries <= ENTRIES_MAX or word_at(address, LOST) < 0:
        return False
    total = 0
    for _ in range(entries):
        if entry + ENTRY_BYTES > end:
            return False
        size = word_at(entry, 2)
        if not 0 <= size <= length or word_at(entry, 0) <= 0:
            return False
        total += word_at(entry, 0)
        entry += entry_bytes(size)
    same: bool = entry == end and 0 <= total <= word_at(address, SEEN)
    return same
