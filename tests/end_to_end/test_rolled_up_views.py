"""CREATE OR REPLACE VIEW by coarser groups than a view keeps: PostgreSQL, which has all rows, gives
the same answers.
"""

from __future__ import annotations

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

TABLES = (
    "CREATE TABLE ru_p (pid int PRIMARY KEY, pname text, cat text)",
    "INSERT INTO ru_p SELECT g, 'p' || g, 'k' || g % 3 FROM generate_series(1, 6) g",
    "CREATE TABLE ru_c (cid int PRIMARY KEY, reg text)",
    "INSERT INTO ru_c SELECT g, 'r' || g % 2 FROM generate_series(1, 5) g",
)
STREAM = "CREATE {} ru_s (a int, b int, v int, d numeric(8,2), t text, at timestamp){}"
ROWS = (
    "INSERT INTO ru_s SELECT g % 7, g % 4, nullif(g % 30, 5), g * 1.11, nullif('t' || g % 3, 't2'),"
    " timestamp '2026-01-01' + g * interval '17 minute' FROM generate_series({}, {}) g"
)
WIDE = "count(*) AS n, sum(v) AS sv, avg(v) AS av, min(v) AS mn, max(t) AS mt, avg(d) AS ad, bool_or(v > 20) AS bo FROM ru_s"
JOINED = "count(*) AS n, sum(v) AS sv FROM ru_s JOIN ru_p ON pid = a + 1 LEFT JOIN ru_c ON cid = b"
CASES = {
    "fewer keys": (
        f"SELECT a, b, {WIDE} GROUP BY a, b",
        f"SELECT a, max(b) AS b, {WIDE} GROUP BY a",
        f"SELECT a % 2 AS a, a + b AS b, {WIDE} GROUP BY 1, 2",
        f"SELECT a, NULL::int AS b, {WIDE} WHERE b > 1 GROUP BY a HAVING avg(v) > 3 ORDER BY count(*) DESC, a LIMIT 3",
        f"SELECT NULL::int AS a, b, {WIDE} GROUP BY ROLLUP (b)",
        f"SELECT a, b, {WIDE} GROUP BY a, b",
    ),
    "no keys, filters on those that were": (
        "SELECT a, b, count(*) AS n, sum(v) AS sv, avg(d) AS ad FROM ru_s GROUP BY a, b",
        (
            "SELECT sum(a)::int AS a, count(DISTINCT b)::int AS b, count(*) FILTER (WHERE b > 2) AS n, sum(v) FILTER (WHERE a = 1) AS sv,"
            " avg(d) FILTER (WHERE a < b) AS ad FROM ru_s"
        ),
    ),
    "times": (
        "SELECT date_trunc('hour', at) AS h, t, count(*) AS n, count(DISTINCT a) AS ca FROM ru_s GROUP BY 1, 2",
        "SELECT date_trunc('day', date_trunc('hour', at)) AS h, max(t) AS t, count(*) AS n, count(DISTINCT a) AS ca FROM ru_s GROUP BY 1",
    ),
    "a key of a joined table": (
        f"SELECT pname, reg, {JOINED} GROUP BY pname, reg",
        f"SELECT pname, NULL::text AS reg, {JOINED} GROUP BY pname",
        f"SELECT max(pname) AS pname, upper(reg) AS reg, {JOINED} GROUP BY upper(reg)",
    ),
    "distinct rows": (
        "SELECT a, t, count(*) AS n FROM ru_s GROUP BY a, t",
        "SELECT DISTINCT a, 'x'::text AS t, 1::bigint AS n FROM ru_s",
    ),
    "a key with another column's name": (
        "SELECT b AS a, a AS b, count(*) AS n FROM ru_s GROUP BY a, b",
        "SELECT b AS a, a AS b, count(*) AS n FROM ru_s WHERE a > 3 GROUP BY a, b",
    ),
    "parts": (
        (
            "SELECT x.a, x.n, y.sv FROM (SELECT a, b, count(*) AS n FROM ru_s GROUP BY a, b) x"
            " JOIN (SELECT b, t, sum(v) AS sv FROM ru_s GROUP BY b, t) y ON x.b = y.b AND y.t = 't1'"
        ),
        (
            "SELECT x.a, x.n, y.sv FROM (SELECT a, count(*) AS n FROM ru_s GROUP BY a) x"
            " JOIN (SELECT t, sum(v) AS sv FROM ru_s GROUP BY t) y ON y.t = 't1'"
        ),
    ),
}


@pytest.mark.turns(7)
@pytest.mark.parametrize("case", CASES)
def test_coarser_groups_are_made_of_what_is_kept(server: AntumbraServer, postgres: PostgresCluster, case: str) -> None:
    with server.connect() as ours, postgres.connect() as theirs:
        both = (ours, theirs)
        for statement in (*TABLES, STREAM):
            ours.execute(statement.format("FOREIGN TABLE", " SERVER stream").encode())
            theirs.execute(statement.format("TABLE", "").encode())
        notices: list[str | None] = []
        ours.add_notice_handler(lambda notice: notices.append(notice.message_primary))
        first, *others = CASES[case]
        run(both, f"CREATE VIEW ru_v AS {first}")
        for number, query in enumerate(others):
            run(both, ROWS.format(100 * number, 100 * number + 99))
            run(both, f"CREATE OR REPLACE VIEW ru_v AS {query}")
            assert 'view "ru_v" keeps what it has counted of stream "ru_s"' in notices
            notices.clear()
            assert rows(ours) == rows(theirs), query
            run(both, ROWS.format(1000, 1009))
            assert rows(ours) == rows(theirs), query
        ours.execute("DROP FOREIGN TABLE ru_s CASCADE")
        theirs.execute("DROP TABLE ru_s CASCADE")
        run(both, "DROP TABLE ru_p, ru_c")


@pytest.mark.parametrize(
    ("kept", "query", "reason"),
    [
        ("a, b, stddev(v)", "a, 1 AS b, stddev(v) FROM ru_s GROUP BY a", "needs stddev_samp(v), which can't be told"),
        ("a, b, sum(v)", "a, sum(b)::int AS b, sum(v) FROM ru_s GROUP BY a", "needs count(*), which can't be told"),
        ("a, b, sum(v)", "a, v AS b, sum(v) FROM ru_s GROUP BY a, v", "in another way; it is grouped by a, b."),
        ("a, b, count(v)", "a, 1 AS b, count(DISTINCT v) FROM ru_s GROUP BY a", "in another way; it is grouped by a, b."),
        ("b AS a, a AS b, count(*)", "b AS a, a AS b, count(*) FROM ru_s WHERE v > 3 GROUP BY a, b", "v > 3, which is not on keys"),
    ],
)  # fmt: skip
def test_what_can_not_be_told_is_refused(server: AntumbraServer, kept: str, query: str, reason: str) -> None:
    with server.connect() as client:
        client.execute(STREAM.format("FOREIGN TABLE", " SERVER stream").encode())
        client.execute(f"CREATE VIEW ru_v AS SELECT {kept} FROM ru_s GROUP BY a, b".encode())
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState) as raised:
            client.execute(f"CREATE OR REPLACE VIEW ru_v AS SELECT {query}".encode())
        client.execute("DROP FOREIGN TABLE ru_s CASCADE")
    assert reason in (raised.value.diag.message_detail or "")


def run(connections: tuple[psycopg.Connection[tuple[object, ...]], ...], statement: str) -> None:
    for connection in connections:
        connection.execute(statement.encode())


def rows(connection: psycopg.Connection[tuple[object, ...]]) -> list[str]:
    return sorted(map(str, connection.execute("SELECT * FROM ru_v").fetchall()))
