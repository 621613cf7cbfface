"""Rows as values: text against a reference in Python, binary read back field by field."""

from __future__ import annotations

import random
import struct

import pyarrow as pa
import pytest

from ringbuffer.encode.columns import binary_column, text_column
from ringbuffer.encode.encoded_column import EncodedColumn
from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.records import record_family
from sql.values.record_text import record_text

UTC = Forms("UTC")
PAIR = pa.struct([("f1", pa.int32()), ("f2", pa.string())])
PAIRS = record_family(2249, [("int4", 23), ("text", 25)], is_array=False)
WORDS = ("", "a", "a b", 'q"', "back\\slash", "(", ",", "x\ty", "ünï", "NULL")


def values(column: EncodedColumn) -> list[bytes | None]:
    """Return the values of an encoded column."""
    data = column.data.tobytes()
    return [
        None if len(column.valid) and not column.valid[row] else data[column.ends[row] : column.ends[row + 1]]
        for row in range(len(column.ends) - 1)
    ]


def random_pairs(seed: int, count: int) -> list[dict[str, object] | None]:
    source = random.Random(seed)
    return [
        None
        if source.random() < 0.1
        else {"f1": source.choice([None, -1, 2**31 - 1]), "f2": source.choice([None, *WORDS])}
        for _ in range(count)
    ]


@pytest.mark.parametrize("start", [0, 3])
def test_text(start: int) -> None:
    rows = random_pairs(1, 200)
    found = values(text_column(pa.array(rows, PAIR).slice(start), PAIRS, UTC))
    texts = [None if row is None else [None if item is None else str(item) for item in row.values()] for row in rows]
    assert found == [None if row is None else record_text(row).encode() for row in texts[start:]]


def test_binary() -> None:
    found = values(binary_column(pa.array([{"f1": 7, "f2": None}, None, {"f1": None, "f2": "é"}], PAIR), PAIRS))
    assert found == [
        struct.pack(">iiiiii", 2, 23, 4, 7, 25, -1),
        None,
        struct.pack(">iiiii", 2, 23, -1, 25, 2) + "é".encode(),
    ]


def test_rows_without_fields_have_a_stand_in() -> None:
    family = record_family(2249, [], is_array=False)
    column = pa.array([{"f1": None}, None], pa.struct([("f1", pa.bool_())]))
    assert values(text_column(column, family, UTC)) == [b"()", None]
    assert values(binary_column(column, family)) == [bytes(4), None]


def test_arrays_of_rows_of_a_relation() -> None:
    family = record_family(70_000, [("int4", 23), ("text", 25)], is_array=True)
    column = pa.array([[{"f1": 1, "f2": "a b"}, None], [], None], pa.list_(PAIR))
    assert values(text_column(column, family, UTC)) == [b'{"(1,\\"a b\\")",NULL}', b"{}", None]
    assert (values(binary_column(column, family))[0] or b"")[8:12] == struct.pack(">i", 70_000)
