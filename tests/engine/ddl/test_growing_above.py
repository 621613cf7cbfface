"""Aggregates that are added to views above whose groups a query stands: windows, limits, further
groupings, grouping sets, windows of time; of rows that count from then on, and from a backfill.

The oracle is what each aggregate is of the rows from its point on, in Python.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.ddl.test_view_life_cycle import STREAM, Server, told

# (1, 1), (1, 2), (2, 5) come before the change, (1, 7), (3, 8) after it.
BEFORE, AFTER = "INSERT INTO s VALUES (1, 1), (1, 2), (2, 5)", "INSERT INTO s VALUES (1, 7), (3, 8)"
KEPT = "SELECT k, count(*) AS n"
RECENT = "FROM s WHERE arrival_timestamp > now() - interval '1 hour' GROUP BY k"
SETS = "FROM s GROUP BY GROUPING SETS ((k), ())"
RANKED = "rank() OVER (ORDER BY count(*), k) AS r"
NESTED = "FROM (SELECT k, count(*) AS n%s FROM s GROUP BY k) g"

GROWN = {
    "window": (
        f"{KEPT}, {RANKED} FROM s GROUP BY k", f"{KEPT}, {RANKED}, max(x) AS m FROM s GROUP BY k",
        ["[b'1', b'3', b'3', b'7']", "[b'2', b'1', b'1', None]", "[b'3', b'1', b'2', b'8']"],
    ),
    "window over what is added": (
        f"{KEPT} FROM s GROUP BY k", f"{KEPT}, rank() OVER (ORDER BY max(x) DESC NULLS LAST, k) AS m FROM s GROUP BY k",
        ["[b'1', b'3', b'2']", "[b'2', b'1', b'3']", "[b'3', b'1', b'1']"],
    ),
    "window over keys": (
        f"{KEPT} FROM s GROUP BY k", f"{KEPT}, max(x) AS m, row_number() OVER (ORDER BY k) FROM s GROUP BY k",
        ["[b'1', b'3', b'7', b'1']", "[b'2', b'1', None, b'2']", "[b'3', b'1', b'8', b'3']"],
    ),
    "limit": (
        f"{KEPT} FROM s GROUP BY k ORDER BY n DESC, k LIMIT 2", f"{KEPT}, max(x) AS m FROM s GROUP BY k ORDER BY n DESC, k LIMIT 2",
        ["[b'1', b'3', b'7']", "[b'2', b'1', None]"],
    ),
    "list": (
        f"{KEPT} FROM s GROUP BY k",
        f"{KEPT}, string_agg(x::text, ',') AS m FROM s GROUP BY k",
        ["[b'1', b'3', b'7']", "[b'2', b'1', None]", "[b'3', b'1', b'8']"],
    ),
    "sketch": (
        f"{KEPT} FROM s GROUP BY k", f"{KEPT}, approx_count_distinct(x) AS d FROM s GROUP BY k",
        ["[b'1', b'3', b'1']", "[b'2', b'1', b'0']", "[b'3', b'1', b'1']"],
    ),
    "sliding": (
        f"{KEPT} {RECENT}", f"{KEPT}, max(x) AS m, avg(x)::int AS a {RECENT}",
        ["[b'1', b'3', b'7', b'7']", "[b'2', b'1', None, None]", "[b'3', b'1', b'8', b'8']"],
    ),
    "grouping sets": (
        f"{KEPT} {SETS}", f"{KEPT}, max(x) AS m, count(x) AS c {SETS}",
        ["[b'1', b'3', b'7', b'1']", "[b'2', b'1', None, b'0']", "[b'3', b'1', b'8', b'1']", "[None, b'5', b'8', b'2']"],
    ),
    "a second grouping": (
        f"SELECT max(n) AS q {NESTED % ''}", f"SELECT max(n) AS q, sum(m) AS w {NESTED % ', max(x) AS m'}",
        ["[b'3', b'15']"],
    ),
    "several states": (
        "SELECT k, count(DISTINCT x) AS n, stddev(x)::int AS d FROM s GROUP BY k",
        "SELECT k, count(DISTINCT x) AS n, stddev(x)::int AS d, bool_or(x > 7) AS b FROM s GROUP BY k",
        # That follows from the values that are kept.
        ["[b'1', b'3', b'3', b'f']", "[b'2', b'1', None, b'f']", "[b'3', b'1', None, b't']"],
    ),
}  # fmt: skip


@pytest.fixture
def server(tmp_path: Path) -> Server:
    made = Server(tmp_path)
    made.client.run(STREAM)
    return made


@pytest.mark.parametrize("name", GROWN)
def test_new_columns_count_from_now_on(server: Server, name: str) -> None:
    before, after, expected = GROWN[name]
    server.client.run(f"CREATE VIEW v AS {before}", BEFORE)
    kept = server.rows("SELECT * FROM v ORDER BY 1")
    text = f"CREATE OR REPLACE VIEW v AS {after}"
    explained = server.rows(f"EXPLAIN {text}")
    assert server.rows("SELECT * FROM v ORDER BY 1") == kept
    answer = told(server.client, text)
    for line in answer:
        if "keeps what it has" in line or "counts from now" in line:
            said = line.removeprefix("N 00000: ")
            assert any(said[1:] in one for one in explained), (said, explained)
    server.client.run(AFTER)
    for checkpoint in (False, True):
        assert server.rows("SELECT * FROM v ORDER BY 1") == expected
        server.crash(checkpoint=checkpoint)
    server.client.run("INSERT INTO s VALUES (4, 1)")
    server.crash()
    server.world.close()


@pytest.mark.parametrize("name", [name for name in GROWN if name != "several states"])
def test_new_columns_count_a_backfill(server: Server, name: str) -> None:
    """The view is as if it had been created so."""
    before, after, _ = GROWN[name]
    client = server.client
    client.run("CREATE TABLE old (k int, x int)", BEFORE.replace("INTO s", "INTO old"))
    client.run(f"CREATE VIEW v AS {before}", f"CREATE VIEW whole AS {after}", BEFORE)
    client.run(f"CREATE OR REPLACE VIEW v WITH (backfill = old) AS {after}", AFTER)
    for checkpoint in (False, True):
        assert server.rows("SELECT * FROM v ORDER BY 1") == server.rows("SELECT * FROM whole ORDER BY 1")
        server.crash(checkpoint=checkpoint)
    server.world.close()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"{KEPT} FROM s GROUP BY k ORDER BY k LIMIT 2", f"{KEPT}, max(x) AS m FROM s GROUP BY k ORDER BY max(x) LIMIT 2"),
        (f"{KEPT} FROM s GROUP BY k", f"{KEPT}, rank() OVER (ORDER BY max(x), count(*)) FROM s GROUP BY k"),
        (f"{KEPT} {RECENT}", f"{KEPT}, max(x) + count(*) AS m {RECENT}"),
        (f"{KEPT} {RECENT}", f"SELECT k, count(x) AS n {RECENT}"),
        (f"{KEPT} {RECENT}", f"{KEPT}, max(x) AS m {RECENT} HAVING max(x) > 1"),
        (f"{KEPT} {SETS}", f"SELECT k, count(*) + count(x) AS n, max(x) AS m {SETS}"),
        (f"SELECT max(n) AS q {NESTED % ''}", f"SELECT max(n) AS q, max(m + n) AS w {NESTED % ', max(x) AS m'}"),
        (f"SELECT max(n) AS q {NESTED % ''}", f"SELECT max(n) AS q, count(*) AS w {NESTED % ', max(x) AS m'} WHERE m > 1"),
    ],
)  # fmt: skip
def test_what_would_mix_points_is_refused(server: Server, before: str, after: str) -> None:
    server.client.run(f"CREATE VIEW v AS {before}", BEFORE)
    kept = server.rows("SELECT * FROM v ORDER BY 1")
    for text in (f"EXPLAIN CREATE OR REPLACE VIEW v AS {after}", f"CREATE OR REPLACE VIEW v AS {after}"):
        assert server.client.ask(text)[0].startswith("E ERROR 55000")
    assert server.rows("SELECT * FROM v ORDER BY 1") == kept
    server.world.close()


def test_since_tells_what_is_shown(server: Server) -> None:
    client = server.client
    since = "SELECT since FROM pg_stat_continuous_views WHERE relname = 'v'"
    client.run(f"CREATE VIEW v AS {KEPT} FROM s GROUP BY k", BEFORE)
    client.run(f"CREATE OR REPLACE VIEW v AS {KEPT}, max(x) AS m FROM s GROUP BY k")
    assert "max(x)" in server.rows(since)[0]
    client.run(f"CREATE OR REPLACE VIEW v AS {KEPT}, k AS m FROM s GROUP BY k")
    for _ in range(2):
        assert server.rows(since) == ["[None]"]
        server.crash()
    client = server.client
    client.run(AFTER, f"CREATE OR REPLACE VIEW v AS {KEPT}, max(x) AS m FROM s GROUP BY k")
    assert "max(x)" in server.rows(since)[0], "it was kept all the time"
    assert server.rows("SELECT * FROM v ORDER BY k") == [
        "[b'1', b'3', b'7']",
        "[b'2', b'1', None]",
        "[b'3', b'1', b'8']",
    ]
    for condition in ("x > 1", "x > 2"):
        text = f"CREATE OR REPLACE VIEW v WITH (replace = from_now) AS {KEPT}, max(x) AS m FROM s WHERE {condition} GROUP BY k"
        client.run(text)
    assert "WHERE x > 2" in server.rows(since)[0] and "x > 1" not in server.rows(since)[0]
    server.world.close()
