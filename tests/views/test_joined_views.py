"""Views that join a stream with tables answer as PostgreSQL does over all rows: every kind of key,
filter and join that has a plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from engine.embedded.query_engine import QueryEngine
from tests.engine.answers import difference, oracle_answer
from tests.oracle.postgres import PostgresCluster
from tests.views.joined import EmbeddedExecutor, World

pytestmark = pytest.mark.slow

MEMORY_BYTES = 256 * 1024 * 1024

# What is joined below the first grouping.
STREAM_JOINS = (
    "SELECT t.name, count(*), sum(s.x), min(t.w) FROM s JOIN t ON s.k = t.k GROUP BY t.name",
    "SELECT t.k, sum(s.n * t.w), max(t.name || s.c) FROM s, t WHERE s.k = t.k AND t.g > 2 AND s.x > 0 GROUP BY t.k",
    "SELECT t.name, u.v, count(*) FROM s JOIN t USING (k) JOIN u ON u.c = s.c GROUP BY 1, 2",
    "SELECT count(*), sum(t.k) FROM t, u, s WHERE t.k = u.k AND s.c = u.c AND u.d > date '1970-01-03'",
    "SELECT u.v, min(u.d), max(s.d) FROM s, u WHERE s.c = u.c AND s.d = u.d GROUP BY u.v",
    "SELECT p.label, count(*) FROM s JOIN p ON s.n = p.n GROUP BY p.label",
    "SELECT p.label, count(*) FROM s JOIN p ON s.f = p.f GROUP BY p.label",
    "SELECT p.label, count(*) FROM s JOIN p ON s.k = p.n GROUP BY p.label",
    "SELECT r.band, count(*) FROM s JOIN r ON s.k BETWEEN r.lo AND r.hi GROUP BY r.band",
    "SELECT t.g, r.band, count(*) FROM s, r, t WHERE s.k = t.k AND s.x + t.g > r.lo GROUP BY 1, 2",
    "SELECT count(*) FROM s CROSS JOIN r",
    "SELECT count(*) FROM s CROSS JOIN empty",
    "SELECT s.k, count(*), count(e.name) AS names FROM s LEFT JOIN empty e ON s.k = e.k GROUP BY s.k",
    "SELECT s.k, t.name, count(*), count(t.k) AS met, sum(t.w) FROM s LEFT JOIN t ON s.k = t.k AND t.flag AND s.x > 2 GROUP BY 1, 2",
    "SELECT t.name, count(*) FROM t RIGHT JOIN s ON s.b = t.k WHERE t.g IS NULL OR t.g > 0 GROUP BY 1",
    "SELECT u.v, t.g, count(*) FROM s LEFT JOIN t ON s.k = t.k LEFT JOIN u ON u.k = t.g GROUP BY 1, 2",
    "SELECT t.g, count(*) FROM s LEFT JOIN u ON s.c = u.c JOIN t ON t.g = u.k GROUP BY 1",
    "SELECT t.k % 3 AS part, avg(s.n) FILTER (WHERE t.flag) AS mean, bool_or(t.flag) FROM s JOIN t ON t.k + 1 = s.x GROUP BY 1",
    "SELECT a.name, b.name AS other, count(*) FROM s JOIN t a ON a.k = s.k JOIN t b ON b.k = s.x AND b.g = a.g GROUP BY 1, 2",
    "SELECT d.names, count(*) FROM s JOIN (SELECT k, count(name) AS names FROM t GROUP BY k) d ON d.k = s.k GROUP BY 1",
    "SELECT d.c, count(*) FROM s JOIN (SELECT u.c, t.k FROM u LEFT JOIN t ON t.g = u.k) d ON d.k = s.k GROUP BY 1",
    "SELECT DISTINCT t.name, s.d FROM s JOIN t ON s.k = t.k",
    "SELECT x.name, sum(y) FROM (SELECT name, s.n * 2 AS y FROM s JOIN t ON s.k = t.k WHERE s.n > 1) x WHERE y < 20 GROUP BY 1",
    "SELECT t.flag, count(*) FROM s JOIN t ON (s.k > 3) = t.flag GROUP BY 1",
    "SELECT count(*) FROM s, t WHERE s.k = t.k AND upper(s.c) = upper(t.name)",
    "SELECT s.c, count(*) FROM s JOIN t ON s.k = t.k AND t.name = s.c || '' GROUP BY s.c",
    "SELECT t.name, count(*) FROM s JOIN t ON s.k = t.k WHERE t.g IN (SELECT g FROM groups) GROUP BY t.name",
    "SELECT count(*), sum(s.x) FROM s, t WHERE (s.k = t.k AND t.g > 5) OR (s.k = t.k AND s.x < t.g) OR (s.k = t.k AND t.flag)",
    "SELECT d.k, count(*) FROM s JOIN (SELECT k FROM t UNION SELECT k FROM u) d ON d.k = s.k GROUP BY d.k",
)  # fmt: skip

# What is joined above it, too.
UPPER_JOINS = (
    "SELECT t.name, g.n FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g JOIN t ON t.k = g.k",
    "SELECT t.name, g.n, t.k FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g FULL JOIN t ON t.k = g.k AND t.flag",
    "SELECT t.name, coalesce(g.n, 0) AS n FROM t LEFT JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) g ON t.k = g.k",
    "SELECT t.g, sum(g.n), avg(g.n) FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g, t WHERE t.k = g.k GROUP BY t.g",
    "SELECT g.k, x.title, g.n FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g RIGHT JOIN groups x ON x.g = g.k",
    "SELECT k, count(*) AS n FROM s GROUP BY k HAVING k IN (SELECT g FROM groups)",
    "SELECT g.k, g.n FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g WHERE EXISTS (SELECT 1 FROM t WHERE t.k = g.k AND t.flag)",
    "SELECT g.k, (SELECT max(name) FROM t WHERE t.k = g.k) AS name FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g",
    "SELECT k, count(*) AS n FROM s GROUP BY k UNION ALL SELECT g, -1 FROM groups",
    "SELECT u.v, x.name, x.n FROM (SELECT t.name, s.c, count(*) AS n FROM s JOIN t ON s.k = t.k GROUP BY 1, 2) x JOIN u USING (c)",
    "SELECT t.name, g.n FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g JOIN t ON t.k = g.k ORDER BY 2 DESC, 1 LIMIT 5",
    "SELECT name, n, sum(n) OVER (PARTITION BY name) AS total FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g JOIN t USING (k)",
)  # fmt: skip


@pytest.fixture(scope="module")
def oracle(postgres: PostgresCluster) -> Iterator[psycopg.Connection[Any]]:
    with postgres.connect() as connection:
        connection.execute("DROP SCHEMA IF EXISTS joined CASCADE")
        connection.execute("CREATE SCHEMA joined")
        connection.execute("SET search_path = joined")
        yield connection


@pytest.fixture(scope="module")
def engine() -> Iterator[QueryEngine]:
    running = QueryEngine(MEMORY_BYTES)
    yield running
    running.close()


@pytest.fixture(scope="module")
def world(oracle: psycopg.Connection[Any], engine: QueryEngine) -> World:
    return World(EmbeddedExecutor(engine), oracle, seed=20_261_121)


def check(world: World, query: str, folder: Path) -> None:
    assert world.oracle is not None
    view = world.view(query, folder)
    world.feed(view)
    expected = oracle_answer(world.oracle, query)
    assert expected.sqlstate is None and (expected.rows or "empty" in query), f"a poor test: {query}"
    assert difference(expected, world.read(view)) is None


@pytest.mark.turns(4)
@pytest.mark.parametrize("query", STREAM_JOINS)
def test_joins_in_the_stream_pipeline(query: str, world: World, run_folder: Path) -> None:
    check(world, query, run_folder)


@pytest.mark.parametrize("query", UPPER_JOINS)
def test_joins_above_the_grouping(query: str, world: World, run_folder: Path) -> None:
    check(world, query, run_folder)
