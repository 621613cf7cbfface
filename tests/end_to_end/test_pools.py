"""Pools of connections: psycopg's, blocking and with asyncio, and SQLAlchemy's. asyncpg's is in
test_drivers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
import sqlalchemy
from psycopg_pool import AsyncConnectionPool, ConnectionPool, PoolTimeout

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

# A server that is slow to let a client in is no fault of a pool.
WAIT_S = 60
WORKERS, ROWS = 8, 200


@pytest.fixture
def dsn(server: AntumbraServer) -> str:
    return f"host=127.0.0.1 port={server.port} user=antumbra dbname=antumbra"


@pytest.fixture
def events(server: AntumbraServer) -> Iterator[str]:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE pooled (n integer) SERVER stream")
        connection.execute("CREATE VIEW pooled_sum AS SELECT count(*) AS rows, sum(n) AS total FROM pooled")
        yield "pooled"
        connection.execute("DROP FOREIGN TABLE pooled CASCADE")


def process_id(connection: psycopg.Connection[Any]) -> int:
    """Return the number of the session of a connection."""
    return int(connection.info.backend_pid)


def test_many_threads_share_few_sessions(dsn: str, events: str, server: AntumbraServer) -> None:
    seen: set[int] = set()

    def insert(number: int) -> None:
        with pool.connection() as connection:
            seen.add(process_id(connection))
            connection.execute(f"INSERT INTO {events} VALUES (%s)", (number,))

    with ConnectionPool(dsn, min_size=1, max_size=3, timeout=WAIT_S) as pool:
        with ThreadPoolExecutor(WORKERS) as workers:
            list(workers.map(insert, range(ROWS)))
        assert 1 <= len(seen) <= 3
        assert pool.get_stats()["requests_num"] == ROWS
    with server.connect() as connection:
        assert connection.execute("SELECT * FROM pooled_sum").fetchone() == (ROWS, sum(range(ROWS)))
        gone = "SELECT count(*) FROM pg_stat_activity WHERE pid = ANY(%s)"
        assert connection.execute(gone, (sorted(seen),)).fetchone() == (0,)


def test_what_a_client_leaves_open_is_rolled_back(dsn: str, events: str) -> None:
    with ConnectionPool(dsn, min_size=1, max_size=1, timeout=WAIT_S) as pool:
        connection = pool.getconn()
        connection.execute(f"INSERT INTO {events} VALUES (1)")
        pool.putconn(connection)
        with pool.connection() as again:
            assert again is connection
            assert again.execute("SELECT rows FROM pooled_sum").fetchone() == (0,)
        with pytest.raises(psycopg.errors.DivisionByZero), pool.connection() as failing:
            failing.execute("SELECT 1 / 0")
        with pool.connection() as again:
            assert again is connection


def test_a_session_that_was_ended_is_replaced(dsn: str) -> None:
    with (
        ConnectionPool(dsn, min_size=1, max_size=2, timeout=WAIT_S, check=ConnectionPool.check_connection) as pool,
        pool.connection() as other,
    ):
        with pool.connection() as connection:
            ended = process_id(connection)
        assert other.execute("SELECT pg_terminate_backend(%s)", (ended,)).fetchone() == (True,)
        with pool.connection() as connection:
            assert process_id(connection) != ended
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_settings_of_a_pool_and_its_reset(dsn: str) -> None:
    def configure(connection: psycopg.Connection[Any]) -> None:
        connection.autocommit = True
        connection.execute("SET TimeZone = 'Asia/Tokyo'")

    def reset(connection: psycopg.Connection[Any]) -> None:
        connection.execute("RESET statement_timeout")

    with ConnectionPool(dsn, min_size=1, max_size=1, timeout=WAIT_S, configure=configure, reset=reset) as pool:
        with pool.connection() as connection:
            connection.execute("SET statement_timeout = '7s'")
        with pool.connection() as connection:
            assert connection.execute("SHOW TimeZone").fetchone() == ("Asia/Tokyo",)
            assert connection.execute("SHOW statement_timeout").fetchone() == ("0",)
        with pool.connection(), pytest.raises(PoolTimeout), pool.connection(timeout=0.1):
            pass


def test_a_pool_with_asyncio(dsn: str, events: str, server: AntumbraServer) -> None:
    async def work() -> None:
        async with AsyncConnectionPool(dsn, min_size=1, max_size=3, timeout=WAIT_S, open=False) as pool:

            async def insert(number: int) -> None:
                async with pool.connection() as connection, connection.pipeline():
                    await connection.execute(f"INSERT INTO {events} VALUES (%s)", (number,))

            await asyncio.gather(*(insert(number) for number in range(ROWS)))

    asyncio.run(work())
    with server.connect() as connection:
        assert connection.execute("SELECT * FROM pooled_sum").fetchone() == (ROWS, sum(range(ROWS)))


def test_sqlalchemys_pool_notices_an_ended_session(server: AntumbraServer) -> None:
    engine = sqlalchemy.create_engine(
        f"postgresql+psycopg://pools@127.0.0.1:{server.port}/antumbra", pool_size=1, pool_pre_ping=True
    )
    with engine.connect() as connection:
        ended = connection.scalar(sqlalchemy.text("SELECT pg_backend_pid()"))
    with server.connect() as other:
        assert other.execute("SELECT pg_terminate_backend(%s)", (ended,)).fetchone() == (True,)
    with engine.connect() as connection:
        assert connection.scalar(sqlalchemy.text("SELECT pg_backend_pid()")) not in (None, ended)
    engine.dispose()
