"""Views that join tables, with their static and upper pipelines in Spark: PostgreSQL's answers, and
tables made once per version.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.spark.runtime import SparkRuntime
from engine.spark.tables import TABLES_KEPT_MAX, SparkTables
from engine.spark.upper import SparkUpperExecutor
from sql.errors import SqlError
from sql.tree.relations import OutputColumn, Scan
from sql.types.datatypes import INT4
from tests.oracle.postgres import PostgresCluster
from tests.views.joined import World, table_of
from tests.views.test_joined_views import STREAM_JOINS, UPPER_JOINS, check

pytestmark = pytest.mark.slow

BYTES_MAX = 1_000_000
SCAN = Scan("groups", "table", (OutputColumn("g", INT4), OutputColumn("title", INT4)))


@pytest.fixture(scope="module")
def world(postgres: PostgresCluster, upper: SparkUpperExecutor) -> Iterator[World]:
    with postgres.connect() as connection:
        connection.execute("DROP SCHEMA IF EXISTS joined_in_spark CASCADE")
        connection.execute("CREATE SCHEMA joined_in_spark")
        connection.execute("SET search_path = joined_in_spark")
        yield World(upper, connection, seed=20_261_122)


@pytest.mark.turns(16)
@pytest.mark.parametrize("query", [*STREAM_JOINS, *UPPER_JOINS])
def test_joined_views(query: str, world: World, run_folder: Path) -> None:
    check(world, query, run_folder)


def views_of(session: Any) -> set[str]:
    return {row.viewName for row in session.sql("SHOW VIEWS").collect()}


def test_a_table_is_made_once_per_version_and_dropped_when_nobody_uses_it(spark: SparkRuntime) -> None:
    session = spark.session()
    tables = SparkTables(BYTES_MAX)
    before = views_of(session)
    first, second = table_of("groups", [(1, "one")]), table_of("groups", [])
    with tables.view_of(spark.pipelines(), SCAN, (1,), lambda: first) as old:
        with tables.view_of(spark.pipelines(), SCAN, (1,), lambda: first) as again:
            assert again == old
        with tables.view_of(spark.pipelines(), SCAN, (2,), lambda: second) as new:
            assert new != old
            assert session.sql(f"SELECT count(*) FROM {old}").collect()[0][0] == 1, "somebody still reads it"
        assert old in views_of(session)
    assert views_of(session) - before == {new}
    for number in range(TABLES_KEPT_MAX):
        with tables.view_of(spark.pipelines(), Scan(f"t{number}", "table", SCAN.schema), (1,), lambda: first):
            pass
    assert new not in views_of(session) and len(views_of(session) - before) == TABLES_KEPT_MAX


def test_tables_that_nobody_reads_take_a_bounded_room(spark: SparkRuntime) -> None:
    session = spark.session()
    rows = table_of("groups", [(number, "text") for number in range(1000)])
    tables = SparkTables(2 * rows.nbytes)
    before = views_of(session)
    made = []
    for number in range(4):
        with tables.view_of(spark.pipelines(), Scan(f"t{number}", "table", SCAN.schema), (1,), lambda: rows) as name:
            made.append(name)
    assert views_of(session) - before == set(made[2:])
    tables = SparkTables(rows.nbytes - 1)
    with tables.view_of(spark.pipelines(), SCAN, (1,), lambda: rows) as name:
        assert name in views_of(session), "its reader needs it"
    assert name not in views_of(session)


def test_errors_of_static_pipelines_are_postgresqls(world: World, tmp_path: Path) -> None:
    query = "SELECT d.part, count(*) FROM s JOIN (SELECT k, 1 / (g - g) AS part FROM t) d USING (k) GROUP BY 1"
    with pytest.raises(SqlError) as failure:
        world.view(query, tmp_path)
    assert failure.value.sqlstate == "22012"
