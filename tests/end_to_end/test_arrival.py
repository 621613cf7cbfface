"""The hidden column arrival_timestamp through a real socket: set at COMMIT, in views, kept by
kills, and loaded with COPY.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

Connection = psycopg.Connection[tuple[object, ...]]
Rows = list[tuple[object, ...]]

COLUMNS = "uid integer, username text, score integer"
ROWS = "SELECT uid, username, score, arrival_timestamp FROM posts"
GROUPS = (
    "SELECT date_trunc('minute', arrival_timestamp) AS minute, uid % 3 AS third, count(*) AS n, sum(score) AS total, "
    "min(arrival_timestamp) AS first, max(arrival_timestamp) AS last FROM posts GROUP BY 1, 2"
)
BURSTS = "SELECT arrival_timestamp AS arrived, count(*) AS n FROM posts GROUP BY arrival_timestamp"
# The clock of the server is the client's.
PAST = timedelta(milliseconds=10)


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[AntumbraServer]:
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as connection:
        connection.execute(f"CREATE FOREIGN TABLE posts ({COLUMNS}) SERVER stream".encode())
        connection.execute(f"CREATE VIEW minutes AS {GROUPS}".encode())
        connection.execute(f"CREATE VIEW bursts AS {BURSTS}".encode())
    yield server
    if not server.has_ended:
        server.stop()


def copy(connection: Connection, target: str, lines: list[str]) -> None:
    with connection.cursor().copy(f"COPY {target} FROM STDIN".encode()) as sent:
        sent.write("".join(line + "\n" for line in lines))


def read(connection: Connection, text: str) -> Rows:
    return connection.execute(text.encode()).fetchall()


def write(server: AntumbraServer, number: int, count: int) -> None:
    """Commit rows in all the ways that there are; uid tells whose they are."""
    with server.connect() as connection:
        for index in range(count):
            connection.execute("INSERT INTO posts VALUES (%s, 'ann', %s)", (number, index), prepare=True)
            connection.execute(f"INSERT INTO posts VALUES ({number}, 'bob', 1), ({number}, 'cid', 2)".encode())
            if index % 10 == 0:
                copy(connection, "posts", [f"{number}\tdan\t{index}"] * 300)
            if index % 15 == 0:
                with connection.transaction():
                    connection.execute("INSERT INTO posts VALUES (%s, 'both', 1)", (number,))
                    connection.execute("INSERT INTO posts VALUES (%s, 'both', 2)", (number,))
        copy(connection, "posts", [f"{number}\teve\t{index % 100}" for index in range(9000)])


def check_views(connection: Connection, postgres: PostgresCluster) -> None:
    """The views have what PostgreSQL makes of the rows and their arrivals, as COPY wrote them, and
    so have SELECTs over the stream.
    """
    with connection.cursor().copy("COPY (SELECT uid, username, score, arrival_timestamp FROM posts) TO STDOUT") as sent:
        data = b"".join(bytes(piece) for piece in sent)
    with postgres.connect() as oracle:
        oracle.execute(f"CREATE TEMP TABLE posts ({COLUMNS}, arrival_timestamp timestamptz)".encode())
        with oracle.cursor().copy("COPY posts FROM STDIN") as taken:
            taken.write(data)
        for view, text in (("minutes", GROUPS), ("bursts", BURSTS)):
            expected = sorted(oracle.execute(text.encode()).fetchall())
            assert expected and sorted(read(connection, f"SELECT * FROM {view}")) == expected
            assert sorted(read(connection, text)) == expected
            connection.execute("SET stream_timeout = '20ms'")
            assert sorted(read(connection, text)) == expected
            connection.execute("RESET stream_timeout")


def test_writers_at_once_and_a_server_that_is_killed(own_server: AntumbraServer, postgres: PostgresCluster) -> None:
    began = datetime.now(UTC) - PAST
    writers = [threading.Thread(target=write, args=(own_server, number, 30)) for number in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    ended = datetime.now(UTC) + PAST
    with own_server.connect() as connection:
        rows = read(connection, ROWS)
        assert len(rows) == 3 * (30 * 3 + 3 * 300 + 2 * 2 + 9000)
        arrivals = [row[3] for row in rows]
        assert all(isinstance(arrival, datetime) and began < arrival < ended for arrival in arrivals)
        assert arrivals == sorted(arrivals)  # type: ignore[type-var]
        for name, count in (("eve", 3), ("both", 6), ("dan", 9), ("ann", 90)):
            assert len({(row[0], row[3]) for row in rows if row[1] == name}) == count, name
        check_views(connection, postgres)
        minutes = sorted(read(connection, "SELECT * FROM minutes"))
    for has_checkpoint in (False, True, False):
        own_server.kill()
        own_server.start()
        with own_server.connect() as connection:
            assert read(connection, ROWS) == rows
            assert sorted(read(connection, "SELECT * FROM minutes")) == minutes
            connection.execute("INSERT INTO posts VALUES (9, 'fay', 1)")
            rows = read(connection, ROWS)
            assert rows[-1][:3] == (9, "fay", 1) and rows[-1][3] > rows[-2][3]  # type: ignore[operator]
            minutes = sorted(read(connection, "SELECT * FROM minutes"))
            check_views(connection, postgres)
            if has_checkpoint:
                connection.execute("CHECKPOINT")


def test_history_is_loaded_with_copy(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("SET TimeZone = 'Europe/Berlin'")
        connection.execute("CREATE FOREIGN TABLE visits (k int, t text DEFAULT 'none') SERVER stream")
        connection.execute(
            "CREATE VIEW days AS SELECT arrival_timestamp::date AS day, count(*) AS n, sum(k) AS total FROM visits GROUP BY 1"
        )
        copy(connection, "visits (arrival_timestamp, k)", ["2020-05-01 00:30:00\t1", "2020-05-01 23:30:00.123456\t2"])
        with connection.cursor().copy(
            "COPY visits (t, k, arrival_timestamp) FROM STDIN WITH (FORMAT csv, HEADER MATCH)"
        ) as sent:
            sent.write("t,k,arrival_timestamp\na,3,2020-05-02T12:00:00Z\n")
        connection.execute(
            "INSERT INTO visits (k, arrival_timestamp) VALUES (%s, %s)", (4, datetime(2020, 5, 3, tzinfo=UTC))
        )
        assert read(connection, "SELECT k, t, arrival_timestamp::text FROM visits") == [
            (1, "none", "2020-05-01 00:30:00+02"),
            (2, "none", "2020-05-01 23:30:00.123456+02"),
            (3, "a", "2020-05-02 14:00:00+02"),
            (4, "none", "2020-05-03 02:00:00+02"),
        ]
        assert [(str(day), n, total) for day, n, total in sorted(read(connection, "SELECT * FROM days"))] == [
            ("2020-05-01", 2, 3),
            ("2020-05-02", 1, 3),
            ("2020-05-03", 1, 4),
        ]
        with pytest.raises(psycopg.errors.NotNullViolation, match='column "arrival_timestamp" of relation "visits"'):
            copy(connection, "visits (k, arrival_timestamp)", ["5\t2020-05-04", "6\t\\N"])
        with pytest.raises(psycopg.errors.InvalidDatetimeFormat) as caught:
            copy(connection, "visits (k, arrival_timestamp)", ["5\tsoon"])
        assert caught.value.diag.context == 'COPY visits, line 1, column arrival_timestamp: "soon"'
        assert read(connection, "SELECT count(*) FROM visits") == [(4,)]
        connection.execute("DROP FOREIGN TABLE visits CASCADE")


def test_each_publication_of_a_copy_has_its_own(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE drops (k int) SERVER stream OPTIONS (capacity '1000000')")
        connection.execute(
            "CREATE VIEW times AS SELECT arrival_timestamp AS arrived, count(*) AS n FROM drops GROUP BY 1"
        )
        with connection.cursor().copy("COPY drops FROM STDIN WITH (publish '30ms')") as sent:
            for number in range(8):
                sent.write(f"{number}\n" * 100_000)
                time.sleep(0.05)
        times = sorted(read(connection, "SELECT * FROM times"))
        assert times == sorted(read(connection, "SELECT arrival_timestamp, count(*) FROM drops GROUP BY 1"))
        assert len(times) > 2 and sum(int(str(n)) for _, n in times) == 800_000
        connection.execute("DROP FOREIGN TABLE drops CASCADE")
