"""Memory that the server keeps for a session is bounded: prepared statements, portals, advisory
locks, notifications that nobody reads.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa
import pytest

from engine.dialect.advisory_locks import ADVISORY_MAX
from engine.dialect.notifications import Channels
from engine.sessions.inbox import UNREAD_BYTES_MAX, SessionInbox
from engine.sessions.session import Session
from engine.tables.locks import Locks, SessionLocks
from tests.end_to_end.raw_client import SYNC, RawClient, bind, close, execute, parse, query
from tests.engine.session_client import World
from tests.oracle.antumbra import AntumbraServer

PAYLOAD = "x" * 7900


def listener(channels: Channels, is_idle: bool) -> tuple[SessionInbox, Any]:
    """Return the inbox of a client that listens to "c", and its connection: `may_write` says
    whether it reads.
    """
    connection = SimpleNamespace(process_id=1, is_idle=is_idle, may_write=asyncio.Event(), written=0, has_ended=False)
    connection.flush = lambda: None

    def write(data: bytes) -> None:
        connection.written += len(data)

    def end_soon() -> None:
        connection.has_ended = True

    connection.write, connection.end_soon = write, end_soon
    session = SimpleNamespace(connection=connection, block=SimpleNamespace(open=None))
    inbox = SessionInbox(cast(Session, session))
    channels.listen(inbox, "c")
    return inbox, connection


def test_who_does_not_read_is_ended_and_all_others_go_on() -> None:
    channels = Channels()
    (_, stuck), (_, reads), (busy_inbox, busy) = (listener(channels, idle) for idle in (True, True, False))
    reads.may_write.set()
    busy.may_write.set()
    sent = 3 * UNREAD_BYTES_MAX // len(PAYLOAD)
    for number in range(sent):
        channels.publish("c", f"{PAYLOAD}{number}", 2)
    assert stuck.has_ended and stuck.written <= UNREAD_BYTES_MAX
    assert not reads.has_ended and reads.written > sent * len(PAYLOAD)
    # One in a long transaction gets nothing before its end.
    assert busy.has_ended and busy.written == 0 and len(busy_inbox.take()) <= UNREAD_BYTES_MAX


@pytest.mark.slow
def test_a_socket_that_nobody_reads_keeps_little(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data", "--set", "shutdown_wait_s_max=1").start()
    stuck, reads, sender = (RawClient(server.port, "antumbra", "antumbra") for _ in range(3))
    for client in (stuck, reads):
        client.ask(query("LISTEN c"))
    texts = "; ".join(f"NOTIFY c, '{number}{PAYLOAD}'" for number in range(150))
    for _ in range(3 * UNREAD_BYTES_MAX // (150 * len(PAYLOAD))):
        assert sender.ask(query(texts))[-1] == "Z I"
        # It gets them all before the next answer.
        reads.ask(query("SELECT 1"))
    # The socket of who does not read is closed soon after its session has ended.
    end_s = time.monotonic() + 60
    while "D [b'2']" not in (found := sender.ask(query("SELECT count(*) FROM pg_stat_activity"))):
        assert time.monotonic() < end_s, found
    assert server.stop() == 0


def test_locks_of_one_session_are_bounded_and_those_of_others_go_on(world: World) -> None:
    client, other = world.client(), world.client()
    text = f"SELECT count(pg_advisory_lock(n)) FROM generate_series(1, {ADVISORY_MAX}) AS n"
    client.run(text, "SELECT pg_advisory_lock(1)")
    assert any("53200" in line for line in client.ask(query("SELECT pg_advisory_lock(0)")))
    assert any("53200" in line for line in client.ask(query("SELECT pg_try_advisory_xact_lock(0)")))
    other.run("SELECT pg_advisory_lock(0)")
    client.run("SELECT pg_advisory_unlock(2)", "SELECT pg_advisory_lock(-1)", "SELECT pg_advisory_unlock_all()", text)


def test_what_was_given_back_is_forgotten() -> None:
    locks = SessionLocks(Locks(), 1, lambda: 0, lambda: None)
    for number in range(100):
        assert locks.take(("advisory", number), "EXCLUSIVE", lasting=True)
        assert locks.give_back(("advisory", number), "EXCLUSIVE")
    assert not locks.lasting and not locks.give_back(("advisory", 1), "EXCLUSIVE")


@pytest.fixture
def small(tmp_path: Path) -> Iterator[World]:
    """A database whose sessions may keep a megabyte."""
    world = World(tmp_path, session_memory_bytes=1 << 20)
    yield world
    world.close()


def refused(lines: list[str]) -> bool:
    return any("53200" in line for line in lines)


LONG_TEXT = f"SELECT {' + '.join(['1'] * 120)}"


@pytest.mark.parametrize("prepare", ["PREPARE {name} AS {text}", None])
def test_prepared_statements_are_bounded(small: World, prepare: str | None) -> None:
    client, other = small.client(), small.client()

    def ask(name: str, text: str) -> list[str]:
        if prepare is None:
            return client.ask(parse(text, name), SYNC)
        return client.ask(query(prepare.format(name=name, text=text)))

    kept = 0
    while not refused(ask(f"p{kept}", LONG_TEXT)):
        kept += 1
        assert kept < 1000
    assert kept > 1
    assert "1,048,576 bytes" in str(client.ask_in_full(f"PREPARE more AS {LONG_TEXT}"))
    # Those that there are go on, others and the unnamed one, too.
    assert client.ask(bind(statement="p0"), execute(), SYNC)[1] == "D [b'120']"
    assert not refused(client.ask(parse(LONG_TEXT), bind(), execute(), SYNC))
    other.run(f"PREPARE p0 AS {LONG_TEXT}")
    client.run("DEALLOCATE p1", f"PREPARE p1 AS {LONG_TEXT}")
    client.ask(close("S", "p0"), SYNC)
    client.run(f"PREPARE p0 AS {LONG_TEXT}", "DEALLOCATE ALL", f"PREPARE p0 AS {LONG_TEXT}")


@pytest.mark.turns(2, 0)
def test_plans_of_texts_make_room(small: World) -> None:
    client = small.client()
    names = client.session.names
    for number in range(40):
        for _ in range(2):
            # No answer is kept.
            client.run(f"{LONG_TEXT} + {number}, now()")
        assert names.plans.bytes_count <= 1 << 20
    assert names.plans
    kept = 0
    while not refused(client.ask(parse(LONG_TEXT, f"p{kept}"), SYNC)):
        taken = names.statements.bytes_count + names.plans.bytes_count
        assert taken <= 1 << 20
        kept += 1
    assert not names.plans and kept == (1 << 20) // names.statements["p0"].kept_bytes
    client.run("DEALLOCATE ALL")
    for _ in range(2):
        client.run(f"{LONG_TEXT}, now()")
    assert names.plans


def test_many_short_ones_are_bounded(small: World) -> None:
    client = small.client()
    lines = client.ask(*(parse("SELECT 1", f"p{number}") for number in range(1000)), SYNC)
    assert refused(lines) and 100 < lines.count("1") < 500


def test_portals_are_bounded_by_their_values(small: World) -> None:
    client = small.client()
    client.run("BEGIN")
    values = [bind([b"x" * 100_000], "s", f"c{number}") for number in range(20)]
    assert refused(client.ask(parse("SELECT length($1::text)", "s"), *values, SYNC))
    client.run("ROLLBACK", "BEGIN")
    assert not refused(client.ask(*values[:3], execute("c2"), SYNC))


def test_a_portal_keeps_its_own_values_alone(small: World) -> None:
    """Messages that came with it in one piece are not counted, nor kept."""
    client = small.client()
    client.run("BEGIN")
    many = [part for number in range(100) for part in (bind([b"x" * 50_000], "s"), bind([b"y"], "s", f"c{number}"))]
    assert not refused(client.ask(parse("SELECT length($1::text)", "s"), *many, execute("c7"), SYNC))


def test_rows_of_cursors_are_in_files_where_they_would_be_too_much(small: World) -> None:
    client = small.client()
    text = "SELECT g, repeat('x', 1000) AS x FROM generate_series(1, 700) g"
    before = pa.total_allocated_bytes()
    for number in range(20):
        client.run(f"DECLARE c{number} SCROLL CURSOR WITH HOLD FOR {text}")
    assert pa.total_allocated_bytes() - before < 3 << 20
    for number in (0, 19):
        assert client.ask(query(f"FETCH ABSOLUTE 700 FROM c{number}"))[1].startswith("D [b'700', b'xxx")
        assert client.ask(query(f"FETCH BACKWARD 1 FROM c{number}"))[1].startswith("D [b'699', b'xxx")
    client.run("BEGIN")
    for number in range(20):
        lines = client.ask(parse(text), bind(portal=f"e{number}"), execute(f"e{number}", 1), SYNC)
        assert any(line.startswith("D [b'1', ") for line in lines), lines
    assert pa.total_allocated_bytes() - before < 3 << 20
    assert client.ask(execute("e19", 1), SYNC)[0].startswith("D [b'2', ")
    client.run("COMMIT", "CLOSE ALL")
    assert client.session.names.portals.bytes_count == 0
