"""Morsels through Arrow, joins and cuts come back as they were."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

from ringbuffer.memory.arrow import compact_morsel, concat_morsels, morsel_from_arrow, morsel_to_arrow, slice_morsel
from ringbuffer.memory.columns import ColumnLayout, Layout, PhysicalType
from tests.ringbuffer.plain_rows import Row, make_morsel, plain_rows

LAYOUT: Layout = (
    *(ColumnLayout(kind.value.lower(), kind, 38, 3, zoned=kind == PhysicalType.TIMESTAMP) for kind in PhysicalType),
    ColumnLayout("text2", PhysicalType.TEXT),
)


def random_value(rng: random.Random, physical: PhysicalType) -> object:
    if rng.random() < 0.2:
        return None
    match physical:
        case PhysicalType.BOOL:
            return rng.random() < 0.5
        case PhysicalType.FLOAT32 | PhysicalType.FLOAT64:
            return float(rng.randrange(-100, 100)) / 4
        case PhysicalType.TEXT:
            return "".join(rng.choice("aé€😀 ") for _ in range(rng.choice((0, 1, 3, 4, 5, 11, 12, 13, 1000))))
        case PhysicalType.NUMERIC:
            return rng.randrange(-(10**38) + 1, 10**38)
        case PhysicalType.INT16:
            return rng.randrange(-(2**15), 2**15)
        case PhysicalType.INT32 | PhysicalType.DATE:
            return rng.randrange(-(2**31), 2**31)
        case _:
            return rng.randrange(-(2**63), 2**63)


def random_rows(seed: int, rows_count: int) -> list[Row]:
    rng = random.Random(seed)
    return [tuple(random_value(rng, column.physical) for column in LAYOUT) for _ in range(rows_count)]


@pytest.mark.parametrize("rows_count", [0, 1, 2, 300])
def test_arrow_round_trip(rows_count: int) -> None:
    rows = random_rows(rows_count, rows_count)
    table = morsel_to_arrow(make_morsel(rows, LAYOUT), LAYOUT)
    table.validate(full=rows_count == 0)
    assert table.column("numeric").type == pa.decimal128(38, 3)
    assert table.column("timestamp").type == pa.timestamp("us", tz="UTC")
    assert plain_rows(morsel_from_arrow(table, LAYOUT), LAYOUT) == rows
    if rows_count > 2:
        chunked = pa.concat_tables([table.slice(0, 7), table.slice(7)])
        assert plain_rows(morsel_from_arrow(chunked, LAYOUT), LAYOUT) == rows
        assert plain_rows(morsel_from_arrow(table.slice(50, 20), LAYOUT), LAYOUT) == rows[50:70]


def test_arrow_values() -> None:
    table = morsel_to_arrow(make_morsel([(True, 1, 2, 3, 1.5, 2.5, 1, 10, -1234, "añb", None)], LAYOUT), LAYOUT)
    row = table.to_pylist()[0]
    assert (row["bool"], row["text"], row["text2"], str(row["numeric"])) == (True, "añb", None, "-1.234")
    assert row["timestamp"].isoformat() == "1970-01-01T00:00:00.000010+00:00"


def test_concat_slice_compact() -> None:
    rows = random_rows(5, 90)
    morsels = [make_morsel(rows[:30], LAYOUT), make_morsel([], LAYOUT), make_morsel(rows[30:], LAYOUT)]
    joined = concat_morsels(morsels, LAYOUT)
    assert plain_rows(joined, LAYOUT) == rows
    part = slice_morsel(joined, 20, 20)
    assert plain_rows(part, LAYOUT) == rows[20:40]
    compact = compact_morsel(part, LAYOUT)
    assert plain_rows(compact, LAYOUT) == rows[20:40]
    assert len(compact.heap) < len(joined.heap)
    assert concat_morsels([], LAYOUT).rows_count == 0
