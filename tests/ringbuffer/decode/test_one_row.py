"""A row filled in place holds what the general decoder holds; what isn't one plain block is
refused; rows reach the ring as morsels do.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from ringbuffer.decode.one_row import BLOCK_BYTES_MAX, OneRow
from ringbuffer.decode.parameters import decode_parameters
from ringbuffer.memory.columns import ColumnLayout, Layout, PhysicalType
from ringbuffer.memory.error_codes import RowError
from ringbuffer.ring.ring import Ring, RowWriter
from tests.ringbuffer.decode.test_decode_parameters import LAYOUT, block, random_value
from tests.ringbuffer.plain_rows import make_morsel, plain_rows

P = PhysicalType
SEED = 11
CASES = 400
TEXTS: Layout = (ColumnLayout("k", P.INT32), ColumnLayout("t", P.TEXT))


def one_row(layout: Layout) -> OneRow:
    return OneRow(layout, [0] * len(layout), make_morsel([(None,) * len(layout)], layout), range(len(layout)))


def test_agrees_with_the_general_decoder() -> None:
    rng = random.Random(SEED)
    formats = [index % 2 for index in range(len(LAYOUT))]
    codes = np.array(formats, dtype=np.int8)
    row = OneRow(LAYOUT, formats, make_morsel([(None,) * len(LAYOUT)], LAYOUT), range(len(LAYOUT)))
    filled_count = 0
    for _ in range(CASES):
        values: list[bytes | None] = []
        for column, binary in zip(LAYOUT, formats, strict=True):
            _, text, form = random_value(rng, column.physical)
            values.append(None if rng.random() < 0.1 else form if binary else text.encode())
        if rng.random() < 0.2:
            values[rng.randrange(len(values))] = rng.choice((b"", b"x", b"\xff\xfe", b"\0", b"today", b"1" * 60))
        data = block(*values)
        try:
            expected = plain_rows(decode_parameters(data, np.zeros(1, dtype=np.int64), codes, LAYOUT), LAYOUT)
        except RowError:
            assert not row.fill(b"xyz" + data, 3, 3 + len(data)), values
            continue
        # A float that only Python can read is refused, rightly and rarely.
        if row.fill(b"xyz" + data + b"tail", 3, 3 + len(data)):
            filled_count += 1
            assert repr(plain_rows(row.morsel, LAYOUT)) == repr(expected), values
    assert filled_count > CASES / 2


@pytest.mark.parametrize(
    "data",
    [
        b"",
        block(b"1"),
        block(b"1", b"a") + b"\0",
        block(b"1", b"a", b"b"),
        block(b"1", b"a")[:-1],
        block(b"1") + b"\xff\xff\xff\xfe",
        b"\x7f\xff\xff\xff1",
        block(b"1", b"a" * BLOCK_BYTES_MAX),
    ],
)
def test_refuses_what_is_not_one_block(data: bytes) -> None:
    assert not one_row(TEXTS).fill(data, 0, len(data))


def test_columns_without_a_parameter_keep_their_value_and_smaller_types_are_widened() -> None:
    whole: Layout = (ColumnLayout("a", P.INT64), ColumnLayout("b", P.INT32), ColumnLayout("c", P.TEXT))
    row = OneRow((ColumnLayout("a", P.INT16),), (0,), make_morsel([(None, 7, "kept")], whole), (0,))
    for given, expected in ((b"-3", -3), (None, None), (b"9", 9)):
        data = block(given)
        assert row.fill(data, 0, len(data))
        assert plain_rows(row.morsel, whole) == [(expected, 7, "kept")]


def test_rows_reach_the_ring() -> None:
    ring = Ring(TEXTS, 8)
    row = one_row(TEXTS)
    writer = RowWriter(ring, row.morsel)
    expected = []
    for number in range(20):
        text = None if number % 5 == 0 else f"{number} is longer than an inline string" if number % 3 == 0 else "short"
        data = block(str(number).encode(), None if text is None else text.encode())
        assert row.fill(data, 0, len(data))
        writer.append()
        expected.append((number, text))
        first = max(0, number - 7)
        found = plain_rows(ring.read(first, number + 1 - first), TEXTS)
        assert found == expected[first:]
    assert ring.tuples_count == 20
