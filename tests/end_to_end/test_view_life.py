"""Views replaced, renamed, emptied and commented on through psycopg: beside PostgreSQL, while
others write, and over kill -9.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

# The same in both servers, one after the other; lf_t is a table, all views are ordinary ones.
STATEMENTS = (
    "CREATE TABLE lf_t (a integer, b text)",
    "INSERT INTO lf_t VALUES (1, 'x'), (2, 'y')",
    "CREATE VIEW lf_v AS SELECT a, b FROM lf_t",
    "CREATE VIEW lf_w AS SELECT a FROM lf_v WHERE b <> 'y'",
    "CREATE OR REPLACE VIEW lf_v AS SELECT a, upper(b) AS b, a + 1 AS c FROM lf_t",
    "SELECT * FROM lf_v ORDER BY a",
    "SELECT * FROM lf_w ORDER BY a",
    "CREATE OR REPLACE VIEW lf_v AS SELECT a, b FROM lf_t",
    "CREATE OR REPLACE VIEW lf_v AS SELECT a AS other, b, a + 1 AS c FROM lf_t",
    "CREATE OR REPLACE VIEW lf_v AS SELECT a, a AS b, a + 1 AS c FROM lf_t",
    "CREATE OR REPLACE VIEW lf_t AS SELECT 1 AS a",
    "CREATE OR REPLACE VIEW lf_new AS SELECT 1 AS one",
    "ALTER VIEW lf_v RENAME TO lf_x",
    "ALTER VIEW lf_x RENAME COLUMN c TO d",
    "ALTER VIEW lf_x RENAME b TO e",
    "ALTER TABLE lf_x RENAME COLUMN e TO f",
    "SELECT * FROM lf_x ORDER BY a",
    "SELECT * FROM lf_w ORDER BY a",
    "ALTER VIEW lf_x RENAME COLUMN a TO d",
    "ALTER VIEW lf_x RENAME COLUMN nosuch TO d",
    "ALTER VIEW lf_x RENAME TO lf_t",
    "ALTER VIEW lf_t RENAME TO lf_y",
    "ALTER VIEW lf_none RENAME TO lf_y",
    "ALTER VIEW IF EXISTS lf_none RENAME TO lf_y",
    "COMMENT ON VIEW lf_x IS 'text'",
    "COMMENT ON COLUMN lf_x.a IS 'number'",
    "COMMENT ON TABLE lf_t IS NULL",
    "COMMENT ON VIEW lf_t IS 'text'",
    "COMMENT ON TABLE lf_x IS 'text'",
    "COMMENT ON COLUMN lf_x.nosuch IS 'text'",
    "COMMENT ON COLUMN lf_none.a IS 'text'",
    "COMMENT ON COLUMN a IS 'text'",
    "DROP VIEW lf_x",
    "DROP VIEW lf_x RESTRICT",
    "DROP VIEW lf_x, lf_new CASCADE",
    "DROP TABLE lf_t",
)


def answers(connection: psycopg.Connection[tuple[object, ...]]) -> list[object]:
    """Return for each statement its rows or tag, or its error, and the notices."""
    found: list[object] = []
    notices: list[str | None] = []
    connection.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    for statement in STATEMENTS:
        try:
            cursor = connection.execute(statement.encode())
            found.append(cursor.fetchall() if cursor.description else cursor.statusmessage)
        except psycopg.Error as error:
            found.append(
                (error.sqlstate, error.diag.message_primary, error.diag.message_hint, error.diag.message_detail)
            )
    return [*found, notices]


def test_ordinary_views_as_in_postgres(server: AntumbraServer, postgres: PostgresCluster) -> None:
    with server.connect() as ours, postgres.connect() as theirs:
        for line, statement, wanted in zip(answers(ours), (*STATEMENTS, "notices"), answers(theirs), strict=True):
            assert line == wanted, statement


def test_nothing_is_lost_while_others_write(server: AntumbraServer) -> None:
    """Inserts meet renamings and replacements; every row is counted once."""
    ends = threading.Event()

    def write() -> int:
        count = 0
        with server.connect() as connection:
            while not ends.is_set():
                connection.execute(f"INSERT INTO lf_s VALUES ({count % 10}, 1)".encode())
                count += 1
        return count

    with server.connect() as connection, ThreadPoolExecutor(2) as threads:
        connection.execute("CREATE FOREIGN TABLE lf_s (k int, x int) SERVER stream")
        connection.execute("CREATE VIEW lf_0 AS SELECT k, count(*) AS n, sum(x) AS t FROM lf_s GROUP BY k")
        writers = [threads.submit(write) for _ in range(2)]
        for number in range(10):
            connection.execute(f"ALTER VIEW lf_{number} RENAME TO lf_{number + 1}".encode())
            having = "HAVING count(*) >= 0" if number % 2 else ""
            query = f"SELECT k, count(*) AS n, sum(x) AS t FROM lf_s GROUP BY k {having}"
            connection.execute(f"CREATE OR REPLACE VIEW lf_{number + 1} AS {query}".encode())
            before = connection.execute(f"SELECT sum(n), sum(t) FROM lf_{number + 1}".encode()).fetchone()
            assert before is not None and before[0] == before[1]
        ends.set()
        written = sum(writer.result() for writer in writers)
        assert connection.execute("SELECT sum(n), sum(t) FROM lf_10").fetchone() == (written, written)
        name = connection.execute("SELECT truncate_continuous_view(%s)", ("lf_10",)).fetchone()
        assert name == ("",)
        assert connection.execute("SELECT count(*) FROM lf_10").fetchone() == (0,)
        plan = connection.execute("EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM lf_10").fetchone()
        assert plan is not None and plan[0][0]["Plan"]["Node Type"] == "Query"  # type: ignore[index]  # psycopg reads json
        connection.execute("DROP FOREIGN TABLE lf_s CASCADE")


@pytest.mark.parametrize("change", ["ALTER VIEW lf_j RENAME TO lf_k", "SELECT truncate_continuous_view('lf_j')"])
def test_a_table_that_is_built_in_stays_as_it_is(server: AntumbraServer, change: str) -> None:
    with server.connect() as connection:
        connection.execute("CREATE TABLE lf_n (k int PRIMARY KEY, name text)")
        connection.execute("INSERT INTO lf_n VALUES (1, 'one')")
        connection.execute("CREATE FOREIGN TABLE lf_j_s (k int) SERVER stream")
        connection.execute(
            "CREATE VIEW lf_j AS SELECT name, count(*) AS n FROM lf_j_s JOIN lf_n USING (k) GROUP BY name"
        )
        connection.execute("INSERT INTO lf_j_s VALUES (1)")
        connection.execute("BEGIN")
        connection.execute(change.encode())
        with pytest.raises(psycopg.Error) as raised:
            connection.execute("UPDATE lf_n SET name = 'other'")
        connection.execute("ROLLBACK")
        assert raised.value.sqlstate == "55006"
        assert connection.execute("SELECT * FROM lf_j").fetchall() == [("one", 1)]
        more = "SELECT name, count(*) AS n, name || '!' AS loud FROM lf_j_s JOIN lf_n USING (k) GROUP BY name"
        connection.execute(f"CREATE OR REPLACE VIEW lf_j AS {more}".encode())
        assert connection.execute("SELECT * FROM lf_j").fetchall() == [("one", 1, "one!")]
        connection.execute("DROP FOREIGN TABLE lf_j_s CASCADE")
        connection.execute("DROP TABLE lf_n")


@pytest.mark.slow
def test_it_survives_a_crash(tmp_path: Path) -> None:
    options = ("--set", "checkpoint_interval_s=0")
    server = AntumbraServer(tmp_path / "data", *options).start()
    with server.connect() as client:
        client.execute("CREATE FOREIGN TABLE s (k int, x int) SERVER stream")
        client.execute("CREATE VIEW v AS SELECT k, count(*) AS n, sum(x) AS t FROM s GROUP BY k")
        client.execute("INSERT INTO s VALUES (1, 10), (2, 20)")
        client.execute(
            "CREATE OR REPLACE VIEW v AS SELECT k, count(*) AS n, sum(x) AS t, avg(x) AS a FROM s GROUP BY k HAVING k < 9"
        )
        client.execute("ALTER VIEW v RENAME TO w")
        client.execute("CREATE TABLE names (k int PRIMARY KEY, name text, other text)")
        client.execute("INSERT INTO names VALUES (2, 'two', 'zwei')")
        joined = "count(*) AS n FROM s JOIN names USING (k)"
        client.execute(f"CREATE VIEW r AS SELECT name, other, x, {joined} GROUP BY name, other, x".encode())
        client.execute(
            f"CREATE OR REPLACE VIEW r AS SELECT name, NULL AS other, max(x) AS x, {joined} GROUP BY name".encode()
        )
        client.execute("CREATE VIEW z AS SELECT count(*) AS n FROM s")
        client.execute("SELECT deactivate('z')")
        client.execute("INSERT INTO s VALUES (2, 30)")
    for _ in range(2):
        server.kill()
        server = AntumbraServer(tmp_path / "data", *options).start()
        with server.connect() as client:
            found = client.execute("SELECT k, n, t, a FROM w ORDER BY k").fetchall()
            assert [tuple(float(str(value)) for value in row) for row in found] == [(1, 1, 10, 10), (2, 2, 50, 25)]
            assert client.execute("SELECT n FROM z").fetchone() == (0,)
            assert client.execute("SELECT * FROM r").fetchall() == [("two", None, 30, 1)]
            client.execute("CHECKPOINT")
    with server.connect() as client:
        client.execute("SELECT activate('z')")
        client.execute("SELECT truncate_continuous_view('w')")
        client.execute("INSERT INTO s VALUES (3, 1)")
    server.kill()
    server = AntumbraServer(tmp_path / "data", *options).start()
    with server.connect() as client:
        assert client.execute("SELECT k, n FROM w").fetchall() == [(3, 1)]
        assert client.execute("SELECT n FROM z").fetchone() == (1,)
    assert server.stop() == 0
