"""A single value has the bytes that it has in a column."""

from __future__ import annotations

from decimal import Decimal

import pytest

from engine.tables.arrow_values import column_array
from ringbuffer.memory.stored_values import bytes_of
from sql.types.datatypes import (
    BOOL,
    BYTEA,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    INTERVAL,
    JSONB,
    NUMERIC,
    OID,
    TEXT,
    TIME,
    TIMESTAMPTZ,
    TIMETZ,
    UUID,
    LiteralValue,
    SqlType,
    array_of,
)  # fmt: skip
from views.model.stored_literals import stored_bytes

VALUES: list[tuple[SqlType, LiteralValue]] = [
    *((NUMERIC, Decimal(text)) for text in ("0", "-0.00", "1.50", "NaN", "Infinity", "-Infinity", "-128", "127", "128", "255.5", "-32769")),
    *((NUMERIC, Decimal(sign * 2**bits + more)) for bits in (63, 64, 71, 79, 126) for sign in (1, -1) for more in (0, -1)),
    (NUMERIC, Decimal("1e5")), (INTERVAL, (1, -2, -(2**40))), (TIMETZ, (5, -3600)), (JSONB, '{"a": 1}'), (TEXT, "é"), (BYTEA, b"\0\xff"),
    (UUID, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), (array_of(TEXT), ("a", None, "", "é")), (array_of(BOOL), (True, None, False)),
    (array_of(INT2), (1, -1)), (array_of(INT4), ()), (array_of(INT8), (2**62, None)), (array_of(FLOAT4), (0.5,)),
    (array_of(FLOAT8), (0.1, None)),
    (array_of(DATE), (-5,)), (array_of(TIME), (5,)), (array_of(TIMESTAMPTZ), (-5,)), (array_of(OID), (2**32 - 1,)),
    (array_of(NUMERIC), (Decimal("1.0"), None, Decimal("NaN"))), (array_of(INTERVAL), ((1, 2, 3), None)), (array_of(BYTEA), (b"\0", None)),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), VALUES, ids=lambda part: getattr(part, "sql_name", None))
def test_bytes_are_those_of_a_column(kind: SqlType, value: LiteralValue) -> None:
    assert stored_bytes(value, kind) == bytes_of(column_array([value], kind))[0].as_py()
