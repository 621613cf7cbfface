"""A volatile function is called once for each place where it is written, however often its column
is named.
"""

from __future__ import annotations

from typing import Any

import pytest

from engine.embedded.query_engine import QueryEngine
from sql.bind import bind_query
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from tests.sql.sample_catalog import SETTINGS, SampleCatalog


def rows(engine: QueryEngine, text: str) -> list[dict[str, Any]]:
    (statement,) = parse(text)
    assert isinstance(statement, Select)
    root = bind_query(statement.query, SampleCatalog(), SETTINGS).root
    found: list[dict[str, Any]] = engine.run(root, {}).to_pylist()
    return found


@pytest.mark.parametrize(
    "text",
    [
        "SELECT r AS a, r AS b FROM (SELECT random() AS r FROM generate_series(1, 20)) AS q",
        "SELECT r AS a, r AS b FROM (SELECT (SELECT random()) AS r) AS q",
        "WITH q AS (SELECT random() AS r) SELECT r AS a, r AS b FROM q",
        "SELECT DISTINCT r AS a, r AS b FROM (SELECT random() AS r FROM generate_series(1, 20)) AS q",
        "SELECT a, b FROM (SELECT r AS a, r AS b FROM (SELECT random() AS r) AS q) AS p ORDER BY a, b",
        "SELECT r AS a, r AS b FROM (SELECT gen_random_uuid() AS r FROM generate_series(1, 20) ORDER BY r LIMIT 5) AS q",
    ],
)
def test_what_is_shown_twice_is_drawn_once(engine: QueryEngine, text: str) -> None:
    found = rows(engine, text)
    assert found and all(row["a"] == row["b"] for row in found)


def test_what_is_sorted_is_what_is_shown(engine: QueryEngine) -> None:
    drawn = [row["r"] for row in rows(engine, "SELECT random() AS r FROM generate_series(1, 200) ORDER BY r")]
    assert drawn == sorted(drawn)
    drawn = [
        row["r"]
        for row in rows(
            engine, "SELECT r FROM (SELECT random() AS r FROM generate_series(1, 200)) q ORDER BY r + 1 DESC"
        )
    ]
    assert drawn == sorted(drawn, reverse=True)


def test_rows_in_random_order(engine: QueryEngine) -> None:
    found = [row["g"] for row in rows(engine, "SELECT g FROM generate_series(1, 100) g ORDER BY random() LIMIT 50")]
    assert len(set(found)) == 50 and found != sorted(found)


def test_a_common_table_that_is_named_twice(engine: QueryEngine) -> None:
    drawn = rows(engine, "WITH q AS (SELECT random() AS r) SELECT a.r = b.r AS same FROM q AS a, q AS b")
    assert drawn == [{"same": True}], "it is computed once"
    assert rows(engine, "WITH q AS (SELECT 1 AS r) SELECT a.r = b.r AS same FROM q AS a, q AS b") == [{"same": True}]
    assert len(rows(engine, "WITH q AS (SELECT random() AS r), p AS (SELECT r FROM q) SELECT r FROM p")) == 1
