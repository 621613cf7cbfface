"""An answer is collected batch by batch: one that is too large is stopped before it takes the
server's memory.
"""

from __future__ import annotations

import threading
import time

import pytest

from engine.embedded.query_engine import QueryEngine
from engine.embedded.result_rows import ResultLimits
from sql.bind import bind_query
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Relation
from tests.sql.sample_catalog import SETTINGS, SampleCatalog

MEMORY_BYTES = 256 << 20


def bound(text: str) -> Relation:
    (statement,) = parse(text)
    assert isinstance(statement, Select)
    return bind_query(statement.query, SampleCatalog(), SETTINGS).root


def test_an_answer_that_is_too_large() -> None:
    engine = QueryEngine(MEMORY_BYTES, results=ResultLimits(bytes_max=10 << 20))
    with pytest.raises(SqlError) as caught:
        engine.run(bound("SELECT a, b FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b"), {})
    assert (caught.value.sqlstate, caught.value.message) == ("53200", "the answer is too large")
    assert engine.run(bound("SELECT g FROM generate_series(1, 1000000) g"), {}).num_rows == 1_000_000
    engine.close()


@pytest.mark.parametrize(
    ("text", "sqlstate"),
    [
        ("SELECT repeat('x', 2000000000)", "54000"),
        ("SELECT lpad('x', 2000000000), 1", "54000"),
        ("SELECT rpad(a, 2000000000, 'ab') FROM (VALUES ('x')) v(a)", "54000"),
        ("SELECT repeat('xx', g * 1000000) FROM generate_series(1, 100) g", "54000"),
        (
            "SELECT g FROM (VALUES (timestamp '0001-01-01')) v(a), generate_series(a, timestamp '9999-01-01', interval '1 second') g",
            "53200",
        ),
        ("SELECT g FROM generate_series(1, 1e12, 0.5) g", "53200"),
    ],
)
def test_values_that_grow_with_a_number_stop_before_they_take_all_memory(
    engine: QueryEngine, text: str, sqlstate: str
) -> None:
    with pytest.raises(SqlError) as caught:
        engine.run(bound(text), {})
    assert caught.value.sqlstate == sqlstate


def test_a_pattern_that_is_no_constant_is_tried_once_at_each_place(engine: QueryEngine) -> None:
    begin = time.monotonic()
    found = engine.run(bound("SELECT repeat('a', 5000) LIKE repeat('%a', 1000) || 'b' AS x"), {})
    assert found.to_pylist() == [{"x": False}] and time.monotonic() - begin < 5
    texts = r"('abcabcabd', '%ab%d'), ('abc', 'a_c'), ('a%c', 'a\%c'), ('', '%'), ('aaa', 'a%a%a'), ('aa', 'a%a%a'), ('ab', '%b_')"
    query = f"SELECT a LIKE b AS x FROM (VALUES {texts}) v(a, b)"
    assert [row["x"] for row in engine.run(bound(query), {}).to_pylist()] == [
        True,
        True,
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize(
    ("text", "sqlstate"),
    [
        ("SELECT 1000000 / (900000 - g) FROM generate_series(1, 1000000) g", "22012"),
        ("SELECT CAST(g AS smallint) FROM generate_series(1, 1000000) g", "22003"),
        ("SELECT CAST(CASE WHEN g < 900000 THEN '1' ELSE 'x' END AS int) FROM generate_series(1, 1000000) g", "22P02"),
        ("SELECT g + 2147000000 FROM generate_series(1, 1000000) g", "22003"),
    ],
)
def test_errors_after_the_first_rows(engine: QueryEngine, text: str, sqlstate: str) -> None:
    with pytest.raises(SqlError) as caught:
        engine.run(bound(text), {})
    assert caught.value.sqlstate == sqlstate
    assert engine.run(bound("SELECT 1 AS x"), {}).to_pylist() == [{"x": 1}]


def test_interrupt_between_batches(engine: QueryEngine) -> None:
    text = "SELECT a FROM generate_series(1, 100000) a, generate_series(1, 100000) b WHERE (a + b) % 1000 = 0"
    token = object()
    timer = threading.Timer(0.3, engine.interrupt, (token,))
    timer.start()
    begin = time.monotonic()
    with pytest.raises(SqlError) as caught:
        engine.run(bound(text), {}, token)
    assert caught.value.sqlstate == "57014" and time.monotonic() - begin < 5


def test_a_cancel_ends_no_later_statement(engine: QueryEngine) -> None:
    """Constants are computed on a second cursor, which a cancelled statement may have had."""
    text = "SELECT 1 AS x FROM generate_series(1, 2) WHERE 'a' < regexp_replace('hello', '[ab]+', '')"
    cursors = [engine.take_cursor() for _ in range(3)]
    for cursor in cursors:
        cursor.interrupt()
        engine.give_back(cursor)
    assert engine.run(bound(text), {}, object()).num_rows == 2
    assert engine.run(bound(text), {}).num_rows == 2
