"""The catalog by way of COPY and EXPLAIN, beside a client's own relations, and what it says of
sessions.
"""

from __future__ import annotations

import time

import pytest
from psycopg import errors
from psycopg.pq import DiagnosticField

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster


def test_copy_and_explain(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE TABLE copied_shape (a integer, b text)")
        query = "SELECT attname, atttypid::regtype FROM pg_attribute WHERE attrelid = 'copied_shape'::regclass ORDER BY attnum"
        with connection.cursor().copy(f"COPY ({query}) TO STDOUT WITH (FORMAT csv)") as copy:
            assert b"".join(copy) == b"a,integer\nb,text\n"
        with connection.cursor().copy("COPY (SELECT count(*) FROM pg_am) TO STDOUT") as copy:
            assert b"".join(copy) == b"7\n"
        for verbose in ("", "VERBOSE "):
            lines = [row[0] for row in connection.execute(f"EXPLAIN {verbose}{query}".encode())]
            assert "Scan catalog pg_attribute" in [str(line).strip() for line in lines]
            assert ("  DuckDB SQL:" in lines) == bool(verbose)
        (measured,) = connection.execute("EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM pg_am").fetchone() or ()
        assert isinstance(measured, list) and measured[0]["Plan"]["Actual Rows"] == 7
        assert measured[0]["Plan"]["Relation Name"] == "pg_am"
        assert 0 < measured[0]["Plan"]["Actual Total Time"] <= measured[0]["Execution Time"]
        connection.execute("INSERT INTO copied_shape VALUES (1, 'x')")
        joined = "SELECT b, amname FROM copied_shape, pg_am WHERE amname NOT LIKE '%i%' ORDER BY 2"
        with connection.cursor().copy(f"COPY ({joined}) TO STDOUT") as copy:
            assert b"".join(copy) == b"x\tbtree\nx\thash\nx\theap\n"
        connection.execute("DROP TABLE copied_shape")


def test_parameters_beside_the_catalog(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE TABLE noted (relation text, note text)")
        connection.execute("INSERT INTO noted VALUES ('noted', 'this'), ('pg_class', 'that'), ('nothing', 'none')")
        query = "SELECT n.note, c.relkind FROM noted n JOIN pg_class c ON c.relname = n.relation WHERE n.note <> %s ORDER BY 1"
        for _ in range(7):
            assert connection.execute(query, ["that"]).fetchall() == [("this", "r")]
        assert connection.execute(query, ["this"], binary=True).fetchall() == [("that", "r")]
        typed = connection.execute("SELECT format_type((length(note) + 19)::oid, NULL) FROM noted WHERE note = 'that'")
        assert typed.fetchall() == [("integer",)]
        connection.execute("DROP TABLE noted")


NUMERIC, FLOAT8, TEXT, BOOL, INT4 = 1700, 701, 25, 16, 23
ONE_ROW = "FROM pg_class WHERE relname = 'pg_class'"


@pytest.mark.parametrize(
    ("query", "kind", "value"),
    [
        (f"SELECT round($1, 2), abs($1) {ONE_ROW}", 0, b"5"),
        (f"SELECT abs($1), $1 / 2 {ONE_ROW}", NUMERIC, b"5"),
        (f"SELECT relname {ONE_ROW} LIMIT $1", NUMERIC, b"100.0"),
        (f"SELECT relname {ONE_ROW} LIMIT $1", FLOAT8, b"1"),
        (f"SELECT relname {ONE_ROW} LIMIT $1", TEXT, b"abc"),
        (f"SELECT relname {ONE_ROW} LIMIT $1", BOOL, b"t"),
        (f"SELECT relname {ONE_ROW} OFFSET $1", TEXT, b"1"),
        ("SELECT count(*) FROM generate_series(1, $1) g, pg_class WHERE relname = 'pg_class'", INT4, b"7"),
        ("SELECT count(*) FROM generate_series(1, $1) g, pg_class WHERE relname = 'pg_class'", FLOAT8, b"7"),
        ("SELECT count(*) FROM generate_series(1, $1) g, pg_class WHERE relname = 'pg_class'", TEXT, b"abc"),
        (f"SELECT format_type($1, NULL) {ONE_ROW}", NUMERIC, b"23"),
        (f"SELECT format_type($1, NULL) {ONE_ROW}", INT4, b"23"),
    ],
)
def test_a_parameter_has_the_type_that_it_has_in_postgres(
    server: AntumbraServer, postgres: PostgresCluster, query: str, kind: int, value: bytes
) -> None:
    """In all places of a query, in text and binary."""
    for binary in (0, 1):
        found = []
        for one in (server, postgres):
            with one.connect() as connection:
                answer = connection.pgconn.exec_params(query.encode(), [value], [kind], result_format=binary)
                rows = [[answer.get_value(0, column) for column in range(answer.nfields)]] if answer.ntuples else []
                types = [answer.ftype(column) for column in range(answer.nfields)]
                found.append((answer.error_field(DiagnosticField.SQLSTATE), types, rows))
        assert found[0] == found[1], binary


def test_rights_beside_the_catalog(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE TABLE kept_secret (a integer)")
        connection.execute("CREATE ROLE catalog_reader LOGIN")
        connection.execute("SET ROLE catalog_reader")
        assert connection.execute("SELECT count(*) FROM pg_class WHERE relname = 'kept_secret'").fetchone() == (1,)
        for query in (
            "SELECT * FROM kept_secret, pg_am",
            "SELECT amname FROM pg_am WHERE EXISTS (SELECT FROM kept_secret)",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                connection.execute(query)
        connection.execute("RESET ROLE")
        connection.execute("DROP TABLE kept_secret")
        connection.execute("DROP ROLE catalog_reader")


ACTIVITY = "SELECT query, state, xact_start IS NULL, query_start >= backend_start, wait_event FROM pg_stat_activity WHERE pid = %s"


def test_activity_knows_the_last_statement(server: AntumbraServer) -> None:
    with server.connect() as one, server.connect() as other:
        pid = other.info.backend_pid
        other.execute("CREATE FOREIGN TABLE watched_rows (a integer, b text) SERVER stream")
        for row in range(8):
            other.execute("INSERT INTO watched_rows VALUES (%s, %s)", [row, "x"])
        found = one.execute(ACTIVITY, [pid]).fetchone()
        assert found == ("INSERT INTO watched_rows VALUES ($1, $2)", "idle", True, True, "ClientRead")
        other.pgconn.exec_(b"INSERT INTO watched_rows VALUES (100, 'y')")
        other.pgconn.exec_(b"INSERT INTO watched_rows VALUES (101, 'z')")
        found = one.execute(ACTIVITY, [pid]).fetchone()
        assert found == ("INSERT INTO watched_rows VALUES (101, 'z')", "idle", True, True, "ClientRead")
        other.execute("BEGIN")
        other.execute("SELECT 1 AS one")
        found = one.execute(ACTIVITY, [pid]).fetchone()
        assert found == ("SELECT 1 AS one", "idle in transaction", False, True, "ClientRead")
        other.execute("ROLLBACK")
        other.execute("DROP FOREIGN TABLE watched_rows")


LOCKS = "SELECT pid, granted FROM pg_locks WHERE locktype = 'object' ORDER BY granted DESC"


def test_a_definition_that_waits_is_seen(server: AntumbraServer) -> None:
    with server.connect() as one, server.connect() as holder, server.connect() as waiter:
        holder.execute("BEGIN")
        holder.execute("CREATE TABLE locked_one (a integer)")
        waiter.pgconn.send_query(b"CREATE TABLE locked_two (a integer)")
        expected = [(holder.info.backend_pid, True), (waiter.info.backend_pid, False)]
        deadline = time.monotonic() + 30
        while one.execute(LOCKS).fetchall() != expected and time.monotonic() < deadline:
            time.sleep(0.05)
        assert one.execute(LOCKS).fetchall() == expected
        blocking = one.execute("SELECT pg_blocking_pids(%s)", [waiter.info.backend_pid]).fetchone()
        assert blocking == ([holder.info.backend_pid],)
        waits = one.execute("SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s", [waiter.info.backend_pid])
        assert waits.fetchone() == ("Lock",)
        holder.execute("ROLLBACK")
        assert waiter.pgconn.get_result() is not None and waiter.pgconn.get_result() is None
        one.execute("DROP TABLE locked_two")
