"""Names and constants of hostile characters in every place of a query that has a name: only names,
and never changed on their way.

The oracle is PostgreSQL, with a table in the place of the stream.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.spark.runtime import SparkRuntime
from tests.end_to_end.raw_client import RawClient, query
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

# Every character that some library takes for the end of a line, what ends a quote or a comment, and
# words that are names of ours.
NAMES = (
    *(
        "line\nfeed",
        "car\rriage",
        "\r\n  ",
        "form\x0cfeed",
        "tab\x0b\tulator",
        "\x1c\x1d\x1e",
        "\x85next",
        "\u2028\u2029",
        "\n",
        "\n)",
        "(\n",
    ),
    *(
        '"',
        '""',
        "'",
        "''",
        "`",
        "\\",
        "\\n",
        "'''",
        '"""',
        "--",
        "/*",
        "*/",
        "{}",
        "{0}",
        "%s",
        "$1",
        "$$",
        "${x}",
        ";",
        "a.b",
        '"."',
    ),
    *(
        "select",
        "A",
        "a",
        "t1",
        "rowid",
        "catalog",
        "memory",
        "excluded",
        "values",
        "*",
        "count(*)",
        "column0",
        "\u0130",
        "\x01\x1b[31m",
    ),
)
SETUP = (
    "CREATE TABLE ha_t (a int PRIMARY KEY, b text)",
    "INSERT INTO ha_t VALUES (1, 'x'), (2, 'y'), (3, 'x')",
    "CREATE FOREIGN TABLE ha_s (a int, b text) SERVER stream",
    "CREATE VIEW ha_v AS SELECT b, count(*) AS n FROM ha_s GROUP BY b",
    "INSERT INTO ha_s VALUES (1, 'x'), (2, 'y'), (3, 'x')",
)
QUERIES = """
SELECT t.a AS {n}, {l} AS x FROM ha_t t ORDER BY {n}
SELECT {n}.a FROM ha_t {n} ORDER BY {n}.a
SELECT {n} FROM (SELECT a AS {n} FROM ha_t) q ORDER BY 1
SELECT q.{n} FROM (VALUES (1), (2)) AS q({n}) ORDER BY 1
WITH {n} AS (SELECT a, b FROM ha_t) SELECT {n}.a FROM {n} ORDER BY 1
WITH {n}({n}) AS MATERIALIZED (SELECT b || {l} FROM ha_t) SELECT {n}.{n}, length({n}.{n}) FROM {n} ORDER BY 1
WITH RECURSIVE {n}({n}) AS (SELECT 1 UNION ALL SELECT {n} + 1 FROM {n} WHERE {n} < 3) SELECT * FROM {n} ORDER BY 1
SELECT sum(a) OVER {n} FROM ha_t WINDOW {n} AS (PARTITION BY b ORDER BY a) ORDER BY 1
SELECT {n}.{n} FROM generate_series(1, 2) AS {n}({n}) ORDER BY 1
SELECT x.b, x.{n} FROM (SELECT b, count(*) AS {n} FROM ha_s GROUP BY b) x WHERE x.{n} > 0 AND b <> {l} ORDER BY x.b
SELECT {n}.b, {n}.n FROM ha_v {n} JOIN ha_t ON ha_t.b = {n}.b ORDER BY 1, 2
SELECT b || {l} AS {n}, sum(n) FROM ha_v GROUP BY b || {l} HAVING max(b) <> {l} ORDER BY {n}
SELECT length({n}), {n} FROM (SELECT b || {l} AS {n} FROM ha_v ORDER BY b LIMIT 2) q ORDER BY 2
SELECT a FROM ha_t WHERE b || {l} IN (SELECT b || {l} FROM ha_t WHERE a < 2) ORDER BY 1
SELECT a FROM ha_t t WHERE EXISTS (SELECT 1 FROM ha_t u WHERE u.a = t.a AND u.b || {l} = t.b || {l}) ORDER BY 1
SELECT (SELECT max(b || {l}) FROM ha_t u WHERE u.a >= t.a) FROM ha_t t ORDER BY 1
SELECT length(z) FROM (SELECT b || {l} AS z FROM ha_t UNION SELECT {l}) q ORDER BY 1
SELECT l.{n} FROM ha_t, LATERAL (SELECT ha_t.b || {l} AS {n}) l ORDER BY 1
SELECT a, {n} FROM ha_t NATURAL JOIN (SELECT a AS a, {l} AS {n} FROM ha_t) q ORDER BY 1
SELECT DISTINCT ON ({n}) b || {l} AS {n}, a FROM ha_t ORDER BY {n}, a
SELECT a AS {n} FROM ha_t UNION SELECT 5 ORDER BY {n}
SELECT b || {l} AS {n}, count(*) FROM ha_t GROUP BY GROUPING SETS ((b), ()) ORDER BY 1, 2
SELECT string_agg(b, {l} ORDER BY a) AS {n} FROM (SELECT * FROM ha_t ORDER BY a LIMIT 3) q
SELECT row_to_json({n}) FROM (SELECT a AS {n} FROM ha_t WHERE a = 1) {n}
""".strip().splitlines()


def filled(text: str, name: str) -> str:
    """Return a query with the name, and the same as a constant."""
    quoted = '"' + name.replace('"', '""') + '"'
    return text.replace("{n}", quoted).replace("{l}", "'" + name.replace("'", "''") + "'")


def answers(client: SessionClient | RawClient, text: str) -> list[str]:
    # Of errors the code: places differ.
    return [line[:13] if line[0] == "E" else line for line in client.ask(query(text)) if line[0] in "TDEC"]


@pytest.fixture(scope="module")
def theirs(postgres: PostgresCluster) -> RawClient:
    client = RawClient(postgres.port, "postgres", "postgres")
    for text in SETUP:
        assert not any(
            line[0] == "E"
            for line in client.ask(query(text.replace("FOREIGN TABLE", "TABLE").replace(" SERVER stream", "")))
        )
    return client


@pytest.mark.turns(2)
@pytest.mark.parametrize("groups", ["-1", "1"], ids=["embedded", "spark"])
def test_they_are_only_names(groups: str, theirs: RawClient, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    runtime: SparkRuntime | None = request.getfixturevalue("spark") if groups == "1" else None
    world = World(tmp_path / "data", spark=runtime)
    ours = world.client()
    ours.run(*SETUP, f"SET min_spark_groups = {groups}")
    # Spark answers a query in tens of milliseconds: it gets those that group rows of streams.
    queries = [text for text in QUERIES if groups == "-1" or "ha_v" in text or "ha_s" in text]
    names = NAMES if groups == "-1" else NAMES[:22]
    wrong = []
    for name in names:
        for text in queries:
            pair = [answers(client, filled(text, name)) for client in (ours, theirs)]
            if pair[0] != pair[1]:
                wrong.append((name, text, *pair))
    world.close()
    print(*wrong[:20], sep="\n")
    assert not wrong
