"""Definitions of twelve dialects: what is made of them, and that it gives the rows that the same
question gives in PostgreSQL, as a person writes it.

Each block of a file is a statement, after `-- PostgreSQL:` the query by hand, and what is made of
the statement. A block without a query by hand is refused. Types of columns are known, as in a
session, and then again not, as in a file: both give the same rows, or there is a refusal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from pathlib import Path

import psycopg
import pytest

from sql.dialects.translation import translate
from sql.errors import SqlError
from sql.names.dialects import DIALECTS
from sql.parse.parse import parse
from sql.parse.statements.create_table import CreateTable
from sql.parse.statements.create_view import CreateView
from tests.golden import Golden, blocks, error_lines
from tests.oracle.postgres import PostgresCluster

DATA = Path(__file__).parent / "data"
BY_HAND = "-- PostgreSQL:\n"
Columns = Mapping[str, Mapping[str, str]]


@cache
def columns() -> Columns:
    """Return the families of the tables' columns."""
    found = parse((DATA / "tables.sql").read_text())
    return {
        one.name: {column.name: column.type.family for column in one.columns}
        for one in found
        if isinstance(one, CreateTable)
    }


def translated(text: str, dialect: str, is_known: bool = True) -> list[str]:
    """Return what is made of a statement, with its warnings."""
    try:
        (found,) = translate(text, dialect, lambda parts: columns().get(parts[-1]) if is_known else None)
    except SqlError as error:
        return error_lines(error)
    return [found.text, *(f"WARNING: {note}" for note in found.notes)]


@pytest.mark.golden
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_is_made(dialect: str, golden: Golden) -> None:
    golden(DATA / f"{dialect}.sql", lambda block: translated(block.partition(BY_HAND)[0].strip(), dialect))


def test_most_are_accepted() -> None:
    """Refusals are of what would mean something else, and are the fewer."""
    accepted = [block for dialect in DIALECTS for block in blocks(DATA / f"{dialect}.sql") if BY_HAND in block.sql]
    assert len(accepted) >= 80


# The types for which PostgreSQL gets Antumbra's arg_min and arg_max.
CHOSEN_BY = (("int", "numeric"), ("text", "timestamp"), ("text", "int"), ("text", "numeric"))


def chosen(end: str, sign: str, value: str, key: str) -> str:
    """Return the statements that make arg_min or arg_max."""
    is_first = f"$1 is null or ($3 {sign} ($1[2])::{key})"
    return (
        f"create function arg_{end}_step(text[], {value}, {key}) returns text[] language sql as"
        f" $$select case when $3 is not null and ({is_first}) then array[$2::text, $3::text] else $1 end$$;"
        f"create function arg_{end}_of_{value}_by_{key}(text[]) returns {value} language sql as $$select ($1[1])::{value}$$;"
        f"create aggregate arg_{end}({value}, {key})"
        f" (sfunc = arg_{end}_step, stype = text[], finalfunc = arg_{end}_of_{value}_by_{key})"
    )


@pytest.fixture(scope="module")
def connection(postgres: PostgresCluster) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with postgres.connect() as connection:
        connection.execute("create schema dialects")
        connection.execute("set search_path = dialects")
        connection.execute((DATA / "tables.sql").read_text())
        for value, key in CHOSEN_BY:
            for end, sign in (("min", "<"), ("max", ">")):
                connection.execute(chosen(end, sign, value, key))
        yield connection
        connection.execute("drop schema dialects cascade")


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_rows(dialect: str, connection: psycopg.Connection[tuple[object, ...]]) -> None:
    wrong = []
    for block in blocks(DATA / f"{dialect}.sql"):
        text, _, by_hand = block.sql.partition(BY_HAND)
        for is_known in (True, False):
            made = translated(text.strip(), dialect, is_known)
            is_refused = made[0].startswith("ERROR")
            if not by_hand:
                if not is_refused:
                    wrong.append(f"not refused: {text}{made[0]}")
            elif is_refused:
                if is_known:
                    wrong.append(f"refused: {text}{made}")
            else:
                same = compared(connection, made[0], by_hand, is_known)
                if same is not None:
                    wrong.append(f"{text}{made[0]}\nknown columns: {is_known}\n{same}")
    assert not wrong, "\n\n".join(wrong)


def compared(connection: psycopg.Connection[tuple[object, ...]], made: str, by_hand: str, is_known: bool) -> str | None:
    """Return how the rows of two queries differ, None where they do not."""
    (statement,) = parse(made)
    try:
        with connection.transaction(force_rollback=True):
            if isinstance(statement, CreateView):
                connection.execute(made)
                made = f"select * from {statement.name}"
            found = rows(connection, made)
    except psycopg.Error as error:
        # Without the types of columns a text may have no meaning; it has no other one.
        return str(error) if is_known else None
    expected = rows(connection, by_hand)
    if len(found) == len(expected) and all(map(are_alike, found, expected)):
        return None
    if not is_known and len(found) == len(expected):
        return None if all(map(are_nearly_alike, found, expected)) else f"{found}\n{expected}"
    return f"{found}\n{expected}"


def rows(connection: psycopg.Connection[tuple[object, ...]], text: str) -> list[tuple[object, ...]]:
    """Return the rows of a query in an order of their own."""
    return sorted(connection.execute(text).fetchall(), key=lambda row: [shown(value) for value in row])


def shown(value: object) -> str:
    """Return a value as a key of the order, alike for numbers of all types."""
    return f"{float(value):.6f}" if isinstance(value, int | float | Decimal) else str(value)[:10]


def are_alike(left: tuple[object, ...], right: tuple[object, ...]) -> bool:
    """Tell whether two rows have the same values; numbers but for rounding."""
    return len(left) == len(right) and all(map(same, left, right))


def are_nearly_alike(left: tuple[object, ...], right: tuple[object, ...]) -> bool:
    """As `are_alike`, where a date may be its midnight."""
    return len(left) == len(right) and all(
        same(one, other) or (hasattr(one, "year") and str(one)[:10] == str(other)[:10])
        for one, other in zip(left, right, strict=True)
    )


def same(left: object, right: object) -> bool:
    """Tell whether two values are the same; numbers but for rounding."""
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left == right
    if isinstance(left, int | float | Decimal) and isinstance(right, int | float | Decimal):
        return math.isclose(float(left), float(right), rel_tol=1e-12, abs_tol=1e-12)
    return left == right
