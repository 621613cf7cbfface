"""Questions of tools are answered as PostgreSQL 15 answers them for the same relations; what
differs is listed with the reason.

golden/*.json but psql.json are made by `python -m tests.system_catalog.write_golden` from
tools/*.sql; tool_differences.json is ours: tool -> title -> reason. Of what is listed the columns
are still the same, and it fails when it does not differ.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.system_catalog.tool_queries import Answer, Asked, dsn, queries, tools
from tests.system_catalog.write_golden import FOLDER, GOLDEN

DIFFERENCES: dict[str, dict[str, str]] = json.loads((FOLDER / "tool_differences.json").read_text())


def golden(tool: str) -> dict[str, Answer]:
    """Return PostgreSQL's answers by title."""
    rows = json.loads((GOLDEN / f"{tool}.json").read_text())
    return {row.pop("title"): Answer(**row) for row in rows}


@pytest.fixture(params=tools())
def tool(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def asked(schema_server: AntumbraServer) -> Iterator[Asked]:
    with psycopg.connect(dsn(schema_server.port), autocommit=True) as connection:
        yield Asked(connection)


@pytest.mark.turns(4)
def test_answers_are_those_of_postgres(tool: str, asked: Asked) -> None:
    expected, listed = golden(tool), DIFFERENCES.get(tool, {})
    wrong = []
    for title, text in queries(tool).items():
        answer, known = asked.answer(text), expected[title]
        assert not known.error, f"PostgreSQL does not take {title}: {known.error}"
        if title not in listed:
            if answer != known:
                wrong.append((title, answer.error or difference(answer, known)))
            continue
        if answer.error or replace(answer, rows=[]) != replace(known, rows=[]):
            wrong.append((title, answer.error or "other columns"))
        elif answer == known:
            wrong.append((title, "it does not differ: take it out of tool_differences.json"))
    assert not wrong


def difference(answer: Answer, known: Answer) -> str:
    """Return what is not the same."""
    columns = f"{answer.columns} {answer.types}, not {known.columns} {known.types}"
    if (answer.columns, answer.types) != (known.columns, known.types):
        return columns
    more = [row for row in answer.rows if row not in known.rows]
    less = [row for row in known.rows if row not in answer.rows]
    return f"more: {more}, less: {less}" if more or less else "the order"


def test_every_difference_is_of_a_query() -> None:
    assert DIFFERENCES.keys() <= set(tools())
    for name, listed in DIFFERENCES.items():
        assert listed.keys() <= queries(name).keys()


def test_hundreds_of_queries() -> None:
    assert sum(len(queries(name)) for name in tools()) >= 250
