"""Automata of regular expressions, run over texts: deterministic ones, whose states (rows) are made
when they are first reached.

Enters: an automaton whose sets of states are words of 64 bits, as
`engine.embedded.patterns.machines` lays it out, texts as symbols. Leaves: the row at each place,
and where runs end. A row is made by one step of the automaton with all states at once, and found
again by its hash. Where no room is left for a row a kernel stops, with what it has reached in
`head`, and goes on when it is called again. Must not know which match PostgreSQL takes.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringbuffer.compile.jit import entry_of, kernel

# Places in `head`: sizes and where things begin, then what a kernel leaves.
WORDS, WIDTH, CAPACITY, USED, SLOTS, LINKS, LASTS, ENDS, PARTS, CLASSES, START = range(11)
ROW, PLACE, FOUND, BEGIN, LEAST, SPANS, ANY_FLAG = range(11, 18)
# What a run is for.
FIRST_ROW, WANTED, SHORTEST, AIM = range(18, 22)
HEAD_COUNT = 22
# Fields of a link. A shift has the states that move by `offset` as its mask; a product leads from
# any of one mask to all of another.
CONDITIONS, IS_PRODUCT, OFFSET, LOW, HIGH, MASK, TARGET_LOW, TARGET_HIGH, TARGET_MASK = range(9)
LINK_FIELDS, END_FIELDS, PART_FIELDS, ROW_EXTRA = 9, 4, 4, 2
# Kinds of runs beside the number of a part that is run over: from the right to an end that may be
# anywhere or is where the run begins, and over the only part from every place.
ANYWHERE, AT_STOP, EVERYWHERE = -1, -2, -3
# What a run over a part is for: its end, the last of as many rounds as there are, all matches, or
# one.
ONCE, ROUNDS, MATCHES, MATCH = range(4)
FULL, ENDED, GOES_ON = -1, -2, -3
SHIFT, LOW_BITS, WORD_BITS = 6, 63, 64
HASH_FACTOR = 0x9E3779B97F4A7C15 - 2**64
OTHER_FACTOR = 0xD6E8FEB86659FD93 - 2**64
Words = Any


class Tables(NamedTuple):
    """An automaton, and the rows that are known of it, as arrays.

    Attributes:
        head: int64[HEAD_COUNT].
        records: int64[], a list of LINK_FIELDS for each link, then of END_FIELDS for each end of
            the text and of a part, then two for each part.
        masks: int64[], the words that records point to.
        meanings: int64[], the conditions and the class of each symbol.
        sets: int64[], for each row its words, its kind and flag, its hash, and one row more to work
            in.
        table: int32[], the row that follows each row with each symbol, -1 where it is not known,
            then the slots of the hash table.
    """

    head: Words
    records: Words
    masks: Words
    meanings: Words
    sets: Words
    table: Words


@kernel
def kept_row(head: Words, sets: Words, table: Words, kind: int, flag: int) -> int:
    """Return the row of the words after the last row, which is added if it is new.

    There is room for it.
    """
    words, width, capacity, used = head[WORDS], head[WIDTH], head[CAPACITY], head[USED]
    stride = words + ROW_EXTRA
    base = used * stride
    label = (kind - EVERYWHERE) << 1 | flag
    # Two sums beside each other: each waits for its own multiplication alone.
    found, other = label, 0
    for word in range(words):
        found = found * HASH_FACTOR + sets[base + word]
        other = other * OTHER_FACTOR + (sets[base + word] >> 32)
    found ^= other * HASH_FACTOR
    found ^= found >> 32
    sets[base + words] = label
    sets[base + words + 1] = found
    mask, slots = 2 * capacity - 1, head[SLOTS]
    slot = found & mask
    while table[slots + slot] >= 0:
        row = table[slots + slot]
        begin = row * stride
        same = True
        for word in range(words + ROW_EXTRA - 1, -1, -1):
            if sets[begin + word] != sets[base + word]:
                same = False
                break
        if same:
            return int(row)
        slot = (slot + 1) & mask
    table[slots + slot] = used
    for symbol in range(width):
        table[used * width + symbol] = -1
    head[USED] = used + 1
    return int(used)


@kernel
def find_slots(head: Words, sets: Words, table: Words) -> None:
    """Put all rows into the hash table, which is empty."""
    stride = head[WORDS] + ROW_EXTRA
    mask, slots = 2 * head[CAPACITY] - 1, head[SLOTS]
    for row in range(head[USED]):
        slot = sets[row * stride + stride - 1] & mask
        while table[slots + slot] >= 0:
            slot = (slot + 1) & mask
        table[slots + slot] = row


@kernel
def next_row(tables: Tables, row: int, symbol: int, kind: int) -> int:
    """Return the row after another, or before it in a run from the right, FULL if there is no room
    for the row.
    """
    head, records, masks, meanings, sets, table = tables
    words, used = head[WORDS], head[USED]
    if used == head[CAPACITY]:
        return FULL
    stride = words + ROW_EXTRA
    base, source = used * stride, row * stride
    holding, letter = meanings[2 * symbol], head[CLASSES] + meanings[2 * symbol + 1] * words
    for word in range(words):
        sets[base + word] = 0
    flag = 0
    if AT_STOP <= kind <= ANYWHERE:
        work = head[CAPACITY] * stride
        for word in range(words):
            sets[work + word] = sets[source + word] & masks[letter + word]
        backward(head, records, masks, sets, holding, work, base)
        if kind == ANYWHERE:
            for record in range(head[LASTS], head[ENDS], END_FIELDS):
                if records[record] & ~holding == 0:
                    for word in range(records[record + 1], records[record + 2]):
                        sets[base + word] |= masks[records[record + 3] + word - records[record + 1]]
        flag = sets[base + (head[START] >> SHIFT)] >> (head[START] & LOW_BITS) & 1
    else:
        part = head[PARTS] + PART_FIELDS * max(kind, 0)
        for record in range(records[part + 2], records[part + 3], END_FIELDS):
            if records[record] & ~holding == 0:
                for word in range(records[record + 1], records[record + 2]):
                    if sets[source + word] & masks[records[record + 3] + word - records[record + 1]]:
                        flag = 1
        forward(head, records, masks, sets, holding, source, base)
        first, end = records[part], records[part + 1]
        for word in range(words):
            kept = sets[base + word] & masks[letter + word]
            low, high = first - (word << SHIFT), end - (word << SHIFT)
            if low >= WORD_BITS or high <= 0:
                kept = 0
            else:
                if low > 0:
                    kept = kept >> low << low
                if high < WORD_BITS:
                    kept &= (1 << high) - 1
            sets[base + word] = kept
        if kind == EVERYWHERE:
            sets[base + (head[START] >> SHIFT)] |= 1 << (head[START] & LOW_BITS)
    found = kept_row(head, sets, table, kind, flag)
    table[row * head[WIDTH] + symbol] = found
    return found


@kernel
def forward(head: Words, records: Words, masks: Words, sets: Words, holding: int, source: int, base: int) -> None:
    """Add the states after those at `source` to those at `base`, in a gap in which conditions
    hold.
    """
    words = head[WORDS]
    for link in range(head[LINKS], head[LASTS], LINK_FIELDS):
        if records[link + CONDITIONS] & ~holding:
            continue
        low, high, mask = records[link + LOW], records[link + HIGH], records[link + MASK]
        if records[link + IS_PRODUCT]:
            for word in range(low, high):
                if sets[source + word] & masks[mask + word - low]:
                    target, other = records[link + TARGET_LOW], records[link + TARGET_MASK]
                    for following in range(target, records[link + TARGET_HIGH]):
                        sets[base + following] |= masks[other + following - target]
                    break
            continue
        offset = records[link + OFFSET]
        step, bits = offset >> SHIFT, offset & LOW_BITS
        for word in range(low, high):
            moving = sets[source + word] & masks[mask + word - low]
            if moving:
                target = word + step
                if 0 <= target < words:
                    sets[base + target] |= moving << bits
                if bits and target + 1 < words:
                    sets[base + target + 1] |= moving >> (WORD_BITS - bits) & (1 << bits) - 1


@kernel
def backward(head: Words, records: Words, masks: Words, sets: Words, holding: int, source: int, base: int) -> None:
    """Add the states before those at `source` to those at `base`, in a gap in which conditions
    hold.
    """
    words = head[WORDS]
    for link in range(head[LINKS], head[LASTS], LINK_FIELDS):
        if records[link + CONDITIONS] & ~holding:
            continue
        low, high, mask = records[link + LOW], records[link + HIGH], records[link + MASK]
        if records[link + IS_PRODUCT]:
            target, other = records[link + TARGET_LOW], records[link + TARGET_MASK]
            for following in range(target, records[link + TARGET_HIGH]):
                if sets[source + following] & masks[other + following - target]:
                    for word in range(low, high):
                        sets[base + word] |= masks[mask + word - low]
                    break
            continue
        offset = records[link + OFFSET]
        step, bits = offset >> SHIFT, offset & LOW_BITS
        for word in range(low, high):
            target = word + step
            moved = sets[source + target] if 0 <= target < words else 0
            if bits:
                moved = moved >> bits & (1 << WORD_BITS - bits) - 1
                if target + 1 < words:
                    moved |= sets[source + target + 1] << WORD_BITS - bits
            sets[base + word] |= moved & masks[mask + word - low]


@kernel
def run_left(
    tables: Tables,
    symbols: Words,
    rows: Words,
    start: int,
    stop: int,
    base: int,
    kind: int,
    until_flag: int,
) -> int:
    """Write the row of each place from `stop`, whose row is there, down to `start`.

    Return the last place whose row was written.

    rows: int32[], of the places from `base` on. until_flag: whether to stop at the first row with a
    flag. head[ANY_FLAG]: there was one.
    """
    head, sets, table = tables.head, tables.sets, tables.table
    width, words = head[WIDTH], head[WORDS]
    stride = words + ROW_EXTRA
    row = rows[stop - base]
    for place in range(stop - 1, start - 1, -1):
        symbol = symbols[place]
        following = table[row * width + symbol]
        if following < 0:
            following = next_row(tables, row, symbol, kind)
            if following == FULL:
                return place + 1
        row = following
        rows[place - base] = row
        if sets[row * stride + words] & 1:
            head[ANY_FLAG] = 1
            if until_flag:
                return place
    return start


@kernel
def run_right(
    tables: Tables,
    symbols: Words,
    right_sets: Words,
    rows: Words,
    spans: Words,
    stop: int,
    last: int,
    base: int,
    kind: int,
) -> int:
    """Run over a part from head[PLACE], up to `stop`.

    Return ENDED, GOES_ON if the place is not among `rows`, or FULL.

    right_sets, rows: those of a run from the right, by place from `base` on. last: the span's end.
    spans: int64[], gets matches. head[FIRST_ROW]: at which the part begins; head[WANTED]: the state
    from which the rest must go on, -1: any; head[SHORTEST]: whether the first end is taken;
    head[AIM]: ONCE, ROUNDS, or MATCHES, which fills `spans`. head[ROW]: the row before the place;
    head[BEGIN]: where the part began, -1: a match is looked for; head[LEAST], head[FOUND]: where it
    may, and does end.
    """
    head, sets, table = tables.head, tables.sets, tables.table
    first_row, wanted, shortest, aim = head[FIRST_ROW], head[WANTED], head[SHORTEST], head[AIM]
    stride = head[WORDS] + ROW_EXTRA
    label, width, place, row, found = head[WORDS], head[WIDTH], head[PLACE], head[ROW], head[FOUND]
    while True:
        if place > last:
            return ENDED
        if head[BEGIN] < 0:
            while base <= place < stop and not sets_flag(right_sets, rows[place - base] * stride + label):
                place += 1
            if base <= place < stop:
                head[BEGIN], head[LEAST], found, row = place, place, -1, first_row
        if place >= stop or place < base:
            head[PLACE], head[ROW], head[FOUND] = place, row, found
            return ENDED if place > last else GOES_ON
        following = table[row * width + symbols[place]]
        if following < 0:
            following = next_row(tables, row, symbols[place], kind)
            if following == FULL:
                head[PLACE], head[ROW], head[FOUND] = place, row, found
                return FULL
        row = following
        is_end = False
        if sets_flag(sets, row * stride + label) and place >= head[LEAST]:
            if goes_on(right_sets, rows[place - base] * stride, label, wanted):
                found = place
                is_end = shortest != 0
        if not is_end and place < last:
            is_end = not have_common(sets, row * stride, right_sets, rows[place + 1 - base] * stride, label)
            if not is_end:
                place += 1
                continue
        if aim >= MATCHES:
            count = head[SPANS]
            spans[2 * count], spans[2 * count + 1] = head[BEGIN], found
            place = found + (1 if found == head[BEGIN] else 0)
            head[SPANS], head[BEGIN] = count + 1, -1
            if aim == MATCH or 2 * count + 2 == len(spans):
                head[PLACE] = place
                return ENDED
        elif aim == ROUNDS and 0 <= found < last:
            place, row = found, first_row
            head[BEGIN], head[LEAST], found = place, place + 1, -1
        else:
            head[FOUND] = found
            return ENDED


@kernel
def find_texts(
    tables: Tables,
    right: Tables,
    symbols: Words,
    offsets: Words,
    last_rows: Words,
    rows: Words,
    spans: Words,
    counts: Words,
    start: int,
    stop: int,
) -> int:
    """Find the matches of short texts, from the one at `start` on.

    Return the one that is not done, for want of room or a row.

    head: as for `run_right`. right: the automaton of runs from the right. offsets: int64[], where
    the symbols of each begin, and end. last_rows: int32[], the rows of runs from the right at the
    symbol of an end. rows: int32[], for those of one text. spans: int64[], gets head[SPANS]
    matches; counts: int32[], how many each text has.
    """
    head, right_head, right_sets = tables.head, right.head, right.sets
    label = head[WORDS]
    for text in range(start, stop):
        begin, last = offsets[text], offsets[text + 1] - 1
        row = last_rows[symbols[last]]
        if row < 0:
            return text
        rows[last - begin] = row
        right_head[ANY_FLAG] = right_sets[row * (label + ROW_EXTRA) + label] & 1
        place = run_left(right, symbols, rows, begin, last, begin, ANYWHERE, 0)
        if place > begin:
            return text
        count = head[SPANS]
        if right_head[ANY_FLAG]:
            head[BEGIN], head[FOUND], head[PLACE] = -1, -1, begin
            status = run_right(tables, symbols, right_sets, rows, spans, last + 1, last, begin, 0)
            if status == FULL or 2 * head[SPANS] == len(spans):
                head[SPANS] = count
                return text
        counts[text] = head[SPANS] - count
    return stop


@kernel
def sets_flag(sets: Words, place: int) -> bool:
    """Return the flag of the row whose label is at a place."""
    return bool(sets[place] & 1)


@kernel
def goes_on(sets: Words, base: int, words: int, wanted: int) -> bool:
    """Return whether a state is among those at `base`, -1: any."""
    if wanted >= 0:
        return bool(sets[base + (wanted >> SHIFT)] >> (wanted & LOW_BITS) & 1)
    for word in range(words):
        if sets[base + word]:
            return True
    return False


@kernel
def have_common(sets: Words, base: int, others: Words, other: int, words: int) -> bool:
    """Return whether two sets of states have one in common."""
    for word in range(words):
        if sets[base + word] & others[other + word]:
            return True
    return False


@kernel
def run_over(
    tables: Tables,
    symbols: Words,
    holding: Words,
    start: int,
    stop: int,
    kind: int,
    bit: int,
    holds: int,
) -> int:
    """Run over symbols from `start`, before which the row is head[ROW], up to `stop`.

    Return `stop`, or ENDED where nothing lives.

    holding: int32[], gets `bit` at places where the flag is `holds`, if it is not 0. FULL is
    returned at the place head[PLACE].
    """
    head, sets, table = tables.head, tables.sets, tables.table
    width, words = head[WIDTH], head[WORDS]
    stride = words + ROW_EXTRA
    row = head[ROW]
    for place in range(start, stop):
        symbol = symbols[place]
        following = table[row * width + symbol]
        if following < 0:
            following = next_row(tables, row, symbol, kind)
            if following == FULL:
                head[ROW], head[PLACE] = row, place
                return FULL
        row = following
        flag = sets[row * stride + words] & 1
        if bit:
            if flag == holds:
                holding[place] |= bit
        elif not flag and not goes_on(sets, row * stride, words, -1):
            return ENDED
    head[ROW] = row
    return stop


@kernel
def mark_flags(
    head: Words, sets: Words, rows: Words, holding: Words, base: int, count: int, bit: int, holds: int
) -> None:
    """Add a bit to holding[base:base + count] where the flag of the row is `holds`."""
    words = head[WORDS]
    stride = words + ROW_EXTRA
    for index in range(count):
        if sets[rows[index] * stride + words] & 1 == holds:
            holding[base + index] |= bit


class Entries(NamedTuple):
    """The machine code of the kernels that Python calls."""

    kept_row: Any
    find_slots: Any
    run_left: Any
    run_right: Any
    find_texts: Any
    run_over: Any
    mark_flags: Any


@cache
def entries() -> Entries:
    """Return the kernels, compiled or loaded now."""
    words, rows, symbols = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.uint16)
    machine = Tables(words, words, words, words, words, rows)
    return Entries(
        entry_of(kept_row, words, words, rows, 0, 0),
        entry_of(find_slots, words, words, rows),
        entry_of(run_left, machine, symbols, rows, 0, 0, 0, 0, 0),
        entry_of(run_right, machine, symbols, words, rows, words, 0, 0, 0, 0),
        entry_of(find_texts, machine, machine, symbols, words, rows, rows, words, rows, 0, 0),
        entry_of(run_over, machine, symbols, rows, 0, 0, 0, 0, 0),
        entry_of(mark_flags, words, words, rows, rows, 0, 0, 0, 0),
    )


def warm_up_automata() -> None:
    """Compile or load the kernels."""
    entries()
