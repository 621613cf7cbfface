"""Variances, deviations and aggregates of bits as first aggregates of continuous views are
PostgreSQL's, to the last digit.

Floats are compared to 12 digits, since their order of addition differs.
"""

from __future__ import annotations

import random
from pathlib import Path

import psycopg
import pytest

from tests.engine.ddl.test_view_life_cycle import Server
from tests.oracle.postgres import PostgresCluster

COLUMNS = "k int, a smallint, b int, c bigint, d numeric(9, 3), e real, f double precision"
EXACT = [
    f"{function}({column})"
    for function in ("variance", "var_pop", "stddev", "stddev_pop")
    for column in ("a", "b", "c", "d", "b * 2")
]
BITS = [f"{function}({column})" for function in ("bit_and", "bit_or", "bit_xor") for column in ("a", "b", "c")]
FLOATS = [
    f"{function}({column})"
    for function in ("var_samp", "var_pop", "stddev_samp", "stddev_pop")
    for column in ("e", "f")
]
MORE = ["stddev(b) FILTER (WHERE a > 0)", "avg(b)", "sum(c)", "avg(f)", "count(b)"]


def rows(chance: random.Random, count: int) -> str:
    """Return random rows: small and very large numbers, equal ones, NULLs."""

    def value(bound: int) -> str:
        kind = chance.random()
        if kind < 0.1:
            return "NULL"
        return str(chance.choice((chance.randint(-bound, bound), chance.randint(-9, 9), bound, -bound, 7)))

    def row() -> str:
        whole = (value(32767), value(2**30 - 1), value(2**62 - 1))
        decimal = "NULL" if chance.random() < 0.1 else f"{chance.randint(-(10**8), 10**8) / 1000}"
        return f"({chance.randrange(9)}, {', '.join(whole)}, {decimal}, {chance.gauss(3, 10):.3f}, {chance.gauss(1e6, 10)!r})"

    return ", ".join(row() for _ in range(count))


def rounded(line: str | None) -> str | None:
    return None if line is None else f"{float(line):.10g}"


@pytest.mark.parametrize("seed", range(2))
def test_they_are_postgresqls(tmp_path: Path, postgres: PostgresCluster, seed: int) -> None:
    chance = random.Random(seed)
    server = Server(tmp_path)
    server.client.run(f"CREATE FOREIGN TABLE t ({COLUMNS}) SERVER stream")
    exact, floats = ", ".join([*EXACT, *BITS, *MORE[:3]]), ", ".join([*FLOATS, *MORE[3:]])
    names = ", ".join(f"c{number}" for number in range(len(EXACT) + len(BITS) + 3))
    server.client.run(f"CREATE VIEW v (k, {names}) AS SELECT k, {exact} FROM t GROUP BY k")
    others = ", ".join(f"c{number}" for number in range(len(FLOATS) + 2))
    server.client.run(f"CREATE VIEW w (k, {others}) AS SELECT k, {floats} FROM t GROUP BY k")
    with postgres.connect() as oracle:
        oracle.execute(f"CREATE TEMP TABLE t ({COLUMNS})".encode())
        for count in (1, 1, 3, 40, 1200, 5):
            values = rows(chance, count)
            server.client.run(f"INSERT INTO t VALUES {values}")
            oracle.execute(f"INSERT INTO t VALUES {values}".encode())
            if count == 40:
                server.crash(checkpoint=seed > 0)
            check(server, oracle, exact, floats)
    server.world.close()


def check(server: Server, oracle: psycopg.Connection[tuple[object, ...]], exact: str, floats: str) -> None:
    """Compare all groups of both views."""
    for view, items, is_exact in (("v", exact, True), ("w", floats, False)):
        query = f"SELECT k, {items} FROM t GROUP BY k ORDER BY k"
        expected = []
        for row in oracle.execute(query.encode()).fetchall():
            expected.append([None if value is None else str(value) for value in row])
        found = [
            [None if value == "None" else value[2:-1] for value in line[1:-1].split(", ")]
            for line in server.rows(f"SELECT * FROM {view} ORDER BY k")
        ]
        if not is_exact:
            expected = [[rounded(value) for value in row] for row in expected]
            found = [[rounded(value) for value in row] for row in found]
        for ours, theirs in zip(found, expected, strict=True):
            assert dict(enumerate(ours)) == dict(enumerate(theirs)), view
