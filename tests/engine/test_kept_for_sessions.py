"""What the server keeps for a session beside its statements is bounded: advisory locks, and notifications that its client does not read."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

from engine.dialect.notifications import Notifications
from engine.sessions.inbox import UNREAD_BYTES_MAX, Inbox
from engine.sessions.session import Session
from engine.tables.locks import ADVISORY_MAX, Locks, SessionLocks
from tests.end_to_end.raw_client import RawClient, query
from tests.engine.session_client import World
from tests.oracle.antumbra import AntumbraServer

PAYLOAD = "x" * 7900


def listener(notifications: Notifications, is_idle: bool) -> tuple[Inbox, Any]:
    """Return the inbox of a client that listens to "c", and its connection: `may_write` says whether it reads."""
    connection = SimpleNamespace(process_id=1, is_idle=is_idle, may_write=asyncio.Event(), written=0, has_ended=False)
    connection.flush = lambda: None

    def write(data: bytes) -> None:
        connection.written += len(data)

    def end_soon() -> None:
        connection.has_ended = True

    connection.write, connection.end_soon = write, end_soon
    session = SimpleNamespace(
        connection=connection, block=SimpleNamespace(open=None), database=SimpleNamespace(notifications=notifications)
    )
    inbox = Inbox(cast(Session, session))
    notifications.change(inbox, [("c", True)])
    return inbox, connection


def test_who_does_not_read_is_ended_and_all_others_go_on() -> None:
    notifications = Notifications()
    (_, stuck), (_, reads), (busy_inbox, busy) = (listener(notifications, idle) for idle in (True, True, False))
    reads.may_write.set()
    busy.may_write.set()
    sent = 3 * UNREAD_BYTES_MAX // len(PAYLOAD)
    for number in range(sent):
        notifications.publish(2, [("c", f"{PAYLOAD}{number}")])
    assert stuck.has_ended and stuck.written <= UNREAD_BYTES_MAX
    assert not reads.has_ended and reads.written > sent * len(PAYLOAD)
    # One in a long transaction gets nothing before its end.
    assert busy.has_ended and busy.written == 0 and len(busy_inbox.take()) <= UNREAD_BYTES_MAX


def test_a_socket_that_nobody_reads_keeps_little(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data", "--set", "shutdown_wait_s_max=1", "--set", "spark_preload=off").start()
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
        assert locks.take(("advisory", number), "EXCLUSIVE ADVISORY", lasting=True)
        assert locks.give_back(("advisory", number), "EXCLUSIVE ADVISORY")
    assert not locks.lasting and not locks.give_back(("advisory", 1), "EXCLUSIVE ADVISORY")
