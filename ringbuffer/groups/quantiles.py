"""KLL sketches as a state: a string in the heap of the table that grows (Karnin, Lang, Liberty,
"Optimal quantile approximation in streams", 2016).

Level h holds items that stand for 2^h values. Where there is no room, the lowest level that has its
share of items is sorted, and of each two neighbours one goes up; a coin says which. The coin is a
hash of those before, so that the same values in the same order make the same sketch. The layout is
that of `ringbuffer.scalar.texts.quantiles`. Words of a state: the string, and the bytes of its
place in the heap.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.hash_table import HEAP_ADDRESS, HEAP_USED, Words, copy_memory
from ringbuffer.memory.addresses import store_word
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.scalar.texts.quantiles import (
    COIN,
    HEADER_WORDS,
    LARGEST,
    LEVELS,
    LEVELS_MAX,
    MAGIC,
    ROOM,
    SEEN,
    SIZES,
    SMALLEST,
    word_at,
)
from ringbuffer.scalar.texts.sketches import cell_of, mixed_with

# Items of the highest level, as DataSketches has it: a rank is off by 1.33 % of the values at most,
# in 99 of 100 cases.
ITEMS_MAX = 200
# Items of the lowest levels at least.
ITEMS_MIN = 8
HEADER_BYTES = 8 * HEADER_WORDS
ITEMS_FIRST = 9
COIN_BIT = 1 << 8


@kernel
def place_needed(rows: Words, at: int, added: int) -> int:
    """Return how many bytes of the heap it takes so that a sketch may grow by so many items."""
    length = max(rows[at] & LENGTH_MASK, HEADER_BYTES) + 8 * added
    if length <= rows[at + 2]:
        return 0
    room: int = length + 8 * ITEMS_FIRST if rows[at] == 0 else 2 * length - HEADER_BYTES
    return room


@kernel
def quantiles_room(rows: Words, at: int) -> int:
    """Return how many bytes of the heap it takes to note a value."""
    room: int = place_needed(rows, at, 1)
    return room


@kernel
def address_of(control: Words, rows: Words, at: int, added: int) -> int:
    """Return the address of a sketch, moved to a larger place where it needs that."""
    room = place_needed(rows, at, added)
    if room != 0:
        begin = control[HEAP_USED]
        copy_memory(control[HEAP_ADDRESS] + begin, control[HEAP_ADDRESS] + rows[at + 1], rows[at] & LENGTH_MASK)
        control[HEAP_USED] = begin + room
        rows[at + 1], rows[at + 2] = begin, room
    address: int = control[HEAP_ADDRESS] + rows[at + 1]
    return address


@kernel
def note_quantile(control: Words, rows: Words, at: int, word: int) -> None:
    """Note a value. The heap of the table has `quantiles_room`."""
    address, items = address_of(control, rows, at, 1), 0
    if rows[at] == 0:
        for place in range(HEADER_WORDS):
            put(address, place, 0)
        put(address, 0, MAGIC)
        put(address, LEVELS, 1)
        put(address, ROOM, ITEMS_MAX)
        put(address, SMALLEST, word)
        put(address, LARGEST, word)
    else:
        items = ((rows[at] & LENGTH_MASK) - HEADER_BYTES) >> 3
    put(address, HEADER_WORDS + items, word)
    put(address, SIZES, word_at(address, SIZES) + 1)
    put(address, SEEN, word_at(address, SEEN) + 1)
    put(address, SMALLEST, min(word_at(address, SMALLEST), word))
    put(address, LARGEST, max(word_at(address, LARGEST), word))
    rows[at] = first_word(address, items + 1)


@kernel
def merge_quantiles(control: Words, rows: Words, at: int, w0: int, theirs: int) -> None:
    """Add a sketch of `theirs`, an address. The heap of the table has `place_needed` for its
    items.
    """
    added = ((w0 & LENGTH_MASK) - HEADER_BYTES) >> 3
    if rows[at] == 0:
        address = address_of(control, rows, at, added)
        copy_memory(address, theirs, w0 & LENGTH_MASK)
        rows[at] = w0
        return
    address = address_of(control, rows, at, added)
    end = HEADER_WORDS + (((rows[at] & LENGTH_MASK) - HEADER_BYTES) >> 3)
    levels = max(word_at(address, LEVELS), word_at(theirs, LEVELS))
    put(address, LEVELS, levels)
    put(address, ROOM, room_of(levels))
    place, source = HEADER_WORDS, HEADER_WORDS
    for back in range(levels):
        level = levels - 1 - back
        size, more = word_at(address, SIZES + level), word_at(theirs, SIZES + level)
        place += size
        for later in range(end - 1, place - 1, -1):
            put(address, later + more, word_at(address, later))
        copy_memory(address + 8 * place, theirs + 8 * source, 8 * more)
        put(address, SIZES + level, size + more)
        end, place, source = end + more, place + more, source + more
    put(address, SEEN, word_at(address, SEEN) + word_at(theirs, SEEN))
    put(address, COIN, mixed_with(word_at(address, COIN), word_at(theirs, COIN)))
    put(address, SMALLEST, min(word_at(address, SMALLEST), word_at(theirs, SMALLEST)))
    put(address, LARGEST, max(word_at(address, LARGEST), word_at(theirs, LARGEST)))
    rows[at] = first_word(address, end - HEADER_WORDS)


@kernel
def first_word(address: int, items: int) -> int:
    """Return the first word of the string of a sketch, after halving levels until it has room."""
    while items > word_at(address, ROOM):
        items = halve(address, items)
    word: int = (MAGIC & LENGTH_MASK) << 32 | (HEADER_BYTES + 8 * items)
    return word


@kernel
def share_of(level: int, levels: int) -> int:
    """Return how many items a level of so many has before it is halved."""
    share = ITEMS_MAX
    for _ in range(levels - 1 - level):
        share = (2 * share + 1) // 3
    return max(share, ITEMS_MIN)


@kernel
def room_of(levels: int) -> int:
    """Return how many items a sketch of so many levels has room for."""
    room = 0
    for level in range(levels):
        room += share_of(level, levels)
    return room


@kernel
def halve(address: int, items: int) -> int:
    """Halve the lowest level that has its share of items, and return how many items are left."""
    levels, level = word_at(address, LEVELS), 0
    while level < levels - 1 and word_at(address, SIZES + level) < share_of(level, levels):
        level += 1
    if level == levels - 1 and levels < LEVELS_MAX:
        put(address, LEVELS, levels + 1)
        put(address, ROOM, room_of(levels + 1))
    begin = HEADER_WORDS
    for higher in range(level + 1, levels):
        begin += word_at(address, SIZES + higher)
    size = word_at(address, SIZES + level)
    sort_words(address + 8 * begin, size)
    coin = mixed_with(word_at(address, COIN), items)
    put(address, COIN, coin)
    half, odd = size >> 1, size & 1
    alone = word_at(address, begin + size - 1)
    chosen = 1 if cell_of(coin) & COIN_BIT != 0 else 0
    for pair in range(half):
        put(address, begin + pair, word_at(address, begin + 2 * pair + chosen))
    if odd != 0:
        put(address, begin + half, alone)
    for place in range(begin + size, HEADER_WORDS + items):
        put(address, place - half, word_at(address, place))
    if level + 1 < LEVELS_MAX:
        put(address, SIZES + level + 1, word_at(address, SIZES + level + 1) + half)
        put(address, SIZES + level, odd)
    else:
        # No stream is so long; what says that it is one can't be read.
        put(address, SIZES + level, half + odd)
    left: int = items - half
    return left


@kernel
def sort_words(address: int, count: int) -> None:
    """Sort words, by Shell's steps of Ciura's lengths."""
    step = 301
    while step > 0:
        for place in range(step, count):
            word, hole = word_at(address, place), place
            while hole >= step and word_at(address, hole - step) > word:
                put(address, hole, word_at(address, hole - step))
                hole -= step
            put(address, hole, word)
        step = next_step(step)


@kernel
def next_step(step: int) -> int:
    """Return the next shorter one of Ciura's steps."""
    for shorter in (132, 57, 23, 10, 4, 1):
        if shorter < step:
            return shorter
    return 0


@kernel
def put(address: int, place: int, word: int) -> None:
    """Set a word of a sketch."""
    store_word(address + 8 * place, word)
