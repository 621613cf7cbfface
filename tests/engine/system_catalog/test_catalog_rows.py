"""Queries of the catalog beside the rows that they have for the relations of
tests/system_catalog/schema.sql, in rows.txt.

Of each answer the rows are kept that it does not have in an empty database. That catalog queries
answer as PostgreSQL does is the subject of tests/system_catalog.
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.system_catalog.static_rows import relations
from tests.engine.session_client import SessionClient, World
from tests.golden import Golden, texts
from tests.system_catalog.write_golden import schema

FILE = Path(__file__).with_name("rows.txt")
ROWS_MAX = 30


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionClient]:
    world = World(tmp_path_factory.mktemp("empty") / "data")
    yield world.client()
    world.close()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionClient]:
    world = World(tmp_path_factory.mktemp("filled") / "data")
    client = world.client()
    client.run(*schema())
    yield client
    world.close()


@pytest.mark.golden
def test_rows_are_as_ever(golden: Golden, empty: SessionClient, filled: SessionClient) -> None:
    golden(FILE, lambda query: row_lines(query, empty, filled))


def test_every_relation_is_asked() -> None:
    asked = {text.rpartition("FROM ")[2].split()[0] for text in texts(FILE)}
    assert {f"{schema_name}.{name}" for schema_name, name in relations()} - asked == set()


def row_lines(query: str, empty: SessionClient, filled: SessionClient) -> list[str]:
    """Return the columns, how many rows there are in an empty database, and the rows that are only
    in the other one.
    """
    columns, rows = answer(query, filled)
    before = set(found := answer(query, empty)[1])
    added = [shown(row) for row in rows if row not in before]
    if "ORDER BY" not in query:
        added.sort()
    left_out = [f"and {len(added) - ROWS_MAX} more"] if len(added) > ROWS_MAX else []
    return [f"({columns}) {len(found)} rows, and {len(added)}:", *added[:ROWS_MAX], *left_out]


def answer(query: str, client: SessionClient) -> tuple[str, list[str]]:
    """Return the names of the columns with the OIDs of their types, and the rows; or nothing, and
    the error.
    """
    lines = client.ask(query)
    described = next((line[2:] for line in lines if line.startswith("T ")), "")
    columns = ", ".join(":".join(column.split(":")[:2]) for column in described.split())
    return columns, [line for line in lines if line[:2] in ("D ", "E ")]


def shown(line: str) -> str:
    """Return the values of a row, or an error."""
    if line.startswith("E "):
        return line[2:]
    values: list[bytes | None] = literal_eval(line[2:])
    return "|".join("NULL" if value is None else value.decode().replace("\n", "\\n") for value in values)
