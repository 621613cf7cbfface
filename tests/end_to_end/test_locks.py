"""Locks: the scripts of `locks.txt`, said by three sessions to Antumbra and to PostgreSQL, with the
same answers and the same waits.

A line is a session, a mark and a statement. `:` waits for the answer. `>` expects that there is
none yet, which `?` fetches later.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError, wait
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import sql

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

TABLES = (
    "DROP TABLE IF EXISTS lk, other",
    "CREATE TABLE lk (id int PRIMARY KEY, n int)",
    "INSERT INTO lk VALUES (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)",
    "CREATE TABLE other (id int, w text)",
    "INSERT INTO other VALUES (1, 'a'), (2, 'b')",
)
# How long a statement is looked at that is to wait, and one that is to be answered.
WAITS_S = 0.3
ANSWER_S = 60.0
Connection = psycopg.Connection[Any]


def scripts() -> dict[str, list[str]]:
    """Return the lines of each script by its title."""
    found: dict[str, list[str]] = {}
    for part in Path(__file__).with_name("locks.txt").read_text().split("\n\n"):
        title, *lines = part.strip().split("\n")
        found[title.removeprefix("-- ")] = lines
    return found


SCRIPTS = scripts()


class Sessions:
    """Three sessions on one server, each with a thread of its own."""

    def __init__(self, dsn: str) -> None:
        self._connections = {name: psycopg.connect(dsn, autocommit=True) for name in "ABC"}
        self._threads = ThreadPoolExecutor(3)
        self._running: dict[str, Future[str]] = {}
        for text in TABLES:
            self._connections["A"].execute(sql.SQL(text))

    def say(self, line: str) -> str:
        """Do what a line says; return what is seen of it."""
        name, mark, text = line[0], line[1], line[2:].strip()
        if mark != "?":
            self._running[name] = self._threads.submit(answer, self._connections[name], text)
        if mark == ">":
            return f"{name} answers {self._running[name].result()}" if self._is_done(name) else f"{name} waits"
        return f"{name} {self._running.pop(name).result(ANSWER_S)}"

    def _is_done(self, name: str) -> bool:
        try:
            self._running[name].result(WAITS_S)
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        """End all sessions, also those that wait."""
        for connection in self._connections.values():
            connection.cancel()
        wait(self._running.values(), ANSWER_S)
        for connection in self._connections.values():
            connection.close()
        self._threads.shutdown()


def answer(connection: Connection, text: str) -> str:
    """Return rows, tag or error as one text."""
    try:
        cursor = connection.execute(sql.SQL(text))
    except psycopg.Error as error:
        return f"{error.sqlstate} {error.diag.message_primary}"
    return str(cursor.fetchall()) if cursor.description else str(cursor.statusmessage)


@pytest.fixture
def ours(server: AntumbraServer) -> Iterator[Sessions]:
    sessions = Sessions(f"host=127.0.0.1 port={server.port} user=antumbra dbname=antumbra")
    yield sessions
    sessions.close()


@pytest.fixture
def theirs(postgres: PostgresCluster) -> Iterator[Sessions]:
    sessions = Sessions(postgres.dsn)
    yield sessions
    sessions.close()


@pytest.mark.parametrize("title", SCRIPTS)
def test_script(title: str, ours: Sessions, theirs: Sessions) -> None:
    for line in SCRIPTS[title]:
        found, expected = ours.say(line), theirs.say(line)
        assert found == expected, line


def test_a_deadlock_has_one_victim(ours: Sessions) -> None:
    """The session that closes the circle ends; PostgreSQL ends the one that has waited for a
    second.
    """
    for line in (
        "A: BEGIN",
        "B: BEGIN",
        "A: SELECT n FROM lk WHERE id = 1 FOR UPDATE",
        "B: UPDATE lk SET n = 0 WHERE id = 2",
    ):
        ours.say(line)
    assert ours.say("A> UPDATE lk SET n = 0 WHERE id = 2") == "A waits"
    assert ours.say("B: DELETE FROM lk WHERE id = 1") == "B 40P01 deadlock detected"
    assert ours.say("B: ROLLBACK") == "B ROLLBACK"
    assert ours.say("A?") == "A UPDATE 1"
    assert ours.say("A: COMMIT") == "A COMMIT"


def test_workers_of_a_queue_share_nothing(server: AntumbraServer) -> None:
    """Six workers take 60 jobs with SKIP LOCKED: each job is done once, and none is left."""
    dsn = f"host=127.0.0.1 port={server.port} user=antumbra dbname=antumbra"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS jobs")
        connection.execute("CREATE TABLE jobs (id int PRIMARY KEY, taken_by int)")
        connection.execute("INSERT INTO jobs SELECT x, NULL FROM generate_series(1, 60) AS q(x)")
    done: list[tuple[int, int]] = []
    lock = threading.Lock()

    def work(worker: int) -> None:
        with psycopg.connect(dsn) as connection:
            while True:
                with connection.transaction():
                    found = connection.execute(
                        "SELECT id FROM jobs WHERE taken_by IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED"
                    ).fetchone()
                    if found is not None:
                        connection.execute("UPDATE jobs SET taken_by = %s WHERE id = %s", (worker, found[0]))
                if found is None:
                    return
                with lock:
                    done.append((found[0], worker))

    with ThreadPoolExecutor(6) as pool:
        for future in [pool.submit(work, number) for number in range(6)]:
            future.result(ANSWER_S)
    with psycopg.connect(dsn, autocommit=True) as connection:
        kept = connection.execute("SELECT id, taken_by FROM jobs ORDER BY id").fetchall()
        connection.execute("DROP TABLE jobs")
    assert sorted(done) == kept
    assert [number for number, _ in kept] == list(range(1, 61))


def test_counters(server: AntumbraServer) -> None:
    """Four sessions add to one row, each update a transaction of its own: nothing is lost, nobody
    gets an error.
    """
    dsn = f"host=127.0.0.1 port={server.port} user=antumbra dbname=antumbra"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS counter")
        connection.execute("CREATE TABLE counter (n int)")
        connection.execute("INSERT INTO counter VALUES (0)")

    def work() -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            for _ in range(25):
                connection.execute("UPDATE counter SET n = n + 1")

    with ThreadPoolExecutor(4) as pool:
        for future in [pool.submit(work) for _ in range(4)]:
            future.result(ANSWER_S)
    with psycopg.connect(dsn, autocommit=True) as connection:
        assert connection.execute("SELECT n FROM counter").fetchone() == (100,)
        connection.execute("DROP TABLE counter")


def test_many_that_wait_leave_the_server_to_others(server: AntumbraServer) -> None:
    """Twelve sessions, more than there are worker threads, wait for one row; its holder goes on and
    lets them through.
    """
    dsn = f"host=127.0.0.1 port={server.port} user=antumbra dbname=antumbra"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS wanted")
        connection.execute("CREATE TABLE wanted (n int)")
        connection.execute("INSERT INTO wanted VALUES (0)")

    def work() -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("UPDATE wanted SET n = n + 1")

    with psycopg.connect(dsn) as holder, ThreadPoolExecutor(12) as pool:
        holder.execute("SELECT n FROM wanted FOR UPDATE")
        futures = [pool.submit(work) for _ in range(12)]
        assert not wait(futures, WAITS_S).done
        holder.execute("UPDATE wanted SET n = 100")
        holder.commit()
        for future in futures:
            future.result(ANSWER_S)
        assert holder.execute("SELECT n FROM wanted").fetchone() == (112,)
        holder.execute("DROP TABLE wanted")


def test_streams_and_views_have_no_rows_to_lock(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE unlocked (k int) SERVER stream")
        connection.execute("CREATE VIEW counted AS SELECT k, count(*) AS n FROM unlocked GROUP BY k")
        for name, kind in (("unlocked", "foreign table"), ("counted", "view")):
            with pytest.raises(psycopg.errors.WrongObjectType, match=f'cannot lock rows in {kind} "{name}"'):
                connection.execute(sql.SQL("SELECT * FROM {} FOR UPDATE").format(sql.Identifier(name)))
        connection.execute("DROP FOREIGN TABLE unlocked CASCADE")
