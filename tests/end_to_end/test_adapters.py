"""Values as psycopg and asyncpg see them: adapters in text and binary both ways, arrays, NULLs,
COPY in all formats and block sizes.
"""

from __future__ import annotations

import asyncio
import datetime
import io
import ipaddress
import math
import uuid
from collections.abc import Awaitable, Callable
from decimal import Decimal
from typing import Any

import asyncpg
import pytest
from psycopg.rows import class_row, dict_row, namedtuple_row, scalar_row
from psycopg.types.json import Json, Jsonb

from tests.oracle.antumbra import AntumbraServer

EAST = datetime.timezone(datetime.timedelta(hours=2))
# To asyncpg the last ones of Python are 'infinity', and the first ones '-infinity'.
VALUES: dict[str, list[Any]] = {
    "boolean": [True, False],
    "smallint": [0, -(2**15), 2**15 - 1],
    "integer": [0, -(2**31), 2**31 - 1],
    "bigint": [-(2**63), 2**63 - 1],
    "numeric": [
        *map(Decimal, ("0", "-0.0001", "1.50", "1e10", "12345678901234567890.5", "NaN", "Infinity", "-Infinity"))
    ],
    "real": [1.5, math.inf, math.nan],
    "double precision": [-2.25e300, math.inf, math.nan],
    "text": ["", "abc", "é☃", '"', "a\tb\nc\\", "longer than an inline string"],
    "varchar": ["abc"],
    "name": ["abc"],
    "bytea": [b"", b"\0\xff\\", bytes(range(256))],
    "date": [datetime.date(2020, 2, 29), datetime.date(1000, 1, 1), datetime.date.max, datetime.date.min],
    "time": [datetime.time(0), datetime.time(23, 59, 59, 999_999)],
    "timetz": [datetime.time(1, 2, 3, tzinfo=EAST)],
    "timestamp": [
        *map(datetime.datetime.fromisoformat, ("2020-01-02 03:04:05.000006", "1000-01-01")),
        *map(datetime.datetime.fromisoformat, ("9999-12-31 23:59:59.999999", "0001-01-01")),
    ],
    "timestamptz": [datetime.datetime(2020, 1, 2, 3, 4, 5, tzinfo=EAST)],
    "interval": [datetime.timedelta(0), datetime.timedelta(days=-3, seconds=5, microseconds=7)],
    "uuid": [uuid.UUID(int=5)],
    "inet": [ipaddress.ip_interface("1.2.3.4/8"), ipaddress.ip_interface("2001:db8::1/64")],
    "cidr": [ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("::/0")],
    "oid": [0, 2**32 - 1],
}
ARRAYS: dict[str, list[Any]] = {
    f"{kind}[]": [[values[0], None, values[-1]], []] for kind, values in VALUES.items() if kind != "oid"
}


def same(found: Any, value: Any) -> bool:
    """Compare, NaN as equal to itself."""
    if isinstance(value, list):
        return len(found) == len(value) and all(map(same, found, value))
    return bool(found == value) or (value != value and found != found)


@pytest.mark.turns(2)
@pytest.mark.parametrize("place", ["%s", "%b", "%t"])
@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_values(server: AntumbraServer, place: str, binary: bool) -> None:
    with server.connect() as connection, connection.cursor(binary=binary) as cursor:
        for kind, values in (VALUES | ARRAYS).items():
            for value in [*values, None]:
                question = f"SELECT {place}::{kind}, {place}::{kind} IS NOT DISTINCT FROM {place}::{kind}".encode()
                assert (row := cursor.execute(question, [value] * 3).fetchone()) is not None
                assert same(row[0], value) and row[1], (kind, value, row)
        # Without a cast, by the types that psycopg says.
        for value in (
            1,
            2**40,
            Decimal("1.5"),
            1.5,
            True,
            b"\0",
            datetime.date(2020, 1, 1),
            uuid.UUID(int=1),
            [1, None],
        ):
            assert cursor.execute(f"SELECT {place}".encode(), [value]).fetchone() == (value,)
        document: Any
        for document in ({"a": [1, None, "é"]}, [], "text", 1.5, None):
            wrapped = (Json(document), Jsonb(document))
            assert cursor.execute(f"SELECT {place}, {place}".encode(), wrapped).fetchone() == (document, document)


def test_psycopg_rows_and_prepared_statements(server: AntumbraServer) -> None:
    class Item:
        def __init__(self, a: int, b: str) -> None:
            self.a, self.b = a, b

    with server.connect() as connection:
        connection.execute("CREATE TABLE ad_items (a int, b text)")
        connection.cursor().executemany("INSERT INTO ad_items VALUES (%s, %s)", [(1, "x"), (2, None)])
        question = "SELECT a, b FROM ad_items ORDER BY a"
        assert connection.cursor(row_factory=dict_row).execute(question).fetchall()[0] == {"a": 1, "b": "x"}
        assert connection.cursor(row_factory=namedtuple_row).execute(question).fetchall()[1] == (2, None)
        assert connection.cursor(row_factory=class_row(Item)).execute(question).fetchall()[0].b == "x"
        assert connection.cursor(row_factory=scalar_row).execute(question).fetchall() == [1, 2]
        for _ in range(7):
            found = connection.execute("SELECT * FROM ad_items WHERE a = %s", (1,), prepare=True).fetchall()
            assert found == [(1, "x")]
        connection.execute("ALTER TABLE ad_items ALTER COLUMN a TYPE bigint")
        assert connection.execute("SELECT * FROM ad_items WHERE a = %s", (1,), prepare=True).fetchall() == [(1, "x")]
        connection.execute("ALTER TABLE ad_items ADD COLUMN c date")
        assert connection.execute("SELECT * FROM ad_items WHERE a = %s", (1,), prepare=True).fetchall() == [
            (1, "x", None)
        ]
        connection.execute("DEALLOCATE ALL")
        connection.execute("DROP TABLE ad_items")


COLUMNS = (
    "integer",
    "numeric",
    "text",
    "bytea",
    "timestamptz",
    "uuid",
    "double precision",
    "interval",
    "integer[]",
    "date",
)


def copied_rows() -> list[tuple[Any, ...]]:
    numbers = range(1200)
    kinds = [VALUES.get(kind) or ARRAYS[kind] for kind in COLUMNS]
    return [
        (number, *(None if number % 7 == place else values[number % len(values)] for place, values in enumerate(kinds)))
        for number in numbers
    ]


def without_nan(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple("NaN" if isinstance(item, float | Decimal) and item != item else item for item in row)


@pytest.mark.parametrize("size", [1, 1000, 1 << 20])
def test_psycopg_copies_blocks(server: AntumbraServer, size: int) -> None:
    rows = copied_rows() if size > 1 else copied_rows()[:20]
    definition = ", ".join(f"c{place} {kind}" for place, kind in enumerate(COLUMNS))
    with server.connect() as connection:
        for form in ("text", "csv", "binary"):
            connection.execute(f"CREATE TABLE ad_from (id integer, {definition})".encode())
            connection.execute(f"CREATE TABLE ad_to (id integer, {definition})".encode())
            with connection.cursor().copy(
                f"COPY ad_from FROM STDIN (FORMAT {'binary' if form == 'binary' else 'text'})".encode()
            ) as copy:
                copy.set_types(["integer", *COLUMNS])
                for row in rows:
                    copy.write_row(row)
            with connection.cursor().copy(
                f"COPY (SELECT * FROM ad_from ORDER BY id) TO STDOUT (FORMAT {form})".encode()
            ) as copy:
                data = b"".join(bytes(piece) for piece in copy)
            with connection.cursor().copy(f"COPY ad_to FROM STDIN (FORMAT {form})".encode()) as copy:
                for start in range(0, len(data), size):
                    copy.write(data[start : start + size])
            found = connection.execute("SELECT * FROM ad_to ORDER BY id", binary=True).fetchall()
            assert list(map(without_nan, found)) == list(map(without_nan, rows))
            connection.execute("DROP TABLE ad_from, ad_to")


def test_psycopg_reads_rows_of_a_binary_copy(server: AntumbraServer) -> None:
    with server.connect() as connection:
        question = (
            "COPY (SELECT i, i::text, i::numeric / 4 FROM generate_series(1, 3) AS g(i)) TO STDOUT (FORMAT binary)"
        )
        with connection.cursor().copy(question) as copy:
            copy.set_types(["integer", "text", "numeric"])
            assert list(copy.rows()) == [(i, str(i), Decimal(i) / 4) for i in (1, 2, 3)]


def run(port: int, work: Callable[[asyncpg.Connection[Any]], Awaitable[None]]) -> None:
    async def connected() -> None:
        connection = await asyncpg.connect(host="127.0.0.1", port=port, user="antumbra", database="antumbra")
        try:
            await work(connection)
        finally:
            await connection.close()

    asyncio.run(connected())


def test_asyncpg_values(server: AntumbraServer) -> None:
    async def work(connection: asyncpg.Connection[Any]) -> None:
        more: dict[str, list[Any]] = {'"char"': [b"x"], "json": ['{"a": 1}'], "jsonb": ['{"a": 1}'], "bpchar": ["ab"]}
        for kind, values in (VALUES | ARRAYS | more).items():
            for value in [*values, None]:
                row = await connection.fetchrow(f"SELECT $1::{kind} AS value", value)
                assert row is not None and same(row["value"], value), (kind, value, row)

    run(server.port, work)


def test_asyncpg_records_and_copy(server: AntumbraServer) -> None:
    rows = copied_rows()
    definition = ", ".join(f"c{place} {kind}" for place, kind in enumerate(COLUMNS))

    async def work(connection: asyncpg.Connection[Any]) -> None:
        await connection.execute(f"CREATE TABLE ac_rows (id integer, {definition})")
        assert await connection.copy_records_to_table("ac_rows", records=rows) == f"COPY {len(rows)}"
        for form in ("text", "csv", "binary"):
            output = io.BytesIO()
            assert (
                await connection.copy_from_query("SELECT * FROM ac_rows WHERE id < $1", 9, output=output, format=form)
                == "COPY 9"
            )
            output.seek(0)
            await connection.execute(f"CREATE TABLE ac_{form} (id integer, {definition})")
            assert await connection.copy_to_table(f"ac_{form}", source=output, format=form) == "COPY 9"
            found = await connection.fetch(f"SELECT * FROM ac_{form} ORDER BY id")
            assert [without_nan(tuple(row.values())) for row in found] == list(map(without_nan, rows[:9]))
            await connection.execute(f"DROP TABLE ac_{form}")
        statement = await connection.prepare("SELECT id, c2 FROM ac_rows WHERE id = $1")
        assert [attribute.name for attribute in statement.get_attributes()] == ["id", "c2"]
        assert [kind.name for kind in statement.get_parameters()] == ["int4"]
        record = await statement.fetchrow(3)
        assert (
            record is not None and dict(record) == {"id": 3, "c2": rows[3][3]} and list(record.keys()) == ["id", "c2"]
        )
        await connection.execute("DROP TABLE ac_rows")

    run(server.port, work)
