"""Merging of one group table into another: one compiled kernel for all views, driven by a program.

program: int64[k, 3], for each state of a row (its kind, from bit 8 on the form in which it compares
values; its first word; the word of the count that the state shares), counts after the states that
they belong to. A first row has a head (FIRST, its first word, how many values) and for each value
(its form, its word, the word of the count); in the head of several first rows stand their number
and their words, too. A merge never fails on data. Must not know SQL.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.aggregates import (
    OUT_OF_RANGE,
    SPECIAL_SUM,
    STATE_BITS,
    TOO_LONG,
    State,
    add_integer,
    add_numeric,
    append_list,
    bit_and,
    bit_or,
    bit_xor,
    copy_memory,
    from_bits,
    is_special_sum,
    list_room,
    mark_out_of_range,
    mark_special,
    max_float,
    max_integer,
    max_numeric,
    max_stored,
    max_text,
    merge_average,
    min_float,
    min_integer,
    min_numeric,
    min_stored,
    min_text,
    sum_float32,
    sum_float64,
    unsigned_word,
)
from ringbuffer.groups.first_rows import ROWS_MASK, WIDTH_SHIFT, Program, is_kept_text, merge_first, merge_several
from ringbuffer.groups.hash_table import (
    FAR_ROWS,
    HEAP_ADDRESS,
    HEAP_MAX,
    HEAP_NEEDED,
    HEAP_USED,
    ROW_AHEAD,
    ROWS_IN,
    ROWS_LATE,
    ROWS_MAX,
    ROWS_PASSED,
    ROWS_SKIPPED,
    SLOT_AHEAD,
    GroupTable,
    TableLayout,
    Words,
    find_group,
    prefetch_row,
    prefetch_slot,
)
from ringbuffer.groups.pair_sums import merge_pairs
from ringbuffer.groups.partitions import rows_by_partition
from ringbuffer.groups.registers import merge_registers
from ringbuffer.groups.sketches import combination_room, combine
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK

# A heap is written anew when it has more than so many times the bytes of its strings, and not
# less than so many bytes. Lists have four times theirs.
LEFT_SHARE = 6
REWRITTEN_BYTES_MIN = 1 << 14

COUNT = int(State.COUNT)
SUM_INTEGER = int(State.SUM_INTEGER)
SUM_NUMERIC = int(State.SUM_NUMERIC)
SUM_FLOAT64 = int(State.SUM_FLOAT64)
SUM_FLOAT32 = int(State.SUM_FLOAT32)
AVERAGE_FLOAT = int(State.AVERAGE_FLOAT)
MIN_INTEGER = int(State.MIN_INTEGER)
MAX_INTEGER = int(State.MAX_INTEGER)
MIN_FLOAT = int(State.MIN_FLOAT)
MAX_FLOAT = int(State.MAX_FLOAT)
MIN_NUMERIC = int(State.MIN_NUMERIC)
MAX_NUMERIC = int(State.MAX_NUMERIC)
MIN_TEXT = int(State.MIN_TEXT)
MAX_TEXT = int(State.MAX_TEXT)
FIRST = int(State.FIRST)
BIT_AND = int(State.BIT_AND)
BIT_OR = int(State.BIT_OR)
BIT_XOR = int(State.BIT_XOR)
SUM_SQUARES = int(State.SUM_SQUARES)
MIN_STORED = int(State.MIN_STORED)
MAX_STORED = int(State.MAX_STORED)
LIST = int(State.LIST)
PAIRS = int(State.PAIRS)
REGISTERS = int(State.REGISTERS)
QUANTILES = int(State.QUANTILES)
COUNTERS = int(State.COUNTERS)
FILTER = int(State.FILTER)
COMBINED = int(State.COMBINED)
TOP = int(State.TOP)
STATE_MASK = (1 << STATE_BITS) - 1


def merge_tables(target: GroupTable, source: GroupTable, program: Program) -> None:
    """Add the groups of `source`, and its counters, to those of `target`, which has the same
    layout.

    The source is left as it is.
    """
    # Each string of the source is copied at most once, so with this much room the kernel needs no
    # check but for lists, which grow.
    make_room(target, int(source.control[HEAP_USED]), program)
    _merge(target, source, source.rows, source.groups_count, program)
    add_counters(target, source)


def merge_partition(target: GroupTable, source: GroupTable, rows: Words, program: Program) -> None:
    """Add some groups of `source` to those of `target`, which has the same layout.

    rows: a copy of the rows of these groups (`ringbuffer.groups.partitions`).
    """
    count = len(rows) // target.layout.row_words
    if count == 0:
        return
    if source.control[HEAP_USED]:
        make_room(target, long_bytes(rows, count, program, target.layout), program)
    _merge(target, source, rows, count, program)


def make_room(table: GroupTable, free_bytes: int, program: Program) -> None:
    """Make room for at least `free_bytes` more bytes of strings.

    A heap that would have to grow, and is mostly room that strings have left which were replaced by
    longer ones, is written anew: so it has a bounded multiple of what is in it.
    """
    used = int(table.control[HEAP_USED])
    if used + free_bytes > len(table.heap) and used >= REWRITTEN_BYTES_MIN:
        rows = table.rows[: table.groups_count * table.layout.row_words]
        live = long_bytes(rows, table.groups_count, program, table.layout)
        if live * LEFT_SHARE < used:
            heap = table.zeros(max(2 * live + free_bytes, REWRITTEN_BYTES_MIN), np.uint8)
            moved = gather_strings(
                rows, table.groups_count, program, table.layout, table.heap.ctypes.data, heap.ctypes.data
            )
            assert moved == live
            table.exchange_heap(heap, moved)
    table.grow_heap(free_bytes)


def add_counters(target: GroupTable, source: GroupTable) -> None:
    """Add what the source has counted of rows that came."""
    for counter in (ROWS_IN, ROWS_PASSED, ROWS_SKIPPED, ROWS_LATE):
        target.control[counter] += source.control[counter]


def _merge(target: GroupTable, source: GroupTable, rows: Words, count: int, program: Program) -> None:
    start, layout = 0, target.layout
    while True:
        start = merge_rows(
            target.control, target.slots, target.rows, source.control, rows, program, start, count, layout
        )
        if start == count:
            break
        if target.control[HEAP_NEEDED]:
            make_room(target, int(target.control[HEAP_NEEDED]), program)
        else:
            target.grow_rows()


def warm_up_merging() -> None:
    """Compile or load the kernels of a merge, since the first merge may happen while commits wait
    for a lock.
    """
    layout = TableLayout(key_words=2, entry_words=2, row_words=4, text_mask=0)
    target, source = GroupTable(layout), GroupTable(layout)
    key = np.zeros(layout.entry_words, dtype=np.int64)
    find_group(source.control, source.slots, source.rows, key, 0, 0, *layout)
    target.grow_rows()
    program = np.array([(COUNT, 3, 3)], dtype=np.int64)
    merge_tables(target, source, program)
    gather_strings(source.rows, 1, program, layout, source.heap.ctypes.data, target.heap.ctypes.data)
    source.control[HEAP_USED] = 1
    rows, starts = rows_by_partition(source)
    merge_partition(target, source, rows[: starts[-1]], program)


@kernel
def merge_rows(
    control: Words,
    slots: Words,
    rows: Words,
    source_control: Words,
    source: Words,
    program: Program,
    start: int,
    count: int,
    layout: TableLayout,
) -> int:
    """Merge the rows [start, count) of the source.

    Returns `count`, or the row at which the table must grow first: its heap if that is in
    HEAP_NEEDED, else its rows.
    """
    key_words, entry_words, row_words, text_mask = layout
    heap = source_control[HEAP_ADDRESS]
    with_lists = has_lists(program)
    for number in range(start, count):
        row = number * row_words
        if control[ROWS_MAX] > FAR_ROWS:
            later = min(number + SLOT_AHEAD, count - 1) * row_words
            prefetch_slot(slots, unsigned_word(source[later]))
            later = min(number + ROW_AHEAD, count - 1) * row_words
            prefetch_row(slots, rows, unsigned_word(source[later]), row_words)
        if with_lists and lacks_room(control, long_bytes(source[row:], 1, program, layout)):
            return number
        group = find_group(control, slots, rows, source, row + 1, heap, key_words, entry_words, row_words, text_mask)
        if group < 0:
            return number
        if with_lists and lacks_room(control, list_bytes(rows[group:], source[row:], program, layout)):
            return number
        step = 0
        while step < len(program):
            if program[step, 0] & STATE_MASK == FIRST:
                # The count of a first row stands with its values, since the head has none.
                seen_at = program[step + 1, 2]
                if program[step, 0] != FIRST:
                    merge_several(control, rows, group, rows[group + seen_at], source, row, program, step, heap)
                elif source[row + seen_at] != 0:
                    merge_first(control, rows, group, rows[group + seen_at], source, row, program, step, heap)
                step += 1 + program[step, 2]
                continue
            added = source[row + program[step, 2]]
            if added != 0:
                merge_state(
                    program[step, 0] & STATE_MASK,
                    program[step, 0] >> STATE_BITS,
                    control,
                    rows,
                    group + program[step, 1],
                    rows[group + program[step, 2]],
                    source,
                    row + program[step, 1],
                    added,
                    heap,
                )
            step += 1
    return count


@kernel
def has_lists(program: Program) -> bool:
    """Tell whether a state of the program grows: a list or a sketch."""
    step = 0
    while step < len(program):
        if program[step, 0] in (LIST, QUANTILES, COUNTERS, FILTER, COMBINED, TOP):
            return True
        step += program[step, 2] + 1 if program[step, 0] & STATE_MASK == FIRST else 1
    return False


@kernel
def lacks_room(control: Words, needed: int) -> bool:
    """Tell whether the heap has no room for so many bytes, and ask for them."""
    if control[HEAP_USED] + needed <= control[HEAP_MAX]:
        return False
    control[HEAP_NEEDED] = needed
    return True


@kernel
def list_bytes(row: Words, source: Words, program: Program, layout: TableLayout) -> int:
    """Return the bytes of a heap that a merge of one row into another needs at most."""
    total, step = long_bytes(source, 1, program, layout), 0
    while step < len(program):
        if program[step, 0] == LIST:
            total += list_room(row, program[step, 1], source[program[step, 1]])
        elif program[step, 0] in (QUANTILES, COUNTERS, FILTER, COMBINED, TOP):
            total += combination_room(row, program[step, 1], source[program[step, 1]])
        step += program[step, 2] + 1 if program[step, 0] & STATE_MASK == FIRST else 1
    return total


@kernel
def long_bytes(rows: Words, count: int, program: Program, layout: TableLayout) -> int:
    """Return how many bytes in a heap the keys and the states of `count` rows have."""
    _, entry_words, row_words, text_mask = layout
    total = 0
    for row in range(0, count * row_words, row_words):
        for word in range(entry_words - 1):
            if (text_mask >> word) & 1:
                total += long_length(rows[row + 1 + word])
        step = 0
        while step < len(program):
            kind = program[step, 0] & STATE_MASK
            if kind == FIRST:
                rows_max, width = program[step, 0] >> STATE_BITS & ROWS_MASK, program[step, 0] >> WIDTH_SHIFT
                for value in range(step + 1, step + 1 + program[step, 2]):
                    if is_kept_text(program[value, 0]):
                        # Those that are not there yet have no bytes.
                        for number in range(max(rows_max, 1)):
                            total += long_length(rows[row + program[value, 1] + number * width])
                step += program[step, 2]
            elif kind in (MIN_TEXT, MAX_TEXT, MIN_STORED, MAX_STORED, LIST, REGISTERS) or QUANTILES <= kind <= TOP:
                total += long_length(rows[row + program[step, 1]])
            step += 1
    return total


@kernel
def gather_strings(rows: Words, count: int, program: Program, layout: TableLayout, source_heap: int, heap: int) -> int:
    """Copy the long strings of `count` rows from one heap to the beginning of another, both given
    by their addresses, and return how many bytes they have. No place has room to grow then.
    """
    _, entry_words, row_words, text_mask = layout
    used = 0
    for row in range(0, count * row_words, row_words):
        for word in range(entry_words - 1):
            if (text_mask >> word) & 1:
                used = gather_string(rows, row + 1 + word, source_heap, heap, used)
        step = 0
        while step < len(program):
            kind = program[step, 0] & STATE_MASK
            if kind == FIRST:
                rows_max, width = program[step, 0] >> STATE_BITS & ROWS_MASK, program[step, 0] >> WIDTH_SHIFT
                for value in range(step + 1, step + 1 + program[step, 2]):
                    if is_kept_text(program[value, 0]):
                        for number in range(max(rows_max, 1)):
                            at = row + program[value, 1] + number * width
                            used = gather_string(rows, at, source_heap, heap, used)
                step += program[step, 2]
            elif kind in (MIN_TEXT, MAX_TEXT, MIN_STORED, MAX_STORED, REGISTERS):
                used = gather_string(rows, row + program[step, 1], source_heap, heap, used)
            elif kind == LIST or QUANTILES <= kind <= TOP:
                at = row + program[step, 1]
                used = gather_string(rows, at, source_heap, heap, used)
                if rows[at + 2] != TOO_LONG:
                    rows[at + 2] = long_length(rows[at])
            step += 1
    return used


@kernel
def gather_string(rows: Words, at: int, source_heap: int, heap: int, used: int) -> int:
    """Copy a string, if it is long, to a heap of so many bytes; return how many it has then."""
    length = long_length(rows[at])
    if length != 0:
        copy_memory(heap + used, source_heap + rows[at + 1], length)
        rows[at + 1] = used
    return used + length


@kernel
def long_length(word: int) -> int:
    """Return how many bytes of a heap the text with this first word has."""
    length: int = word & LENGTH_MASK
    return length if length > INLINE_BYTES_MAX else 0


@kernel
def merge_state(
    kind: int,
    form: int,
    control: Words,
    rows: Words,
    at: int,
    seen: int,
    source: Words,
    start: int,
    added: int,
    heap: int,
) -> None:
    """Add the state at source[start], of `added` > 0 values, to the state at rows[at], of `seen`
    values; form: in which the state compares values.
    """
    if kind == COUNT:
        rows[at] += added
    elif kind in (SUM_INTEGER, SUM_SQUARES):
        add_integer(rows, at, source[start], source[start + 1])
        rows[at + 2] += source[start + 2]
    elif kind == SUM_NUMERIC:
        merge_numeric(rows, at, source, start)
    elif kind == SUM_FLOAT64:
        sum_float64(rows, at, seen, from_bits(unsigned_word(source[start])))
        rows[at + 1] |= source[start + 1]
    elif kind == SUM_FLOAT32:
        sum_float32(rows, at, seen, from_bits(unsigned_word(source[start])))
        rows[at + 1] |= source[start + 1]
    elif kind == AVERAGE_FLOAT:
        merge_average(rows, at, seen, source, start, added)
    elif kind == MIN_INTEGER:
        min_integer(rows, at, seen, source[start])
    elif kind == MAX_INTEGER:
        max_integer(rows, at, seen, source[start])
    elif kind == MIN_FLOAT:
        min_float(rows, at, seen, from_bits(unsigned_word(source[start])))
    elif kind == MAX_FLOAT:
        max_float(rows, at, seen, from_bits(unsigned_word(source[start])))
    elif kind == MIN_NUMERIC:
        min_numeric(rows, at, seen, source[start], source[start + 1], source[start + 2])
    elif kind == MAX_NUMERIC:
        max_numeric(rows, at, seen, source[start], source[start + 1], source[start + 2])
    elif kind == MIN_TEXT:
        min_text(control, rows, at, seen, source[start], source[start + 1], heap)
    elif kind == MAX_TEXT:
        max_text(control, rows, at, seen, source[start], source[start + 1], heap)
    elif kind == MIN_STORED:
        min_stored(control, rows, at, seen, form, source[start], source[start + 1], heap)
    elif kind == MAX_STORED:
        max_stored(control, rows, at, seen, form, source[start], source[start + 1], heap)
    elif kind == PAIRS:
        merge_pairs(rows, at, source, start)
    elif kind == REGISTERS:
        merge_registers(control, rows, at, source[start], heap + source[start + 1])
    elif kind in (QUANTILES, COUNTERS, FILTER, COMBINED, TOP):
        combine(control, rows, at, source[start], source[start + 1], heap)
        if source[start + 2] == TOO_LONG:
            rows[at + 2] = TOO_LONG
    elif kind == LIST:
        append_list(control, rows, at, source[start], source[start + 1], heap)
        if source[start + 2] == TOO_LONG:
            rows[at + 2] = TOO_LONG
    elif kind == BIT_AND:
        bit_and(rows, at, seen, source[start])
    elif kind == BIT_OR:
        bit_or(rows, at, seen, source[start])
    elif kind == BIT_XOR:
        bit_xor(rows, at, seen, source[start])
    else:
        rows[at] |= source[start]


@kernel
def merge_numeric(rows: Words, at: int, source: Words, start: int) -> None:
    """Add a decimal sum (lo, hi, wraps, scale).

    A sum that has wrapped has a value that no common scale can hold.
    """
    if is_special_sum(source[start + 2]):
        mark_special(rows, at, source[start + 2] - SPECIAL_SUM)
        return
    if source[start + 2] != 0 and (source[start + 3] != rows[at + 3] or source[start + 2] == OUT_OF_RANGE):
        mark_out_of_range(rows, at)
        return
    add_numeric(rows, at, source[start], source[start + 1], source[start + 3])
    if source[start + 2] != 0 and rows[at + 2] < SPECIAL_SUM:
        rows[at + 2] += source[start + 2]
