"""Statements of every costly shape: each ends in an answer or in a clean error, in a bounded time,
while another client is served.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

# Of a loaded machine; work that grows quadratically or faster with these sizes would be minutes, or
# without an end.
SECONDS_MAX = 60
OTHERS_WAIT_S_MAX = 2.0
TOO_DEEP = "54001"

# A statement by its size, and what it answers: a value, or an SQLSTATE.
Shape = tuple[Callable[[int], str], Callable[[int], Any]]
SHAPES: dict[str, Shape] = {
    "a text": (lambda n: f"SELECT length('{'x' * n * 200}')", lambda n: n * 200),
    "doubled quotes": (lambda n: f"SELECT length('{chr(39) * 2 * n * 50}')", lambda n: n * 50),
    "escapes": (lambda n: f"SELECT length(E'{chr(92)}n{(chr(92) + 'n') * n * 20}')", lambda n: n * 20 + 1),
    "dashes": (lambda n: "SELECT 'x' " + "-" * n * 200, lambda n: "x"),
    "dashes and a string": (lambda n: "SELECT 'x'" + "--\n" * n + "'y'", lambda n: "xy"),
    "comments": (lambda n: "SELECT 1 " + "/*" * n + "*/" * n, lambda n: 1),
    "open comments": (lambda n: "SELECT 1 " + "/*" * n * 10, lambda n: "42601"),
    "open parentheses": (lambda n: "SELECT " + "(" * n * 10, lambda n: TOO_DEEP),
    "sum": (lambda n: "SELECT " + "+".join(["1"] * n), lambda n: n),
    "concatenation": (lambda n: "SELECT length(" + "||".join(["'a'"] * n) + ")", lambda n: n),
    "and": (lambda n: "SELECT " + " AND ".join(["true"] * n), lambda n: True),
    "or": (lambda n: "SELECT " + " OR ".join(f"{n} = {i}" for i in range(n)), lambda n: False),
    "in": (lambda n: f"SELECT {n} IN ({', '.join(map(str, range(n)))})", lambda n: False),
    "case": (lambda n: f"SELECT CASE {n} {' '.join(f'WHEN {i} THEN {i}' for i in range(n))} END", lambda n: None),
    "values": (
        lambda n: f"SELECT count(*) FROM (VALUES {', '.join(f'({i})' for i in range(n))}) q",
        lambda n: n,
    ),
    "casts": (lambda n: "SELECT 1" + "::int" * n, lambda n: 1),
    "many statements": (lambda n: ";" * n + "SELECT 1", lambda n: 1),
    "targets": (lambda n: f"SELECT {', '.join(['1'] * max(n, 1665))}", lambda n: "54011"),
    "settings": (lambda n: "; ".join(f"SET a.b{i} = '{i}'" for i in range(n)) + "; SHOW a.b1", lambda n: "1"),
    "catalog": (lambda n: f"SELECT count(*) FROM pg_class WHERE relname IN ({', '.join(['$$x$$'] * n)})", lambda n: 0),
    "catalog sum": (lambda n: "SELECT " + "+".join(["1"] * (n // 2)) + " FROM pg_class LIMIT 1", lambda n: n // 2),
    "name": (lambda n: f'SELECT 1 AS "{"n" * n * 100}"', lambda n: 1),
    "cubes": (lambda n: f"SELECT 1 GROUP BY {', '.join(['CUBE (1, 1)'] * n)}", lambda n: "54001"),
    "common tables": (
        lambda n: f"WITH {', '.join(f'c{i} AS (SELECT {i} AS x)' for i in range(n // 4))} SELECT 1",
        lambda n: 1,
    ),
    "unions": (
        lambda n: f"SELECT count(*) FROM ({' UNION ALL '.join(['SELECT 1'] * (n // 4))}) q",
        lambda n: n // 4,
    ),
}
# What nests in itself. At these depths it works; deeper ones may be 54001.
NESTED: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "SELECT " + "(" * n + "1" + ")" * n,
    "functions": lambda n: "SELECT " + "abs(" * n + "1" + ")" * n,
    "coalesce": lambda n: "SELECT " + "coalesce(NULL, " * n + "1" + ")" * n,
    "greatest": lambda n: "SELECT " + "greatest(1, " * n + "1" + ")" * n,
    "case": lambda n: "SELECT " + "CASE WHEN 1 = 2 THEN 2 ELSE " * n + "1" + " END" * n,
    "subqueries": lambda n: "SELECT " + "(SELECT " * n + "1" + ")" * n,
    "derived tables": lambda n: "SELECT x FROM " + "(SELECT x FROM " * n + "(SELECT 1 AS x) q" + ") q" * n,
    "signs": lambda n: "SELECT " + "- " * 2 * n + "1",
    "common tables": lambda n: (
        "WITH c0 AS (SELECT 1 AS x), "
        + ", ".join(f"c{i} AS (SELECT a.x FROM c{i - 1} a, c{i - 1} b)" for i in range(1, min(n, 300)))
        + f" SELECT x FROM c{min(n, 300) - 1}"
    ),
}


@pytest.fixture(scope="module")
def waits(server: AntumbraServer) -> Iterator[list[float]]:
    """Yield how long another client's statements have taken so far, in seconds."""
    found: list[float] = []
    is_over = threading.Event()

    def ask() -> None:
        with server.connect() as connection:
            while not is_over.wait(0.01):
                begin = time.monotonic()
                connection.execute("SELECT 1")
                found.append(time.monotonic() - begin)

    thread = threading.Thread(target=ask)
    thread.start()
    yield found
    is_over.set()
    thread.join()


def answer(server: AntumbraServer, text: str) -> Any:
    with server.connect() as connection:
        begin = time.monotonic()
        connection.execute(f"SET statement_timeout = '{SECONDS_MAX}s'")
        try:
            cursor = connection.execute(text)
            while cursor.nextset():
                pass
            row = cursor.fetchone()
            found = None if row is None else row[0]
        except psycopg.Error as error:
            found = error.sqlstate
        assert time.monotonic() - begin < SECONDS_MAX
        # The session goes on.
        assert connection.execute("SELECT 1").fetchone() == (1,)
    return found


@pytest.mark.turns(6)
@pytest.mark.parametrize("size", [40, 2000])
@pytest.mark.parametrize("shape", SHAPES)
def test_long_statements(server: AntumbraServer, waits: list[float], shape: str, size: int) -> None:
    text, expected = SHAPES[shape]
    before = len(waits)
    if shape == "open parentheses" and size < 400:
        return
    assert answer(server, text(size)) == expected(size)
    assert max(waits[before:], default=0) < OTHERS_WAIT_S_MAX


@pytest.mark.turns(6)
@pytest.mark.parametrize("depth", [60, 1000, 5000])
@pytest.mark.parametrize("shape", NESTED)
def test_nested_statements(server: AntumbraServer, waits: list[float], shape: str, depth: int) -> None:
    before = len(waits)
    found = answer(server, NESTED[shape](depth))
    assert found == 1 if depth < 100 else found in (1, TOO_DEEP)
    assert max(waits[before:], default=0) < OTHERS_WAIT_S_MAX
