"""Angles in degrees and inverse hyperbolic functions, bit by bit as PostgreSQL has them."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from ringbuffer.memory.error_codes import INPUT_RANGE
from ringbuffer.scalar.numbers import degrees
from tests.oracle.postgres import PostgresCluster

SEED = 20_261_127
EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, math.nextafter(1.0, 2.0), math.nan, math.inf, -math.inf, 1e300, 5e-324, 1e-20)
NAMES = ("sind", "cosd", "tand", "cotd", "asind", "acosd", "atand", "asinh", "acosh", "atanh")


def numbers() -> Iterator[float]:
    chooser = random.Random(SEED)
    yield from EDGES
    yield from map(float, range(-720, 721, 15))
    for span in (1.0, 400.0, 1e6):
        yield from (chooser.uniform(-span, span) for _ in range(300))


def bits(value: Any) -> str:
    """Return the eight bytes of a number, one NaN for all."""
    return "NaN" if math.isnan(value) else struct.pack(">d", value).hex()


@pytest.mark.parametrize("name", NAMES)
def test_of_one_number(name: str, postgres: PostgresCluster) -> None:
    function = getattr(degrees, name)
    found = {value: function(value) for value in numbers()}
    assert {error for _, error in found.values()} <= {0, INPUT_RANGE}
    known = [value for value, (_, error) in found.items() if not error]
    with postgres.connect() as connection:
        rows = connection.execute(f"SELECT {name}(x) FROM unnest(%s::float8[]) x", (known,)).fetchall()
        assert [bits(found[value][0]) for value in known] == [bits(row[0]) for row in rows]
        for value in found.keys() - set(known):
            refused = (
                f"DO $$ BEGIN PERFORM {name}('{value!r}'); RAISE 'none'; EXCEPTION WHEN SQLSTATE '22003' THEN END $$"
            )
            connection.execute(refused.encode())


def test_of_two_numbers(postgres: PostgresCluster) -> None:
    chooser = random.Random(SEED)
    pairs = [tuple(chooser.sample(list(numbers()), 2)) for _ in range(500)]
    with postgres.connect() as connection:
        query = "SELECT atan2d(y, x) FROM unnest(%s::float8[], %s::float8[]) AS p(y, x)"
        rows = connection.execute(query, [list(part) for part in zip(*pairs, strict=True)]).fetchall()
    assert [bits(degrees.atan2d(*pair)[0]) for pair in pairs] == [bits(row[0]) for row in rows]
