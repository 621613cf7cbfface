"""pg_get_viewdef and pg_get_functiondef beside the answers of PostgreSQL: of many queries, of views
whose relations were renamed since, of the bodies of functions.

`--rewrite` writes PostgreSQL's answers into the files.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import psycopg
import pytest

from engine.system_catalog.deparse.expressions import READERS
from sql.parse import syntax
from tests.engine.session_client import SessionClient, World
from tests.golden import Golden, texts
from tests.oracle.postgres import PostgresCluster

FOLDER = Path(__file__).parent
QUERIES, RENAMED, FUNCTIONS = (FOLDER / f"{name}.txt" for name in ("view_texts", "renamed_views", "function_texts"))
TABLES = FOLDER / "view_texts.sql"
FORMS = "pg_get_viewdef(oid), pg_get_viewdef(oid, true), pg_get_viewdef(oid, 60)"


class Ours:
    """A session of a database of its own."""

    def __init__(self, client: SessionClient) -> None:
        self._client = client

    def rows(self, text: str) -> list[tuple[str, ...]]:
        """Run a statement and return its rows."""
        answer = self._client.ask(text)
        assert not any(line.startswith("E ") for line in answer), (text, answer)
        found = (ast.literal_eval(line[2:]) for line in answer if line.startswith("D "))
        return [tuple(value.decode() for value in row) for row in found]


class Theirs:
    """A session of PostgreSQL."""

    def __init__(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        self._connection = connection

    def rows(self, text: str) -> list[tuple[str, ...]]:
        """Run a statement and return its rows."""
        cursor = self._connection.execute(text.encode())
        return [] if cursor.description is None else [tuple(map(str, row)) for row in cursor]


@pytest.fixture
def answering(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Ours | Theirs]:
    """Return the session of the answers: PostgreSQL's to write the files, else ours."""
    if not request.config.getoption("--rewrite"):
        world = World(tmp_path / "data")
        yield Ours(world.client())
        world.close()
        return
    cluster: PostgresCluster = request.getfixturevalue("postgres")
    with cluster.connect() as connection:
        connection.execute("CREATE SCHEMA viewed")
        connection.execute("SET search_path = viewed")
        yield Theirs(connection)
        connection.execute('DROP SCHEMA IF EXISTS viewed, f_one, f_two, "F One", bodies CASCADE')


@pytest.mark.golden
def test_views_are_shown_as_postgresql_shows_them(golden: Golden, answering: Ours | Theirs) -> None:
    for text in TABLES.read_text().splitlines():
        answering.rows(text)
    for number, text in enumerate(texts(QUERIES)):
        answering.rows(f"CREATE VIEW v{number:03d} AS {text}")
    shown = answering.rows(f"SELECT {FORMS} FROM pg_class WHERE relkind = 'v' AND relname LIKE 'v___' ORDER BY relname")
    found = iter(shown)
    golden(QUERIES, lambda _: [line for form in next(found) for line in form.split("\n")])


@pytest.mark.golden
def test_views_show_the_names_of_today(golden: Golden, answering: Ours | Theirs) -> None:
    golden(RENAMED, lambda text: [line for row in answering.rows(text) for line in (row[0], *row[1].split("\n"))])


@pytest.mark.golden
def test_bodies_of_functions_are_shown_as_postgresql_shows_them(golden: Golden, answering: Ours | Theirs) -> None:
    golden(FUNCTIONS, lambda text: [line for row in answering.rows(text) for line in (row[0], *row[1].split("\n"))])


def test_every_kind_of_expression_is_read() -> None:
    assert set(get_args(syntax.Expression)) == READERS.keys()


def test_views_over_what_has_no_name_or_no_columns_of_its_own(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    client = world.client()
    client.run(
        "CREATE SCHEMA s",
        "CREATE FUNCTION s.f(x int) RETURNS SETOF int LANGUAGE sql AS 'SELECT x'",
        "CREATE VIEW called AS SELECT f FROM s.f(1)",
        "CREATE TABLE e ()",
        "CREATE VIEW counted AS SELECT count(e) AS n, count(e.*) AS m FROM e",
        "CREATE TEMP TABLE t (a int)",
        "CREATE VIEW passing AS SELECT * FROM pg_temp.t",
        "ALTER FUNCTION s.f RENAME TO g",
        "ALTER TABLE t RENAME a TO b",
        "CREATE OR REPLACE TEMP VIEW passing AS SELECT b AS a FROM t",
    )
    texts_of = "SELECT viewname, definition FROM pg_views WHERE viewname IN ('called', 'counted', 'passing') ORDER BY 1"
    # PostgreSQL's.
    expected = [
        ("called", " SELECT f.f\n   FROM s.g(1) f(f);"),
        ("counted", " SELECT count(e.*) AS n,\n    count(e.*) AS m\n   FROM e;"),
        ("passing", " SELECT t.b AS a\n   FROM t;"),
    ]
    assert Ours(client).rows(texts_of) == expected
    assert Ours(world.client()).rows(texts_of)[:2] == expected[:2]
    world.close()
