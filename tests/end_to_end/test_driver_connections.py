"""Connections of psycopg 3 and asyncpg: options, cancelling, notices, lookups of
types, plans that a change outdates.

psycopg is asked both ways, blocking and with asyncio, since these are two implementations of the
same.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import asyncpg
import psycopg
import pytest
from psycopg.types import TypeInfo

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

AsyncConnection = psycopg.AsyncConnection[Any]
NAMED = ("int4", "text", "numeric", "timestamptz", "jsonb", "uuid", "bytea", "float8", "interval", "date", "bool")


def options(server: AntumbraServer, **more: Any) -> dict[str, Any]:
    """Return what both drivers take."""
    return {"host": "127.0.0.1", "port": server.port, "user": "drivers", **more}


def with_psycopg(server: AntumbraServer, work: Callable[[AsyncConnection], Coroutine[Any, Any, None]]) -> None:
    """Do something with an asynchronous connection of psycopg."""

    async def connected() -> None:
        async with await psycopg.AsyncConnection.connect(
            **options(server, dbname="antumbra", autocommit=True)
        ) as connection:
            await work(connection)

    asyncio.run(connected())


def with_asyncpg(
    server: AntumbraServer, work: Callable[[asyncpg.Connection], Coroutine[Any, Any, None]], **more: Any
) -> None:
    """Do something with a connection of asyncpg."""

    async def connected() -> None:
        connection = await asyncpg.connect(**options(server, database="antumbra", timeout=60, **more))
        try:
            await work(connection)
        finally:
            await connection.close()

    asyncio.run(connected())


@pytest.mark.parametrize("wanted", ["any", "read-write", "primary", "prefer-standby"])
def test_psycopg_looks_for_a_server_that_writes(server: AntumbraServer, wanted: str) -> None:
    with psycopg.connect(**options(server, dbname="antumbra", target_session_attrs=wanted)) as connection:
        assert connection.execute("SELECT pg_is_in_recovery()").fetchone() == (False,)


@pytest.mark.parametrize("wanted", ["standby", "read-only"])
def test_psycopg_finds_no_standby(server: AntumbraServer, wanted: str) -> None:
    with pytest.raises(psycopg.OperationalError, match=r"hot standby|read-only"):
        psycopg.connect(**options(server, dbname="antumbra", target_session_attrs=wanted))


def test_psycopg_options_of_a_connection(server: AntumbraServer) -> None:
    given = options(
        server,
        dbname="antumbra",
        application_name="an app",
        options="-c timezone=Asia/Tokyo -c statement_timeout=70s --search_path=public",
        client_encoding="utf8",
        keepalives=1,
        connect_timeout=20,
    )
    with psycopg.connect(**given) as connection:
        info = connection.info
        assert (info.user, info.dbname, info.port, info.encoding) == ("drivers", "antumbra", server.port, "utf-8")
        assert (info.parameter_status("application_name"), info.server_version // 10000) == ("an app", 15)
        assert info.parameter_status("TimeZone") == "Asia/Tokyo"
        shown = "SELECT current_setting('statement_timeout'), current_setting('search_path'), inet_server_port()"
        assert connection.execute(shown).fetchone() == ("70s", "public", server.port)
        named = "SELECT current_setting(name) FROM (VALUES ('timezone'), ('application_name')) AS v (name)"
        assert connection.execute(named).fetchall() == [("Asia/Tokyo",), ("an app",)]
        assert connection.execute("SELECT pg_client_encoding()").fetchone() == ("UTF8",)
        connection.execute("RESET ALL")
        assert connection.execute("SHOW timezone").fetchone() == ("Asia/Tokyo",)
    with pytest.raises(psycopg.OperationalError, match="unrecognized configuration parameter"):
        psycopg.connect(**options(server, dbname="antumbra", options="-c no_such_setting=1"))


@pytest.mark.parametrize("safely", [False, True])
def test_psycopg_cancels(server: AntumbraServer, safely: bool) -> None:
    with psycopg.connect(**options(server, dbname="antumbra", autocommit=True)) as connection:
        cancel = connection.cancel_safe if safely else connection.cancel
        timer = threading.Timer(0.3, cancel)
        timer.start()
        start = time.monotonic()
        with pytest.raises(psycopg.errors.QueryCanceled, match="canceling statement due to user request"):
            connection.execute("SELECT pg_sleep(30)")
        assert time.monotonic() - start < 20
        timer.join()
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_psycopg_async(server: AntumbraServer) -> None:
    async def work(connection: AsyncConnection) -> None:
        await connection.execute("CREATE TABLE awaited (k int PRIMARY KEY, t text)")
        try:
            cursor = connection.cursor()
            await cursor.executemany("INSERT INTO awaited VALUES (%s, %s)", [(1, "a"), (2, "b")])
            async with cursor.copy("COPY awaited FROM STDIN (FORMAT binary)") as copy:
                copy.set_types(["int4", "text"])
                await copy.write_row((3, "c"))

            async def failing_pipeline() -> None:
                async with connection.pipeline():
                    await connection.execute("INSERT INTO awaited VALUES (4, 'd')")
                    await connection.execute("INSERT INTO awaited VALUES (1, 'again')")

            with pytest.raises(psycopg.errors.UniqueViolation):
                await failing_pipeline()
            async with connection.transaction(), connection.cursor("walk", binary=True) as walk:
                await walk.execute("SELECT * FROM awaited ORDER BY k")
                assert [row async for row in walk] == [(1, "a"), (2, "b"), (3, "c")]
            waiting = asyncio.create_task(connection.execute("SELECT pg_sleep(30)"))
            await asyncio.sleep(0.3)
            await connection.cancel_safe()
            with pytest.raises(psycopg.errors.QueryCanceled):
                await waiting
            await connection.execute("LISTEN awaited")
            await connection.execute("NOTIFY awaited, 'now'")
            heard = [notice.payload async for notice in connection.notifies(timeout=20, stop_after=1)]
            assert heard == ["now"]
        finally:
            await connection.execute("DROP TABLE awaited")

    with_psycopg(server, work)


def test_psycopg_notices(server: AntumbraServer) -> None:
    with psycopg.connect(**options(server, dbname="antumbra", autocommit=True)) as connection:
        heard: list[tuple[str | None, ...]] = []
        connection.add_notice_handler(
            lambda one: heard.append((one.severity_nonlocalized, one.sqlstate, one.message_primary))
        )
        connection.execute("DROP TABLE IF EXISTS nowhere")
        connection.execute("COMMIT")
        connection.execute("SET client_min_messages = error")
        connection.execute("DROP TABLE IF EXISTS nowhere")
        assert heard == [
            ("NOTICE", "00000", 'table "nowhere" does not exist, skipping'),
            ("WARNING", "25P01", "there is no transaction in progress"),
        ]


def test_psycopg_looks_types_up(server: AntumbraServer) -> None:
    with psycopg.connect(**options(server, dbname="antumbra", autocommit=True)) as connection:
        for name in NAMED:
            found, known = TypeInfo.fetch(connection, name), psycopg.adapters.types[name]
            assert found is not None
            assert (found.oid, found.array_oid, found.delimiter) == (known.oid, known.array_oid, known.delimiter)
        assert TypeInfo.fetch(connection, "no_such_type") is None
        assert connection.execute("SELECT '{1,2}'::_int4, '{a}'::pg_catalog._text").fetchone() == ([1, 2], ["a"])


def test_psycopg_statements_that_a_change_outdates(server: AntumbraServer) -> None:
    given = options(server, dbname="antumbra", autocommit=True)
    # Who changes a table itself makes psycopg prepare everything anew.
    with psycopg.connect(**given) as connection, psycopg.connect(**given) as other:
        other.execute("CREATE TABLE outdated (a int)")
        try:
            other.execute("INSERT INTO outdated VALUES (1)")
            assert connection.execute("SELECT * FROM outdated", prepare=True).fetchall() == [(1,)]
            assert connection.execute("SELECT a FROM outdated", prepare=True).fetchall() == [(1,)]
            other.execute("ALTER TABLE outdated ADD COLUMN b text DEFAULT 'x'")
            for _ in range(2):
                with pytest.raises(psycopg.errors.FeatureNotSupported, match="cached plan must not change result type"):
                    connection.execute("SELECT * FROM outdated", prepare=True)
            assert connection.execute("SELECT a FROM outdated", prepare=True).fetchall() == [(1,)]
            other.execute("ALTER TABLE outdated DROP COLUMN b")
            assert connection.execute("SELECT * FROM outdated", prepare=True).fetchall() == [(1,)]
        finally:
            other.execute("DROP TABLE outdated")
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT a FROM outdated", prepare=True)


def test_asyncpg_options_timeouts_and_cancelling(server: AntumbraServer) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        assert connection.get_settings().TimeZone == "Asia/Tokyo"
        assert connection.get_server_version()[0] == 15
        assert await connection.fetchval("SELECT current_setting($1)", "application_name") == "an app"
        with pytest.raises(asyncio.TimeoutError):
            await connection.execute("SELECT pg_sleep(30)", timeout=0.3)
        waiting = asyncio.create_task(connection.fetchval("SELECT pg_sleep(30)"))
        await asyncio.sleep(0.3)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        with pytest.raises(asyncpg.QueryCanceledError):
            await connection.execute("SET statement_timeout = '100ms'; SELECT pg_sleep(30)")
        assert await connection.fetchval("SELECT 1") == 1

    settings = {"application_name": "an app", "timezone": "Asia/Tokyo"}
    with_asyncpg(server, work, server_settings=settings, command_timeout=60, target_session_attrs="primary")


def test_asyncpg_types_and_copies_with_a_condition(server: AntumbraServer) -> None:
    async def work(connection: asyncpg.Connection) -> None:
        statement = await connection.prepare("SELECT $1::jsonb AS j, $2::int[] AS a, $3::numeric(8,2) AS n")
        assert [one.name for one in statement.get_parameters()] == ["jsonb", "int4[]", "numeric"]
        assert [(one.name, one.type.kind) for one in statement.get_attributes()] == [
            ("j", "scalar"),
            ("a", "array"),
            ("n", "scalar"),
        ]
        await connection.set_type_codec("jsonb", schema="pg_catalog", encoder=str, decoder=len)
        assert await connection.fetchval("SELECT '[1, 2]'::jsonb") == len("[1, 2]")
        await connection.execute("CREATE TABLE kept (k int, t text)")
        try:
            rows = [(number, str(number)) for number in range(100)]
            done = await connection.copy_records_to_table("kept", records=rows, where="k >= 90 AND t <> '95'")
            assert done == "COPY 9"
            assert await connection.fetchval("SELECT sum(k) FROM kept") == sum(range(90, 100)) - 95
        finally:
            await connection.execute("DROP TABLE kept")

    with_asyncpg(server, work)
