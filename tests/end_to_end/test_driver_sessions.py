"""Sessions of psycopg 3 and asyncpg: nested transactions, cursors of the server,
notifications, two-phase commit, timeouts.

The drivers' own suites are run from outside; here is, per driver, what they cover that is more than
one statement.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import asyncpg
import psycopg
import pytest
from psycopg.rows import dict_row

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]
FIVE = "SELECT * FROM generate_series(1, 5) AS q(x)"


@pytest.fixture
def connect(server: AntumbraServer) -> Iterator[Callable[..., Connection]]:
    opened: list[Connection] = []

    def make(autocommit: bool = True, **settings: Any) -> Connection:
        made = psycopg.connect(
            host="127.0.0.1", port=server.port, user="antumbra", dbname="antumbra", autocommit=autocommit, **settings
        )
        opened.append(made)
        return made

    yield make
    for connection in opened:
        connection.close()


@pytest.fixture
def run(server: AntumbraServer) -> Callable[[Callable[[asyncpg.Connection], Coroutine[Any, Any, None]]], None]:
    def run_with(work: Callable[[asyncpg.Connection], Coroutine[Any, Any, None]]) -> None:
        async def connected() -> None:
            connection = await asyncpg.connect(
                host="127.0.0.1", port=server.port, user="antumbra", database="antumbra", timeout=60
            )
            try:
                await work(connection)
            finally:
                await connection.close()

        asyncio.run(connected())

    return run_with


@pytest.fixture
def table(connect: Callable[..., Connection]) -> Iterator[str]:
    connection = connect()
    connection.execute("CREATE TABLE driven (k int PRIMARY KEY)")
    yield "driven"
    connection.execute("DROP TABLE driven")


# psycopg


def sqlstate_of(connection: Connection, name: str | None, key: int, failing: str) -> str | None:
    """Return the error of a nested transaction that inserts a key and then fails."""
    try:
        with connection.transaction(name):
            connection.execute("INSERT INTO driven VALUES (%s)", (key,))
            connection.execute(failing.encode())
    except psycopg.Error as error:
        return error.sqlstate
    return None


def roll_back(block: psycopg.Transaction) -> None:
    """Leave a transaction block without keeping what it has done."""
    raise psycopg.Rollback(block)


def test_psycopg_nested_transactions(connect: Callable[..., Connection], table: str) -> None:
    connection = connect(autocommit=False)
    with connection.transaction():
        connection.execute("INSERT INTO driven VALUES (1)")
        assert sqlstate_of(connection, None, 2, "INSERT INTO driven VALUES (1)") == "23505"
        assert sqlstate_of(connection, "named", 3, "SELECT 1 / (k - 1) FROM driven") == "22012"
        with connection.transaction(force_rollback=True):
            connection.execute("INSERT INTO driven VALUES (4)")
        with connection.transaction(), connection.transaction():
            connection.execute("INSERT INTO driven VALUES (5)")
        with connection.transaction() as inner:
            connection.execute("INSERT INTO driven VALUES (6)")
            roll_back(inner)
    assert connection.execute("SELECT k FROM driven ORDER BY k").fetchall() == [(1,), (5,)]


def test_psycopg_transactions_in_a_pipeline(connect: Callable[..., Connection], table: str) -> None:
    connection = connect()
    with connection.pipeline(), connection.transaction():
        connection.execute("INSERT INTO driven VALUES (%s)", (1,))
        with pytest.raises(psycopg.errors.UniqueViolation), connection.transaction():
            connection.execute("INSERT INTO driven VALUES (%s)", (1,))
        connection.execute("INSERT INTO driven VALUES (%s)", (2,))
    assert connection.execute("SELECT k FROM driven ORDER BY k").fetchall() == [(1,), (2,)]


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_server_cursors(connect: Callable[..., Connection], binary: bool) -> None:
    connection = connect(autocommit=False, row_factory=dict_row)
    with connection.cursor("mine", binary=binary) as cursor:
        cursor.execute("SELECT x, x + %s AS y FROM generate_series(1, 1000) AS q(x)", (10,))
        assert cursor.description is not None
        assert [column.name for column in cursor.description] == ["x", "y"]
        assert cursor.fetchone() == {"x": 1, "y": 11}
        assert [row["x"] for row in cursor.fetchmany(3)] == [2, 3, 4]
        cursor.itersize = 7
        assert sum(row["x"] for row in cursor) == sum(range(5, 1001))
    with connection.cursor("other", scrollable=True) as cursor:
        cursor.execute(FIVE)
        cursor.scroll(3)
        assert cursor.fetchone() == {"x": 4}
        cursor.scroll(-2)
        assert cursor.fetchone() == {"x": 3}
        cursor.scroll(1, mode="absolute")
        assert [row["x"] for row in cursor.fetchall()] == [2, 3, 4, 5]
    with connection.cursor("forward", scrollable=False) as cursor:
        cursor.execute(FIVE)
        cursor.scroll(2)
        with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState):
            cursor.scroll(-1)
        connection.rollback()
    connection.rollback()
    with connection.cursor("held", withhold=True) as cursor:
        cursor.execute(FIVE)
        connection.commit()
        assert len(cursor.fetchall()) == 5


def test_psycopg_steals_a_cursor(connect: Callable[..., Connection]) -> None:
    connection = connect(autocommit=False)
    connection.execute(f"DECLARE stolen CURSOR FOR {FIVE}")
    assert connection.cursor("stolen").fetchmany(2) == [(1,), (2,)]


def test_psycopg_notifications(connect: Callable[..., Connection]) -> None:
    listener, sender = connect(), connect(autocommit=False)
    listener.execute("LISTEN news")
    sender.execute("NOTIFY news, 'not yet'")
    assert not list(listener.notifies(timeout=0.2))
    sender.commit()
    sender.execute("SELECT pg_notify('news', x) FROM (VALUES ('a'), ('b')) AS q(x)")
    sender.execute("NOTIFY other, 'unheard'")
    sender.commit()
    heard = list(listener.notifies(timeout=5, stop_after=3))
    assert [(one.channel, one.payload, one.pid) for one in heard] == [
        ("news", payload, sender.info.backend_pid) for payload in ("not yet", "a", "b")
    ]
    listener.execute("BEGIN")
    sender.execute("NOTIFY news, 'later'")
    sender.commit()
    assert not list(listener.notifies(timeout=0.2))
    listener.execute("COMMIT")
    assert [one.payload for one in listener.notifies(timeout=5, stop_after=1)] == ["later"]
    listener.execute("UNLISTEN news")
    sender.execute("NOTIFY news")
    sender.commit()
    assert not list(listener.notifies(timeout=0.2))


@pytest.mark.parametrize(
    ("channel", "payload", "text"),
    [
        ("", "x", "channel name cannot be empty"),
        (None, "x", "channel name cannot be empty"),
        ("c" * 64, "x", "channel name too long"),
        ("c", "x" * 8000, "payload string too long"),
    ],
)
def test_notifications_that_are_none(
    connect: Callable[..., Connection], channel: str | None, payload: str, text: str
) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=text):
        connect().execute("SELECT pg_notify(%s, %s)", (channel, payload))


def test_psycopg_two_phase_commit_is_refused(connect: Callable[..., Connection], table: str) -> None:
    connection = connect(autocommit=False)
    connection.tpc_begin(connection.xid(1, "gtrid", "bqual"))
    connection.execute("INSERT INTO driven VALUES (1)")
    with pytest.raises(psycopg.NotSupportedError, match="prepared transactions are disabled"):
        connection.tpc_prepare()
    other = connect()
    assert other.execute("SELECT count(*) FROM driven").fetchone() == (0,)
    assert other.tpc_recover() == []


def test_idle_in_transaction(connect: Callable[..., Connection], table: str) -> None:
    connection = connect(options="-c idle_in_transaction_session_timeout=200")
    time.sleep(0.4)
    connection.execute("INSERT INTO driven VALUES (0)")
    connection.execute("BEGIN")
    connection.execute("INSERT INTO driven VALUES (1)")
    time.sleep(0.6)
    with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
        connection.execute("SELECT 1")
    assert connection.closed
    assert connect().execute("SELECT k FROM driven").fetchall() == [(0,)]


def test_idle_session(connect: Callable[..., Connection]) -> None:
    connection = connect()
    connection.execute("SET idle_session_timeout = '200ms'")
    connection.execute("BEGIN")
    time.sleep(0.4)
    connection.execute("COMMIT")
    time.sleep(0.6)
    with pytest.raises(psycopg.errors.IdleSessionTimeout):
        connection.execute("SELECT 1")


def test_lock_timeout(connect: Callable[..., Connection]) -> None:
    first, second = connect(autocommit=False), connect()
    first.execute("CREATE TABLE locking (a int)")
    second.execute("SET lock_timeout = '100ms'")
    with pytest.raises(psycopg.errors.LockNotAvailable, match="canceling statement due to lock timeout"):
        second.execute("CREATE TABLE locked (a int)")
    first.rollback()
    second.execute("CREATE TABLE locked (a int)")
    second.execute("DROP TABLE locked")


def test_a_cursor_over_a_stream_goes_forward(connect: Callable[..., Connection]) -> None:
    connection = connect(autocommit=False)
    connection.execute("CREATE FOREIGN TABLE flowing (k int) SERVER stream OPTIONS (capacity '131072')")
    connection.commit()
    connection.execute("INSERT INTO flowing SELECT * FROM generate_series(1, 120000)")
    connection.commit()
    connection.execute("DECLARE c CURSOR FOR SELECT k FROM flowing WHERE k % 2 = 0")
    assert connection.execute("FETCH 3 FROM c").fetchall() == [(2,), (4,), (6,)]
    assert connection.execute("MOVE 59990 FROM c").statusmessage == "MOVE 59990"
    assert connection.execute("FETCH ABSOLUTE 59995 FROM c").fetchall() == [(119990,)]
    assert len(connection.execute("FETCH ALL FROM c").fetchall()) == 5
    with pytest.raises(psycopg.errors.ObjectNotInPrerequisiteState, match="can only scan forward"):
        connection.execute("FETCH PRIOR FROM c")
    connection.rollback()
    connection.execute("DECLARE c SCROLL CURSOR FOR SELECT k FROM flowing WHERE k > 119998")
    assert connection.execute("FETCH LAST FROM c").fetchall() == [(120000,)]
    assert connection.execute("FETCH PRIOR FROM c").fetchall() == [(119999,)]
    connection.rollback()
    connection.execute("DROP FOREIGN TABLE flowing")
    connection.commit()


# asyncpg


def test_asyncpg_nested_transactions(
    run: Callable[[Callable[[asyncpg.Connection], Coroutine[Any, Any, None]]], None], table: str
) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        async with connection.transaction():
            await connection.execute("INSERT INTO driven VALUES (1)")
            for key in (1, 2, 1, 3):
                try:
                    async with connection.transaction():
                        await connection.execute("INSERT INTO driven VALUES ($1)", key)
                except asyncpg.UniqueViolationError:
                    assert key == 1
        assert [row["k"] for row in await connection.fetch("SELECT k FROM driven ORDER BY k")] == [1, 2, 3]

    run(work)


def test_asyncpg_cursors(run: Callable[[Callable[[asyncpg.Connection], Coroutine[Any, Any, None]]], None]) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        async with connection.transaction():
            found = [row["x"] async for row in connection.cursor(FIVE, prefetch=2)]
            assert found == [1, 2, 3, 4, 5]
            cursor = await connection.cursor("SELECT $1::int + x AS y FROM generate_series(1, 9) AS q(x)", 10)
            assert (await cursor.fetchrow())["y"] == 11
            assert await cursor.forward(3) == 3
            assert [row["y"] for row in await cursor.fetch(2)] == [15, 16]
            assert len(await cursor.fetch(10)) == 3
            statement = await connection.prepare(FIVE)
            assert [row["x"] async for row in statement.cursor()] == [1, 2, 3, 4, 5]

    run(work)


def test_asyncpg_listeners(run: Callable[[Callable[[asyncpg.Connection], Coroutine[Any, Any, None]]], None]) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        heard: asyncio.Queue[tuple[int, str, str]] = asyncio.Queue()

        def listen(_: object, process_id: int, channel: str, payload: str) -> None:
            heard.put_nowait((process_id, channel, payload))

        await connection.add_listener("Channel", listen)
        await connection.execute("NOTIFY \"Channel\", 'hello'")
        async with asyncio.timeout(10):
            assert await heard.get() == (connection.get_server_pid(), "Channel", "hello")
        await connection.remove_listener("Channel", listen)
        await connection.execute('NOTIFY "Channel"')
        await connection.reset()
        assert heard.empty()

    run(work)


def test_no_constant_is_read_otherwise_with_standard_conforming_strings_off(connect: Callable[..., Connection]) -> None:
    connection = connect()
    connection.execute("CREATE FOREIGN TABLE quoted (t text) SERVER stream")
    connection.execute("SET standard_conforming_strings = off")
    for prepare in (False, True):
        for query in (r"INSERT INTO quoted VALUES ('a\b')", r"SELECT 'a\b'", r"DELETE FROM quoted WHERE t = 'a\b'"):
            with pytest.raises(psycopg.errors.FeatureNotSupported, match="a backslash in a string constant"):
                connection.execute(query, prepare=prepare)
    with psycopg.ClientCursor(connection) as cursor:
        for value in ("a\\b", "it's", "\\"):
            cursor.execute("INSERT INTO quoted VALUES (%s)", (value,))
    assert connection.execute("SELECT t FROM quoted").fetchall() == [("a\\b",), ("it's",), ("\\",)]
    connection.execute("DROP FOREIGN TABLE quoted")
