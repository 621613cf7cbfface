"""Columns of texts become values: the usual ones by kernels, the others one by one, each in its
place.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

from engine.tables.arrow_values import FieldError, text_array
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
