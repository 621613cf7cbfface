"""SELECT from streams through a real socket: answers as PostgreSQL gives them over a table of the
same rows, and where a scan ends.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from tests.end_to_end.raw_client import RawClient, bind, execute, frame, parse, query
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

Connection = psycopg.Connection[tuple[object, ...]]

# The running examples of the thesis's chapter on streams.
COLUMNS = "uid integer, username varchar, score integer, content varchar"
USERS = (
    "CREATE TABLE users (id integer PRIMARY KEY, name varchar, city text)",
    "INSERT INTO users VALUES (1, 'ann', 'Aachen'), (2, 'bob', NULL), (3, 'cid', 'Celle')",
)
POSTS = (
    "INSERT INTO posts VALUES (1, 'ann', 5, 'a text that is too long to lie in its slot'), (2, 'bob', NULL, ''), (1, 'ann', 7, NULL)",
    "INSERT INTO posts SELECT g % 4, 'user ' || g % 4, g * g % 50, repeat('x', g % 40) FROM generate_series(1, 200) AS g",
)
QUERIES = (
    "SELECT * FROM posts ORDER BY 1, 2, 3, 4",
    "SELECT count(*) FROM posts",
    "SELECT 1 FROM posts LIMIT 3",
    "SELECT username, content FROM posts WHERE score > 40 ORDER BY uid, score, content",
    "SELECT uid, count(*), sum(score), avg(score), min(content), max(username) FROM posts GROUP BY uid HAVING count(*) > 1 ORDER BY 1",
    "SELECT u.name, count(p.score), max(p.content) FROM users u LEFT JOIN posts p ON p.uid = u.id GROUP BY u.name ORDER BY 1",
    "SELECT u.city, p.score FROM posts p FULL JOIN users u ON p.uid = u.id AND p.score < 5 ORDER BY 1, 2",
    "SELECT count(*) FROM posts a JOIN posts b ON a.uid = b.uid AND a.score < b.score",
    "SELECT name FROM users WHERE id NOT IN (SELECT uid FROM posts WHERE score > 48) ORDER BY 1",
    "SELECT name, (SELECT max(score) FROM posts WHERE uid = id) FROM users ORDER BY 1",
    "SELECT u.name, q.score FROM users u, LATERAL (SELECT score FROM posts WHERE uid = u.id ORDER BY score DESC LIMIT 2) q ORDER BY 1, 2",
    "SELECT uid, score, rank() OVER (PARTITION BY uid ORDER BY score) FROM posts ORDER BY 1, 3, 2 LIMIT 20",
    "SELECT DISTINCT ON (uid) uid, score FROM posts ORDER BY uid, score DESC NULLS LAST",
    "SELECT uid FROM posts EXCEPT SELECT id FROM users",
    "WITH q AS (SELECT uid FROM posts WHERE score > 10) SELECT a.uid, count(*) FROM q a, q b WHERE a.uid = b.uid GROUP BY 1 ORDER BY 1",
    "WITH RECURSIVE r(n) AS (SELECT min(score) FROM posts UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r",
    "SELECT uid, count(*), grouping(uid) FROM posts GROUP BY ROLLUP (uid) ORDER BY 1, 2",
    "SELECT 100 / (score - 25) FROM posts WHERE score = 25",
    "SELECT city, count(*), sum(score), max(content) FROM posts JOIN users ON uid = id GROUP BY city ORDER BY 1",
    "SELECT u.name, count(*) FROM users u RIGHT JOIN posts p ON p.uid = u.id AND city <> 'Celle' GROUP BY 1 ORDER BY 1",
    "SELECT DISTINCT city, u.name || 'x' FROM posts p, users u WHERE uid = id AND (score > 40 OR city IS NULL) ORDER BY 1, 2",
    "SELECT count(*), min(a.city) FROM posts, users a, users b WHERE a.id = uid AND b.id < a.id AND username = 'user ' || a.id",
    "SELECT u.id, n FROM users u JOIN (SELECT id, count(*) AS n FROM posts JOIN users ON uid = id GROUP BY id) q USING (id) ORDER BY 1",
    "SELECT sum(score), count(*) FROM posts JOIN (SELECT id, 1 / (id - 1) AS x FROM users) u ON uid = id",
    "SELECT id, (SELECT count(*) FROM posts WHERE uid = id AND score > 10) FROM users ORDER BY 1",
    "SELECT id, (SELECT avg(score) FROM posts WHERE id = uid) FROM users ORDER BY 1",
    "SELECT id FROM users u WHERE id < (SELECT 1 + sum(p.score) * 0.5 + u.id FROM posts p WHERE uid = id AND username = name) ORDER BY 1",
    "SELECT name, (SELECT min(content) || max(username) FROM posts WHERE uid = id + 2) FROM users ORDER BY 1",
    "SELECT id FROM users WHERE EXISTS (SELECT * FROM posts WHERE uid = id AND score > 47) ORDER BY 1",
    "SELECT id FROM users WHERE NOT EXISTS (SELECT 1 FROM posts WHERE username = name AND content IS NULL) ORDER BY 1",
    "SELECT id FROM users WHERE id IN (SELECT uid FROM posts WHERE username = name) OR city NOT IN (SELECT username FROM posts) ORDER BY 1",
    "SELECT id, id > ALL (SELECT uid FROM posts WHERE score = id), id = ANY (SELECT score FROM posts) FROM users ORDER BY 1",
    "SELECT u.id, (SELECT sum(1 / (score - 5)) FROM posts WHERE uid = u.id AND uid > 9) FROM users u ORDER BY 1",
    "TABLE posts LIMIT 0",
)
# What lies above groups is work in all of them, in the last one it fails.
ABOVE = (
    "SELECT uid, count(*) AS n, avg(score) FROM posts GROUP BY uid ORDER BY avg(score) DESC, uid LIMIT 3",
    "SELECT n, max(uid), sum(x) / 7 FROM (SELECT uid, count(*) AS n, sum(score) AS x FROM posts GROUP BY uid) q GROUP BY n ORDER BY 1",
    "SELECT name, city, n FROM users JOIN (SELECT uid, count(*) AS n FROM posts GROUP BY uid) q ON uid = id ORDER BY 1",
    "SELECT uid, rank() OVER (ORDER BY count(*) DESC, uid) FROM posts GROUP BY uid ORDER BY 2",
    "SELECT name FROM users WHERE EXISTS (SELECT 1 FROM posts WHERE uid = id AND score > 47) ORDER BY 1",
    "SELECT count(*), 1 / (min(uid) - min(uid)) FROM (SELECT DISTINCT uid FROM posts) q",
)


@pytest.fixture
def posts(server: AntumbraServer) -> Iterator[Connection]:
    """A connection to a server that has the stream posts and the table users."""
    with server.connect() as connection:
        connection.execute(f"CREATE FOREIGN TABLE posts ({COLUMNS}) SERVER stream".encode())
        for text in USERS:
            connection.execute(text.encode())
        yield connection
        connection.execute("DROP FOREIGN TABLE posts CASCADE")
        connection.execute("DROP TABLE users")


def answer(connection: Connection, text: str) -> object:
    """Return rows, or the SQLSTATE."""
    try:
        return connection.execute(text.encode()).fetchall()
    except psycopg.Error as error:
        return error.sqlstate


def one_value(connection: Connection, text: str) -> int:
    row = connection.execute(text.encode()).fetchone()
    assert row is not None
    return int(str(row[0]))


@pytest.mark.turns(2, 1)
def test_answers_are_those_of_postgresql(posts: Connection, postgres: PostgresCluster) -> None:
    with postgres.connect() as oracle:
        oracle.execute(f"CREATE TABLE posts ({COLUMNS})".encode())
        for text in USERS:
            oracle.execute(text.encode())
        for connection in (oracle, posts):
            for text in POSTS:
                connection.execute(text.encode())
        # Over a copy of the rows, and folded in kernels.
        for setting in ("min_stream_kernel_size = '64MB'", "min_stream_kernel_size = 0", "stream_timeout = '1ms'"):
            posts.execute(f"SET {setting}".encode())
            for query in QUERIES:
                assert answer(posts, query) == answer(oracle, query), f"{query} with {setting}"
        posts.execute("RESET ALL")


def test_a_prepared_select_scans_anew(posts: Connection) -> None:
    for count in range(3):
        found = posts.execute("SELECT count(*) FROM posts WHERE uid >= %s", (0,), prepare=True, binary=True).fetchone()
        assert found == (count,)
        assert one_value(posts, "SELECT count(*) FROM posts") == count
        posts.execute("INSERT INTO posts VALUES (%s)", (count,))


def test_statements_that_write_read_streams(posts: Connection) -> None:
    for text in POSTS:
        posts.execute(text.encode())
    posts.execute("CREATE FOREIGN TABLE others (uid int, score int) SERVER stream")
    assert posts.execute("CREATE TABLE kept AS SELECT * FROM posts").rowcount == 203
    assert posts.execute("INSERT INTO kept SELECT * FROM posts WHERE uid = 2 RETURNING uid").fetchall() == [(2,)] * 51
    assert (
        posts.execute("UPDATE users SET city = p.content FROM posts p WHERE p.uid = id AND p.score = 5").rowcount == 1
    )
    assert posts.execute("DELETE FROM kept USING posts p WHERE p.uid = kept.uid AND p.score = 49").rowcount > 0
    assert posts.execute("INSERT INTO others SELECT uid, score FROM posts").rowcount == 203
    assert one_value(posts, "SELECT count(*) FROM others") == 203
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="from a query that reads it"):
        posts.execute("INSERT INTO posts SELECT p.* FROM users, posts p")
    with posts.cursor().copy("COPY (SELECT uid FROM posts WHERE score = 7) TO STDOUT") as copy:
        assert b"".join(map(bytes, copy)) == b"1\n"
    posts.execute("DROP TABLE kept")
    posts.execute("DROP FOREIGN TABLE others")


def test_the_rows_of_an_open_transaction_are_not_in_the_stream(posts: Connection, server: AntumbraServer) -> None:
    with server.connect(autocommit=False) as other:
        other.execute("INSERT INTO posts VALUES (1)")
        assert one_value(other, "SELECT count(*) FROM posts") == 0
        assert one_value(posts, "SELECT count(*) FROM posts") == 0
        # Nor is a stream in the snapshot of a block, which its first read takes.
        posts.execute("INSERT INTO posts VALUES (2), (3)")
        assert one_value(other, "SELECT count(*) FROM posts") == 2
        other.commit()
        assert one_value(other, "SELECT count(*) FROM posts") == 3


@pytest.mark.turns(4, 2)
def test_spark_answers_above_groups_as_the_embedded_engine_does(posts: Connection) -> None:
    # Spark runs by then: it had to run the view.
    posts.execute("CREATE VIEW ranked AS SELECT uid, rank() OVER (ORDER BY count(*)) FROM posts GROUP BY uid")
    for text in POSTS:
        posts.execute(text.encode())
    assert len(posts.execute("SELECT * FROM ranked").fetchall()) == 4
    posts.execute("SET stream_timeout = '1ms'")
    answers = [answer(posts, query) for query in ABOVE]
    posts.execute("SET min_spark_groups = 4")
    assert [answer(posts, query) for query in ABOVE] == answers
    assert answers[-1] == "22012"
    posts.execute("RESET ALL")


def insert_slowly(server: AntumbraServer, count: int, pause_s: float) -> threading.Thread:
    def insert() -> None:
        with server.connect() as connection:
            for number in range(count):
                time.sleep(pause_s)
                connection.execute("INSERT INTO posts VALUES (%s)", (number,))

    thread = threading.Thread(target=insert)
    thread.start()
    return thread


def test_a_scan_ends_when_nothing_has_come_for_stream_timeout(posts: Connection, server: AntumbraServer) -> None:
    posts.execute("INSERT INTO posts VALUES (100)")
    posts.execute("SET stream_timeout = '2s'")
    inserting = insert_slowly(server, 5, 0.1)
    assert one_value(posts, "SELECT count(*) FROM posts") == 6
    inserting.join()
    posts.execute("SET stream_scan_start = latest")
    inserting = insert_slowly(server, 5, 0.4)
    # Both scans see the same rows, and none of those before.
    assert posts.execute("SELECT count(*), min(a.uid) FROM posts a JOIN posts b USING (uid)").fetchall() == [(5, 0)]
    inserting.join()
    posts.execute("RESET ALL")
    assert one_value(posts, "SELECT count(*) FROM posts") == 11


def test_rows_come_while_the_stream_is_scanned(posts: Connection, server: AntumbraServer) -> None:
    posts.execute("INSERT INTO posts VALUES (-1), (-2)")
    posts.execute("SET stream_timeout = '1h'")
    inserting = insert_slowly(server, 5, 0.05)
    # psycopg gives rows one by one in single-row mode; LIMIT ends the scan although more may come.
    query = "SELECT uid * 10, clock_timestamp() IS NULL FROM posts WHERE uid <> 2 LIMIT 6"
    with posts.cursor() as cursor:
        assert [row[0] for row in cursor.stream(query.encode())] == [-10, -20, 0, 10, 30, 40]
    inserting.join()
    assert posts.execute("SELECT uid FROM posts LIMIT %s", (3,)).fetchall() == [(-1,), (-2,), (0,)]
    assert posts.execute("SELECT uid FROM posts LIMIT 0").fetchall() == []
    posts.execute("SET statement_timeout = '300ms'")
    error = error_of(posts, "SELECT uid FROM posts")
    assert error is not None and "statement timeout" in str(error)
    posts.execute("RESET statement_timeout")
    error = error_of(posts, "SELECT 1 / (uid + 1) FROM posts")
    assert error is not None and error.sqlstate == "22012"
    posts.execute("RESET ALL")


def test_a_scan_may_draw_from_a_sequence(posts: Connection) -> None:
    posts.execute("CREATE SEQUENCE drawn")
    posts.execute("INSERT INTO posts VALUES (7), (8)")
    posts.execute("SET stream_timeout = '1ms'")
    assert sorted(posts.execute("SELECT nextval('drawn') FROM posts").fetchall()) == [(1,), (2,)]
    posts.execute("RESET ALL")
    posts.execute("DROP SEQUENCE drawn")


def test_a_scan_that_fails_undoes_the_statements_before_it(posts: Connection) -> None:
    posts.execute("CREATE TABLE noted (uid integer)")
    posts.execute("INSERT INTO posts VALUES (7), (0)")
    posts.execute("SET stream_timeout = '1ms'")
    with pytest.raises(psycopg.errors.DivisionByZero):
        posts.execute("INSERT INTO noted VALUES (1); SELECT 7 / uid FROM posts")
    assert posts.execute("SELECT count(*) FROM noted").fetchone() == (0,)
    posts.execute("RESET ALL")
    posts.execute("DROP TABLE noted")


def test_a_portal_takes_rows_of_a_scan_in_parts(posts: Connection) -> None:
    with posts.transaction():
        posts.execute("INSERT INTO posts SELECT g, 'x', 0, repeat('y', 20) FROM generate_series(1, 50) AS g")
    client = RawClient(posts.info.port, "antumbra", "antumbra")
    client.ask(query("SET stream_timeout = '20ms'"))
    executes = [execute(row_limit=limit) for limit in (15, 15, 100, 100)]
    said = client.ask(parse("SELECT uid FROM posts WHERE uid > 10"), bind(), *executes, frame(b"S", b""))
    client.hang_up()
    rows = [f"D {[str(uid).encode()]}" for uid in range(11, 51)]
    assert said == ["1", "2", *rows[:15], "s", *rows[15:30], "s", *rows[30:], "C SELECT 10", "C SELECT 0", "Z I"]


def test_a_long_ring_is_not_collected(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE long (k int, t text) SERVER stream OPTIONS (capacity '200000')")
        connection.execute("INSERT INTO long SELECT g, repeat('x', 50) FROM generate_series(1, 150000) AS g")
        connection.execute("SET query_memory_max = '1MB'")
        assert len(connection.execute("SELECT k, t FROM long WHERE k % 2 = 0").fetchall()) == 75_000
        error = error_of(connection, "SELECT k, t FROM long ORDER BY k")
        assert error is not None and error.sqlstate == "53200"
        connection.execute("DROP FOREIGN TABLE long")


def copied(connection: Connection, text: str) -> tuple[str, int | str | None]:
    """Return the rows of a COPY, and how many they are, or the SQLSTATE with which it has ended."""
    cursor, pieces = connection.cursor(), list[bytes]()
    try:
        with cursor.copy(text.encode()) as copy:
            pieces += map(bytes, copy)
    except psycopg.Error as error:
        return b"".join(pieces).decode(), error.sqlstate
    return b"".join(pieces).decode(), cursor.rowcount


def test_a_copy_of_a_long_ring_is_not_collected(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE long (k int, t text) SERVER stream OPTIONS (capacity '200000')")
        connection.execute("INSERT INTO long SELECT g, repeat('x', 50) FROM generate_series(1, 150000) AS g")
        connection.execute("SET query_memory_max = '1MB'")
        for options, head, end in (("FORMAT csv, HEADER", "k,t\n", ","), ("DELIMITER ';'", "", ";")):
            for condition, numbers in (
                ("k % 2 = 0", range(2, 150_001, 2)),
                ("k < 0", ()),
                ("true LIMIT 70000", range(1, 70_001)),
            ):
                text = f"COPY (SELECT k, t FROM long WHERE {condition}) TO STDOUT ({options})"
                rows = "".join(f"{number}{end}{'x' * 50}\n" for number in numbers)
                assert copied(connection, text) == (head + rows, len(numbers))
        quoted = "COPY (SELECT k FROM long) TO STDOUT (FORMAT csv, FORCE_QUOTE (missing))"
        assert copied(connection, quoted) == ("", "42703")
        found, sqlstate = copied(connection, "COPY (SELECT 100000 / (k - 100000) FROM long) TO STDOUT")
        assert found.startswith("-1\n-1\n") and sqlstate == "22012"
        connection.execute("DROP FOREIGN TABLE long")


def test_a_copy_follows_a_stream(posts: Connection, server: AntumbraServer) -> None:
    posts.execute("INSERT INTO posts VALUES (1)")
    with server.connect() as reader:
        reader.execute("SET stream_timeout = '1h'")
        seen: list[bytes] = []

        def follow() -> None:
            with reader.cursor().copy("COPY (SELECT uid FROM posts) TO STDOUT") as copy:
                for piece in copy:
                    seen.append(bytes(piece))
                    # The next row is inserted when this one has come.
                    posts.execute("INSERT INTO posts VALUES (%s)", (len(seen) + 1,))
                    if len(seen) == 3:
                        reader.cancel()

        with pytest.raises(psycopg.errors.QueryCanceled):
            follow()
        assert seen[:3] == [b"1\n", b"2\n", b"3\n"]
        assert one_value(reader, "SELECT 1") == 1


def test_a_stream_may_have_a_timeout_of_its_own(server: AntumbraServer) -> None:
    with server.connect() as connection:
        with pytest.raises(psycopg.errors.InvalidParameterValue, match='option "timeout": "soon"'):
            connection.execute("CREATE FOREIGN TABLE w (k int) SERVER stream OPTIONS (timeout 'soon')")
        connection.execute("CREATE FOREIGN TABLE patient (k int) SERVER stream OPTIONS (timeout '1h', capacity '10')")
        connection.execute("SET statement_timeout = '200ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute("SELECT * FROM patient")
        connection.execute("RESET ALL")
        connection.execute("DROP FOREIGN TABLE patient")


def test_a_scan_that_waits_can_be_cancelled(posts: Connection) -> None:
    posts.execute("SET stream_timeout = '1h'")
    canceller = threading.Timer(0.3, posts.cancel)
    canceller.start()
    with pytest.raises(psycopg.errors.QueryCanceled):
        posts.execute("SELECT count(*) FROM posts")
    posts.execute("SET statement_timeout = '200ms'")
    with pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout"):
        posts.execute("SELECT count(*) FROM posts")
    canceller.join()
    posts.execute("RESET ALL")


def test_scans_that_wait_hold_nobody_up(posts: Connection, server: AntumbraServer) -> None:
    posts.execute("CREATE VIEW counted AS SELECT count(*) AS n FROM posts")
    waiting = [server.connect() for _ in range(12)]
    threads = []
    for connection in waiting:
        connection.execute("SET stream_timeout = '1h'")
        threads.append(threading.Thread(target=answer, args=(connection, "SELECT * FROM posts")))
        threads[-1].start()
    time.sleep(0.3)
    posts.execute("INSERT INTO posts VALUES (1)")
    assert one_value(posts, "SELECT n FROM counted") == 1
    for connection in waiting:
        connection.cancel()
    for thread, connection in zip(threads, waiting, strict=True):
        thread.join()
        connection.close()


def test_a_scan_that_writers_overtake_is_an_error(server: AntumbraServer) -> None:
    with server.connect() as reader, server.connect() as writer:
        reader.execute("CREATE FOREIGN TABLE small (k int, t text) SERVER stream OPTIONS (capacity '64')")
        reader.execute("SET stream_timeout = '5s'")
        found: list[object] = []
        reading = threading.Thread(target=lambda: found.append(error_of(reader, "SELECT count(*), max(t) FROM small")))
        reading.start()
        time.sleep(0.3)
        end_s = time.monotonic() + 30
        while reading.is_alive() and time.monotonic() < end_s:
            writer.execute("INSERT INTO small SELECT g, repeat('x', g % 100) FROM generate_series(1, 5000) AS g")
        reading.join()
        (error,) = found
        assert isinstance(error, psycopg.Error) and error.sqlstate == "54000"
        assert "was overwritten while it was scanned" in str(error) and "which is 64 tuples" in str(error)
        reader.execute("RESET ALL")
        assert one_value(reader, "SELECT count(*) FROM small") == 64
        reader.execute("DROP FOREIGN TABLE small")


def error_of(connection: Connection, text: str) -> psycopg.Error | None:
    try:
        connection.execute(text.encode())
    except psycopg.Error as error:
        return error
    return None


def test_what_a_query_collects_has_a_limit(posts: Connection) -> None:
    posts.execute("INSERT INTO posts SELECT g, 'n', g, repeat('x', 100) FROM generate_series(1, 1000) AS g")
    posts.execute("SET query_memory_max = '64kB'")
    error = error_of(posts, "SELECT max(content) FROM posts")
    assert error is not None and error.sqlstate == "53200"
    assert "query_memory_max allows 65,536" in str(error)
    assert one_value(posts, "SELECT max(score) FROM posts") == 1000
    posts.execute("RESET ALL")


def test_groups_are_kept_in_the_place_of_rows(posts: Connection) -> None:
    posts.execute("SET query_memory_max = '2MB'")
    posts.execute("SET stream_timeout = '1ms'")
    for _ in range(3):
        posts.execute(
            "INSERT INTO posts SELECT g, 'n' || g % 3, g, repeat('x', 300) FROM generate_series(1, 10000) AS g"
        )
    # The rows of the first would take more than 9 MB.
    assert len(posts.execute("SELECT username, count(*), max(content) FROM posts GROUP BY username").fetchall()) == 3
    error = error_of(posts, "SELECT uid, max(content) FROM posts GROUP BY uid")
    assert error is not None and error.sqlstate == "53200"
    error = error_of(posts, "SELECT sum(10 / (uid - 5000)) FROM posts")
    assert error is not None and error.sqlstate == "22012"
    posts.execute("RESET ALL")


def test_joins_below_a_grouping_see_the_tables_of_the_statement(posts: Connection, server: AntumbraServer) -> None:
    posts.execute("INSERT INTO posts SELECT g % 4, 'n', 1, repeat('x', 400) FROM generate_series(1, 10000) AS g")
    posts.execute("SET stream_timeout = '1ms'")
    # The rows would take more.
    posts.execute("SET query_memory_max = '1MB'")
    query = "SELECT city, count(content) FROM posts JOIN users ON uid = id GROUP BY city ORDER BY 2, 1"
    counts = [("Aachen", 2500), ("Celle", 2500), (None, 2500)]
    assert posts.execute(query.encode()).fetchall() == counts
    with server.connect(autocommit=False) as other:
        other.execute("SET stream_timeout = '1ms'")
        other.execute("UPDATE users SET city = 'Celle' WHERE id = 2")
        posts.execute("INSERT INTO users VALUES (0, 'zoe', 'Zeitz')")
        assert other.execute(query.encode()).fetchall() == [("Aachen", 2500), ("Celle", 5000)]
        assert posts.execute(query.encode()).fetchall() == [*counts[:2], ("Zeitz", 2500), counts[2]]
        other.rollback()
    posts.execute("CREATE TABLE kept AS SELECT id, count(*) AS n FROM posts JOIN users ON uid = id GROUP BY id")
    assert posts.execute("SELECT sum(n) FROM kept").fetchall() == [(10000,)]
    posts.execute("DROP TABLE kept")
    posts.execute("RESET ALL")


def test_what_is_too_large_for_a_join_table_is_joined_by_the_embedded_engine(posts: Connection) -> None:
    posts.execute("INSERT INTO posts SELECT g, 'n', g % 7 FROM generate_series(1, 1000) AS g")
    posts.execute("CREATE TABLE large AS SELECT g AS id, repeat('y', 300) AS t FROM generate_series(1, 10000) AS g")
    posts.execute("SET stream_timeout = '1ms'")
    posts.execute("SET query_memory_max = '256kB'")
    query = "SELECT score, count(*), max(t || id) FROM posts JOIN large ON uid = id GROUP BY score ORDER BY 1 LIMIT 1"
    assert posts.execute(query.encode()).fetchall() == [(0, 142, "y" * 300 + "994")]
    posts.execute("RESET ALL")
    posts.execute("DROP TABLE large")


def test_explain_names_what_is_scanned(posts: Connection) -> None:
    lines = [line for (line,) in posts.execute("EXPLAIN SELECT uid, score FROM posts WHERE score > 1").fetchall()]
    assert lines[0] == "Query on streams and stored versions, in the embedded engine (DuckDB)"
    assert lines[-1] == "Stream posts: tuples 0 to -1 are in the ring; columns copied: uid, score"
    lines = [line for (line,) in posts.execute("EXPLAIN SELECT uid, count(*) FROM posts GROUP BY uid").fetchall()]
    assert lines[-3:] == [
        "Collected; folded in kernels when the ring holds min_stream_kernel_size:",
        "  Group by uid: count(*) AS count (pipeline breaker)",
        "    Scan stream posts",
    ]
    posts.execute("SET min_stream_kernel_size = 0")
    ordered = "EXPLAIN SELECT uid, count(*) FROM posts GROUP BY uid ORDER BY 2"
    lines = [line for (line,) in posts.execute(ordered).fetchall()]
    embedded = "the embedded engine (DuckDB)"
    # Spark may still be starting.
    engines = (embedded, f"Spark from 1 groups on (min_spark_groups), else in {embedded}")
    assert lines[0] in [f"Query on groups of streams and stored versions, in {engine}" for engine in engines]
    assert lines[1:3] == ["  Sort: count", '    Scan rows "groups 0"']
    assert lines[-3] == "Folded in kernels:"
    posts.execute("SET min_spark_groups = -1")
    ((first,), *_) = posts.execute(ordered).fetchall()
    assert first == f"Query on groups of streams and stored versions, in {embedded}"


def test_a_scan_while_the_ring_is_made_anew(server: AntumbraServer) -> None:
    with server.connect() as connection, server.connect() as reader:
        connection.execute("CREATE FOREIGN TABLE anew (a int) SERVER stream")
        connection.execute("INSERT INTO anew VALUES (1)")
        reader.execute("SET stream_timeout = '20s'")
        # It has shown a row, and waits for the next one.
        rows = reader.cursor().stream("SELECT a FROM anew")
        assert next(rows) == (1,)
        connection.execute("ALTER FOREIGN TABLE anew OPTIONS (ADD capacity '16')")
        connection.execute("INSERT INTO anew VALUES (2)")
        with pytest.raises(psycopg.errors.ProgramLimitExceeded, match='stream "anew" was altered while it was scanned'):
            next(rows)
        assert connection.execute("SELECT a FROM anew").fetchall() == [(1,), (2,)]
        connection.execute("DROP FOREIGN TABLE anew")
