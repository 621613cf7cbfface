"""Views WITH (freeze_tables = on) keep only the groups that their tables let count, and answer as
PostgreSQL.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.end_to_end.raw_client import RawClient, query
from tests.engine.ddl.test_view_life_cycle import Server
from tests.oracle.postgres import PostgresCluster

TABLES = (
    "CREATE TABLE t (k int, r int, name varchar(30))",
    "CREATE TABLE u (r int, country char(2))",
    "CREATE TABLE p (k int, j int, most int)",
    """INSERT INTO t SELECT i, i % 5, CASE i % 4 WHEN 0 THEN 'forest ' WHEN 1 THEN 'lake ' ELSE 'hill ' END || i
    FROM generate_series(0, 19) AS g(i)""",
    "INSERT INTO t VALUES (NULL, 1, 'forest'), (3, NULL, 'forest 3'), (4, 4, NULL)",
    "INSERT INTO u VALUES (0, 'CA'), (1, 'DE'), (2, 'CA'), (2, 'CA'), (NULL, 'CA')",
    "INSERT INTO p SELECT i % 20, i % 7, i * 3 FROM generate_series(0, 59) AS g(i)",
)
BY_K = "SELECT k, sum(v) AS n, count(*) AS c FROM s GROUP BY k"
KEYS = (*range(25), "NULL")
ALL_K = len(KEYS)
# Each query with the number of groups that it keeps of all those of the stream.
QUERIES = {
    f"SELECT g.k, n, name FROM ({BY_K}) g JOIN t ON t.k = g.k WHERE name LIKE 'forest%'": 6,
    f"SELECT n, name FROM ({BY_K}) g, t, u WHERE u.country = 'CA' AND t.k = g.k AND t.r = u.r AND name LIKE 'forest%'": 2,
    f"SELECT k, n FROM ({BY_K}) g WHERE k IN (SELECT k FROM t WHERE r IN (SELECT r FROM u WHERE country = 'CA'))": 8,
    f"SELECT t.name, g.n FROM t LEFT JOIN ({BY_K}) g ON g.k = t.k AND g.n > 5": 20,
    f"SELECT name, count(*) AS c, sum(n) AS n FROM ({BY_K}) g JOIN t USING (k) WHERE r < 2 GROUP BY name": 8,
    # As the query 20 of TPC-H.
    "SELECT country FROM u WHERE r IN (SELECT p.k % 5 FROM p WHERE p.k IN (SELECT k FROM t WHERE name LIKE 'lake%')"
    " AND most > (SELECT sum(v) / 9 FROM s WHERE s.k = p.k AND s.j = p.j)) AND country = 'CA'": 15,
    "SELECT t.k, (SELECT sum(v) FROM s WHERE s.k = t.k) AS n FROM t WHERE name LIKE 'hill%'": 10,
    "SELECT k FROM t WHERE r = 1 AND EXISTS (SELECT FROM s WHERE s.k = t.k AND s.j = 2)": 4,
    "SELECT k, n FROM (SELECT k, sum(v) AS n FROM s GROUP BY k HAVING sum(v) > 0) g JOIN p USING (k) WHERE most < 30": 10,
    f"SELECT k, n FROM ({BY_K}) g JOIN generate_series(0, 9) AS f(k) USING (k)": 10,
    # What may fail leaves out nothing.
    f"SELECT g.k, n FROM ({BY_K}) g JOIN t ON t.k = g.k WHERE name LIKE 'forest%' AND r <> 0 AND 12 / r > 3": 4,
    f"SELECT k, n FROM ({BY_K}) g JOIN (SELECT k FROM t WHERE r <> 0 AND 12 / r > 3) f USING (k)": 16,
    # All groups count.
    f"SELECT g.k, n, name FROM ({BY_K}) g JOIN t ON t.k + 1 = g.k": ALL_K,
    f"SELECT k, n FROM ({BY_K}) g JOIN generate_series(0, 300000) AS f(k) USING (k)": ALL_K,
    f"SELECT g.k, name FROM ({BY_K}) g LEFT JOIN t ON t.k = g.k AND name LIKE 'forest%'": ALL_K,
    f"SELECT k, n FROM ({BY_K}) g WHERE k NOT IN (SELECT k FROM t WHERE r = 1 AND k IS NOT NULL)": ALL_K,
    f"SELECT k, n FROM ({BY_K}) g WHERE n > 7 OR k IN (SELECT k FROM t WHERE r = 1)": ALL_K,
    f"SELECT rank() OVER (ORDER BY n, g.k) AS r, g.k FROM ({BY_K}) g": ALL_K,
    # Of rows that are equal in the order, the engine above the groups may take others.
    f"SELECT k, n FROM ({BY_K}) g JOIN (SELECT k FROM t ORDER BY k LIMIT 4) f USING (k)": ALL_K,
    f"SELECT k, n FROM ({BY_K}) g JOIN (SELECT k, row_number() OVER (ORDER BY k) AS i FROM t) f USING (k) WHERE i < 3": ALL_K,
    f"SELECT k, n FROM ({BY_K}) g JOIN (SELECT DISTINCT ON (r) r, k FROM t ORDER BY r, k) f USING (k)": ALL_K,
    f"SELECT a.k, b.n FROM ({BY_K}) a JOIN t ON t.k = a.k AND t.r = 1 JOIN ({BY_K}) b ON b.k = a.k + 1": ALL_K,
}


def inserts(seed: int) -> list[str]:
    """Return statements with rows whose keys have a row in no table, one or several, or are NULL;
    the first one has all pairs of keys.
    """
    draw = random.Random(seed)
    found = []
    for number in range(3):
        pairs = [(k, j) for k in KEYS for j in range(7)]
        chosen = pairs if number == 0 else draw.choices(pairs, k=120)
        keys = [(k, j, draw.randrange(-3, 9)) for k, j in chosen]
        found.append("INSERT INTO s VALUES " + ", ".join(f"({k}, {j}, {v})" for k, j, v in keys))
    return found


def answer(client: RawClient, text: str) -> list[str]:
    return sorted(line for line in client.ask(query(text)) if line[0] in "DE")


@pytest.fixture
def server(tmp_path: Path) -> Server:
    made = Server(tmp_path)
    made.client.run("CREATE FOREIGN TABLE s (k int, j int, v int) SERVER stream", *TABLES)
    return made


def groups(server: Server, name: str) -> str:
    (line,) = server.client.rows(f"SELECT groups FROM pg_stat_continuous_views WHERE relname = '{name}'")
    return line.split("'")[1]


@pytest.mark.turns(3, 1)
def test_answers_are_those_of_postgresql_and_few_groups_are_kept(server: Server, postgres: PostgresCluster) -> None:
    client, other = server.client, RawClient(postgres.port, "postgres", "postgres")
    for text in ("BEGIN", "CREATE TABLE s (k int, j int, v int)", *TABLES):
        other.ask(query(text))
    for number, text in enumerate(QUERIES):
        client.run(f"CREATE VIEW v{number} WITH (freeze_tables = on) AS {text}")
    first, *rest = inserts(1)
    for statement, checkpoint in ((first, False), *((one, one is rest[0]) for one in rest)):
        client.run(statement)
        other.ask(query(statement))
        for number, text in enumerate(QUERIES):
            assert sorted(client.rows(f"SELECT * FROM v{number}")) == answer(other, text), text
        # The join tables are made of the tables again.
        server.crash(checkpoint)
        client = server.client
    kept = {text: groups(server, f"v{number}") for number, text in enumerate(QUERIES)}
    assert kept == {text: str(count) for text, count in QUERIES.items()}
    other.ask(query("ROLLBACK"))
    other.hang_up()


def test_rows_that_fail_are_the_matter_of_readers(server: Server) -> None:
    """As without freeze_tables: PostgreSQL evaluates nothing at CREATE VIEW."""
    failing = "SELECT k FROM t WHERE 10 / (r - 1) > 2"
    for number, text in enumerate((
        f"SELECT k, n FROM ({BY_K}) g JOIN ({failing}) f USING (k)",
        f"SELECT k, n FROM ({BY_K}) g WHERE k IN ({failing})",
        f"SELECT k, n FROM ({BY_K}) g WHERE k IN (SELECT k FROM t GROUP BY k HAVING count(*) FILTER (WHERE 10 / (r - 1) > 2) > 0)",
        f"SELECT k, n FROM ({BY_K}) g JOIN (SELECT 10 / (r - 1) AS k FROM t) f USING (k)",
        f"SELECT g.k, n FROM ({BY_K}) g, t, u WHERE t.k = g.k AND u.r = t.r AND country = 'CA' AND 10 / (t.r - 1) > 2",
        f"SELECT g.k, n FROM ({BY_K}) g, t, u WHERE t.k = g.k AND u.r = t.r AND country = 'CA' AND 10 / (t.r - u.r) > 2",
        f"SELECT g.k, n FROM ({BY_K}) g JOIN (t JOIN u ON u.r = t.r AND 10 / (t.r - 1) > 2) ON t.k = g.k",
    )):  # fmt: skip
        server.client.run(f"CREATE VIEW v{number} WITH (freeze_tables = on) AS {text}")
        answer = server.client.ask(f"SELECT * FROM v{number}")[0]
        # Where no group is joined, the rows that would fail are not looked at.
        assert answer.startswith("E ERROR 22012") or "t.r - u.r" in text, text


def test_tables_that_say_which_groups_count_are_frozen_and_named(server: Server) -> None:
    client, (text, *_) = server.client, QUERIES
    client.run(f"CREATE VIEW free AS {text}", "UPDATE t SET name = 'forest' WHERE k = 1")
    client.run("DROP VIEW free")
    told = client.ask(f"CREATE VIEW v WITH (freeze_tables = on) AS {text}")
    assert any("groups are kept only for those k that rows of t ask for" in line for line in told)
    (refused, *_) = client.ask_in_full("UPDATE t SET name = 'forest' WHERE k = 1")
    assert "55006" in str(refused)
    hint = "DROP VIEW v first, or make it WITH (stream_join = arrival) instead of freeze_tables, so that the table may change."
    assert hint in str(refused)
    client.run("INSERT INTO u VALUES (7, 'FR')")
    assert "Join table t: 7 rows" in "\n".join(client.rows("EXPLAIN SELECT * FROM v"))
    planned = "\n".join(client.rows(f"EXPLAIN CREATE VIEW w WITH (freeze_tables = on) AS {text}"))
    stream, _, static = planned.partition("Static pipeline t: once, at CREATE VIEW")
    assert "Probe t on k = k" in stream
    assert "Filter: (name::text LIKE 'forest%') AND (k IS NOT NULL)" in static
    options = client.rows("SELECT reloptions FROM pg_class WHERE relname = 'v'")
    assert options == ["D [b'{freeze_tables=true}']"]
    client.run("DROP VIEW v", f"CREATE VIEW v WITH (stream_join = arrival) AS {text}")
    client.run("UPDATE t SET name = 'forest' WHERE k = 1")


def test_a_view_that_replaces_another_counts_all_of_its_groups_or_is_refused(server: Server) -> None:
    client, (text, *_) = server.client, QUERIES
    client.run(f"CREATE VIEW v WITH (freeze_tables = on) AS {text}", *inserts(2))
    before = sorted(client.rows("SELECT * FROM v"))
    # The same groups count.
    client.run(f"CREATE OR REPLACE VIEW v WITH (freeze_tables = on) AS {text} AND n > -1000")
    assert sorted(client.rows("SELECT * FROM v")) == before
    for more in (text.replace("forest", "lake"), f"SELECT k, n, NULL::text AS name FROM ({BY_K}) g"):
        for option in ("", " WITH (freeze_tables = on)"):
            assert any(line.startswith("E ") for line in client.ask(f"CREATE OR REPLACE VIEW v{option} AS {more}"))
    assert sorted(client.rows("SELECT * FROM v")) == before
    lakes = text.replace("forest", "lake")
    client.run(f"CREATE OR REPLACE VIEW v WITH (freeze_tables = on, reset = on) AS {lakes}")
    assert client.rows("SELECT * FROM v") == []


@pytest.mark.parametrize("stream_join", ["arrival", "retroactive"])
def test_tables_that_may_change_say_nothing(server: Server, stream_join: str) -> None:
    text, *_ = QUERIES
    refused = server.client.ask(f"CREATE VIEW v WITH (freeze_tables = on, stream_join = {stream_join}) AS {text}")
    assert any("22023" in line for line in refused)
    server.client.run(f"CREATE VIEW v WITH (stream_join = {stream_join}) AS {text}", "DELETE FROM t")
