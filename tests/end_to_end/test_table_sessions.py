"""Writing to tables as programs do it: prepared statements of both drivers, blocks, conflicts, and
rows that go on into streams.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from decimal import Decimal

import asyncpg
import psycopg
import pytest

from tests.end_to_end.raw_client import (
    COPY_DONE,
    SYNC,
    RawClient,
    bind,
    cancel,
    copy_data,
    describe,
    execute,
    parse,
    query,
)
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

pytestmark = pytest.mark.slow


@pytest.fixture
def table(server: AntumbraServer) -> Iterator[str]:
    """A table; dropped at the end, with whatever else was made."""
    with server.connect() as connection:
        connection.execute(
            "CREATE TABLE tw (id int PRIMARY KEY, name text, price numeric(8,2), at timestamptz DEFAULT now())"
        )
        yield "tw"
        connection.execute("DROP TABLE IF EXISTS tw CASCADE")
        connection.execute("DROP FOREIGN TABLE IF EXISTS ts CASCADE")


def test_psycopg_as_it_comes(server: AntumbraServer, table: str) -> None:
    """Not autocommit; statements are prepared after some repetitions."""
    with server.connect(autocommit=False) as connection, server.connect() as other:
        for number in range(12):
            row = connection.execute(
                "INSERT INTO tw (id, name, price) VALUES (%s, %s, %s) RETURNING id, price",
                (number, f"n{number}", Decimal("1.005")),
            ).fetchone()
            assert row == (number, Decimal("1.01"))
        assert other.execute("SELECT count(*) FROM tw").fetchone() == (0,)
        connection.commit()
        assert other.execute("SELECT count(*) FROM tw").fetchone() == (12,)
        for number in range(8):
            changed = connection.execute("UPDATE tw SET price = price + %s WHERE id = %s", (number, number))
            assert changed.rowcount == 1
        cursor = connection.execute("DELETE FROM tw WHERE id >= %s RETURNING name", (10,))
        assert sorted(str(row[0]) for row in cursor.fetchall()) == ["n10", "n11"]
        connection.rollback()
        assert other.execute("SELECT count(*), sum(price) FROM tw").fetchone() == (12, Decimal("12.12"))
        with pytest.raises(psycopg.errors.UniqueViolation) as caught:
            connection.execute("INSERT INTO tw (id) VALUES (%s)", (3,))
        assert caught.value.diag.constraint_name == "tw_pkey"
        assert caught.value.diag.message_detail == "Key (id)=(3) already exists."
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connection.execute("SELECT 1")
        connection.rollback()


def test_executemany(server: AntumbraServer, table: str) -> None:
    with server.connect() as connection, connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO tw (id, name) VALUES (%s, %s)", [(number, f"n{number}") for number in range(200)]
        )
        cursor.executemany(
            "UPDATE tw SET name = %s WHERE id = %s", [(f"m{number}", number) for number in range(0, 200, 2)]
        )
        cursor.executemany(
            "INSERT INTO tw (id, name) VALUES (%s, %s) ON CONFLICT (id) DO UPDATE SET name = excluded.name RETURNING id",
            [(199, "last"), (200, "new")],
            returning=True,
        )
        found = connection.execute(
            "SELECT count(*), count(*) FILTER (WHERE name LIKE 'm%'), max(name) FROM tw"
        ).fetchone()
        assert found == (201, 100, "new")


def test_asyncpg(server: AntumbraServer, table: str) -> None:
    async def use() -> None:
        connection = await asyncpg.connect(host="127.0.0.1", port=server.port, user="antumbra", database="antumbra")
        try:
            insert = await connection.prepare("INSERT INTO tw (id, name, price) VALUES ($1, $2, $3) RETURNING *")
            assert [kind.name for kind in insert.get_parameters()] == ["int4", "text", "numeric"]
            assert [attribute.name for attribute in insert.get_attributes()] == ["id", "name", "price", "at"]
            record = await insert.fetchrow(1, "one", Decimal("2.5"))
            assert (record["id"], record["name"], record["price"]) == (1, "one", Decimal("2.50"))
            await connection.executemany(
                "INSERT INTO tw (id, name) VALUES ($1, $2)", [(n, str(n)) for n in range(2, 50)]
            )
            assert await connection.execute("UPDATE tw SET price = $2 WHERE id > $1", 40, Decimal(7)) == "UPDATE 9"
            assert await connection.execute("DELETE FROM tw WHERE id IN ($1, $2, $3)", 1, 2, 3) == "DELETE 3"
            async with connection.transaction():
                await connection.execute("TRUNCATE tw")
                assert await connection.fetchval("SELECT count(*) FROM tw") == 0
            copied = await connection.copy_records_to_table("tw", records=[(1, "x")], columns=["id", "name"])
            assert copied == "COPY 1"
        except asyncpg.FeatureNotSupportedError as error:
            # asyncpg copies in binary only.
            assert "binary" in str(error)
        finally:
            await connection.close()

    asyncio.run(use())


def test_parameters_as_postgres_types_them(server: AntumbraServer, postgres: PostgresCluster, table: str) -> None:
    """Parameter types, result columns and rows of prepared writes, message for message."""
    with postgres.connect() as theirs:
        theirs.execute("DROP SCHEMA public CASCADE")
        theirs.execute("CREATE SCHEMA public")
        theirs.execute(
            "CREATE TABLE tw (id int PRIMARY KEY, name text, price numeric(8,2), at timestamptz DEFAULT now())"
        )
    clients = [RawClient(server.port, "postgres", "postgres"), RawClient(postgres.port, "postgres", "postgres")]
    cases: list[tuple[str, tuple[bytes | None, ...]]] = [
        ("INSERT INTO tw (id, name, price) VALUES ($1, $2, $3) RETURNING id, name, price", (b"1", b"one", b"1.555")),
        ("INSERT INTO tw (id, name) SELECT $1, $2", (b"2", b"two")),
        ("INSERT INTO tw (id, name) SELECT $1 + 1, upper($2)", (b"2", b"three")),
        ("UPDATE tw SET price = $1, name = $2 || name WHERE id = $3 RETURNING *, $2", (b"7", b"x", b"1")),
        ("UPDATE tw SET price = price * $1 WHERE id = $2", (b"2", b"1")),
        ("UPDATE tw SET (price, name) = ($1, $2) WHERE id = 2", (b"9.999", None)),
        ("DELETE FROM tw WHERE name = $1 AND id > $2", (b"nobody", b"0")),
        ("INSERT INTO tw (id, name) VALUES ($1, $1)", (b"9",)),
        (
            "INSERT INTO tw (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET price = $2 WHERE tw.id = $1 RETURNING id, price",
            (b"1", b"5"),
        ),
        ("INSERT INTO tw (id) VALUES ($1)", (b"abc",)),
        ("INSERT INTO tw (id) VALUES ($2)", (b"1", b"2")),
        ("UPDATE tw SET id = $1 WHERE name = $1", (b"1",)),
        ("DELETE FROM tw WHERE id = $1 RETURNING id, $1", (b"3",)),
    ]
    for text, values in cases:
        answers = [
            client.ask(parse(text), describe("S"), bind(values), describe("P"), execute(), SYNC) for client in clients
        ]
        if "at " not in text and "*" not in text:
            assert answers[0] == answers[1], text
        else:
            assert [line[:2] for line in answers[0]] == [line[:2] for line in answers[1]], text


def test_portals_of_returning(server: AntumbraServer, table: str) -> None:
    """All rows are written at the first Execute; the portal gives them in slices."""
    client = RawClient(server.port, "antumbra", "antumbra")
    answer = client.ask(
        parse("INSERT INTO tw (id) SELECT g FROM generate_series(1, 5) AS s (g) RETURNING id"),
        bind(portal="slices"),
        execute("slices", 2),
        execute("slices", 2),
        execute("slices", 2),
        SYNC,
    )
    assert [line.split()[0] for line in answer] == ["1", "2", "D", "D", "s", "D", "D", "s", "D", "C", "Z"]
    assert answer[-2] == "C INSERT 0 5"


def test_conflicts_between_sessions(server: AntumbraServer, table: str) -> None:
    with server.connect(autocommit=False) as one, server.connect(autocommit=False) as two, server.connect() as three:
        three.execute("INSERT INTO tw (id, name) VALUES (1, 'start'), (2, 'start')")
        one.execute("UPDATE tw SET name = 'one' WHERE id = 1")
        two.execute("UPDATE tw SET name = 'two' WHERE id = 2")
        two.execute("SET lock_timeout = '50ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            two.execute("UPDATE tw SET name = 'two' WHERE id = 1")
        two.rollback()
        one.commit()
        assert three.execute("SELECT id, name FROM tw ORDER BY id").fetchall() == [(1, "one"), (2, "start")]
        # A transaction goes on with what it saw first.
        assert one.execute("SELECT name FROM tw WHERE id = 2").fetchone() == ("start",)
        three.execute("UPDATE tw SET name = 'three' WHERE id = 2")
        assert one.execute("SELECT name FROM tw WHERE id = 2").fetchone() == ("start",)
        with pytest.raises(psycopg.errors.SerializationFailure):
            one.execute("DELETE FROM tw WHERE id = 2")
        one.rollback()
        # Two that insert the same key: one of them is refused.
        one.execute("INSERT INTO tw (id) VALUES (5)")
        two.execute("INSERT INTO tw (id) VALUES (5)")
        one.commit()
        with pytest.raises((psycopg.errors.UniqueViolation, psycopg.errors.SerializationFailure)):
            two.commit()
        assert three.execute("SELECT count(*) FROM tw WHERE id = 5").fetchone() == (1,)


def test_rows_go_on_into_a_stream(server: AntumbraServer, table: str) -> None:
    with server.connect(autocommit=False) as connection, server.connect() as other:
        other.execute(
            "CREATE FOREIGN TABLE ts (k int, t varchar(6), p numeric(6,1), d text DEFAULT 'deflt', x int NOT NULL) SERVER stream"
        )
        other.execute(
            "CREATE VIEW ts_sums AS SELECT t, count(*) AS n, sum(p) AS total, min(d) AS d, max(x) AS x FROM ts GROUP BY t"
        )
        other.execute(
            "INSERT INTO tw (id, name, price) SELECT g, 'n' || g % 3, g * 0.25 FROM generate_series(1, 9) AS s (g)"
        )
        done = other.execute("INSERT INTO ts (k, t, p, x) SELECT id, name, price, id FROM tw")
        assert done.statusmessage == "INSERT 0 9"
        wanted = [
            ("n0", 3, Decimal("4.7"), "deflt", 9),
            ("n1", 3, Decimal("3.2"), "deflt", 7),
            ("n2", 3, Decimal("3.8"), "deflt", 8),
        ]
        found = other.execute("SELECT * FROM ts_sums ORDER BY t").fetchall()
        assert [row[:2] + row[3:] for row in found] == [row[:2] + row[3:] for row in wanted]
        # From a continuous view, and in a block that is rolled back.
        connection.execute("INSERT INTO ts (t, p, x) SELECT 'v' || t, total, n FROM ts_sums")
        connection.execute("INSERT INTO ts SELECT id, 'block', price, 'd', 1 FROM tw WHERE id < 3")
        connection.rollback()
        assert other.execute("SELECT sum(n) FROM ts_sums").fetchone() == (9,)
        connection.execute("INSERT INTO ts (t, p, x) SELECT 'v' || t, total, n FROM ts_sums")
        connection.commit()
        assert other.execute("SELECT sum(n) FROM ts_sums").fetchone() == (12,)
        assert (
            other.execute("INSERT INTO ts (x, t) VALUES ((SELECT max(id) FROM tw), 'sub')").statusmessage
            == "INSERT 0 1"
        )
        other.execute("INSERT INTO ts (t, x) SELECT 'many', g FROM generate_series(1, 200000) AS s (g)")
        assert other.execute("SELECT n, x FROM ts_sums WHERE t = 'many'").fetchone() == (200_000, 200_000)
        for text, sqlstate in (
            ("INSERT INTO ts (t, x) SELECT 'too long', 1", "22001"),
            ("INSERT INTO ts (t, x) SELECT name, NULL FROM tw", "23502"),
            ("INSERT INTO ts (t) SELECT name FROM tw", "23502"),
            ("INSERT INTO ts (k) SELECT name FROM tw", "42804"),
            ("INSERT INTO ts (k, x) SELECT k, x FROM ts", "0A000"),
            ("INSERT INTO ts (t, x) SELECT 'r', 1 RETURNING t", "0A000"),
            ("INSERT INTO ts (t, x) VALUES ('r', 1) RETURNING t", "0A000"),
            ("INSERT INTO ts (t, x) VALUES ('r', 1) ON CONFLICT DO NOTHING", "0A000"),
            ("UPDATE ts SET x = 1", "0A000"),
            ("DELETE FROM ts", "0A000"),
            ("TRUNCATE ts", "0A000"),
            ("INSERT INTO ts_sums SELECT 'a', 1, 1, 'a', 1", "55000"),
            ("UPDATE ts_sums SET n = 1", "55000"),
            ("DELETE FROM ts_sums", "55000"),
            ("TRUNCATE ts_sums", "42809"),
        ):
            with pytest.raises(psycopg.Error) as caught:
                other.execute(text.encode())
            assert caught.value.sqlstate == sqlstate, (text, caught.value)
        assert other.execute("SELECT sum(n) FROM ts_sums").fetchone() == (200_013,)


def test_what_is_given_up_leaves_nothing(server: AntumbraServer, table: str) -> None:
    """A client that goes away or cancels in the middle of a COPY or of a large INSERT."""
    lines = b"".join(b"%d\tname %d\n" % (number, number) for number in range(200_000))
    pieces = [copy_data(lines[start : start + 65_536]) for start in range(0, len(lines), 65_536)]
    for count in (1, len(pieces) // 2, len(pieces)):
        client = RawClient(server.port, "antumbra", "antumbra")
        client.send(query("COPY tw (id, name) FROM STDIN"), *pieces[:count])
        client.hang_up()
    client = RawClient(server.port, "antumbra", "antumbra")
    client.send(query("COPY tw (id, name) FROM STDIN"), *pieces)
    cancel(server.port, client)
    client.send(COPY_DONE)
    answer = client.read_until_ready()
    assert answer[-2].startswith(("E ERROR 57014", "C COPY 200000"))
    with server.connect() as connection:
        connection.execute("DELETE FROM tw")
    client.send(query("INSERT INTO tw (id) SELECT g FROM generate_series(1, 3000000) AS s (g)"))
    client.hang_up()
    with server.connect() as connection:
        connection.execute("SET statement_timeout = 50")
        with pytest.raises(psycopg.errors.QueryCanceled):
            connection.execute("INSERT INTO tw (id) SELECT g FROM generate_series(1, 3000000) AS s (g)")
        assert connection.execute("INSERT INTO tw (id) VALUES (-1) RETURNING id").fetchall() == [(-1,)]
        assert connection.execute("SELECT count(*) FROM tw WHERE id > 3000000").fetchone() == (0,)
