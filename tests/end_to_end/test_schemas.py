"""Schemas through drivers: prepared statements under a search_path that changes, rights, COPY, and
a server that is killed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import asyncpg
import psycopg
import pytest
from psycopg import sql

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

pytestmark = pytest.mark.slow

SCHEMAS = ("s", "s2", "Odd name")


@pytest.fixture
def connection(server: AntumbraServer) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with server.connect() as one:
        for schema in SCHEMAS:
            one.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
        yield one
        one.execute("RESET ALL")
        one.execute('DROP SCHEMA IF EXISTS s, s2, s3, "Odd name" CASCADE')
        one.execute("DROP FOREIGN TABLE IF EXISTS readings CASCADE")
        one.execute("DROP TABLE IF EXISTS rooms CASCADE")


@pytest.fixture
def own_server(tmp_path: Path) -> Iterator[AntumbraServer]:
    server = AntumbraServer(tmp_path / "data").start()
    yield server
    if not server.has_ended:
        server.stop()


def test_streams_of_two_schemas_are_two(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    for schema, factor in (("public", 1), ("s", 10)):
        connection.execute(f"CREATE FOREIGN TABLE {schema}.readings (k int, v int) SERVER stream")
        connection.execute(f"CREATE VIEW {schema}.totals AS SELECT k, sum(v) FROM {schema}.readings GROUP BY k")
        # As text, prepared, and by COPY: each way finds its stream by itself.
        for _ in range(8):
            connection.execute(f"INSERT INTO {schema}.readings VALUES (1, {factor})")
            connection.execute(f"INSERT INTO {schema}.readings VALUES (%s, %s)", (2, factor), prepare=True)
        with connection.cursor().copy(f"COPY {schema}.readings FROM STDIN") as copy:
            copy.write(f"3\t{factor}\n" * 5)
    for schema, factor in (("public", 1), ("s", 10)):
        found = connection.execute(f"SELECT * FROM {schema}.totals ORDER BY k").fetchall()
        assert found == [(1, 8 * factor), (2, 8 * factor), (3, 5 * factor)]
    connection.execute("DROP VIEW public.totals")


def test_a_prepared_insert_follows_the_search_path(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """The same bytes mean another stream after SET: on the path of one packet, as text and as
    Bind.
    """
    for schema in ("s", "s2"):
        connection.execute(f"CREATE FOREIGN TABLE {schema}.readings (k int) SERVER stream")
        connection.execute(f"CREATE VIEW {schema}.counted AS SELECT count(*) FROM {schema}.readings")
    for round_number in range(3):
        for schema in ("s", "s2"):
            connection.execute(f"SET search_path = {schema}")
            for number in range(4 if schema == "s" else 7):
                connection.execute("INSERT INTO readings VALUES (1)")
                connection.execute("INSERT INTO readings VALUES (%s)", (number,), prepare=True)
            counted = connection.execute("SELECT * FROM counted").fetchone()
            assert counted == ((round_number + 1) * (8 if schema == "s" else 14),)
    connection.execute("SET search_path = public")
    with pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("INSERT INTO readings VALUES (1)")


def test_rows_and_tables_of_a_schema_are_locked(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    connection.execute("CREATE TABLE rooms (id int PRIMARY KEY, n int)")
    connection.execute("CREATE TABLE s.rooms (id int PRIMARY KEY, n int)")
    connection.execute("INSERT INTO s.rooms VALUES (1, 1)")
    with psycopg.connect(connection.info.dsn) as other:
        other.execute("SET lock_timeout = '100ms'")
        other.commit()
        for locking in ("LOCK TABLE s.rooms", "SELECT * FROM s.rooms FOR UPDATE OF rooms"):
            with connection.transaction():
                connection.execute(locking)
                with pytest.raises(psycopg.errors.LockNotAvailable):
                    other.execute("UPDATE s.rooms SET n = n + 1")
                other.rollback()
                # A table of the same name in another schema is another one.
                other.execute("LOCK TABLE public.rooms")
                other.rollback()
        other.execute("UPDATE s.rooms SET n = n + 1")
    assert connection.execute("SELECT n FROM s.rooms").fetchall() == [(2,)]


def test_a_hint_names_the_schema_that_has_the_relation(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    connection.execute("CREATE TABLE s.rooms (id int)")
    with pytest.raises(psycopg.errors.UndefinedTable) as caught:
        connection.execute("SELECT * FROM rooms")
    assert caught.value.diag.message_hint == 'Perhaps you meant the relation "s.rooms".'


def test_a_transaction_that_is_rolled_back_has_its_path_back(
    connection: psycopg.Connection[tuple[object, ...]],
) -> None:
    connection.execute("CREATE TABLE s.rooms (id int)")
    connection.execute("CREATE TABLE s2.rooms (id int)")
    connection.execute("SET search_path = s")
    connection.execute("BEGIN; SET search_path = s2; INSERT INTO rooms VALUES (1); ROLLBACK")
    connection.execute("INSERT INTO rooms VALUES (2)")
    assert connection.execute("SELECT * FROM s.rooms").fetchall() == [(2,)]
    assert connection.execute("SELECT * FROM s2.rooms").fetchall() == []


def test_options_at_startup_set_the_path(
    server: AntumbraServer, connection: psycopg.Connection[tuple[object, ...]]
) -> None:
    connection.execute('CREATE TABLE "Odd name".rooms (id int)')
    connection.execute('INSERT INTO "Odd name".rooms VALUES (5)')
    with psycopg.connect(f"{server.dsn} options='-c search_path=\"Odd\\\\ name\"'", autocommit=True) as other:
        assert other.execute("SELECT * FROM rooms").fetchall() == [(5,)]
        other.execute("SET search_path = s")
        other.execute("RESET search_path")
        assert other.execute("SELECT current_schemas(false)").fetchone() == (["Odd name"],)

    async def with_asyncpg() -> None:
        known = await asyncpg.connect(
            host="127.0.0.1", port=server.port, user="antumbra", server_settings={"search_path": "s, public"}
        )
        await known.execute("CREATE TABLE made (id int)")
        assert await known.fetchval("SELECT 's.made'::regclass::oid = 'made'::regclass::oid")
        await known.close()

    asyncio.run(with_asyncpg())


def test_rights_on_schemas(server: AntumbraServer, postgres: PostgresCluster) -> None:
    """The same grants and the same tries in both servers."""
    first = (
        "CREATE ROLE reader LOGIN", "CREATE SCHEMA s", "CREATE TABLE s.rooms (id int)", "CREATE SEQUENCE s.q",
        "GRANT SELECT ON s.rooms TO reader",
    )  # fmt: skip
    tries = (
        "SELECT * FROM s.rooms", "CREATE TABLE s.own (id int)", "DROP TABLE s.rooms", "DROP SCHEMA s", "ALTER SCHEMA s RENAME TO s9",
        "SELECT nextval('s.q')", "INSERT INTO s.rooms VALUES (1)", "SELECT has_schema_privilege('s', 'USAGE')", "CREATE SCHEMA s8",
    )  # fmt: skip
    grants = (
        "GRANT USAGE ON SCHEMA s TO reader", "GRANT USAGE ON ALL SEQUENCES IN SCHEMA s TO reader",
        "GRANT INSERT ON ALL TABLES IN SCHEMA s TO reader", "GRANT CREATE ON SCHEMA s TO reader", "REVOKE USAGE ON SCHEMA s FROM reader",
    )  # fmt: skip
    last = ("DROP SCHEMA s CASCADE", "DROP ROLE reader")

    def told(connection: psycopg.Connection[tuple[object, ...]], text: str) -> object:
        try:
            cursor = connection.execute(text)
            return (cursor.statusmessage, cursor.fetchall() if cursor.description else None)
        except psycopg.Error as error:
            return (error.sqlstate, str(error).split("\n")[0].replace("database antumbra", "database postgres"))

    def story(port: int, dbname: str) -> list[object]:
        options = f"host=127.0.0.1 port={port} dbname={dbname}"
        with psycopg.connect(f"{options} user=postgres", autocommit=True) as owner:
            found = [told(owner, text) for text in first]
            with psycopg.connect(f"{options} user=reader", autocommit=True) as reader:
                for grant in ("SELECT 1", *grants):
                    found.append((grant, told(owner, grant)))
                    found += [(text, told(reader, text)) for text in tries]
                    reader.execute("DROP TABLE IF EXISTS s.own") if "CREATE ON" in grant else None
            found += [told(owner, text) for text in last]
        return found

    assert story(server.port, "antumbra") == story(postgres.port, "postgres")


def test_schemas_outlive_a_killed_server(own_server: AntumbraServer) -> None:
    with own_server.connect() as connection:
        connection.execute("CREATE SCHEMA s AUTHORIZATION antumbra")
        connection.execute("CREATE FOREIGN TABLE s.readings (k int, v text) SERVER stream")
        connection.execute("SET search_path = s, public")
        connection.execute("CREATE TABLE rooms (k int PRIMARY KEY, name text, n serial)")
        connection.execute("INSERT INTO rooms VALUES (1, 'one'), (2, 'two')")
        connection.execute(
            "CREATE VIEW named WITH (stream_join = arrival) AS SELECT name, count(*) FROM readings JOIN rooms USING (k) GROUP BY name"
        )
        connection.execute("CREATE VIEW counted AS SELECT k, count(*) FROM readings GROUP BY k")
        connection.execute("CREATE VIEW rooms_only AS SELECT name FROM rooms")
        connection.execute("INSERT INTO readings VALUES (1, 'a text that is longer than twelve bytes'), (2, 'b')")
        connection.execute("CHECKPOINT")
        connection.execute("INSERT INTO readings VALUES (1, 'c')")
        # Looked up before schema s, if the path of the definitions were not kept.
        connection.execute("CREATE TABLE public.rooms (k int PRIMARY KEY, name text)")
        connection.execute("COMMENT ON SCHEMA s IS 'kept'")
    # Neither committed nor rolled back: its connection is cut.
    unfinished = own_server.connect()
    unfinished.execute("BEGIN")
    unfinished.execute("CREATE SCHEMA never")
    unfinished.execute("CREATE TABLE never.t (a int)")
    own_server.kill()
    unfinished.close()
    own_server.start()
    with own_server.connect() as connection:
        assert connection.execute("SELECT * FROM s.named ORDER BY 1").fetchall() == [("one", 2), ("two", 1)]
        assert connection.execute("SELECT * FROM s.rooms_only ORDER BY 1").fetchall() == [("one",), ("two",)]
        assert connection.execute("SELECT k FROM s.readings ORDER BY k").fetchall() == [(1,), (1,), (2,)]
        assert connection.execute("INSERT INTO s.rooms VALUES (3, 'three') RETURNING n > 2").fetchone() == (True,)
        assert connection.execute("SELECT * FROM rooms").fetchall() == []
        names = "SELECT nspname, obj_description(oid) FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1"
        found = connection.execute(names).fetchall()
        assert [name for name, _ in found] == ["information_schema", "public", "s"]
        assert found[-1] == ("s", "kept")
        with pytest.raises(psycopg.errors.FeatureNotSupported, match='continuous view "named" reads it'):
            connection.execute("ALTER SCHEMA s RENAME TO s2")
        connection.execute("DROP VIEW s.named")
        connection.execute("ALTER SCHEMA s RENAME TO s2")
        connection.execute("ALTER VIEW s2.rooms_only SET SCHEMA public")
    own_server.kill()
    own_server.start()
    with own_server.connect() as connection:
        connection.execute("INSERT INTO s2.readings VALUES (2, 'd')")
        assert connection.execute("SELECT * FROM s2.counted ORDER BY 1").fetchall() == [(1, 2), (2, 2)]
        assert connection.execute("SELECT count(*) FROM rooms_only").fetchone() == (3,)
        assert connection.execute("INSERT INTO s2.rooms VALUES (4, 'four') RETURNING n > 3").fetchone() == (True,)
