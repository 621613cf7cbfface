"""psql, psycopg and asyncpg against the server, as their users would use them."""

from __future__ import annotations

import asyncio
import datetime
import subprocess
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import asyncpg
import psycopg
import pytest
from psycopg.types.composite import CompositeInfo, register_composite

from tests.oracle.antumbra import AntumbraServer


@pytest.fixture
def events(server: AntumbraServer) -> Iterator[str]:
    """A stream of all types with a view that has one column of each; dropped at the end."""
    with server.connect() as connection:
        connection.execute(
            "CREATE FOREIGN TABLE events (b boolean, i2 smallint, i4 integer, i8 bigint, f8 double precision, f4 real,"
            " n numeric(12,3), t text, v varchar(5), d date, ts timestamp, tz timestamptz) SERVER stream"
        )
        connection.execute(
            "CREATE VIEW seen AS SELECT i4, b, i2, i8, f8, f4, n, t, v, d, ts, tz, count(*) AS c"
            " FROM events GROUP BY i4, b, i2, i8, f8, f4, n, t, v, d, ts, tz"
        )
        yield "events"
        connection.execute("DROP FOREIGN TABLE events CASCADE")


ROW = (
    True,
    -3,
    2_000_000_000,
    9_000_000_000_000_000_000,
    0.1,
    0.5,
    Decimal("-12345.678"),
    "longer than twelve bytes, ünïcödé",
    "abc",
    datetime.date(2024, 2, 29),
    datetime.datetime.fromisoformat("2024-02-29 12:30:01.250"),
    datetime.datetime(2024, 2, 29, 12, 30, 1, tzinfo=datetime.UTC),
)
VIEW_ORDER = (2, 0, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11)


@pytest.mark.turns(2)
@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_round_trip_of_every_type(server: AntumbraServer, events: str, binary: bool) -> None:
    with server.connect(autocommit=False) as connection:
        marks = ", ".join(["%s"] * len(ROW))
        connection.execute(f"INSERT INTO {events} VALUES ({marks})".encode(), ROW, binary=binary)
        connection.execute(f"INSERT INTO {events} VALUES ({marks})".encode(), [None] * len(ROW), binary=binary)
        connection.commit()
        rows = connection.cursor(binary=binary).execute("SELECT * FROM seen ORDER BY i4").fetchall()
    assert rows == [(*(ROW[index] for index in VIEW_ORDER), 1), (*[None] * len(ROW), 1)]


def test_psycopg_default_connection_commits_and_rolls_back(server: AntumbraServer) -> None:
    with server.connect(autocommit=False) as connection:
        connection.execute("CREATE FOREIGN TABLE tx (k int) SERVER stream")
        connection.execute("CREATE VIEW tx_count AS SELECT count(*) FROM tx")
        connection.execute("INSERT INTO tx VALUES (1)")
        connection.commit()
        connection.execute("INSERT INTO tx VALUES (2)")
        connection.rollback()
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("INSERT INTO tx VALUES ('x')")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute("SELECT * FROM tx_count")
        connection.rollback()
        assert connection.execute("SELECT * FROM tx_count").fetchone() == (1,)
        connection.execute("DROP FOREIGN TABLE tx CASCADE")
        connection.commit()


def test_psycopg_pipeline_keeps_nothing_of_a_failed_segment(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE piped (k int) SERVER stream")
        connection.execute("CREATE VIEW piped_sum AS SELECT count(*), sum(k) FROM piped")
        with connection.pipeline():
            for key in range(100):
                connection.execute("INSERT INTO piped VALUES (%s)", (key,))
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            insert_a_good_and_a_bad_row(connection)
        connection.cursor().executemany("INSERT INTO piped VALUES (%s)", [(key,) for key in range(50)])
        assert connection.execute("SELECT * FROM piped_sum").fetchone() == (150, 4950 + 1225)
        connection.execute("DROP FOREIGN TABLE piped CASCADE")


def insert_a_good_and_a_bad_row(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    with connection.pipeline():
        connection.execute("INSERT INTO piped VALUES (%s)", (1,))
        connection.execute("INSERT INTO piped VALUES (%s)", ("x",))


def test_psycopg_copy_in_and_out(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE copied (k int, t text) SERVER stream")
        connection.execute("CREATE VIEW copied_by_t AS SELECT t, count(*) AS n, sum(k) AS total FROM copied GROUP BY t")
        with connection.cursor().copy("COPY copied FROM STDIN") as copy:
            for key in range(1000):
                copy.write_row((key, None if key % 3 == 0 else "a\tb" if key % 3 == 1 else "c"))
        with connection.cursor().copy("COPY (SELECT * FROM copied_by_t ORDER BY t) TO STDOUT") as copy:
            text = b"".join(bytes(piece) for piece in copy).decode()
        assert text == "a\\tb\t333\t166167\nc\t333\t166500\n\\N\t334\t166833\n"
        with pytest.raises(psycopg.errors.WrongObjectType), connection.cursor().copy("COPY copied_by_t TO STDOUT"):
            pass
        connection.execute("DROP FOREIGN TABLE copied CASCADE")


def test_asyncpg_prepared_copy_and_cursor(server: AntumbraServer) -> None:
    async def work() -> None:
        connection = await asyncpg.connect(host="127.0.0.1", port=server.port, user="antumbra", database="postgres")
        try:
            await connection.execute("CREATE FOREIGN TABLE prepared (k int, x float8, n numeric(10,2)) SERVER stream")
            await connection.execute(
                "CREATE VIEW prepared_sum AS SELECT k, sum(x) AS x, sum(n) AS n FROM prepared GROUP BY k"
            )
            rows = [(key % 10, float(key), Decimal(key) / 4) for key in range(1000)]
            await connection.executemany("INSERT INTO prepared VALUES ($1, $2, $3)", rows)
            fetched = await connection.fetch("SELECT * FROM prepared_sum WHERE k >= $1 ORDER BY k", 8)
            assert [tuple(row) for row in fetched] == [
                (key, sum(row[1] for row in rows if row[0] == key), sum(row[2] for row in rows if row[0] == key))
                for key in (8, 9)
            ]
            async with connection.transaction():
                batches = [
                    row["k"] async for row in connection.cursor("SELECT k FROM prepared_sum ORDER BY k", prefetch=3)
                ]
            assert batches == list(range(10))
            await connection.execute("DROP FOREIGN TABLE prepared CASCADE")
        finally:
            await connection.close()

    asyncio.run(work())


def test_asyncpg_prepares_anew_after_a_table_has_changed(server: AntumbraServer) -> None:
    async def use() -> None:
        connection = await asyncpg.connect(host="127.0.0.1", port=server.port, user="antumbra", database="postgres")
        try:
            await connection.execute("CREATE TABLE ap_changed (a int)")
            assert await connection.fetch("SELECT * FROM ap_changed") == []
            await connection.execute("ALTER TABLE ap_changed ADD COLUMN b text DEFAULT 'x'")
            await connection.execute("INSERT INTO ap_changed VALUES (1)")
            assert [dict(row) for row in await connection.fetch("SELECT * FROM ap_changed")] == [{"a": 1, "b": "x"}]
        finally:
            await connection.execute("DROP TABLE ap_changed")
            await connection.close()

    asyncio.run(use())


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_rows_without_columns(server: AntumbraServer, binary: bool) -> None:
    with server.connect() as connection:
        connection.execute("CREATE TABLE columnless ()")
        for prepare in (False, True):
            connection.execute("INSERT INTO columnless DEFAULT VALUES", prepare=prepare)
        cursor = connection.cursor(binary=binary)
        found = cursor.execute("SELECT FROM columnless WHERE %s < 2", (1,), prepare=True)
        assert (found.statusmessage, found.description, found.fetchall()) == ("SELECT 2", [], [(), ()])
        with cursor.copy("COPY columnless TO STDOUT (FORMAT binary)") as copy:
            assert list(copy.rows()) == [(), ()]
        with pytest.raises(psycopg.errors.FeatureNotSupported), cursor.copy("COPY columnless FROM STDIN") as copy:
            copy.write(b"\n")
        connection.execute("DROP TABLE columnless")


def test_asyncpg_rows_without_columns(server: AntumbraServer) -> None:
    async def work() -> None:
        connection = await asyncpg.connect(host="127.0.0.1", port=server.port, user="antumbra", database="postgres")
        try:
            assert [tuple(row) for row in await connection.fetch("SELECT FROM generate_series(1, $1)", 3)] == [
                (),
                (),
                (),
            ]
            statement = await connection.prepare("SELECT")
            assert statement.get_attributes() == ()
            async with connection.transaction():
                rows = [tuple(row) async for row in connection.cursor("SELECT FROM generate_series(1, 5)", prefetch=2)]
            assert rows == [()] * 5
        finally:
            await connection.close()

    asyncio.run(work())


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_rows_as_values(server: AntumbraServer, binary: bool) -> None:
    with server.connect() as connection:
        connection.execute("CREATE TABLE composed (a int, b text, c numeric(6,2), d int[])")
        connection.execute("INSERT INTO composed VALUES (1, 'x y', 1.5, '{1,2}'), (2, NULL, NULL, NULL)")
        info = CompositeInfo.fetch(connection, "composed")
        assert info is not None
        register_composite(info, connection)
        cursor = connection.cursor(binary=binary)
        rows: list[Any] = cursor.execute("SELECT composed FROM composed ORDER BY a").fetchall()
        assert [tuple(row[0]) for row in rows] == [(1, "x y", Decimal("1.50"), [1, 2]), (2, None, None, None)]
        assert rows[0][0].b == "x y"
        assert cursor.execute("SELECT array_agg(t ORDER BY a) FROM composed t").fetchone() == (
            [row[0] for row in rows],
        )
        words = cursor.execute("SELECT ROW('a,b'::text, NULL, ''::text), ROW()").fetchone()
        assert words == (("a,b", None, ""), ())
        connection.execute("DROP TABLE composed")


def test_asyncpg_rows_as_values(server: AntumbraServer) -> None:
    async def work() -> None:
        connection = await asyncpg.connect(host="127.0.0.1", port=server.port, user="antumbra", database="postgres")
        try:
            await connection.execute("CREATE TABLE composed (a int, b text, c numeric(6,2), d int[])")
            await connection.execute("INSERT INTO composed VALUES (1, 'x', 1.5, '{1,2}')")
            found = await connection.fetchval("SELECT composed FROM composed")
            assert dict(found) == {"a": 1, "b": "x", "c": Decimal("1.50"), "d": [1, 2]}
            assert await connection.fetchval("SELECT array_agg(t) FROM composed t") == [found]
            assert tuple(await connection.fetchval("SELECT ROW($1::int, $2::text, NULL)", 1, "b")) == (1, "b", None)
        finally:
            await connection.execute("DROP TABLE composed")
            await connection.close()

    asyncio.run(work())


def test_asyncpg_pool_cleans_its_connections(server: AntumbraServer) -> None:
    async def work() -> None:
        pool = await asyncpg.create_pool(
            host="127.0.0.1", port=server.port, user="p", database="antumbra", min_size=1, max_size=1
        )
        async with pool.acquire() as connection:
            await connection.execute("SET TimeZone = 'Asia/Kolkata'")
        async with pool.acquire() as connection:
            assert await connection.fetchval("SHOW TimeZone") == "UTC"
        await pool.close()

    asyncio.run(work())


def test_psql_session(server: AntumbraServer) -> None:
    script = """
        CREATE FOREIGN TABLE clicks (page text, ms integer) SERVER stream;
        CREATE VIEW pages AS SELECT page, count(*) AS n, avg(ms) AS mean FROM clicks GROUP BY page;
        INSERT INTO clicks VALUES ('home', 10), ('home', 11), ('help', NULL);
        \\copy clicks from stdin with (format csv)
home,12
\\.
        SELECT * FROM pages ORDER BY page;
        SELECT pagee FROM pages;
        DROP FOREIGN TABLE clicks CASCADE;
    """
    command = ["psql", "-X", "-A", "-h", "127.0.0.1", "-p", str(server.port), "-U", "anybody", "antumbra"]
    done = subprocess.run(command, input=script, capture_output=True, text=True, check=False, timeout=60)
    assert "help|1|\nhome|3|11.0000000000000000\n(2 rows)" in done.stdout, done
    assert 'ERROR:  column "pagee" does not exist' in done.stderr
    assert 'Perhaps you meant to reference the column "pages.page".' in done.stderr
