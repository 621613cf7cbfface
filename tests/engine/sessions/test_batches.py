"""A transaction that names itself a batch is applied once, however often and in whatever way its
rows come, and whatever happens to the server in between.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from zlib import crc32

import pyarrow as pa
import pytest

from engine.catalog.roles import BOOTSTRAP_OID
from engine.commit.named_batches import KIND
from engine.log import batches
from engine.sessions.transaction_block import INLINE_COMMIT_ROWS_MAX
from engine.storage.clock import SystemClock
from tests.end_to_end.raw_client import COPY_DONE, SYNC, bind, copy_data, execute, parse, query
from tests.engine.session_client import STARTUP, SessionClient, World

STREAM = "CREATE FOREIGN TABLE s (k int, f double precision, t text, at timestamptz DEFAULT now()) SERVER stream"
VIEW = "CREATE VIEW v AS SELECT count(*) AS n, sum(k) AS total FROM s"
Row = tuple[int, float, str | None]
ROWS: tuple[Row, ...] = (
    (1, 0.5, "short"),
    (2, -1.25, "a text of more than twelve bytes"),
    (3, 1e30, None),
    (4, 0.0, ""),
)
Way = Callable[[tuple[Row, ...]], list[bytes]]


def fields_of(row: Row) -> list[bytes | None]:
    return [None if value is None else str(value).encode() for value in row]


def literals(rows: tuple[Row, ...]) -> str:
    written = (f"({k}, {f!r}, {'NULL' if t is None else repr(t)})" for k, f, t in rows)
    return "INSERT INTO s (k, f, t) VALUES " + ", ".join(written)


def one_by_one(rows: tuple[Row, ...]) -> list[bytes]:
    return [query(literals((row,))) for row in rows]


def copied(options: str, data: bytes) -> list[bytes]:
    half = len(data) // 2
    return [
        query(f"COPY s (k, f, t) FROM STDIN {options}") + copy_data(data[:half]) + copy_data(data[half:]) + COPY_DONE
    ]


def binary(rows: tuple[Row, ...]) -> bytes:
    found = b"PGCOPY\n\xff\r\n\0" + bytes(8)
    for k, f, t in rows:
        found += struct.pack("!hiiid", 3, 4, k, 8, f)
        found += struct.pack("!i", -1) if t is None else struct.pack("!i", len(t)) + t.encode()
    return found + struct.pack("!h", -1)


def arrow(rows: tuple[Row, ...]) -> bytes:
    schema = pa.schema([("k", pa.int32()), ("f", pa.float64()), ("t", pa.string())])
    table = pa.Table.from_pylist([dict(zip("kft", row, strict=True)) for row in rows], schema)
    sink = BytesIO()
    with pa.ipc.new_stream(sink, schema) as writer:
        writer.write_table(table, max_chunksize=3)
    return sink.getvalue()


def bound(rows: tuple[Row, ...]) -> list[bytes]:
    """A run of Binds, and one message by itself."""
    first = parse("INSERT INTO s (k, f, t) VALUES ($1, $2, $3)")
    return [first + b"".join(bind(fields_of(row)) + execute() for row in rows) + SYNC]


WAYS: dict[str, Way] = {
    "one by one": one_by_one,
    "literals": lambda rows: [query(literals(rows))],
    "expressions": lambda rows: [query(literals((row,)).replace("VALUES (", "VALUES (1 - 1 + ")) for row in rows],
    "query": lambda rows: [query(literals(rows).replace("VALUES", "SELECT * FROM (VALUES") + ") q (k, f, t)")],
    "binds": bound,
    "text": lambda rows: copied(
        "", b"".join(b"\t".join(one if one is not None else b"\\N" for one in fields_of(row)) + b"\n" for row in rows)
    ),
    "binary": lambda rows: copied("(FORMAT binary)", binary(rows)),
    "arrow": lambda rows: copied("(FORMAT arrow)", arrow(rows)),
}


def batch(client: SessionClient, name: str, *messages: bytes) -> list[str]:
    """Run one transaction; return its answers but those of reading it."""
    texts: list[bytes | str] = [f"BEGIN; SET LOCAL antumbra.batch = '{name}'", *messages, "COMMIT"]
    return [line for text in texts for line in client.ask(text) if line[0] in "ENC"]


def is_retry(told: list[str]) -> bool:
    return told[-2].startswith("N NOTICE 00000: batch ") and told[-1] == "C COMMIT"


def count(client: SessionClient) -> str:
    (row,) = client.rows("SELECT n, total FROM v")
    return row


def prepared(world: World) -> SessionClient:
    return world.client().after(STREAM, VIEW)


@pytest.fixture
def client(world: World) -> SessionClient:
    return prepared(world)


@pytest.mark.parametrize("way", WAYS)
def test_any_way_and_then_another(way: str, client: SessionClient) -> None:
    names = list(WAYS)
    first = batch(client, "p:1", *WAYS[way](ROWS))
    assert not any(line[0] in "EN" for line in first), first
    once = count(client)
    assert once == "D [b'4', b'10']"
    for other in (way, names[(names.index(way) + 1) % len(names)], names[(names.index(way) + 3) % len(names)]):
        again = batch(client, "p:1", *WAYS[other](ROWS))
        assert [line for line in again if line[0] != "C"] == [
            'N NOTICE 00000: batch 1 of producer "p" is already applied'
        ], again
        assert again[-1] == "C COMMIT"
        if other == way:
            assert [line for line in again if line[0] == "C"] == first
        changed = (*ROWS[:-1], (4, 0.0, "x"))
        failed = batch(client, "p:1", *WAYS[other](changed))
        assert failed[-1] == 'E ERROR 22023: batch 1 of producer "p" was applied with other rows', failed
        swapped = batch(client, "p:1", *WAYS[other]((ROWS[1], ROWS[0], *ROWS[2:])))
        assert swapped[-1].startswith("E ERROR 22023")
    assert count(client) == once
    assert batch(client, "p:2", *WAYS[way](ROWS))[-1] == "C COMMIT"
    assert count(client) == "D [b'8', b'20']"


def test_without_blocks(client: SessionClient) -> None:
    """A setting of the session names each transaction, also those that are a packet."""
    text, row = query(literals(ROWS[:1])), bind(fields_of(ROWS[0]), "one") + execute() + SYNC
    client.run("PREPARE warm AS SELECT 1")
    client.ask(parse("INSERT INTO s (k, f, t) VALUES ($1, $2, $3)", "one") + SYNC)
    assert client.at_once(text) is not None and client.at_once(row) is not None
    client.run("SET antumbra.batch = 'p:1'")
    assert client.at_once(text) is None and client.at_once(row) is None
    assert client.ask(text) == ["C INSERT 0 1", "Z I"]
    note = 'N NOTICE 00000: batch 1 of producer "p" is already applied'
    assert client.ask(text) == [note, "C INSERT 0 1", "Z I"]
    assert client.ask(row) == ["2", "C INSERT 0 1", note, "Z I"]
    assert client.ask(query(literals(ROWS[1:2])))[0].startswith("E ERROR 22023")
    assert client.ask("SET client_min_messages = warning; " + literals(ROWS[:1]))[-2:] == ["C INSERT 0 1", "Z I"]
    client.run("RESET antumbra.batch", "RESET client_min_messages")
    client.ask(row)
    assert client.at_once(text) is not None and client.at_once(row) is not None
    assert count(client) == "D [b'6', b'6']"
    assert client.ask("SELECT set_config('antumbra.batch', 'p:2', true); " + literals(ROWS))[-2] == "C INSERT 0 4"
    assert client.ask("SHOW antumbra.batch")[1] == "D [b'']"
    assert client.ask("SELECT set_config('antumbra.batch', 'p:2', true); " + literals(ROWS))[-3] == note.replace(
        "1", "2"
    )


def test_names(client: SessionClient) -> None:
    for name in ("p", ":1", "p:", "p:x", "p:-1", "p: 1", "p:1.0", "p:9223372036854775808", f"{'ä' * 101}:1", "p:²"):
        assert client.ask(f"SET antumbra.batch = '{name}'")[0].startswith("E ERROR 22023"), name
        assert client.ask(f"SELECT set_config('antumbra.batch', '{name}', false)")[-2].startswith("E ERROR 22023"), name
    for name, shown in (("a:b:007", "a:b:7"), (f"{'ä' * 100}:9223372036854775807", None), ("it''s \":0", "it's \":0")):
        client.run(f"SET antumbra.batch = '{name}'", literals(ROWS))
        assert client.ask("SHOW antumbra.batch")[1] == f"D {[(shown or name).encode()]}"
        assert client.ask(literals(ROWS))[0].startswith("N NOTICE 00000")
    client.run("RESET ALL", literals(ROWS))
    assert count(client) == "D [b'16', b'40']"


def test_the_name_is_there_before_the_rows(client: SessionClient) -> None:
    late = "E ERROR 25001: antumbra.batch cannot be changed after the transaction has written"
    for change in (
        "SET LOCAL antumbra.batch = 'p:2'",
        "RESET antumbra.batch",
        "RESET ALL",
        "SET antumbra.batch = 'p:3'",
    ):
        client.run("BEGIN", "SET LOCAL antumbra.batch = 'p:1'", literals(ROWS), "SET LOCAL antumbra.batch = 'p:1'")
        assert client.ask(change) == [late, "Z E"], change
        client.run("ROLLBACK")
    assert client.ask(literals(ROWS) + "; SET antumbra.batch = 'p:1'")[1] == late
    assert count(client) == "D [b'0', None]"
    client.run("BEGIN", "SAVEPOINT a", "SET LOCAL antumbra.batch = 'p:1'", literals(ROWS), "ROLLBACK TO a")
    client.run("SET LOCAL antumbra.batch = 'p:5'", literals(ROWS[:1]), "SAVEPOINT b", literals(ROWS), "ROLLBACK TO b")
    client.run("COMMIT")
    assert is_retry(batch(client, "p:5", query(literals(ROWS[:1]))))
    assert is_retry(batch(client, "p:4", query(literals(ROWS))))
    assert count(client) == "D [b'1', b'1']"
    assert client.ask("SET antumbra.batch = 'p:6'; SELECT 1")[-2] == "C SELECT 1", "what only reads is no batch"


def test_tables_go_with_the_rows(client: SessionClient) -> None:
    client.run("CREATE TABLE d (i int PRIMARY KEY, n int)")
    write = "INSERT INTO d VALUES (1, 1) ON CONFLICT (i) DO UPDATE SET n = d.n + 1"
    mine = "CREATE TEMP TABLE mine (i int) ON COMMIT DROP"
    for _ in range(3):
        assert batch(client, "p:1", query(literals(ROWS)), query(write), query(mine))[-1] == "C COMMIT"
    assert client.rows("SELECT * FROM d") == ["D [b'1', b'1']"] and count(client) == "D [b'4', b'10']"
    assert (
        batch(client, "p:2", query(write))[-1] == "E ERROR 0A000: a batch that writes to no stream is not supported yet"
    )
    assert batch(client, "p:2", query("CREATE TABLE e (i int)"))[-1].startswith("E ERROR 0A000")
    assert client.rows("SELECT * FROM d") == ["D [b'1', b'1']"]
    failed = batch(client, "p:2", query(literals(ROWS)), query("INSERT INTO d VALUES (1, 1)"))
    assert failed[-2].startswith("E ERROR 23505") and failed[-1] == "C ROLLBACK"
    client.run("SET default_transaction_isolation = serializable")
    for number in (2, 2, 3):
        assert batch(client, f"p:{number}", query("SELECT * FROM d"), query(literals(ROWS[:1])))[-1] == "C COMMIT"
    assert count(client) == "D [b'6', b'12']"


def test_many_rows_are_in_the_log_before(client: SessionClient) -> None:
    rows = tuple((i, i / 2, f"text {i} of some length") for i in range(INLINE_COMMIT_ROWS_MAX + 100))
    for way in ("text", "arrow", "literals"):
        told = batch(client, "p:1", *WAYS[way](rows))
        assert told[-1] == "C COMMIT" and any(line[0] == "N" for line in told) == (way != "text")
    assert count(client) == f"D {[str(len(rows)).encode(), str(sum(k for k, *_ in rows)).encode()]}"


def test_publishing(client: SessionClient) -> None:
    """A batch is one transaction, whatever the session publishes."""
    client.run("SET antumbra.batch = 'p:1'", "SET stream_publish_interval = '1ms'")
    for _ in range(2):
        client.ask(*WAYS["text"](ROWS))
    assert count(client) == "D [b'4', b'10']"
    assert (
        client.ask("COPY s FROM STDIN WITH (publish '1s')")[0]
        == "E ERROR 0A000: COPY with publish in a batch is not supported yet"
    )


def test_columns_that_came_later(client: SessionClient) -> None:
    batch(client, "p:1", query(literals(ROWS)))
    client.run("ALTER FOREIGN TABLE s ADD COLUMN later int")
    assert is_retry(batch(client, "p:1", query(literals(ROWS))))
    later = (
        "INSERT INTO s (k, f, t, later) SELECT k, f, t, 5 FROM (" + literals(ROWS).partition("t) ")[2] + ") q (k, f, t)"
    )
    assert batch(client, "p:1", query(later))[-1].startswith("E ERROR 22023")


def test_roles(world: World, client: SessionClient) -> None:
    client.run("CREATE ROLE a LOGIN", "CREATE ROLE b LOGIN", "GRANT INSERT ON s TO a, b", "GRANT SELECT ON v TO b")
    client.run("CREATE ROLE antumbra_too SUPERUSER LOGIN")
    roles = world.database.catalog.image.roles
    a, b = (
        SessionClient(world, {**STARTUP, "user": name}, role.oid) for name in "ab" if (role := roles.by_name.get(name))
    )
    for one in (a, b, client):
        assert not any(line[0] in "EN" for line in batch(one, "p:1", query(literals(ROWS))))
        assert is_retry(batch(one, "p:1", query(literals(ROWS))))
    assert count(b) == "D [b'12', b'30']"
    client.run("ALTER ROLE a RENAME TO c")
    assert is_retry(batch(a, "p:1", query(literals(ROWS))))
    client.run("SET ROLE c")
    assert is_retry(batch(client, "p:1", query(literals(ROWS)))), "the role that acts"


# Waiting.


def held(world: World, client: SessionClient) -> Callable[[], None]:
    """Let another session be committing for the producer p; return what ends that."""
    other = world.client()
    locks = other.session.backend.locks
    assert locks.take((KIND, BOOTSTRAP_OID, crc32(b"p")), "EXCLUSIVE", waits=False)
    client.run("SET antumbra.batch = 'p:1'")
    return locks.end_transaction


def test_the_wait_is_bounded(world: World, client: SessionClient) -> None:
    let_go = held(world, client)
    client.run("SET lock_timeout = '50ms'")
    assert client.ask(literals(ROWS)) == ["E ERROR 55P03: canceling statement due to lock timeout", "Z I"]
    client.run("SET lock_timeout = 0", "SET statement_timeout = '50ms'", "BEGIN", literals(ROWS))
    assert client.ask("COMMIT") == ["E ERROR 57014: canceling statement due to statement timeout", "Z I"]
    client.run("SET statement_timeout = 0")
    asked: list[str] = []

    async def cancelled() -> None:
        loop = asyncio.get_running_loop()
        loop.call_later(0.1, client.session.cancel)
        await client._handle(query(literals(ROWS)))

    world.runner.run(cancelled())
    asked += [body.decode(errors="replace") for kind, body in client._taken() if kind == "E"]
    assert len(asked) == 1 and "57014" in asked[0]
    let_go()
    assert client.ask(literals(ROWS)) == ["C INSERT 0 4", "Z I"]
    assert count(client) == "D [b'4', b'10']"


def test_two_sessions_race(world: World, client: SessionClient) -> None:
    clients = [client, world.client(), world.client()]

    async def all_at_once(number: int) -> None:
        text = query(f"BEGIN; SET LOCAL antumbra.batch = 'p:{number}'; {literals(ROWS)}; COMMIT")
        await asyncio.gather(*(one._handle(text) for one in clients))

    for number in range(1, 21):
        world.runner.run(all_at_once(number))
        kinds = ["".join(kind for kind, _ in one._taken() if kind in "EN") for one in clients]
        assert sorted(kinds) == ["", "N", "N"], kinds
        assert count(client) == f"D [b'{4 * number}', b'{10 * number}']"


# What is remembered.


@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_a_start_remembers(has_checkpoint: bool, tmp_path: Path) -> None:
    world = World(tmp_path)
    client = prepared(world)
    client.run("CREATE TABLE d (i int)")
    client.run(literals(ROWS[:1]))
    batch(client, "p:1", query(literals(ROWS)))
    batch(client, "q:7", query(literals(ROWS)), query("INSERT INTO d VALUES (1)"))
    if has_checkpoint:
        world.database.checkpoints.make()
    batch(client, "p:2", *one_by_one(ROWS[:2]))
    before = count(client)
    client.run("BEGIN", "SET LOCAL antumbra.batch = 'p:3'", literals(ROWS))
    world.abandon()
    world = World(tmp_path)
    client = world.client()
    assert count(client) == before
    for name, rows in (("p:1", ROWS), ("q:7", ROWS), ("p:2", ROWS[:2])):
        assert is_retry(batch(client, name, query(literals(rows)))), name
    assert batch(client, "p:2", query(literals(ROWS)))[-1].startswith("E ERROR 22023")
    assert batch(client, "q:7", query(literals(ROWS[:1])))[-1].startswith("E ERROR 22023")
    assert count(client) == before
    assert not any(line[0] == "N" for line in batch(client, "p:3", query(literals(ROWS))))
    world.database.checkpoints.make()
    world.close()
    world = World(tmp_path)
    for name in ("q:7", "p:3"):
        assert is_retry(batch(world.client(), name, query(literals(ROWS))))
    world.close()


class SetClock(SystemClock):
    """Tells the time that the test sets."""

    later_us = 0

    def now_us(self) -> int:
        return super().now_us() + self.later_us


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


def test_silent_producers_are_forgotten(tmp_path: Path, clock: SetClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "PRODUCERS_MAX", 2)
    world = World(tmp_path, clock=clock, batch_producer_ttl=100)
    client = prepared(world)
    batch(client, "p:5", query(literals(ROWS)))
    clock.later_us = 60_000_000
    batch(client, "q:1", query(literals(ROWS)))
    assert batch(client, "r:1", query(literals(ROWS)))[-1] == "E ERROR 53400: there are 2 producers of batches"
    world.database.checkpoints.make()
    clock.later_us = 110_000_000
    for _ in range(2):
        assert not any(line[0] == "E" for line in batch(client, "p:4", query(literals(ROWS))))
        assert is_retry(batch(client, "q:1", query(literals(ROWS)))), "not yet"
    assert count(client) == "D [b'12', b'30']", "its numbers may begin again"
    world.abandon()
    clock.later_us = 170_000_000
    world = World(tmp_path, clock=clock, batch_producer_ttl=100)
    client = world.client()
    assert is_retry(batch(client, "p:4", query(literals(ROWS))))
    batch(client, "q:1", query(literals(ROWS)))
    assert count(client) == "D [b'16', b'40']"
    world.close()


def test_derived_rows_come_once(client: SessionClient) -> None:
    """Rows that transforms derive are no part of a batch: a transform may come in between."""
    client.run("CREATE FOREIGN TABLE big (k int) SERVER stream", "CREATE VIEW c AS SELECT count(*) AS n FROM big")
    client.run("CREATE VIEW one WITH (action = transform, outputstream = 'big') AS SELECT k FROM s WHERE k > 2")
    batch(client, "p:1", query(literals(ROWS)))
    client.run("CREATE VIEW two WITH (action = transform, outputstream = 'big') AS SELECT k FROM s WHERE k > 3")
    assert is_retry(batch(client, "p:1", query(literals(ROWS))))
    assert client.rows("SELECT n FROM c") == ["D [b'2']"]
