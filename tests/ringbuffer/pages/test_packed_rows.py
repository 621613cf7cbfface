"""Packed rows come back as they were, with as few bytes as their values need, and damage is refused
or still a morsel.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from ringbuffer.memory.arrow import slice_morsel
from ringbuffer.memory.columns import DTYPES, WIDE, ColumnLayout, Layout, Morsel, PhysicalType
from ringbuffer.memory.row_block import KINDS
from ringbuffer.pages import packed_rows
from ringbuffer.pages.log_rows import decode_rows, is_single_row, rows_count_of
from ringbuffer.pages.packed_rows import ENTRY_BYTES, HEAD, PACKED, PACKED_ROWS_MAX, is_packed, pack_rows
from ringbuffer.warm_up.decoders import warm_up_decoders
from tests.ringbuffer.damage import refused_damages, refused_flips
from tests.ringbuffer.memory.test_arrow import LAYOUT, random_rows
from tests.ringbuffer.pages.test_log_rows import SMALL, SMALL_ROWS, STRINGS, assert_well_formed, encoded
from tests.ringbuffer.plain_rows import make_morsel, plain_rows

P = PhysicalType
SEED = 5
ROWS_COUNTS = [0, 1, 2, 15, 16, 17, 32, 300]
SIZED = (P.INT16, P.INT32, P.INT64, P.DATE, P.TIMESTAMP, P.NUMERIC)


def packed(morsel: Morsel, layout: Layout) -> bytes:
    return bytes(pack_rows(morsel, layout))


@pytest.mark.parametrize("rows_count", ROWS_COUNTS)
def test_round_trip_of_every_type(rows_count: int) -> None:
    rows = random_rows(rows_count, rows_count)
    data = packed(make_morsel(rows, LAYOUT), LAYOUT)
    assert is_packed(data) and not is_single_row(data) and rows_count_of(data) == rows_count
    for given in (data, memoryview(data), memoryview(b"xyz" + data)[3:]):
        morsel = decode_rows(given, LAYOUT)
        assert plain_rows(morsel, LAYOUT) == rows
        assert_well_formed(morsel, LAYOUT)


def test_plain_rows_are_not_taken_for_packed_ones() -> None:
    data = encoded(make_morsel(SMALL_ROWS, SMALL), SMALL)
    assert not is_packed(data) and not is_packed(data[:7]) and rows_count_of(data) == len(SMALL_ROWS)


@pytest.mark.turns(6)
@pytest.mark.parametrize("physical", SIZED)
@pytest.mark.parametrize("rows_count", [1, 16, 50])
@pytest.mark.parametrize("span", [0, 1, 0xFF, 0x100, 0xFFFF, 0x10000, 0xFFFFFFFF, 0x100000000, 2**64 - 1])
def test_values_take_the_bytes_that_they_need(physical: P, rows_count: int, span: int) -> None:
    layout: Layout = (ColumnLayout("c", physical, 38, 0),)
    bits = 8 * np.dtype(DTYPES[physical]).itemsize
    rng = random.Random(span + rows_count)
    for low in (-(1 << (bits - 1)), -5, 0, (1 << (bits - 1)) - 1 - span):
        if not -(1 << (bits - 1)) <= low <= (1 << (bits - 1)) - 1 - span:
            continue
        values = [low, low + span, *(low + rng.randrange(span + 1) for _ in range(rows_count))][-max(rows_count, 2) :]
        values[0], values[-1] = low, low + span
        morsel = make_morsel([(value,) for value in values], layout)
        data = packed(morsel, layout)
        width = next(width for width in (0, 1, 2, 4, 8) if span < 1 << (8 * width))
        assert len(data) == HEAD.size + ENTRY_BYTES + width * len(values)
        found = decode_rows(data, layout)
        assert plain_rows(found, layout) == [(value,) for value in values]
        assert np.array_equal(found.data[0], morsel.data[0])


@pytest.mark.parametrize("rows_count", [3, 20])
def test_decimals_beyond_a_word_and_lengths_of_every_width(rows_count: int) -> None:
    layout: Layout = (ColumnLayout("c", P.NUMERIC, 38, 2), ColumnLayout("t", P.TEXT))
    for odd in (2**63, -(2**63) - 1, 10**37, -(10**37)):
        for length in (0, 3, 4, 12, 13, 63, 64, 65, 255, 256, 70_000):
            rows = [(n, "é" * (length // 2) + "x" * (length % 2)) for n in range(rows_count)]
            rows[rows_count // 2] = odd, "longer than twelve" if length > 12 else ""
            morsel = make_morsel(rows, layout)
            assert plain_rows(decode_rows(packed(morsel, layout), layout), layout) == rows


def test_floats_and_arrays_that_are_not_in_one_piece() -> None:
    layout: Layout = (ColumnLayout("d", P.FLOAT64), ColumnLayout("f", P.FLOAT32), ColumnLayout("t", P.TEXT))
    values = np.array([0.0, -0.0, 1.5, -np.inf, np.inf, np.nan, 5e-324] * 20)
    texts = make_morsel([(f"text number {n}",) for n in range(140)], (layout[2],))
    data = (values[::-1], values.astype(np.float32)[::-1], texts.data[0][::-1])
    morsel = Morsel(140, data, (texts.nulls[0],) * 3, texts.heap)
    found = decode_rows(packed(morsel, layout), layout)
    for one, other in zip(data[:2], found.data[:2], strict=True):
        assert np.ascontiguousarray(one).tobytes() == other.tobytes()
    assert [text for *_, text in plain_rows(found, layout)] == [f"text number {139 - n}" for n in range(140)]


def test_rows_that_are_some_of_many_take_their_own_strings_only() -> None:
    rows = [(f"a string of its own, number {n}",) for n in range(100)]
    part = slice_morsel(make_morsel(rows, STRINGS), 40, 20)
    data = packed(part, STRINGS)
    assert len(data) == HEAD.size + ENTRY_BYTES + sum(len(text) + 1 for (text,) in rows[40:60])
    assert plain_rows(decode_rows(data, STRINGS), STRINGS) == rows[40:60]


def test_strings_that_share_their_bytes() -> None:
    one = make_morsel([("a string that is longer",)], STRINGS)
    many = Morsel(40, (np.repeat(one.data[0], 40, axis=0),), (np.zeros(40, dtype=np.uint8),), one.heap)
    assert plain_rows(decode_rows(packed(many, STRINGS), STRINGS), STRINGS) == [("a string that is longer",)] * 40


def test_nulls_take_room_where_there_are_some() -> None:
    layout: Layout = (ColumnLayout("a", P.INT64), ColumnLayout("b", P.INT64))
    rows: list[tuple[Any, ...]] = [(None if n == 77 else 5, 5) for n in range(100)]
    data = packed(make_morsel(rows, layout), layout)
    assert len(data) == HEAD.size + 2 * ENTRY_BYTES + 100 + 100
    assert plain_rows(decode_rows(data, layout), layout) == rows


def test_what_is_no_null_or_bool_is_refused() -> None:
    layout: Layout = (ColumnLayout("flag", P.BOOL),)
    for value, null, problem in ((2, 0, "a bool over 1"), (0, 2, "a null byte over 1")):
        data = np.array([0, 1, value], dtype=np.uint8), np.array([0, 0, null], dtype=np.uint8)
        with pytest.raises(ValueError, match=f'column "flag" has {problem} among 3 packed rows'):
            decode_rows(packed(Morsel(3, data[:1], data[1:], np.zeros(0, dtype=np.uint8)), layout), layout)


def is_refused(data: bytes, layout: Layout) -> bool:
    """Tell whether the bytes are refused; if not, they must be a morsel that makes the same trip
    again.
    """
    try:
        morsel = decode_rows(data, layout)
    except ValueError:
        return True
    assert_well_formed(morsel, layout)
    assert_well_formed(decode_rows(packed(morsel, layout), layout), layout)
    return False


def test_damaged_bytes_are_refused_or_still_a_morsel() -> None:
    data = packed(make_morsel(SMALL_ROWS, SMALL), SMALL)
    assert refused_flips(data, lambda damaged: is_refused(damaged, SMALL), SEED) > len(data)
    for end in range(len(data)):
        with pytest.raises(ValueError, match="rows"):
            decode_rows(data[:end], SMALL)
    with pytest.raises(ValueError, match="packed rows of"):
        decode_rows(data + b"\0", SMALL)


def test_many_damages_at_once() -> None:
    refused = 0
    for seed in range(30):
        data = packed(make_morsel(random_rows(seed, 1 + seed), LAYOUT), LAYOUT)
        refused += refused_damages(data, 60, lambda damaged: is_refused(damaged, LAYOUT), seed)
    assert refused > 30 * 60 / 4


def test_a_head_can_not_ask_for_any_amount_of_memory() -> None:
    layout: Layout = (ColumnLayout("a", P.INT64),)
    for count in (PACKED_ROWS_MAX + 1, 2**62, 2**63 - 1):
        with pytest.raises(ValueError, match="packed rows of"):
            decode_rows(HEAD.pack(count | PACKED, ENTRY_BYTES) + bytes(ENTRY_BYTES), layout)
    assert decode_rows(HEAD.pack(9 | PACKED, ENTRY_BYTES) + bytes(ENTRY_BYTES), layout).rows_count == 9


def test_the_form_stays_what_it_is() -> None:
    """Bytes as they are on disks; another form needs another PACKED_FORM."""
    layout = SMALL[:5]
    rows: list[tuple[Any, ...]] = [(300, True, "ab", 7, "thirteen byte"), (301, False, "", 7, None)]
    expected = (
        "0200000000000080 9100000000000000"
        "2c01000000000000 0100000000000000 0000000000000000"  # small, from 300 on
        "0000000000000000 0100000000000000 0000000000000000"
        "0000000000000000 0100000000000000 0000000000000000"
        "0700000000000000 0000000000000000 0000000000000000"  # always 7
        "0000000000000000 0100000000000000 0100000000000000"  # with nulls
        "0001 0100 0200 6162 0001 0d00"
    )
    assert packed(make_morsel(rows, layout), layout) == bytes.fromhex(expected) + b"thirteen byte"


def test_warm_up_compiles_all_of_it() -> None:
    kernels: tuple[Any, ...] = (
        packed_rows.plan_columns, packed_rows.pack_columns, packed_rows.check_sizes, packed_rows.unpack_columns
    )  # fmt: skip
    warm_up_decoders()
    before = [len(one.signatures) for one in kernels]
    assert all(before)
    morsel = make_morsel(SMALL_ROWS, SMALL)
    decode_rows(packed(morsel, SMALL), SMALL)
    decode_rows(packed(slice_morsel(morsel, 1, 2), SMALL), SMALL)
    assert [len(one.signatures) for one in kernels] == before


def test_wide_forms_have_a_kind_of_their_own() -> None:
    assert {KINDS[wide] for wide in WIDE}.isdisjoint(KINDS[kind] for kind in KINDS.keys() - WIDE)
