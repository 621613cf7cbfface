"""Random templates of numbers: to_number and to_char give PostgreSQL's answers and errors, also
where a text or a number does not line up with its template.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import pytest

from engine.embedded import decimals
from engine.embedded.functions.number_formats import (
    formatted,
    formatted_float,
    formatted_int4,
    formatted_int8,
    formatted_special,
)
from engine.embedded.functions.number_reading import read
from sql.errors import SqlError
from tests.oracle.postgres import PostgresCluster

SEED, PAIRS = 30, 2000
PLACES, POINTS = ("9", "9", "9", "0", ",", "G"), ("", "", ".", "D", "V")
STARTS = ("", "", "S", "MI", "PL", "SG", "FM", "FMS", "L", "$", "B", '"x"')
ENDS = ("", "", "", "S", "MI", "PL", "SG", "PR", "TH", "th", "L", "EEEE", "%", " ")
PIECES = (
    *PLACES * 3,
    *POINTS,
    *STARTS,
    *ENDS,
    *"C SP RN rn s g d mi fm l v Th Mi ab é € \\ 1".split(),
    '"ab',
    '"\\""',
    '\\"',
)
SIGNS, TEXT_ENDS = ("", "", "-", "+", " ", "<", "$", " -", "- ", "€"), ("", "", "", "-", "+", ">", " -", "th", "€", "x")
DIGITS = "0123456789"
TEXT_LETTERS = DIGITS * 2 + " -+.,<>xe$€é"
CALL = """
CREATE FUNCTION pg_temp.answer(call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE found text;
BEGIN EXECUTE 'SELECT ' || call INTO found; RETURN found;
EXCEPTION WHEN others THEN GET STACKED DIAGNOSTICS found = pg_exception_detail; RETURN concat_ws('|', sqlstate, sqlerrm, found); END $$
"""
ANSWERS = "SELECT pg_temp.answer(call) FROM unnest(%s::text[]) WITH ORDINALITY AS u(call, place) ORDER BY place"


def template(random: Random) -> str:
    """Return a template, half of the time one with its parts in their order."""
    if random.random() < 0.5:
        return "".join(random.choices(PIECES, k=random.randint(1, 9)))
    digits = "".join(random.choices(PLACES, k=random.randint(0, 7)))
    point = random.choice(POINTS)
    fraction = "".join(random.choices("990", k=random.randint(0, 4))) if point else ""
    return random.choice(STARTS) + digits + point + fraction + random.choice(ENDS)


def number_text(random: Random) -> str:
    """Return a text, most often one that has a number."""
    if random.random() < 0.4:
        return "".join(random.choices(TEXT_LETTERS, k=random.randint(0, 9)))
    whole = "".join(random.choices(DIGITS, k=random.randint(0, 6)))
    whole = f"{whole[:-3]},{whole[-3:]}" if len(whole) > 3 and random.random() < 0.3 else whole
    fraction = "." + "".join(random.choices(DIGITS, k=random.randint(0, 4))) if random.random() < 0.5 else ""
    return random.choice(SIGNS) + whole + fraction + random.choice(TEXT_ENDS)


def ours(call: Callable[[], Any]) -> str | None:
    """Return our answer as a text."""
    try:
        found = call()
    except SqlError as error:
        return "|".join(part for part in (error.sqlstate, error.message, error.detail or "") if part)
    return f"{Decimal(found[0]).scaleb(-found[1]):f}" if isinstance(found, tuple) else found


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def differences(postgres: PostgresCluster, said: Sequence[str], answers: Sequence[str | None]) -> list[str]:
    """Return calls with the answers, where PostgreSQL has another."""
    with postgres.connect() as connection:
        connection.execute(CALL)
        expected = [row[0] for row in connection.execute(ANSWERS, (list(said),)).fetchall()]
    triples = zip(said, answers, expected, strict=True)
    return [
        f"{call}: {found!r}, not {right!r}"
        for call, found, right in triples
        if found != (right and str(right).rstrip("|"))
    ]


def test_read(postgres: PostgresCluster) -> None:
    random = Random(SEED)
    pairs = [(number_text(random), template(random)) for _ in range(PAIRS)]
    answers = [ours(lambda pair=pair: read(*pair)) for pair in pairs]  # type: ignore[misc]
    assert sum("|" not in (answer or "|") for answer in answers) > PAIRS // 5
    said = [f"to_number({literal(text)}, {literal(pattern)})" for text, pattern in pairs]
    found = differences(postgres, said, answers)
    assert not found, "\n".join(found)


def of_numeric(text: str, pattern: str) -> str:
    value = Decimal(text)
    return (
        formatted(decimals.from_text(text), pattern) if value.is_finite() else formatted_special(float(value), pattern)
    )


FORMATS: dict[str, tuple[Callable[[str, str], str], Callable[[Random], str]]] = {
    "numeric": (
        of_numeric,
        lambda random: random.choice(
            ["0", "0.00", "NaN", "-Infinity", "-0.1", "9.99", str(Decimal(random.randint(-(10**6), 10**6)).scaleb(-2))]
        ),
    ),
    "int4": (
        lambda text, pattern: formatted_int4(int(text), pattern),
        lambda random: str(
            random.choice([0, -1, 25, random.randint(-5000, 5000), random.randint(-(2**31), 2**31 - 1)])
        ),
    ),
    "int8": (
        lambda text, pattern: formatted_int8(int(text), pattern),
        lambda random: str(random.choice([12, 25, random.randint(-5000, 5000), random.randint(-(2**63), 2**63 - 1)])),
    ),
    "float8": (
        lambda text, pattern: formatted_float(float(text), pattern),
        lambda random: repr(
            random.choice(
                [0.0, -0.0, float("nan"), -float("inf"), random.uniform(-9, 9), random.uniform(-1e17, 1e17), 2.5, 1e30]
            )
        ),
    ),
}


@pytest.mark.parametrize("type_name", FORMATS)
def test_format(postgres: PostgresCluster, type_name: str) -> None:
    call, drawn = FORMATS[type_name]
    random = Random(SEED)
    pairs = [(drawn(random), template(random)) for _ in range(PAIRS)]
    # PostgreSQL's int4 wraps around when V multiplies it, ours is an error.
    pairs = [pair for pair in pairs if type_name != "int4" or "V" not in pair[1].upper()]
    answers = [ours(lambda pair=pair: call(*pair)) for pair in pairs]  # type: ignore[misc]
    said = [f"to_char({literal(text)}::{type_name}, {literal(pattern)})" for text, pattern in pairs]
    found = differences(postgres, said, answers)
    assert not found, "\n".join(found)
