"""Values of a few rows are those that Arrow has, and become the same bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ringbuffer.memory.arrow import morsel_from_arrow
from ringbuffer.memory.columns import ColumnLayout, PhysicalType
from ringbuffer.memory.few_rows import column_of, reader_of, values_of, writer_of

P = PhysicalType
NUMERIC = pa.struct([("unscaled", pa.decimal128(38, 0)), ("scale", pa.int16())])
PARTS = pa.struct([("months", pa.int32()), ("days", pa.int32()), ("micros", pa.int64())])
# The form of a TEXT column, values as Arrow takes them, and as functions of rows do.
TEXTS: list[tuple[pa.DataType, list[Any], list[Any]]] = [
    (pa.string(), ["", "ä", None, "longer than twelve bytes"], ["", "ä", None, "longer than twelve bytes"]),
    (pa.binary(), [b"\0", None, b"\xff" * 20], [b"\0", None, b"\xff" * 20]),
    (
        NUMERIC,
        [{"unscaled": 10**37, "scale": 3}, None, {"unscaled": -128, "scale": 0}, {"unscaled": 0, "scale": -1}],
        [(10**37, 3), None, (-128, 0), (0, -1)],
    ),
    (PARTS, [{"months": 1, "days": -2, "micros": 1 << 40}, None], [(1, -2, 1 << 40), None]),
    (pa.list_(pa.int32()), [[1, None, -3], [], None], [[1, None, -3], [], None]),
    (pa.list_(pa.string()), [["a", None, ""], []], [["a", None, ""], []]),
    (pa.list_(NUMERIC), [[{"unscaled": 5, "scale": 1}]], [[(5, 1)]]),
]


@pytest.mark.parametrize(("form", "given", "expected"), TEXTS, ids=[str(form) for form, _, _ in TEXTS])
def test_texts(form: pa.DataType, given: list[Any], expected: list[Any]) -> None:
    layout = ColumnLayout("c", P.TEXT, value_form=None if form == pa.string() else form)
    morsel = morsel_from_arrow(pa.table({"c": pa.array(given, form)}), (layout,))
    data, nulls, heap = morsel.data[0], morsel.nulls[0], morsel.heap
    assert values_of(layout, data, nulls, heap) == expected
    written = bytearray()
    found = column_of(layout, expected, written, 0)
    assert values_of(layout, found, nulls, np.frombuffer(bytes(written), dtype=np.uint8)) == expected
    for row, value in enumerate(expected):
        one, null = data[row : row + 1].copy(), nulls[row : row + 1].copy()
        assert reader_of(layout, one, null, heap)() == value
        if writer_of(layout, one, null)(value):
            assert reader_of(layout, one, null, heap)() == value
            assert (one == data[row : row + 1]).all()


@pytest.mark.parametrize(
    ("physical", "values"),
    [(P.BOOL, [True, None, False]), (P.INT64, [1 << 62, None]), (P.FLOAT64, [1.5, None]), (P.DATE, [-5, None])],
)
def test_numbers(physical: PhysicalType, values: list[Any]) -> None:
    layout = ColumnLayout("c", physical)
    nulls = np.array([value is None for value in values], dtype=np.uint8)
    assert values_of(layout, column_of(layout, values, bytearray(), 0), nulls, np.zeros(0, np.uint8)) == values


def test_a_numeric_of_one_scale() -> None:
    layout = ColumnLayout("c", P.NUMERIC, precision=38, scale=2)
    words = np.array([[-5, -1], [0, 1]], dtype=np.int64)
    assert values_of(layout, words, np.zeros(2, np.uint8), np.zeros(0, np.uint8)) == [(-5, 2), (1 << 64, 2)]
