"""Streams as only the whole server shows them: publishing COPY, bad lines, skipped rows,
cancellation, restarts, EXPLAIN.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.pq import DiagnosticField

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

WAIT_S_MAX = 20.0


def wait_for(condition: object, text: str) -> None:
    """Wait until `condition()` is true; fail with `text` when it never is."""
    assert callable(condition)
    deadline = time.monotonic() + WAIT_S_MAX
    while not condition():
        assert time.monotonic() < deadline, text
        time.sleep(0.02)


def test_a_publishing_copy_is_visible_while_it_runs(server: AntumbraServer) -> None:
    with server.connect() as writer, server.connect() as reader:
        writer.execute("CREATE FOREIGN TABLE pub (k int) SERVER stream")
        writer.execute("CREATE VIEW pub_count AS SELECT count(*) AS n FROM pub")

        def count() -> int:
            row = reader.execute("SELECT n FROM pub_count").fetchone()
            assert row is not None and isinstance(row[0], int)
            return row[0]

        def publish_and_fail() -> None:
            with writer.cursor().copy("COPY pub FROM STDIN WITH (publish '50ms')") as copy:
                # libpq keeps what is less than its buffer to itself.
                copy.write(b"1\n" * 100_000)
                wait_for(lambda: count() > 90_000, "the first rows were not published")
                copy.write(b"1\nx\n")

        with pytest.raises(psycopg.errors.InvalidTextRepresentation) as caught:
            publish_and_fail()
        assert caught.value.diag.context == 'COPY pub, line 100002, column k: "x"'
        assert f"{count()} lines" in (caught.value.diag.message_detail or "")
        writer.execute("DROP FOREIGN TABLE pub CASCADE")


def test_a_bad_line_keeps_nothing_of_its_copy(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE bad (k int, t varchar(3)) SERVER stream")
        connection.execute("CREATE VIEW bad_count AS SELECT count(*) AS n FROM bad")
        for lines, sqlstate, context in [
            (b"1\ta\n2\n", "22P04", 'COPY bad, line 2: "2"'),
            (b"1\ta\n2\tb\tc\n", "22P04", 'COPY bad, line 2: "2\tb\tc"'),
            (b"1\tabcd\n", "22001", 'COPY bad, line 1, column t: "abcd"'),
            (b"1\ta\n99999999999\tb\n", "22003", 'COPY bad, line 2, column k: "99999999999"'),
        ]:
            with pytest.raises(psycopg.Error) as caught, connection.cursor().copy("COPY bad FROM STDIN") as copy:
                copy.write(lines)
            assert (caught.value.sqlstate, caught.value.diag.context) == (sqlstate, context)
        assert connection.execute("SELECT n FROM bad_count").fetchone() == (0,)
        connection.execute("DROP FOREIGN TABLE bad CASCADE")


@pytest.mark.parametrize("lines", [b"", b"1\ta\n2\tb\n", b"1\ta\n2\tb", b"1\ta\nx\tb\n3\tc\n"])
def test_a_copy_that_its_client_gives_up(server: AntumbraServer, postgres: PostgresCluster, lines: bytes) -> None:
    def given_up(connection: psycopg.Connection[Any], table: str) -> list[bytes | None]:
        channel = connection.pgconn
        channel.exec_(f"COPY {table} FROM STDIN".encode())
        channel.put_copy_data(lines)
        channel.put_copy_end(b"no more")
        answer = channel.get_result()
        assert answer is not None and channel.get_result() is None
        fields = (
            DiagnosticField.SQLSTATE,
            DiagnosticField.MESSAGE_PRIMARY,
            DiagnosticField.MESSAGE_DETAIL,
            DiagnosticField.CONTEXT,
        )
        return [answer.error_field(field) for field in fields]

    with server.connect() as ours, postgres.connect() as theirs:
        ours.execute("CREATE FOREIGN TABLE given (k int, t text) SERVER stream")
        ours.execute("CREATE TABLE given_table (k int, t text)")
        theirs.execute("CREATE TEMP TABLE given (k int, t text)")
        theirs.execute("CREATE TEMP TABLE given_table (k int, t text)")
        for table in ("given", "given_table"):
            assert given_up(ours, table) == given_up(theirs, table)
        ours.execute("DROP FOREIGN TABLE given CASCADE")
        ours.execute("DROP TABLE given_table")


def test_a_row_that_a_view_refuses_is_in_no_view(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE risky (a int, b int) SERVER stream")
        connection.execute("CREATE VIEW all_rows AS SELECT count(*) AS n FROM risky")
        connection.execute("CREATE VIEW ratios AS SELECT sum(a / b) AS s FROM risky")
        with pytest.raises(psycopg.errors.DivisionByZero) as caught:
            connection.execute("INSERT INTO risky VALUES (4, 2), (1, 0)")
        assert 'continuous view "ratios"' in (caught.value.diag.context or "")
        assert "a / b" in (caught.value.diag.context or "")
        assert connection.execute("SELECT n FROM all_rows").fetchone() == (0,)
        connection.execute("DROP VIEW ratios")
        connection.execute(
            "CREATE VIEW lenient WITH (on_error = skip) AS SELECT sum(a / b) AS s, count(*) AS n FROM risky"
        )
        connection.execute("INSERT INTO risky VALUES (4, 2), (1, 0)")
        assert left_out(connection) == ["  1 row left out so far (on_error = skip)"]
        assert connection.execute("SELECT s, n FROM lenient").fetchone() == (2, 1)
        connection.execute("INSERT INTO risky VALUES (1, 0)")
        assert left_out(connection) == ["  2 rows left out so far (on_error = skip)"]
        assert connection.execute("SELECT n FROM all_rows").fetchone() == (3,)
        connection.execute("DROP FOREIGN TABLE risky CASCADE")


def left_out(connection: psycopg.Connection) -> list[str]:
    """Return what EXPLAIN says of the rows that the view has skipped."""
    return [line for (line,) in connection.execute("EXPLAIN SELECT * FROM lenient") if "left out" in line]


def test_an_error_above_the_grouping_is_the_readers(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE upper_s (k int, v int) SERVER stream")
        connection.execute("CREATE VIEW upper_v AS SELECT k, 1 / sum(v) AS inverse FROM upper_s GROUP BY k")
        connection.execute("INSERT INTO upper_s VALUES (1, 0)")
        with pytest.raises(psycopg.errors.DivisionByZero):
            connection.execute("SELECT * FROM upper_v")
        connection.execute("INSERT INTO upper_s VALUES (1, 1)")
        assert connection.execute("SELECT * FROM upper_v").fetchall() == [(1, 1)]
        connection.execute("DROP FOREIGN TABLE upper_s CASCADE")


def test_streams_and_views_survive_a_restart(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    try:
        with server.connect() as connection:
            connection.execute("CREATE FOREIGN TABLE kept (k int DEFAULT 7, t text NOT NULL) SERVER stream")
            connection.execute("CREATE VIEW kept_view AS SELECT t, sum(k) AS total FROM kept GROUP BY t")
            connection.execute("INSERT INTO kept (t) VALUES ('before')")
            with connection.cursor().copy("COPY kept FROM STDIN") as copy:
                copy.write("1\tbefore\n2\tbefore\n")
        assert server.stop() == 0
        server.start()
        notices: list[str] = []
        with server.connect() as connection:
            connection.add_notice_handler(lambda notice: notices.append(f"{notice.severity}: {notice.message_primary}"))
            connection.execute("INSERT INTO kept (t) VALUES ('after')")
            assert connection.execute("SELECT * FROM kept_view ORDER BY t").fetchall() == [("after", 7), ("before", 10)]
        assert not notices
    finally:
        assert server.stop() == 0


def test_cancel_ends_what_runs_with_57014(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE slow (k int) SERVER stream")
        connection.execute("CREATE VIEW slow_v AS SELECT k, count(*) AS n FROM slow GROUP BY k")
        with connection.cursor().copy("COPY slow FROM STDIN") as copy:
            copy.write("".join(f"{key}\n" for key in range(20_000)))
        timer = threading.Timer(1.0, connection.cancel)
        timer.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute(
                "SELECT count(*) FROM slow_v AS a JOIN slow_v AS b ON a.k <> b.k JOIN slow_v AS c ON b.k <> c.k"
            )
        timer.join()
        assert connection.execute("SELECT sum(n) FROM slow_v").fetchone() == (20_000,)
        connection.execute("DROP FOREIGN TABLE slow CASCADE")


@pytest.mark.parametrize("value", ["current_user", "session_user", "current_setting('timezone')", "pg_backend_pid()"])
def test_no_definition_has_its_makers_values(server: AntumbraServer, value: str) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE mine (k int) SERVER stream")
        connection.execute("CREATE TABLE my_table (k int)")
        for text in (
            f"CREATE VIEW v AS SELECT {value} AS x",
            f"CREATE VIEW v AS SELECT k, {value} AS x FROM my_table",
            f"CREATE VIEW v AS SELECT {value} AS x, count(*) FROM mine GROUP BY 1",
            f"CREATE FOREIGN TABLE other (k text DEFAULT {value}) SERVER stream",
            f"CREATE TABLE other (k text DEFAULT {value})",
            f"CREATE TABLE other (k text CHECK (k <> {value}::text))",
            f"ALTER TABLE my_table ADD COLUMN x text DEFAULT {value}",
        ):
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="in a definition") as caught:
                connection.execute(text.encode())
            assert caught.value.diag.statement_position == str(text.index(value) + 1)
        connection.execute(f"CREATE TABLE other AS SELECT {value} AS x".encode())
        connection.execute("DROP TABLE my_table, other")
        connection.execute("DROP FOREIGN TABLE mine")


def test_explain_shows_the_pipelines(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE ex (k int, v int) SERVER stream")
        lines = connection.execute(
            "EXPLAIN VERBOSE CREATE VIEW ex_v AS "
            "SELECT n, count(*) FROM (SELECT k, sum(v) AS n FROM ex WHERE v > 0 GROUP BY k) AS q GROUP BY n"
        ).fetchall()
        text = "\n".join(str(line) for (line,) in lines)
        for piece in ("Stream pipeline", "Upper pipeline", "Spark SQL", "kernels/", "sum"):
            assert piece in text, text
        connection.execute("CREATE VIEW ex_v AS SELECT k, sum(v) AS n FROM ex GROUP BY k")
        text = "\n".join(
            str(line) for (line,) in connection.execute("EXPLAIN SELECT * FROM ex_v WHERE n > 1").fetchall()
        )
        assert "DuckDB" in text and "ex_v" in text
        connection.execute("DROP FOREIGN TABLE ex CASCADE")


def test_what_a_client_gets_wrong_disturbs_nobody(server: AntumbraServer) -> None:
    with server.connect() as good, server.connect() as bad:
        good.execute("CREATE FOREIGN TABLE calm (k int) SERVER stream")
        for text, sqlstate in [
            ("SELEC 1", "42601"),
            ("SELECT * FROM calmm", "42P01"),
            ("INSERT INTO calm SELECT * FROM calm", "0A000"),
            ("CREATE VIEW w AS SELECT first(a.k) FROM calm a JOIN calm b USING (k)", "0A000"),
            ("CREATE FOREIGN TABLE w (k nosuchtype) SERVER stream", "42704"),
            ("CREATE TABLE w (k int, k int)", "42701"),
            ("LISTEN", "42601"),
            ("SET no_such_setting = 1", "42704"),
            ("SELECT 1 / 0", "22012"),
            ("SELECT 'x'::int", "22P02"),
            ("DROP VIEW calm", "42809"),
        ]:
            with pytest.raises(psycopg.Error) as caught:
                bad.execute(text.encode())
            assert caught.value.sqlstate == sqlstate, (text, caught.value)
        assert good.execute("SELECT 1").fetchone() == (1,)
        good.execute("DROP FOREIGN TABLE calm")
