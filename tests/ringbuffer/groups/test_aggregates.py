"""Aggregate states: updates and merges against exact arithmetic, however the values are split."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from decimal import Decimal
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
from ringbuffer.groups.aggregates import WORDS, State
from ringbuffer.groups.hash_table import CONTROL_WORDS, ENTRY, GroupTable, TableLayout, find_group
from ringbuffer.groups.merge import merge_tables
from ringbuffer.memory.error_codes import FLOAT_OVERFLOW, NUMERIC_DIGITS, OK
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
            aggregates.sum_float32(table.rows, STATE_AT, value)
        else:
            aggregates.sum_float64(table.rows, STATE_AT, value)

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
