"""Values of every Arrow form come back from their bytes as they were."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

import numba
import numpy as np
import pyarrow as pa
import pytest

from ringbuffer.memory.arrow import morsel_from_arrow, morsel_to_arrow
from ringbuffer.memory.columns import ColumnLayout, PhysicalType
from ringbuffer.memory.stored_values import bytes_of, stored_numeric, values_of

NUMERIC = pa.struct([pa.field("unscaled", pa.decimal128(38, 0)), pa.field("scale", pa.int16())])
SPAN = pa.struct([pa.field("months", pa.int32()), pa.field("days", pa.int32()), pa.field("micros", pa.int64())])
BITS = (1, 7, 8, 9, 15, 16, 17, 31, 32, 62, 63, 64, 65, 70, 71, 72, 73, 79, 80, 87, 88, 100, 120, 126)


def random_numerics(seed: int) -> list[Any]:
    rng = random.Random(seed)
    values: list[Any] = [
        {"unscaled": Decimal(sign * (rng.getrandbits(bits) | 1 << (bits - 1))), "scale": rng.randrange(-1, 39)}
        for bits in BITS
        for sign in (-1, 1)
    ]
    values += [{"unscaled": Decimal(value), "scale": 0} for value in (0, -1, 10**38 - 1, 1 - 10**38, 2**64, -(2**64))]
    return [*values, None]


COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "numeric": (NUMERIC, random_numerics(1)),
    "interval": (SPAN, [{"months": -1, "days": 2, "micros": -(2**40)}, None, {"months": 0, "days": 0, "micros": 0}]),
    "text": (pa.string(), ["", None, "a", "longer than twelve bytes"]),
    "bytes": (pa.binary(), [b"", None, b"\0\xff", b"\xff" * 40]),
    "texts": (pa.list_(pa.string()), [["a", None, "", "longer" * 9], None, [], [None]]),
    "integers": (pa.list_(pa.int32()), [[1, None, -3], None, [], [2**31 - 1]]),
    "bools": (pa.list_(pa.bool_()), [[True, None, False], [], None]),
    "numerics": (pa.list_(NUMERIC), [random_numerics(2), None, []]),
    "spans": (pa.list_(SPAN), [[{"months": 1, "days": 2, "micros": 3}, None], None]),
    "moments": (pa.timestamp("us", tz="UTC"), [None]),
    "none": (pa.list_(pa.int64()), []),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_values_come_back_from_bytes(name: str) -> None:
    kind, values = COLUMNS[name]
    column = pa.array(values, kind)
    for start in range(min(3, len(values) + 1)):
        stored = bytes_of(column.slice(start))
        assert stored.type == pa.binary()
        back = values_of(stored, kind)
        back.validate(full=True)
        assert back.to_pylist() == values[start:]
        assert values_of(stored.slice(len(stored) // 2), kind).to_pylist() == values[start:][len(stored) // 2 :]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_morsel_holds_the_values(name: str) -> None:
    kind, values = COLUMNS[name]
    layout = (ColumnLayout("a", PhysicalType.TEXT, value_form=kind), ColumnLayout("b", PhysicalType.TEXT))
    table = pa.table({"a": pa.array(values, kind), "b": pa.array(["a longer text"] * len(values), pa.string())})
    assert morsel_to_arrow(morsel_from_arrow(table, layout), layout).equals(table)


def test_kernels_read_numerics_from_strings() -> None:
    values = random_numerics(3)[:-1]
    layout = (ColumnLayout("a", PhysicalType.TEXT, value_form=NUMERIC),)
    morsel = morsel_from_arrow(pa.table({"a": pa.array(values, NUMERIC)}), layout)

    @numba.njit
    def read(words: Any, heap: int, found: Any) -> None:
        for row in range(len(words)):
            found[row, 0], found[row, 1], found[row, 2] = stored_numeric(words[row, 0], words[row, 1], heap)

    found = np.zeros((len(values), 3), dtype=np.int64)
    read(morsel.data[0], morsel.heap.ctypes.data, found)
    for value, (lo, hi, scale) in zip(values, found.tolist(), strict=True):
        assert {"unscaled": Decimal((hi << 64) + (lo & (2**64 - 1))), "scale": scale} == value
