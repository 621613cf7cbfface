"""Aggregate states: updates and merges against exact arithmetic, however the values are split."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ringbuffer.groups import aggregates
from ringbuffer.groups.aggregate_results import (
    SCALE_OF_STATE,
    decimal_averages,
    decimal_sums,
    float_averages,
    float_sums,
)
from ringbuffer.groups.aggregates import LIST_BYTES_MAX, TOO_LONG, WORDS, State, list_room
from ringbuffer.groups.hash_table import CONTROL_WORDS, ENTRY, HEAP_USED, GroupTable, TableLayout, find_group
from ringbuffer.groups.merge import merge_tables
from ringbuffer.groups.pair_sums import PAIR_SUMS, add_pairs
from ringbuffer.memory.error_codes import FLOAT_OVERFLOW, NUMERIC_DIGITS, OK
from ringbuffer.memory.few_rows import string_at
from ringbuffer.scalar.texts.text_functions import ScratchHeap, keep
from sql.values.literal_output import float_text
from tests.ringbuffer.kernel_values import numeric, numeric_text

COUNT_AT = 2
STATE_AT = 3


def layout_of(state: State) -> TableLayout:
    """Return the layout of rows with no keys, a count and one state."""
    return TableLayout(key_words=1, entry_words=1, row_words=STATE_AT + WORDS[state], text_mask=0)


def new_table(state: State) -> GroupTable:
    table = GroupTable(layout_of(state), rows_max=1)
    size = table.layout
    sizes = (size.key_words, size.entry_words, size.row_words, size.text_mask)
    find_group(table.control, table.slots, table.rows, table.control, ENTRY, 0, *sizes)
    return table


def fold(state: State, table: GroupTable, add: Callable[[GroupTable, int, Any], None], values: list[Any]) -> None:
    for value in values:
        add(table, int(table.rows[COUNT_AT]), value)
        table.rows[COUNT_AT] += 1


def fold_in_pieces(
    choose: random.Random, state: State, add: Callable[[GroupTable, int, Any], None], values: list[Any]
) -> GroupTable:
    """Fold the values into several tables and merge them in order."""
    program = np.array([(state, STATE_AT, COUNT_AT), (State.COUNT, COUNT_AT, COUNT_AT)], dtype=np.int64)
    target = new_table(state)
    start = 0
    while start < len(values):
        size = choose.randint(0, 5)
        piece = new_table(state)
        fold(state, piece, add, values[start : start + size])
        merge_tables(target, piece, program)
        start += size
    return target


def words(value: int) -> tuple[int, int]:
    low = value & (2**64 - 1)
    return low - 2**64 if low >= 2**63 else low, value >> 64


def add_numeric(table: GroupTable, seen: int, value: Decimal) -> None:
    aggregates.add_numeric(table.rows, STATE_AT, *numeric(str(value)))


def add_integer(table: GroupTable, seen: int, value: int) -> None:
    aggregates.add_integer(table.rows, STATE_AT, *words(value))


@pytest.mark.parametrize("seed", range(5))
def test_integer_sums_are_exact_beyond_128_bits(seed: int) -> None:
    choose = random.Random(seed)
    values = [choose.choice((-1, 1)) * choose.getrandbits(choose.choice((8, 64, 126))) for _ in range(60)]
    values += [-value for value in values if abs(value) > 2**70]
    table = fold_in_pieces(choose, State.SUM_INTEGER, add_integer, values)
    low, high, wraps = (int(word) for word in table.rows[STATE_AT : STATE_AT + 3])
    assert (low & (2**64 - 1)) + (high << 64) + (wraps << 128) == sum(values)


def add_element(table: GroupTable, seen: int, value: bytes) -> None:
    scratch = ScratchHeap(1 << 16)
    content = np.frombuffer(value + bytes(16), dtype=np.uint8).copy()
    w0, w1, heap, error = keep(scratch.words, content.ctypes.data, len(value))
    assert error == OK
    table.grow_heap(list_room(table.rows, STATE_AT, w0))
    aggregates.append_list(table.control, table.rows, STATE_AT, w0, w1, heap)


def list_of(table: GroupTable) -> bytes:
    """Return the bytes of the list."""
    return string_at(table.rows[STATE_AT : STATE_AT + 2].data.cast("B"), table.heap.data)


@pytest.mark.parametrize("seed", range(10))
def test_lists_keep_all_bytes_in_order(seed: int) -> None:
    choose = random.Random(seed)
    values = [choose.randbytes(choose.choice((4, 5, 8, 12, 40))) for _ in range(choose.randint(0, 60))]
    table = fold_in_pieces(choose, State.LIST, add_element, values)
    assert list_of(table) == b"".join(values)
    assert int(table.rows[COUNT_AT]) == len(values)
    # A place is at most twice as large as what is in it, and so is what it has left.
    assert int(table.control[HEAP_USED]) <= 4 * sum(map(len, values))


def test_a_list_that_is_too_long_says_so() -> None:
    table, other = new_table(State.LIST), new_table(State.LIST)
    table.rows[STATE_AT] = LIST_BYTES_MAX
    add_element(table, 1, b"once more")
    assert table.rows[STATE_AT + 2] == TOO_LONG
    aggregates.append_list(table.control, table.rows, STATE_AT, 4, 0, 0)
    assert table.rows[STATE_AT] == LIST_BYTES_MAX
    program = np.array([(State.LIST, STATE_AT, COUNT_AT), (State.COUNT, COUNT_AT, COUNT_AT)], dtype=np.int64)
    other.rows[COUNT_AT], other.rows[STATE_AT], other.rows[STATE_AT + 2] = 1, 8, TOO_LONG
    target = new_table(State.LIST)
    merge_tables(target, other, program)
    assert target.rows[STATE_AT + 2] == TOO_LONG


def add_pair(table: GroupTable, seen: int, value: tuple[float, float]) -> None:
    add_pairs(table.rows, STATE_AT, *value)


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_pairs_are_near_the_exact_ones(seed: int) -> None:
    choose = random.Random(seed)
    pairs = [(choose.gauss(5, 3), choose.gauss(-2, 1e3)) for _ in range(50)]
    ys, xs = ([Fraction(pair[place]) for pair in pairs] for place in (0, 1))
    mean_y, mean_x = sum(ys) / 50, sum(xs) / 50
    wanted = [
        50, sum(xs), sum((x - mean_x) ** 2 for x in xs), sum(ys), sum((y - mean_y) ** 2 for y in ys),
        sum((y - mean_y) * (x - mean_x) for y, x in zip(ys, xs, strict=True)),
    ]  # fmt: skip
    table = fold_in_pieces(choose, State.PAIRS, add_pair, pairs)
    found = table.rows[STATE_AT : STATE_AT + PAIR_SUMS].view(np.float64)
    assert found == pytest.approx([float(value) for value in wanted], rel=1e-12)
    assert table.rows[STATE_AT + PAIR_SUMS] == 0


def test_single_pairs_have_the_digits_of_one_loop() -> None:
    """PostgreSQL adds row by row, in the order of arrival."""
    choose = random.Random(1)
    pairs = [(choose.random(), choose.random()) for _ in range(20)]
    one, target = new_table(State.PAIRS), new_table(State.PAIRS)
    fold(State.PAIRS, one, add_pair, pairs)
    program = np.array([(State.PAIRS, STATE_AT, COUNT_AT), (State.COUNT, COUNT_AT, COUNT_AT)], dtype=np.int64)
    for pair in pairs:
        piece = new_table(State.PAIRS)
        fold(State.PAIRS, piece, add_pair, [pair])
        merge_tables(target, piece, program)
    assert target.rows[STATE_AT:].tolist() == one.rows[STATE_AT:].tolist()


@pytest.mark.parametrize("pieces", [True, False])
def test_pairs_whose_products_overflow_are_marked(pieces: bool) -> None:
    table = new_table(State.PAIRS)
    pairs = [(1e200, 1e200), (-1e200, -1e200), (1.0, 1.0), (2.0, 3.0)]
    if pieces:
        program = np.array([(State.PAIRS, STATE_AT, COUNT_AT), (State.COUNT, COUNT_AT, COUNT_AT)], dtype=np.int64)
        for part in (pairs[:2], pairs[2:]):
            piece = new_table(State.PAIRS)
            fold(State.PAIRS, piece, add_pair, part)
            merge_tables(table, piece, program)
    else:
        fold(State.PAIRS, table, add_pair, pairs)
    assert table.rows[STATE_AT + PAIR_SUMS] == 1


@pytest.mark.parametrize("seed", range(5))
def test_sums_of_mixed_scales(seed: int) -> None:
    choose = random.Random(seed)
    values = [Decimal(choose.randint(-(10**12), 10**12)).scaleb(-choose.randint(0, 9)) for _ in range(40)]
    table = fold_in_pieces(choose, State.SUM_NUMERIC, add_numeric, values)
    out, scales, nulls = np.zeros((1, 2), np.int64), np.zeros(1, np.int16), np.zeros(1, np.uint8)
    place = (table.rows, table.layout.row_words, 1, STATE_AT, COUNT_AT)
    assert decimal_sums(*place, SCALE_OF_STATE, out, scales, nulls) == OK
    found = Decimal((int(out[0, 1]) << 64) + (int(out[0, 0]) & (2**64 - 1))).scaleb(-int(scales[0]))
    assert (found, int(scales[0])) == (sum(values), max(-int(value.as_tuple().exponent) for value in values))


def test_a_sum_of_scales_that_no_128_bits_hold_is_out_of_range() -> None:
    table = fold_in_pieces(random.Random(0), State.SUM_NUMERIC, add_numeric, [Decimal(10**37), Decimal(1).scaleb(-20)])
    out, scales, nulls = np.zeros((1, 2), np.int64), np.zeros(1, np.int16), np.zeros(1, np.uint8)
    place = (table.rows, table.layout.row_words, 1, STATE_AT, COUNT_AT, SCALE_OF_STATE)
    assert decimal_sums(*place, out, scales, nulls) == NUMERIC_DIGITS
    assert decimal_averages(*place, out, scales, nulls) == NUMERIC_DIGITS


@pytest.mark.parametrize("seed", range(20))
def test_sums_with_nan_and_infinities_are_those_of_floats(seed: int) -> None:
    """Special values outweigh all finite values, even a sum that no 128 bits hold, wherever they
    come.
    """
    choose = random.Random(seed)
    specials = [text for text in ("NaN", "Infinity", "-Infinity") if choose.random() < 0.5] or ["NaN"]
    finite = [Decimal(choose.randint(-9, 9)).scaleb(-choose.randint(0, 5)) for _ in range(10)]
    if seed % 2:
        finite += [Decimal(10**37), Decimal(1).scaleb(-20)]
    values = [*finite, *map(Decimal, specials)]
    choose.shuffle(values)
    table = fold_in_pieces(choose, State.SUM_NUMERIC, add_numeric, values)
    for read in (decimal_sums, decimal_averages):
        out, scales, nulls = np.zeros((1, 2), np.int64), np.zeros(1, np.int16), np.zeros(1, np.uint8)
        place = (table.rows, table.layout.row_words, 1, STATE_AT, COUNT_AT, SCALE_OF_STATE)
        assert read(*place, out, scales, nulls) == OK
        assert numeric_text(int(out[0, 0]), int(out[0, 1]), int(scales[0])) == float_text(
            sum(map(float, specials)), False
        )


def float_result(state: State, values: list[float], pieces: bool) -> tuple[float, int]:
    """Return (result, error code) of a sum or an average."""

    def add(table: GroupTable, seen: int, value: float) -> None:
        if state is State.AVERAGE_FLOAT:
            aggregates.add_average(table.rows, STATE_AT, seen, value)
        elif state is State.SUM_FLOAT32:
            aggregates.sum_float32(table.rows, STATE_AT, seen, value)
        else:
            aggregates.sum_float64(table.rows, STATE_AT, seen, value)

    if pieces:
        table = fold_in_pieces(random.Random(1), state, add, values)
    else:
        fold(state, table := new_table(state), add, values)
    out, nulls = np.zeros(1), np.zeros(1, np.uint8)
    read = float_averages if state is State.AVERAGE_FLOAT else float_sums
    error = read(table.rows, table.layout.row_words, 1, STATE_AT, COUNT_AT, out, nulls)
    return float(out[0]), error


@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("state", [State.SUM_FLOAT64, State.SUM_FLOAT32, State.AVERAGE_FLOAT])
def test_float_sums(state: State, pieces: bool) -> None:
    values = [choice / 8 for choice in range(-30, 40)]
    wanted = sum(values) / (len(values) if state is State.AVERAGE_FLOAT else 1)
    assert float_result(state, values, pieces) == (wanted, OK)
    assert float_result(state, [1.0, math.inf, 2.0], pieces) == (math.inf, OK)
    assert math.isnan(float_result(state, [math.inf, -math.inf, 1.0], pieces)[0])
    assert math.isnan(float_result(state, [1.0, math.nan], pieces)[0])
    signs = [math.copysign(1, float_result(state, zeros, pieces)[0]) for zeros in ([-0.0, -0.0], [-0.0, 0.0])]
    assert signs == [1 if state is State.AVERAGE_FLOAT else -1, 1]
    large = 3e38 if state is State.SUM_FLOAT32 else 1.7e308
    assert float_result(state, [large, large], pieces)[1] == FLOAT_OVERFLOW
    # Whether a sum leaves the range on its way depends on the order of additions, as it does in
    # PostgreSQL's parallel plans.
    assert pieces or float_result(state, [large, large, -large], pieces)[1] == FLOAT_OVERFLOW


def test_the_average_fails_where_postgresql_does() -> None:
    # The squares overflow although the sum does not: float8_accum raises "value out of range:
    # overflow".
    assert float_result(State.AVERAGE_FLOAT, [1e200, -1e200], pieces=False)[1] == FLOAT_OVERFLOW


def test_single_precision_sums_round_at_each_step() -> None:
    total = np.float32(0)
    values = [0.1, 1e7, 0.7, 0.3]
    for value in values:
        total = np.float32(total + np.float32(value))
    assert float_result(State.SUM_FLOAT32, values, pieces=False) == (float(total), OK)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("state", "choose_one"), [(State.MIN_TEXT, min), (State.MAX_TEXT, max)])
def test_extremes_of_texts(seed: int, state: State, choose_one: Callable[[list[bytes]], bytes]) -> None:
    choose = random.Random(seed)
    heap = np.frombuffer(choose.randbytes(4000).translate(bytes(97 + byte % 2 for byte in range(256))), dtype=np.uint8)
    update = aggregates.min_text if state is State.MIN_TEXT else aggregates.max_text

    def add(table: GroupTable, seen: int, place: tuple[int, int]) -> None:
        start, length = place
        text = heap[start : start + length].tobytes()
        w0 = int.from_bytes(length.to_bytes(4, "little") + text[:4].ljust(4, b"\0"), "little", signed=True)
        w1 = start if length > 12 else int.from_bytes(text[4:12], "little", signed=True)
        table.grow_heap(length)
        update(table.control, table.rows, STATE_AT, seen, w0, w1, heap.ctypes.data)

    places = [(choose.randrange(3900), choose.choice((0, 2, 4, 5, 12, 13, 30, 90))) for _ in range(80)]
    table = fold_in_pieces(choose, state, add, places)
    w0, w1 = int(table.rows[STATE_AT]), int(table.rows[STATE_AT + 1])
    length = w0 & 0xFFFFFFFF
    inline = (w0 & (2**64 - 1)).to_bytes(8, "little")[4:] + (w1 & (2**64 - 1)).to_bytes(8, "little")
    found = inline[:length] if length <= 12 else table.heap[w1 : w1 + length].tobytes()
    assert found == choose_one([heap[start : start + size].tobytes() for start, size in places])


def test_control_blocks_hold_the_widest_entry() -> None:
    assert CONTROL_WORDS - ENTRY >= 200
