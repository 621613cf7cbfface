"""Checkpoints of views and streams: one position for all of them, and fresh ones that go on from
it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from engine.catalog.image import StateEntry
from engine.log.checkpoint import (
    Checkpoint,
    checkpoint_path,
    restore_newest,
    write_checkpoint,
)
from engine.log.checkpoint_contents import Noted, Restoring, make_checkpoint
from engine.storage.storage import DiskStorage, Storage
from engine.streams.stream import Stream, make_stream
from ringbuffer.pages.pages import Page
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from sql.types.datatypes import INT8, TEXT, numeric
from tests.faults.simulated_storage import SimulatedStorage
from tests.ringbuffer.plain_rows import Row, make_morsel, plain_rows
from tests.views.fakes import FakeClock, FakeState, make_view
from views.upkeep.chain import Chain

COLUMNS = (
    ColumnDescription("n", INT8),
    ColumnDescription("words", TEXT),
    ColumnDescription("amount", numeric(12, 2)),
)
FOLDER = Path("/data/checkpoints")


def stream_rows(first: int, count: int) -> list[Row]:
    return [(number, f"text number {number}" * (number % 3), number * 100) for number in range(first, first + count)]


class World:
    """Two views, two streams, and a log that only counts."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.views: list[Chain] = []
        self.states: list[FakeState] = []
        for number in range(2):
            view, state = make_view(f"v{number}")
            object.__setattr__(view.identity, "oid", 16390 + number)
            self.views.append(view)
            self.states.append(state)
        self.streams = [make_stream(f"s{number}", 16384 + number, COLUMNS, 8) for number in range(2)]
        self.position = 0

    def commit(self, *numbers: int) -> None:
        with self.lock:
            for view, state in zip(self.views, self.states, strict=True):
                state.apply_rows(list(numbers))
                view.state.groups.note_commit()
            tuples_count = self.streams[0].ring.tuples_count
            rows = make_morsel(stream_rows(tuples_count, len(numbers)), self.streams[0].layout)
            self.streams[0].ring.append(rows, 1_000_000 * (tuples_count + 1))
            self.position += 64

    @property
    def kept(self) -> dict[int, StateEntry]:
        return {view.state_oid: StateEntry(stream_name="s0", chain=view, used=()) for view in self.views}

    def note(self) -> Noted:
        assert self.lock.locked()
        streams = [(stream, stream.ring.tuples_count) for stream in self.streams]
        place = self.position, self.position // 64 + 1
        return Noted(Checkpoint(*place, *place, 9, 16400), list(self.kept.values()), streams, 0)

    def checkpoint(
        self, storage: Storage, folder: Path = FOLDER, check_cancelled: Callable[[], None] = lambda: None
    ) -> Checkpoint:
        return make_checkpoint(storage, folder, FakeClock(), self.lock, self.note, lambda: None, check_cancelled)

    def restoring(self) -> Restoring:
        return Restoring(FOLDER, self.kept, {stream.oid: stream for stream in self.streams})


def tuples(stream: Stream) -> list[Row]:
    ring = stream.ring
    return plain_rows(ring.read(ring.oldest_tid, ring.tuples_count - ring.oldest_tid, stream.every), stream.layout)


def arrivals(stream: Stream) -> list[int]:
    ring = stream.ring
    (column,) = ring.read(ring.oldest_tid, ring.tuples_count - ring.oldest_tid, [len(stream.columns)]).data
    return [int(value) for value in column]


def test_everything_comes_back_and_goes_on() -> None:
    storage, world, again = SimulatedStorage(1), World(), World()
    for number in range(10):
        world.commit(number, 100 - number)
    made = world.checkpoint(storage)
    world.commit(7)
    assert (made.position, made.sequence, made.next_transaction, made.next_oid, made.time_us) == (640, 11, 9, 16400, 5)
    again.commit(1, 2, 3)
    found = restore_newest(storage, FOLDER, 1, again.restoring())
    assert found == made
    for view, state in zip(again.views, again.states, strict=True):
        assert (view.committed, view.state.groups.swapped) == (10, 10)
        assert (sum(state.merged), len(state.merged), state.local) == (1000, 20, [])
    assert again.streams[0].ring.tuples_count == 20
    assert tuples(again.streams[0]) == stream_rows(12, 8)
    assert arrivals(again.streams[0]) == [1_000_000 * (number // 2 * 2 + 1) for number in range(12, 20)]
    assert again.streams[1].ring.tuples_count == 0
    again.commit(7)
    assert tuples(again.streams[0]) == tuples(world.streams[0])
    assert arrivals(again.streams[0]) == arrivals(world.streams[0])
    made_again = again.checkpoint(storage)
    assert [view.committed for view in made_again.views] == [11, 11]


def test_commits_between_the_cut_and_the_pages_are_left_out() -> None:
    world, storage, again = World(), SimulatedStorage(1), World()
    world.commit(1, 2, 3)
    calls = []

    def commit_meanwhile() -> None:
        calls.append(1)
        world.commit(50, 60)

    world.checkpoint(storage, check_cancelled=commit_meanwhile)
    assert len(calls) == 3
    restore_newest(storage, FOLDER, 1, again.restoring())
    assert [state.merged for state in again.states] == [[1, 2, 3]] * 2
    # What was overwritten meanwhile is missing, and everything after the position is in the log.
    assert again.streams[0].ring.tuples_count == 3
    assert tuples(again.streams[0]) == stream_rows(0, 3)[-len(tuples(again.streams[0])) :]


def test_tuples_that_are_overwritten_before_they_are_written() -> None:
    world, storage, again = World(), SimulatedStorage(1), World()
    world.commit(*range(20))
    world.checkpoint(storage, check_cancelled=lambda: world.commit(*range(8)))
    restore_newest(storage, FOLDER, 1, again.restoring())
    ring = again.streams[0].ring
    assert (ring.tuples_count, ring.oldest_tid) == (20, 20)


def test_what_was_dropped_since_is_left_out_and_what_is_new_stays_empty() -> None:
    world, storage = World(), SimulatedStorage(1)
    world.commit(1)
    world.checkpoint(storage)
    again = World()
    again.commit(9)
    restoring = again.restoring()
    kept = Restoring(
        FOLDER, {16390: restoring.states[16390], 17000: restoring.states[16391]}, {17001: again.streams[0]}
    )
    restore_newest(storage, FOLDER, 1, kept)
    assert [state.merged for state in again.states] == [[1], []]
    assert [view.committed for view in again.views] == [1, 0]
    assert again.streams[0].ring.tuples_count == 0


def test_a_state_of_another_version_is_refused_before_anything_is_restored(monkeypatch: pytest.MonkeyPatch) -> None:
    world, storage, again = World(), SimulatedStorage(1), World()
    world.commit(1)
    world.checkpoint(storage)
    again.commit(9)
    monkeypatch.setattr(FakeState, "fingerprint", "a sum")
    with pytest.raises(SqlError, match='the state of the view "v0" means something else') as raised:
        restore_newest(storage, FOLDER, 1, again.restoring())
    assert raised.value.sqlstate == "0A000"
    assert again.states[0].local == [9]


def test_rows_of_another_form_are_refused() -> None:
    world, storage, again = World(), SimulatedStorage(1), World()
    world.checkpoint(storage)
    again.streams[1] = make_stream("s1", 16385, COLUMNS[:2], 8)
    with pytest.raises(SqlError, match='the rows of the stream "s1" have another form'):
        restore_newest(storage, FOLDER, 1, again.restoring())


def rewritten(storage: DiskStorage, folder: Path, change: Callable[[list[Page]], list[Page]]) -> None:
    """Write the newest checkpoint again with other pages, whose checksums are right."""
    pages: list[Page] = []
    checkpoint = restore_newest(storage, folder, 1, lambda _, found: pages.extend(found))
    assert checkpoint is not None
    write_checkpoint(storage, folder, checkpoint, change(pages))


@pytest.mark.parametrize(
    "change",
    [
        lambda pages: pages[1:],
        lambda pages: [Page("view/16390/words", pages[0].array), *pages[1:]],
        lambda pages: [Page("view", pages[0].array), *pages[1:]],
        lambda pages: [Page("view/x/rows", pages[0].array), *pages[1:]],
        lambda pages: [*pages[:-1], Page(pages[-1].name, pages[-1].array[:-1])],
        lambda pages: [*pages[:-1], Page("stream/16384/1", pages[-1].array)],
    ],
)
def test_pages_that_do_not_belong_are_damage(change: Callable[[list[Page]], list[Page]], tmp_path: Path) -> None:
    world, again = World(), World()
    world.commit(1, 2, 3)
    world.checkpoint(DiskStorage(), tmp_path)
    rewritten(DiskStorage(), tmp_path, change)
    with pytest.raises(SqlError, match="the newest checkpoint is damaged"):
        restore_newest(DiskStorage(), tmp_path, 1, again.restoring())


def test_after_damage_the_older_one_is_restored_as_if_nothing_had_been(tmp_path: Path) -> None:
    world, again, storage = World(), World(), DiskStorage()
    world.commit(1, 2, 3)
    world.checkpoint(storage, tmp_path)
    older = checkpoint_path(tmp_path, 64).read_bytes()
    world.commit(*range(20))
    world.checkpoint(storage, tmp_path)
    rewritten(storage, tmp_path, lambda pages: [*pages[:-1], Page("stream/16385/5", np.zeros(3, dtype=np.uint8))])
    checkpoint_path(tmp_path, 64).write_bytes(older)
    found = restore_newest(storage, tmp_path, 1, again.restoring())
    assert found is not None and found.position == 64
    assert [state.merged for state in again.states] == [[1, 2, 3]] * 2
    assert again.streams[0].ring.tuples_count == 3
    assert tuples(again.streams[0]) == stream_rows(0, 3)
    again.commit(*range(20))
    assert tuples(again.streams[0]) == tuples(world.streams[0])


def test_a_checkpoint_that_fails_loses_nothing() -> None:
    storage, world = SimulatedStorage(1), World()
    world.commit(1)
    storage.bytes_max = 10
    with pytest.raises(OSError):
        world.checkpoint(storage)
    world.commit(2)
    assert not any(view.cuts or view.upkeep.refreshing for view in world.views)
    storage.bytes_max = None
    world.checkpoint(storage)
    again = World()
    restore_newest(storage, FOLDER, 1, again.restoring())
    assert [state.merged for state in again.states] == [[1, 2]] * 2


def test_the_lock_may_be_more_than_a_lock() -> None:
    world, storage, entered = World(), SimulatedStorage(1), []

    @contextmanager
    def alone() -> Iterator[None]:
        with world.lock:
            entered.append(world.position)
            yield

    make_checkpoint(storage, FOLDER, FakeClock(), alone(), world.note, lambda: None, lambda: None)
    assert entered == [0]


def test_the_log_is_durable_before_there_is_a_checkpoint() -> None:
    world, storage = World(), SimulatedStorage(1, FOLDER)
    world.commit(1)
    seen = []

    def make_log_durable() -> None:
        seen.append((world.lock.locked(), [len(view.cuts) for view in world.views], storage.list(FOLDER)))

    make_checkpoint(storage, FOLDER, FakeClock(), world.lock, world.note, make_log_durable, lambda: None)
    assert seen == [(False, [1, 1], [])]

    def fail() -> None:
        raise SqlError("58030", "could not write to the log")

    world.commit(2)
    with pytest.raises(SqlError):
        make_checkpoint(storage, FOLDER, FakeClock(), world.lock, world.note, fail, lambda: None)
    assert storage.list(FOLDER) == [checkpoint_path(FOLDER, 64).name]
    assert not any(view.cuts or view.upkeep.refreshing for view in world.views)


def test_the_pages_on_the_disk_are_what_the_module_says(tmp_path: Path) -> None:
    world = World()
    world.commit(1, 2)
    world.checkpoint(DiskStorage(), tmp_path)
    names: list[str] = []
    restore_newest(DiskStorage(), tmp_path, 1, lambda _, found: names.extend(page.name for page in found))
    assert sorted(names) == ["stream/16384/0", "view/16390/rows", "view/16391/rows"]
