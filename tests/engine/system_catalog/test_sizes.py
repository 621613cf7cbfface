"""pg_relation_size and its like: bytes that grow with the rows, of each kind of relation."""

from __future__ import annotations

import pytest

from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

ROWS = "SELECT n, repeat('x', 1000) FROM generate_series(1, 1000) AS n"
PRETTY = [
    "pg_size_pretty(1.5)", "pg_size_pretty(10239.99)", "pg_size_pretty(10240.5)", "pg_size_pretty(-10240.5)",
    "pg_size_pretty('NaN'::numeric)", "pg_size_pretty('-Infinity'::numeric)", "pg_size_pretty(-1e20)",
    "pg_size_pretty(20970495::int8)", "pg_size_pretty(20970496::int8)", "pg_size_pretty(1000000000000.75)",
    "pg_size_pretty(sum(-9223372036854775807::int8))", "pg_size_pretty((-9223372036854775808)::int8)",
    "pg_size_pretty(NULL::numeric)",
]  # fmt: skip
REFUSED = [
    ("pg_relation_size('t', 'x')", "22023"),
    ("pg_database_size('nope')", "3D000"),
    ("pg_tablespace_size('nope')", "42704"),
    ("pg_table_size('nope')", "42P01"),
    ("pg_size_pretty(1)", "42725"),
]
# A relation or database that is not there has no size.
NOTHING = ("pg_relation_size(1)", "pg_table_size(1)", "pg_total_relation_size(1)", "pg_indexes_size(1)")
NONE = (*NOTHING, "pg_relation_size(NULL)", "pg_database_size(99999::oid)", "pg_tablespace_size(99999::oid)")


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(
        "CREATE FOREIGN TABLE s (a int, b text) SERVER stream",
        "CREATE VIEW v AS SELECT a, max(b) AS b FROM s GROUP BY a",
        "CREATE VIEW two AS SELECT count(*) FROM s UNION ALL SELECT sum(a) FROM s",
        "CREATE VIEW plain AS SELECT 1 AS a",
        "CREATE TABLE t (a int PRIMARY KEY, b text, c timestamptz DEFAULT now())",
        "CREATE SEQUENCE q",
    )


def size(client: SessionClient, call: str) -> int:
    (row,) = client.rows(f"SELECT coalesce({call}, -1)")
    return int(row.removeprefix("D [b'").removesuffix("']"))


@pytest.mark.parametrize("name", ["s", "v", "t"])
def test_bytes_grow_with_the_rows(client: SessionClient, name: str) -> None:
    before = size(client, f"pg_relation_size('{name}')")
    whole = size(client, "pg_database_size(current_database())")
    client.run(f"INSERT INTO {'t' if name == 't' else 's'} {ROWS}")
    after = size(client, f"pg_relation_size('{name}')")
    # A long text is in a stream's string buffer, in the groups of max(b), and in a table.
    assert 1_000_000 <= after - before < 20_000_000
    indexes = size(client, f"pg_indexes_size('{name}')")
    # 1000 keys of 4 bytes, and the numbers of their rows.
    assert 8_000 < indexes < 100_000 if name == "t" else indexes == 0
    assert after == size(client, f"pg_table_size('{name}')")
    assert after + indexes == size(client, f"pg_total_relation_size('{name}')")
    if name != "t":
        assert size(client, "pg_database_size(current_database())") - whole >= after - before


def test_a_view_has_the_bytes_of_its_states(client: SessionClient) -> None:
    client.run(f"INSERT INTO s {ROWS}", "SELECT * FROM v", "SELECT * FROM two")
    for name in ("v", "two"):
        told = client.rows(f"SELECT state_bytes FROM pg_stat_continuous_views WHERE relname = '{name}'")
        assert told == client.rows(f"SELECT pg_relation_size('{name}')") != ["D [b'0']"]


def test_bytes_of_blocks_in_the_file(client: SessionClient, world: World) -> None:
    client.run("INSERT INTO t SELECT n, repeat(n::text, 30) FROM generate_series(1, 40000) AS n")
    world.database.store.engine.take_cursor().connection.execute("CHECKPOINT")
    blocks, rest = divmod(size(client, "pg_relation_size('t')"), 1 << 18)
    assert blocks >= 1 and rest == 0


def test_what_has_no_bytes(client: SessionClient) -> None:
    zero = [f"pg_relation_size('{name}')" for name in ("plain", "q", "t_pkey", "pg_class")]
    zero += [
        "pg_indexes_size('s')",
        "pg_relation_size('t', 'fsm')",
        "pg_table_size('t')",
        "pg_tablespace_size('pg_global')",
    ]
    client.run("BEGIN", "CREATE TABLE u (a int)")
    assert [size(client, call) for call in (*zero, "pg_relation_size('u')")] == [0] * (len(zero) + 1)
    client.run("ROLLBACK")
    assert [size(client, call) for call in NONE] == [-1] * len(NONE)


def test_postgres_agrees(client: SessionClient, postgres: PostgresCluster) -> None:
    with postgres.connect() as connection:
        rows = [connection.execute(f"SELECT {call}").fetchone() for call in PRETTY]
        nulls = [connection.execute(f"SELECT {call}").fetchone() for call in NONE]
    shown = [None if row is None or row[0] is None else str(row[0]).encode() for row in rows]
    assert [client.rows(f"SELECT {call}") for call in PRETTY] == [[f"D [{one!r}]"] for one in shown]
    assert nulls == [(None,)] * len(NONE)


@pytest.mark.parametrize(("call", "sqlstate"), REFUSED)
def test_refusals(client: SessionClient, call: str, sqlstate: str) -> None:
    assert any(sqlstate in line for line in client.ask(f"SELECT {call}"))
