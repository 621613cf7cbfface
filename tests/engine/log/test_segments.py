"""The next process reads segments whose last sync has failed or never was, and meets a disk that
fails while they come and go.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from engine.log.records import COMMIT
from engine.log.segments import FIRST_SEQUENCE, PAGE_BYTES, Segments
from engine.storage.storage import StoredFile
from tests.engine.log.logs import LogWriter
from tests.faults.simulated_storage import Failure, SimulatedStorage

FOLDER = Path("/data/log")
SEEDS = range(20)


def sequences(storage: SimulatedStorage) -> list[int]:
    """Return the numbers of the records that a start finds."""
    return [record.sequence for record in Segments(storage, FOLDER, PAGE_BYTES + 1000).read(0, FIRST_SEQUENCE)]


def add_durable(writer: LogWriter) -> int:
    """Append a record as one whose sync is known of, and sync it."""
    segments = writer._segments
    writer.durable = segments.position
    number = writer.add(COMMIT, 1, [bytes(100)])
    segments.sync()
    return number


def fail_next(storage: SimulatedStorage) -> None:
    storage.fail_at(storage.events + 1, Failure.ONCE)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_failed_sync_left_is_written_again(seed: int) -> None:
    """A later sync says nothing of it, but records after it count on it."""
    storage = SimulatedStorage(seed)
    storage.make_folder(FOLDER)
    writer = LogWriter(storage, FOLDER)
    add_durable(writer)
    writer.durable = writer._segments.position
    writer.add(COMMIT, 2, [bytes(100)])
    fail_next(storage)
    with pytest.raises(OSError, match="error"):
        writer._segments.sync()
    assert add_durable(LogWriter(storage, FOLDER)) == 3
    assert sequences(storage.crash(seed)) == [1, 2, 3]


@pytest.mark.parametrize("fails", [True, False])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_name_that_was_not_synced_is_given_again(seed: int, fails: bool) -> None:
    """The process ends between the renaming of a new segment and the end of its folder's sync."""
    storage = SimulatedStorage(seed)
    storage.make_folder(FOLDER)
    writer = LogWriter(storage, FOLDER)
    add_durable(writer)
    # A page, its sync and its name come first.
    storage.fail_at(storage.events + 5, Failure.ONCE)
    with pytest.raises(OSError, match="error"):
        writer._segments.roll(0)
    assert storage.trace[-1].kind == "sync_folder"
    if not fails:
        storage._folders[FOLDER]._history[-1].is_doubtful = False
    assert add_durable(LogWriter(storage, FOLDER)) == 2
    assert sequences(storage.crash(seed)) == [1, 2]


def filled() -> tuple[SimulatedStorage, LogWriter]:
    """Return a log of several segments."""
    storage = SimulatedStorage(0)
    storage.make_folder(FOLDER)
    writer = LogWriter(storage, FOLDER)
    for _ in range(20):
        writer.add(COMMIT, 1, [bytes(100)])
    assert len(writer.names) > 2
    return storage, writer


def test_a_removal_that_was_not_synced_is_not_tried_again() -> None:
    storage, writer = filled()
    storage.fail_at(storage.events + 2, Failure.ONCE)
    with pytest.raises(OSError, match="error"):
        writer._segments.remove_before(writer._segments.position)
    writer._segments.remove_before(writer._segments.position)
    assert len(writer.names) == 1


def test_segments_before_a_checkpoint_go_with_the_next_one() -> None:
    """A process that ended after its checkpoint, but before it removed anything."""
    storage, writer = filled()
    position, sequence = writer._segments.position, writer._segments.sequence
    segments = Segments(storage, FOLDER, PAGE_BYTES + 1000)
    assert not list(segments.read(position, sequence))
    segments.open()
    assert len(writer.names) > 2
    segments.remove_before(position)
    assert len(writer.names) == 1 and segments.sequence == sequence


def test_the_next_segment_is_not_in_the_way_of_an_end() -> None:
    storage, writer = filled()
    segments = writer._segments
    segments.prepare()
    fail_next(storage)
    segments.close()
    assert len(storage.list(FOLDER)) == len(writer.names) + 1
    assert len(sequences(storage)) == 20 and len(storage.list(FOLDER)) == len(writer.names)


def test_a_segment_after_one_that_filled_fast_is_for_much_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    created: list[bool] = []

    class Told(SimulatedStorage):
        def create(self, path: Path, size: int = 0, for_little: bool = True) -> StoredFile:
            created.append(for_little)
            return super().create(path, size, for_little)

    storage = Told(1)
    storage.make_folder(FOLDER)
    segments = Segments(storage, FOLDER, 1 << 20)
    assert not list(segments.read(0, FIRST_SEQUENCE))
    segments.open()
    for passed_s in (1.0, 0.01):
        segments.take(600_000)
        now_s += passed_s
        segments.prepare()
        segments.roll(0)
    assert created == [True, True, False]
