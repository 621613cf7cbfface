"""The log as those see it who commit: what is synced together, who is answered when, and what a
failing disk leaves of it.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.log import commit_log
from engine.log.commit_log import CommitLog
from engine.log.commits import Commit
from engine.log.records import ROWS, checksum_of, record_at
from engine.log.segments import FIRST_SEQUENCE, PAGE_BYTES
from engine.log.unwritten import BUFFERED_BYTES_MAX
from engine.storage.clock import SystemClock
from ringbuffer.pages.log_rows import FLAG_COMMITS
from sql.errors import SqlError
from tests.faults.simulated_storage import Failure, SimulatedStorage

FOLDER = Path("/data/log")
WAIT_S_MAX = 10.0


class Told(Commit):
    """A commit that writes down what happens to it."""

    def __init__(self, name: str, told: list[str], waits: bool = True) -> None:
        super().__init__(self.take, waits)
        self.name = name
        self.told = told

    def take(self, error: SqlError | None) -> None:
        self.told.append(f"{self.name} answered" if error is None else f"{self.name} {error.sqlstate}")

    def apply(self) -> None:
        self.told.append(f"{self.name} applied")

    def publish(self) -> None:
        self.told.append(f"{self.name} published")


class Turns:
    """An event loop by hand."""

    def __init__(self) -> None:
        self.due: list[Callable[[], None]] = []

    def call_soon(self, callback: Callable[[], None]) -> None:
        self.due.append(callback)

    def run(self) -> None:
        due, self.due = self.due, []
        for callback in due:
            callback()


@pytest.fixture
def storage() -> SimulatedStorage:
    return SimulatedStorage(1, FOLDER.parent)


@pytest.fixture
def log(storage: SimulatedStorage) -> Iterator[CommitLog]:
    yield from opened(storage, 60_000)


def opened(storage: SimulatedStorage, flush_interval_ms: int) -> Iterator[CommitLog]:
    log = CommitLog(storage, FOLDER, SystemClock(), threading.Lock(), 8 << 20, flush_interval_ms, 0)
    assert list(log.read(0, FIRST_SEQUENCE)) == []
    log.open(1, 0)
    yield log
    log.close()


def add(log: CommitLog, commit: Commit | None, payload: bytes = b"some rows") -> None:
    with log.lock:
        first = log.place
        log.add(ROWS, FLAG_COMMITS, log.number(), [payload])
        if commit is not None:
            log.add_commit(commit, first, first)


def counted(storage: SimulatedStorage, kind: str) -> int:
    return sum(event.kind == kind for event in storage.trace)


def wait_until(holds: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + WAIT_S_MAX
    while not holds():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


def test_one_sync_for_all_that_came_together(log: CommitLog, storage: SimulatedStorage) -> None:
    told: list[str] = []
    before = counted(storage, "sync")
    for name in "abc":
        add(log, Told(name, told))
    log.flush()
    assert counted(storage, "sync") == before + 1
    assert told == [
        *(f"{name} applied" for name in "abc"),
        *(f"{name} published" for name in "abc"),
        *(f"{name} answered" for name in "abc"),
    ]
    assert log.durable == log.place.position


def test_what_comes_during_a_flush_is_for_the_next(log: CommitLog) -> None:
    told: list[str] = []

    class Another(Told):
        def apply(self) -> None:
            super().apply()
            add(log, Told("b", told))

    add(log, Another("a", told))
    log.flush()
    assert told == ["a applied", "a published", "a answered"]
    log.flush()
    assert told[3:] == ["b applied", "b published", "b answered"]


def test_without_synchronous_commit_nobody_waits_for_the_disk(storage: SimulatedStorage) -> None:
    told: list[str] = []
    for log in opened(storage, 20):
        before = counted(storage, "sync")
        add(log, Told("a", told, waits=False))
        log.flush()
        assert told == ["a applied", "a published", "a answered"]
        while log.durable < log.place.position:
            time.sleep(0.005)
        assert counted(storage, "sync") > before


def test_rows_that_fill_the_buffer_are_written_before_the_interval_is_over(
    log: CommitLog, storage: SimulatedStorage
) -> None:
    before, syncs = counted(storage, "write"), counted(storage, "sync")
    add(log, None, bytes(BUFFERED_BYTES_MAX - 100))
    add(log, None, bytes(1000))
    wait_until(lambda: counted(storage, "write") > before)
    assert counted(storage, "sync") == syncs, "nobody waits for the disk"


def test_much_is_written_by_the_thread_and_too_much_by_who_appends(log: CommitLog, storage: SimulatedStorage) -> None:
    before = counted(storage, "write")
    payload = bytes(1 << 20)
    checksum = checksum_of([payload])
    position = log.place.position
    with log._flush_lock:
        for _ in range(5):
            with log.lock:
                log.add(ROWS, FLAG_COMMITS, log.number(), [payload], checksum=checksum)
            log.write_out()
        assert counted(storage, "write") == before, "nobody else may write yet"
    wait_until(lambda: counted(storage, "write") > before)
    log.flush(sync=True)
    data = log._segments._file.read(PAGE_BYTES + position, log.place.position - position)  # type: ignore[union-attr]
    record = record_at(memoryview(data), 0, position)
    assert record is not None and record.payload == payload, "the checksum that was given is that of the payload"


def test_who_appends_waits_when_much_is_not_written(monkeypatch: pytest.MonkeyPatch, log: CommitLog) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(commit_log, "PENDING_BYTES_MAX", 2 << 20)
        patch.setattr(log._wake, "set", lambda: None)
        for count in range(1, 4):
            with log.lock:
                log.add(ROWS, FLAG_COMMITS, log.number(), [bytes(1 << 20)])
            log.write_out()
            assert (log._unwritten.large_bytes == 0) == (count == 2)


def test_the_commits_of_a_turn_are_answered_once_they_are_visible(log: CommitLog) -> None:
    told: list[str] = []
    turns = Turns()
    for name in ("one", "two"):
        commit = Told(name, told)
        add(log, commit)
        log.flush_soon(commit.answer, turns.call_soon)
    assert len(turns.due) == 1
    turns.run()
    assert told == ["one applied", "two applied", "one published", "two published", "one answered", "two answered"]


def test_a_client_that_comes_alone_again_is_flushed_at_once(log: CommitLog, storage: SimulatedStorage) -> None:
    told: list[str] = []
    turns = Turns()
    first, other = (Told(name, told) for name in ("first", "other"))

    def commit(client: Told) -> None:
        add(log, client)
        log.flush_soon(client.answer, turns.call_soon)

    commit(first)
    assert not told, "others may come"
    turns.run()
    for _ in range(3):
        told.clear()
        position = log.place.position
        commit(first)
        assert told == ["first applied", "first published", "first answered"]
        assert not turns.due and log.unapplied == 0 and log.durable == log.place.position > position
    commit(other)
    commit(first)
    assert len(turns.due) == 1, "the two wait for each other"
    syncs = counted(storage, "sync")
    turns.run()
    assert counted(storage, "sync") == syncs + 1 and log.unapplied == 0
    commit(first)
    assert turns.due, "it was not alone"
    turns.run()


def test_clients_that_came_together_are_waited_for(log: CommitLog, storage: SimulatedStorage) -> None:
    told: list[str] = []
    turns = Turns()

    def commit(name: str) -> None:
        client = Told(name, told)
        add(log, client)
        log.flush_soon(client.answer, turns.call_soon)

    for name in "abc":
        commit(name)
    turns.run()
    syncs = counted(storage, "sync")
    # A sync of this disk takes no time: only a slow one is worth waiting for others.
    log._sync_s = 0.0009
    for name in "abc":
        commit(name)
        if name != "c":
            turns.run()
            assert counted(storage, "sync") == syncs, name
    turns.run()
    assert counted(storage, "sync") == syncs + 1
    log._sync_s = 0.0009
    commit("alone")
    for _ in range(1000):
        turns.run()
        time.sleep(0.0001)
    assert counted(storage, "sync") == syncs + 2, "one who comes alone does not wait for ever"


def test_after_a_failed_sync_nothing_is_taken(log: CommitLog, storage: SimulatedStorage) -> None:
    told: list[str] = []
    add(log, Told("a", told))
    # The write comes first.
    storage.fail_at(storage.events + 2, Failure.ONCE)
    log.flush()
    assert told == ["a 58030"]
    assert not log.takes
    with pytest.raises(SqlError, match="could not write to the log"):
        log.check()
    add(log, Told("b", told))
    log.flush()
    assert told == ["a 58030", "b 58030"]
