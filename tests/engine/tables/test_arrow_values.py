"""Columns of texts become values: the usual ones by kernels, the others one by one, each in its
place.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

from engine.tables.arrow_values import FieldError, text_array
from engine.tables.binary_values import received_array
from sql.times.input_styles import InputStyles
from sql.types.datatypes import JSON, JSONB, SqlType

TEXTS = [None, '{"b":1,"a":2}', "1e2", None, '"x"', r'"\u0041"', '{"b":1,"a":2}', "[1E1,2]"]
VALUES = [None, '{"a": 2, "b": 1}', "100", None, '"x"', '"A"', '{"a": 2, "b": 1}', "[10, 2]"]


def values(texts: list[str | None], kind: SqlType) -> list[str | None]:
    found: list[str | None] = text_array(pa.array(texts, pa.string()), kind, "UTC", InputStyles()).to_pylist()
    return found


def test_json() -> None:
    assert values(TEXTS, JSONB) == VALUES
    assert values(TEXTS, JSON) == TEXTS


@pytest.mark.parametrize("kind", [JSON, JSONB])
def test_the_first_error_is_told(kind: SqlType) -> None:
    texts = [None, "[1,2]", "1e2", "[1,]", "2", "{"]
    with pytest.raises(FieldError) as failed:
        values(texts, kind)
    assert (failed.value.index, failed.value.text) == (3, "[1,]")
    assert failed.value.error.sqlstate == "22P02"
    assert failed.value.error.detail == 'Expected JSON value, but found "]".'


@pytest.mark.parametrize("kind", [JSON, JSONB])
def test_binary_json_is_that_of_texts(kind: SqlType) -> None:
    head = b"\1" if kind == JSONB else b""
    forms = [None if text is None else head + text.encode() for text in TEXTS]
    assert received_array(pa.array(forms, pa.binary()), kind).to_pylist() == values(TEXTS, kind)
    for bad, sqlstate in ((b"{", "22P02"), (b'"\xff"', "22021"), (b'"\0"', "22021")):
        with pytest.raises(FieldError) as failed:
            received_array(pa.array([*forms, head + bad], pa.binary()), kind)
        assert (failed.value.index, failed.value.error.sqlstate) == (len(forms), sqlstate)


def test_another_version_of_jsonb() -> None:
    with pytest.raises(FieldError) as failed:
        received_array(pa.array([b"\x011", b"\x021"], pa.binary()), JSONB)
    assert (failed.value.index, failed.value.error.message) == (1, "unsupported jsonb version number 2")
