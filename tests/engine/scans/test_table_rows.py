"""Reads of a table by a unique key, from its rows in memory: the same as in a transaction block,
which the embedded engine answers.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path
from time import monotonic, sleep

import pytest

from engine.catalog.image import TableEntry
from engine.scans.table_rows import FORMS_KEPT_MAX, TableKey, TablesByKey
from engine.tables import table_store
from engine.tables.table_source import CommittedTables
from tests.end_to_end.raw_client import SYNC, bind, execute, parse, query
from tests.engine.session_client import SessionClient, World
from views.model.protocols import TableExport

WAIT_S_MAX = 60.0
COLUMNS = (
    "id bigint PRIMARY KEY, name varchar(40) UNIQUE, n numeric(10,2), m numeric, at timestamptz, d date, f boolean, r real, "
    "x double precision, u uuid UNIQUE, j jsonb, a int[], i int, s smallint, c char(5)"
)
ROWS = (
    (
        "(1, 'one', 1.5, 1.50, '2024-01-02 03:04:05.678+00', '2024-01-02', true, 1.25, 0.1, "
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{\"b\": [1, null]}', '{1,NULL}', 5, 3, 'ab')"
    ),
    "(2, NULL, -0.01, 'NaN', 'infinity', '-infinity', false, 'NaN', '-Infinity', NULL, NULL, '{}', NULL, NULL, NULL)",
    (
        "(-9223372036854775808, 'a name of more than twelve bytes, é', NULL, NULL, NULL, NULL, NULL, NULL, NULL, "
        "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12', NULL, NULL, -2147483648, -32768, '')"
    ),
    "(3, NULL, 0, 0.000, '1900-01-01', '0001-01-01 BC', NULL, 0, '-0', NULL, '1', '{1,2}', 0, 0, 'abcde')",
)
PLAIN = "id, name, n, m, at, d, f, r, x, i, s, c"


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(f"CREATE TABLE t ({COLUMNS})", f"INSERT INTO t VALUES {', '.join(ROWS)}")


def in_a_block(client: SessionClient, *messages: bytes) -> list[str]:
    """Return the answer of the general way."""
    client.run("BEGIN")
    answer = client.ask(*messages)
    client.run("ROLLBACK")
    return [*answer[:-1], "Z I"]


def at_once(client: SessionClient, packet: bytes) -> list[str]:
    """Return the answer on the event loop, after the rows were brought into memory."""
    until_s = monotonic() + WAIT_S_MAX
    while (answer := client.at_once(packet)) is None:
        assert monotonic() < until_s
        client.ask(packet)
        sleep(0.01)
    return answer


def prepared(client: SessionClient, text: str, name: str = "p") -> None:
    client.ask(parse(text, name=name), SYNC)


def key(value: bytes | None, name: str = "p", results: tuple[int, ...] = ()) -> bytes:
    return bind((value,), statement=name, results=results) + execute() + SYNC


@pytest.mark.parametrize("results", [(), (1,)])
def test_rows_are_those_of_a_block(client: SessionClient, results: tuple[int, ...]) -> None:
    columns = f"{PLAIN}, u, j" if not results else PLAIN
    prepared(client, f"SELECT {columns} FROM t WHERE id = $1")
    prepared(client, "SELECT i, id, id FROM t WHERE name = $1", "q")
    at_once(client, key(b"1", results=results))
    for value in (b"1", b"2", b"3", b"-9223372036854775808", b"4", None):
        packet = key(value, results=results)
        assert client.at_once(packet) == in_a_block(client, packet) == client.ask(packet), value
    at_once(client, key(b"one", "q", results))
    for name in (b"one", "a name of more than twelve bytes, é".encode(), b"", b"ONE", None):
        packet = key(name, "q", results)
        assert client.at_once(packet) == in_a_block(client, packet), name
    client.run("SET TimeZone = 'Asia/Kolkata'")
    assert at_once(client, key(b"1", results=results)) == in_a_block(client, key(b"1", results=results))


def test_few_choices_of_columns_are_kept_as_messages(client: SessionClient) -> None:
    names = PLAIN.split(", ")
    for number in range(FORMS_KEPT_MAX + 2):
        prepared(client, f"SELECT {names[number]}, i FROM t WHERE id = $1", f"p{number}")
        packet = key(b"3", f"p{number}")
        assert at_once(client, packet) == in_a_block(client, packet), number
    (rows,) = (one.rows for one in client.session.server.engines.points.tables._sought.values())
    assert rows is not None and len(rows.encoded) == FORMS_KEPT_MAX


# Values of keys, and what is sought among them.
KEYS = {
    "numeric(6,2)": (("1.5", "-9999.99", "0"), ("1.50", "1.505", "-9999.99", "99999999", "NaN")),
    "char(4)": (("ab", "", "a b"), ("ab", "ab  ", "ab      ", " ab", "abcde", "")),
    "varchar(3)": (("ab", "ab "), ("ab", "ab ", "abcd", "")),
    "double precision": (("-0", "NaN", "0.1", "-Infinity"), ("0", "NaN", "0.1", "1e-1", "-Infinity")),
    "boolean": (("t", "f"), ("true", "off")),
    "date": (("2024-02-29", "infinity", "0001-01-01 BC"), ("2024-02-29", "Infinity", "2024-03-01")),
    "timestamptz": (("2024-02-29 01:00:00.000001+02", "-infinity"), ("2024-02-28 23:00:00.000001+00", "-infinity")),
    "time": (("00:00", "24:00:00"), ("24:00", "00:00:00.000001", "00:00")),
    "bytea": (("\\x", "\\x00ff"), ("\\x00FF", "\\x", "a")),
}


@pytest.mark.parametrize("kind", KEYS)
def test_keys_are_found_as_those_of_a_block(client: SessionClient, kind: str) -> None:
    values, wanted = KEYS[kind]
    client.run(f"CREATE TABLE keyed (k {kind} UNIQUE, n serial)")
    client.run(*(f"INSERT INTO keyed VALUES ('{value}')" for value in values), "INSERT INTO keyed VALUES (NULL)")
    tables = client.session.server.engines.points.tables
    for number, value in enumerate((*wanted, "NULL", *wanted)):
        item = "NULL" if value == "NULL" else f"'{value}'"
        until_s = monotonic() + WAIT_S_MAX
        for again in count():
            # No answer of the same text is kept.
            text = f"SELECT k, n, n AS n{number}_{again} FROM keyed WHERE k = {item}"
            answer = client.ask(text)
            assert answer == in_a_block(client, query(text)), text
            if any(one.rows is not None for one in tables._sought.values()):
                break
            assert monotonic() < until_s
            sleep(0.01)


def test_a_row_with_a_null_in_its_key_is_in_no_one_elses_way(client: SessionClient) -> None:
    client.run("CREATE TABLE pairs (b text, a int, n int, UNIQUE (a, b))")
    client.run(
        "INSERT INTO pairs VALUES ('x', 1, 1), (NULL, 1, 2), ('x', NULL, 3), (NULL, NULL, 4), (NULL, 1, 5), ('y', 1, 6)"
    )
    prepared(client, "SELECT n FROM pairs WHERE b = $2 AND a = $1")

    def pair(a: bytes | None, b: bytes | None) -> bytes:
        return bind((a, b), statement="p") + execute() + SYNC

    assert at_once(client, pair(b"1", b"x"))[1:-1] == ["D [b'1']", "C SELECT 1"]
    for a in (b"1", b"2", None):
        for b in (b"x", b"y", b"", None):
            assert client.at_once(pair(a, b)) == in_a_block(client, pair(a, b)), (a, b)
    assert "C SELECT 2" in client.ask("SELECT n FROM pairs WHERE a = 1 AND b IS NULL")


def test_what_can_not_be_brought_is_tried_ever_more_seldom(
    client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def fail(tables: TablesByKey, key: TableKey) -> None:
        tries.append(key)
        raise OSError

    monkeypatch.setattr(TablesByKey, "_read", fail)
    for number in range(64):
        client.ask(f"SELECT i FROM t WHERE id = {number}")
        sleep(0.002)
    assert 1 <= len(tries) <= 6


def test_texts_of_a_shape_and_lists_are_those_of_a_block(client: SessionClient) -> None:
    for number in range(4, 9):
        # No answer of the same text is kept.
        client.ask(f"SELECT name, i FROM t WHERE id = {number}")
    assert at_once(client, query("SELECT name, i FROM t WHERE id = 1"))[1:] == ["D [b'one', b'5']", "C SELECT 1", "Z I"]
    for text in (
        "SELECT * FROM t WHERE id IN (3, 1, 1, 77)",
        "SELECT name, a, j FROM t WHERE id = ANY('{2,NULL,3}')",
        "SELECT * FROM t WHERE id = 1 AND i = 6",
        "SELECT * FROM t WHERE id = 1.0",
        "SELECT * FROM t WHERE id = NULL",
        "SELECT id FROM t WHERE u = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",
        "SELECT ctid IS NULL, id FROM t WHERE id = 1",
        "SELECT t FROM t WHERE id = 1",
        "SELECT * FROM ONLY t WHERE id = 1",
    ):
        for _ in range(4):
            answer = client.ask(text)
            assert sorted(answer) == sorted(in_a_block(client, query(text))), text


def test_a_read_sees_what_is_committed_and_a_block_its_own_changes(client: SessionClient, world: World) -> None:
    prepared(client, "SELECT i FROM t WHERE id = $1")
    writer = world.client()
    assert at_once(client, key(b"1"))[1] == "D [b'5']"
    for statement, found in (
        ("UPDATE t SET i = 6 WHERE id = 1", ["D [b'6']", "C SELECT 1"]),
        ("UPDATE t SET id = 11 WHERE id = 1", ["C SELECT 0"]),
        ("INSERT INTO t (id, i) VALUES (1, 7)", ["D [b'7']", "C SELECT 1"]),
        ("DELETE FROM t WHERE id = 1", ["C SELECT 0"]),
        ("TRUNCATE t", ["C SELECT 0"]),
    ):
        before = client.ask(key(b"1"))
        writer.run("BEGIN", statement)
        assert client.ask(key(b"1")) == before, statement
        assert writer.ask("SELECT i FROM t WHERE id = 1")[1:-1] == found, statement
        writer.run("COMMIT")
        assert (client.at_once(key(b"1")) or client.ask(key(b"1")))[1:-1] == found, statement
        assert at_once(client, key(b"1"))[1:-1] == found, statement
    client.run("BEGIN ISOLATION LEVEL REPEATABLE READ")
    assert client.ask(key(b"1"))[1] == "C SELECT 0"
    writer.run("INSERT INTO t (id, i) VALUES (1, 8)")
    assert client.at_once(key(b"1")) is None and client.ask(key(b"1"))[1] == "C SELECT 0"
    client.run("COMMIT")
    assert client.ask(key(b"1"))[1] == "D [b'8']"


def test_rights_and_columns_change_between_two_reads(client: SessionClient, world: World) -> None:
    client.run("CREATE ROLE reader", "GRANT SELECT ON t TO reader")
    reader = world.client().after("SET SESSION AUTHORIZATION reader")
    prepared(reader, "SELECT i FROM t WHERE id = $1")
    text = query("SELECT i FROM t WHERE id = 1")
    assert at_once(reader, key(b"1"))[1] == "D [b'5']" and at_once(reader, text)[1] == "D [b'5']"
    client.run("REVOKE SELECT ON t FROM reader")
    assert reader.at_once(key(b"1")) is reader.at_once(text) is None
    assert any("42501" in line for line in reader.ask(key(b"1"))) and any("42501" in line for line in reader.ask(text))
    client.run("GRANT SELECT ON t TO reader", "ALTER TABLE t DROP COLUMN s")
    assert at_once(reader, key(b"1"))[1] == "D [b'5']"
    client.run("ALTER TABLE t ALTER COLUMN i TYPE text USING 'was ' || i")
    assert reader.at_once(key(b"1")) is None and any("0A000" in line for line in reader.ask(key(b"1")))
    assert at_once(reader, text)[1] == "D [b'was 5']"
    client.run("ALTER TABLE t DROP CONSTRAINT t_pkey", "INSERT INTO t (id, i) VALUES (1, 'twice')")
    for _ in range(3):
        assert "C SELECT 2" in reader.ask(text)
    client.run("DROP TABLE t")
    assert any("42P01" in line for line in reader.ask(text))


def test_rows_that_only_fit_compressed_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, table_rows_bytes=1 << 18)
    read: list[str] = []
    read_once = CommittedTables.read_once

    def noted(tables: CommittedTables, entry: TableEntry) -> TableExport:
        read.append(entry.description.name)
        return read_once(tables, entry)

    monkeypatch.setattr(CommittedTables, "read_once", noted)
    try:
        client = world.client()
        for name, rows_count in (("large", 20_000), ("small", 2_000)):
            client.run(f"CREATE TABLE {name} (id int PRIMARY KEY, same bigint, word text, list int[], data bytea)")
            client.run(
                f"INSERT INTO {name} SELECT i, 7, repeat('x', 20), '{{1,2}}', 'data' FROM generate_series(1, {rows_count}) AS r(i)"
            )
        monkeypatch.setattr(table_store, "CHECKPOINT_LOG_BYTES", 1)
        client.run("CREATE TABLE o ()")
        sizes = client.rows("SELECT pg_relation_size('large'), pg_relation_size('small')")
        assert sizes == [f"D [b'{1 << 18}', b'{1 << 18}']"]
        until_s, number = monotonic() + WAIT_S_MAX, 0
        while "small" not in read or number < 40:
            assert monotonic() < until_s
            number += 1
            for name in ("large", "small"):
                assert "D [b'7']" in client.ask(f"SELECT same FROM {name} WHERE id = {number}")
        assert set(read) == {"small"}
    finally:
        world.close()


def test_a_table_that_is_too_large_in_the_file_is_not_measured(
    world: World, client: SessionClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = world.database.catalog.image.entries["t"]
    assert isinstance(entry, TableEntry)
    measured: list[str] = []

    def in_memory(_: CommittedTables, physical: str) -> int:
        measured.append(physical)
        return 0

    monkeypatch.setattr(CommittedTables, "bytes_of", lambda _, physical: 1 << 40)
    monkeypatch.setattr(CommittedTables, "memory_bytes_of", in_memory)
    assert client.session.server.engines.points.tables._read(TableKey(entry, (0,))) is None
    assert not measured


def test_rows_without_room_are_not_kept(tmp_path: Path) -> None:
    for bytes_max in (0, 1000):
        world = World(tmp_path / str(bytes_max), table_rows_bytes=bytes_max)
        try:
            client = world.client().after("CREATE TABLE t (id int PRIMARY KEY, n int)")
            client.run("INSERT INTO t SELECT i, i FROM generate_series(1, 1000) AS r(i)")
            for number in range(1, 9):
                assert f"D [b'{number}']" in client.ask(f"SELECT n FROM t WHERE id = {number}")
                sleep(0.02)
            assert client.at_once(query("SELECT n FROM t WHERE id = 99")) is None
            assert "Point Read" not in client.rows("EXPLAIN SELECT n FROM t WHERE id = 99")[0]
        finally:
            world.close()


def test_explain_names_it(client: SessionClient) -> None:
    text = "SELECT i FROM t WHERE id = 1"
    (first, *_) = client.rows(f"EXPLAIN {text}")
    assert "the rows of table t with the given id are found in memory once such reads are many; a tran" in first
    prepared(client, text.replace("1", "$1"))
    at_once(client, key(b"1"))
    (first, *_) = client.rows(f"EXPLAIN {text}")
    assert "are found in memory; a transaction block reads as below" in first
    assert not any("Point Read" in line for line in client.rows("EXPLAIN SELECT i FROM t WHERE i = 1"))
