"""Enums through drivers, in continuous views beside PostgreSQL, in transactions, and in a server
that is killed.
"""

from __future__ import annotations

import asyncio
import enum
import random
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import psycopg
import pytest
import sqlalchemy
from psycopg.types.enum import EnumInfo, register_enum
from sqlalchemy.dialects.postgresql.base import PGInspector

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

pytestmark = pytest.mark.slow

LEVELS: tuple[str, ...] = ("low", "mid", "a label of more than 12 bytes", "high")


class Level(enum.Enum):
    """The labels as Python has them."""

    LOW, MID, LONG, HIGH = LEVELS


VIEWS = {
    "by_level": "SELECT level, count(*), sum(v) FROM events GROUP BY level",
    "extremes": "SELECT id % 3 AS k, min(level), max(level), count(*) FILTER (WHERE level > 'low') AS above, count(DISTINCT level)"
    " FROM events GROUP BY id % 3",
    "chosen": "SELECT level, id % 2 AS odd, count(*) FROM events WHERE level IN ('low', 'high') OR level = 'mid'"
    " GROUP BY 1, 2 HAVING max(level) < 'high'",
    "priced": "SELECT p.level, sum(v * price) FROM events JOIN prices p ON p.level = events.level GROUP BY p.level",
    "latest": "SELECT DISTINCT ON (id % 3) id % 3 AS k, level, v FROM events ORDER BY id % 3, level DESC NULLS LAST, v, id",
}
LABELLED = "SELECT level::text AS t, upper(level::varchar(3)) AS u, count(*) FROM events GROUP BY 1, 2"


@pytest.fixture
def connection(server: AntumbraServer) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with server.connect() as one:
        one.execute(create_type())
        yield one
        one.execute("DROP FOREIGN TABLE IF EXISTS events CASCADE")
        one.execute("DROP TABLE IF EXISTS prices, described CASCADE")
        one.execute("DROP TYPE IF EXISTS level, color")


def create_type() -> bytes:
    return f"CREATE TYPE level AS ENUM ({', '.join(repr(label) for label in LEVELS)})".encode()


def rows(source: random.Random, count: int, levels: tuple[str, ...]) -> list[tuple[int, str | None, int]]:
    return [(source.randrange(50), source.choice([None, *levels]), source.randrange(1000)) for _ in range(count)]


@pytest.mark.parametrize("binary", [False, True])
def test_psycopg_knows_the_type(connection: psycopg.Connection[tuple[object, ...]], binary: bool) -> None:
    info = EnumInfo.fetch(connection, "level")
    assert info is not None
    assert info.labels == list(LEVELS)
    register_enum(info, connection, Level, mapping={one: one.value for one in Level})
    low, mid, long, high = Level
    connection.execute("CREATE TABLE described (one level, several level[])")
    mark = "%b" if binary else "%t"
    connection.execute(f"INSERT INTO described VALUES ({mark}, {mark})".encode(), (mid, [high, low]))
    cursor = connection.cursor(binary=binary)
    found = cursor.execute(
        f"SELECT *, {mark}::level FROM described WHERE one = {mark}".encode(), (long, mid)
    ).fetchall()
    assert found == [(mid, [high, low], long)]
    with connection.cursor().copy("COPY described FROM STDIN (FORMAT binary)") as copy:
        copy.set_types(["level", "level[]"])
        copy.write_row((high, [low]))
        copy.write_row((None, None))
    with connection.cursor().copy("COPY (SELECT * FROM described ORDER BY one) TO STDOUT (FORMAT binary)") as copy:
        copy.set_types(["level", "level[]"])
        assert list(copy.rows()) == [(mid, [high, low]), (high, [low]), (None, None)]


def test_asyncpg_knows_the_type(connection: psycopg.Connection[tuple[object, ...]], server: AntumbraServer) -> None:
    async def run() -> None:
        one = await asyncpg.connect(host="127.0.0.1", port=server.port, user="antumbra", database="antumbra")
        await one.execute("CREATE TABLE described (one level, several level[])")
        await one.execute("INSERT INTO described VALUES ($1, $2)", "mid", ["high", "low"])
        await one.copy_records_to_table("described", records=[("high", ["low"]), (None, None)])
        found = await one.fetch("SELECT * FROM described WHERE one >= $1 ORDER BY one", "mid")
        assert [tuple(row) for row in found] == [("mid", ["high", "low"]), ("high", ["low"])]
        with pytest.raises(asyncpg.InvalidTextRepresentationError):
            await one.execute("INSERT INTO described VALUES ($1)", "nope")
        await one.execute("CREATE FOREIGN TABLE events (id int, level level) SERVER stream")
        for label in LEVELS:
            await one.execute("INSERT INTO events VALUES ($1, $2)", 1, label)
        with pytest.raises(asyncpg.InvalidTextRepresentationError):
            await one.execute("INSERT INTO events VALUES ($1, $2)", 1, "nope")
        assert [row["level"] for row in await one.fetch("SELECT level FROM events")] == list(LEVELS)
        await one.close()

    asyncio.run(run())


def test_sqlalchemy_reflects_the_type(
    connection: psycopg.Connection[tuple[object, ...]], server: AntumbraServer
) -> None:
    engine = sqlalchemy.create_engine(f"postgresql+psycopg://antumbra@127.0.0.1:{server.port}/antumbra")
    metadata = sqlalchemy.MetaData()
    color = sqlalchemy.Enum("red", "green", name="color")
    table = sqlalchemy.Table(
        "described", metadata, sqlalchemy.Column("c", color), sqlalchemy.Column("a", sqlalchemy.ARRAY(color))
    )
    metadata.create_all(engine)
    with engine.begin() as one:
        one.execute(table.insert(), [{"c": "green", "a": ["red", "green"]}, {"c": "red", "a": None}])
        found = [tuple(row) for row in one.execute(sqlalchemy.select(table).order_by(table.c.c))]
    assert found == [("red", None), ("green", ["red", "green"])]
    inspector = sqlalchemy.inspect(engine)
    assert isinstance(inspector, PGInspector)
    assert {one["name"]: one["labels"] for one in inspector.get_enums()} == {
        "level": list(LEVELS),
        "color": ["red", "green"],
    }
    reflected = sqlalchemy.Table("described", sqlalchemy.MetaData(), autoload_with=engine)
    assert repr(reflected.c.c.type) == "ENUM('red', 'green', name='color')"
    assert repr(reflected.c.a.type) == "ARRAY(ENUM('red', 'green', name='color'))"
    metadata.drop_all(engine)
    engine.dispose()


@pytest.mark.turns(3, 1)
def test_views_have_the_answers_of_postgres(
    connection: psycopg.Connection[tuple[object, ...]], postgres: PostgresCluster
) -> None:
    """Rows by INSERT, Bind and COPY, while the type gets labels between and around the others."""
    source = random.Random(11)
    with postgres.connect() as theirs:
        theirs.execute("CREATE SCHEMA IF NOT EXISTS enums")
        theirs.execute("SET search_path = enums")
        theirs.execute(create_type())
        connection.execute("CREATE FOREIGN TABLE events (id int, level level, v int) SERVER stream")
        theirs.execute("CREATE TABLE events (id int, level level, v int)")
        for one in (connection, theirs):
            one.execute("CREATE TABLE prices (level level PRIMARY KEY, price int)")
            one.execute("INSERT INTO prices VALUES ('low', 2), ('high', 3)")
        for name, query in {**VIEWS, "labelled": LABELLED}.items():
            for one in (connection, theirs):
                one.execute(f"CREATE VIEW {name} AS {query}".encode())
        levels = LEVELS
        for added in (
            "",
            "ADD VALUE 'lower' BEFORE 'low'",
            "ADD VALUE 'middle' AFTER 'mid'",
            "RENAME VALUE 'middle' TO 'center'",
        ):
            if added:
                levels = (*LEVELS, added.split("'")[-2 if "RENAME" in added else 1])
                with pytest.raises(psycopg.errors.FeatureNotSupported, match="view labelled has in its text"):
                    connection.execute(f"ALTER TYPE level {added}".encode())
                for one in (connection, theirs):
                    one.execute("DROP VIEW labelled")
                    one.execute(f"ALTER TYPE level {added}".encode())
                theirs.execute(f"CREATE VIEW labelled AS {LABELLED}".encode())
                connection.execute(f"CREATE VIEW labelled AS {LABELLED}".encode())
            given = rows(source, 40, levels)
            for one in (connection, theirs):
                for row in given[:20]:
                    one.execute("INSERT INTO events VALUES (%s, %s, %s)", row)
                with one.cursor().copy("COPY events FROM STDIN") as copy:
                    for row in given[20:]:
                        copy.write_row(row)
            for name in VIEWS:
                text = f"SELECT * FROM {name}".encode()
                mine, expected = (sorted(map(str, one.execute(text))) for one in (connection, theirs))
                assert mine == expected, (name, added)
        total = connection.execute("SELECT sum(count) FROM labelled").fetchone()
        # It was made anew before the last rows.
        assert total == (40,)
        ordered = b"SELECT level FROM by_level ORDER BY level"
        assert connection.execute(ordered).fetchall() == theirs.execute(ordered).fetchall()
        theirs.execute("DROP SCHEMA enums CASCADE")


def test_a_type_goes_with_its_transaction(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE TYPE color AS ENUM ('red')")
        connection.execute("ALTER TYPE level ADD VALUE 'highest'")
        connection.execute("CREATE TABLE described (c color, level level)")
        connection.execute("INSERT INTO described VALUES ('red', 'highest')")
        assert connection.execute("SELECT * FROM described").fetchall() == [("red", "highest")]
    with pytest.raises(psycopg.errors.InvalidTextRepresentation):
        connection.execute("SELECT 'highest'::level")
    with pytest.raises(psycopg.errors.UndefinedObject):
        connection.execute("SELECT 'red'::color")


def test_a_kill_loses_nothing(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as one:
        one.execute("CREATE SCHEMA s")
        one.execute(create_type())
        one.execute("CREATE TYPE s.color AS ENUM ('red', 'green')")
        one.execute(
            "CREATE TABLE kept (level level DEFAULT 'mid', c s.color[] DEFAULT '{red}', CHECK (level < 'high'))"
        )
        one.execute("CREATE FOREIGN TABLE events (id int, level level DEFAULT 'low') SERVER stream")
        one.execute("CREATE VIEW counted AS SELECT level, count(*) FROM events GROUP BY level")
        one.execute("CREATE VIEW shown AS SELECT level, c, level::text AS t FROM kept WHERE level > 'low'")
        one.execute("INSERT INTO events VALUES (1, DEFAULT), (2, 'high')")
        one.execute("CHECKPOINT")
        one.execute("ALTER TYPE level ADD VALUE 'middle' AFTER 'mid'")
        one.execute("INSERT INTO kept VALUES ('middle', DEFAULT), (DEFAULT, '{green,red}')")
        one.execute("INSERT INTO events VALUES (3, 'middle')")
    for _ in range(2):
        server.kill()
        server = AntumbraServer(tmp_path / "data").start()
        with server.connect() as one:
            assert one.execute("SELECT * FROM shown ORDER BY level").fetchall() == [
                ("mid", "{green,red}", "mid"),
                ("middle", "{red}", "middle"),
            ]
            assert one.execute("SELECT * FROM counted ORDER BY level").fetchall() == [
                ("low", 1),
                ("middle", 1),
                ("high", 1),
            ]
            with pytest.raises(psycopg.errors.CheckViolation):
                one.execute("INSERT INTO kept VALUES ('high')")
            with pytest.raises(psycopg.errors.DependentObjectsStillExist):
                one.execute("DROP TYPE s.color")
    server.stop()
