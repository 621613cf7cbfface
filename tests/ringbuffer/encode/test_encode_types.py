"""Text and binary output of time, interval, bytea, uuid, jsonb and arrays: against the plain-Python
output, whole and in slices.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import pyarrow as pa
import pytest

from engine.tables.arrow_values import column_array
from ringbuffer.encode.columns import ELEMENT_OIDS, binary_column, text_column
from ringbuffer.encode.encoded_column import EncodedColumn
from ringbuffer.encode.output_forms import Forms
from sql.bind.queries.origins import told_type
from sql.types.datatypes import FAMILIES, LiteralValue, SqlType, array_of
from sql.values.literal_binary import binary_value
from sql.values.literal_output import output_text
from tests.types import random_value

SEED = 20_261_121
SCALARS = ("bpchar", "time", "interval", "uuid", "bytea", "json", "jsonb", "xid", "cid", "xid8", "refcursor")
ELEMENTS = tuple(ELEMENT_OIDS)


def values_of(column: EncodedColumn) -> list[bytes | None]:
    """Return the bytes of each value."""
    data = column.data.tobytes()
    return [
        data[column.ends[row] : column.ends[row + 1]] if len(column.valid) == 0 or column.valid[row] else None
        for row in range(len(column.ends) - 1)
    ]


def samples(kind: SqlType, count: int = 200) -> list[LiteralValue]:
    numbers = random.Random(f"{SEED} {kind.family}")
    return [None if numbers.random() < 0.1 else random_value(kind, numbers) for _ in range(count)]


def check(kind: SqlType, encode: Callable[[pa.Array], EncodedColumn], expected: list[bytes | None]) -> None:
    values = samples(kind)
    array = column_array(values, kind)
    assert values_of(encode(array)) == expected
    assert values_of(encode(array.slice(17, 100))) == expected[17:117]
    assert values_of(encode(array.slice(3, 0))) == []


def kinds() -> list[SqlType]:
    return [SqlType(family) for family in SCALARS] + [array_of(SqlType(family)) for family in ELEMENTS]


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.family)
def test_text(kind: SqlType) -> None:
    texts = [output_text(value, kind, "America/New_York") for value in samples(kind)]
    expected = [None if text is None else text.encode() for text in texts]
    check(kind, lambda array: text_column(array, kind.family, Forms("America/New_York")), expected)


@pytest.mark.parametrize("kind", kinds(), ids=lambda kind: kind.family)
def test_binary_is_read_back(kind: SqlType) -> None:
    values = samples(kind)
    encoded = values_of(binary_column(column_array(values, kind), kind.family))
    found = [None if data is None else binary_value(data, kind) for data in encoded]
    # Texts compare NaN with NaN and see the digits of numerics.
    assert [output_text(value, kind) for value in found] == [output_text(value, kind) for value in values]


def test_object_identifiers_are_those_of_the_type_table() -> None:
    assert {family: FAMILIES[family].oid for family in ELEMENT_OIDS} == ELEMENT_OIDS
    # Clients are told others for the rest.
    arrays = [SqlType(family) for family in FAMILIES if family.endswith("[]")]
    assert {f"{family}[]" for family in ELEMENT_OIDS} == {kind.family for kind in arrays if told_type(kind) == kind}
    assert all(told_type(kind).element.family in ELEMENT_OIDS for kind in arrays)


def test_extremes() -> None:
    interval = SqlType("interval")
    least = (-(1 << 31), -(1 << 31), -(1 << 63))
    array = column_array([least, (0, 0, 0)], interval)
    text = b"-178956970 years -8 mons -2147483648 days -2562047788:00:54.775808"
    assert values_of(text_column(array, "interval", Forms("UTC"))) == [text, b"00:00:00"]
    assert values_of(binary_column(array, "interval"))[0] == struct.pack(">qii", least[2], least[1], least[0])
    assert values_of(text_column(pa.array([86_400_000_000]), "time", Forms("UTC"))) == [b"24:00:00"]
