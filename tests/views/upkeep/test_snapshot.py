"""Snapshots: one position for all views, readers before and after it, and what is left when one
ends early.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from ringbuffer.pages.pages import Page
from sql.errors import SqlError
from tests.views.fakes import FakeExecutor, FakeState, cancelled, make_view
from tests.views.upkeep.test_refresh import WAIT_S, Database, rows, until
from views.upkeep.chain import Chain
from views.upkeep.snapshot import Snapshot, snapshot

Pair = tuple[Chain, FakeState]


def numbers(pages: Iterator[Page]) -> list[int]:
    (page,) = pages
    found: list[int] = page.array.tolist()
    return found


def read_all(taken: Snapshot) -> dict[str, list[int]]:
    """Return the merged rows of each view of a snapshot."""
    return {view.name: numbers(pages) for view, pages in taken.states()}


def whole(database: Database, *views: Pair) -> dict[str, list[int]]:
    """Take a snapshot and read it at once."""
    with snapshot(database.lock, lambda: [view for view, _ in views]) as taken:
        return read_all(taken)


def idle(*views: Chain) -> bool:
    """Tell whether nothing is left in the queues, nor anybody at work."""
    return not any(view.cuts or view.upkeep.refreshing for view in views)


def test_all_views_at_one_position_and_nothing_left_behind() -> None:
    database, one, two = Database(), make_view("one"), make_view("two")
    database.commit([1, 2], one, two)
    noted = []

    def note() -> list[Chain]:
        noted.append((database.lock.locked(), one[0].committed))
        return [one[0], two[0]]

    with snapshot(database.lock, note) as taken:
        assert not database.lock.locked()
        database.commit([4], one, two)
        assert taken.positions == {one[0]: 1, two[0]: 1}
        assert read_all(taken) == {"one": [1, 2], "two": [1, 2]}
    assert noted == [(True, 1)]
    assert idle(one[0], two[0])
    assert rows(database.read(one[0])["one"]) == (7, 3)
    assert whole(database, one, two) == {"one": [1, 2, 4], "two": [1, 2, 4]}


def test_a_snapshot_makes_no_version_and_keeps_the_stored_one() -> None:
    database, (view, state) = Database(), make_view(upper=True)
    database.commit([1], (view, state))
    first = database.read(view)["v"]
    assert whole(database, (view, state)) == {"v": [1]}
    assert database.read(view)["v"] is first
    database.commit([2], (view, state))
    whole(database, (view, state))
    assert (len(database.executor.runs), state.swaps_count) == (1, 2)
    assert rows(database.read(view)["v"]) == (3, 2)
    assert state.swaps_count == 2, "nothing new since the snapshot"


def test_small_states_come_first() -> None:
    database, large, small = Database(), make_view("large"), make_view("small")
    large[1].bytes_count = 1
    assert list(whole(database, large, small)) == ["small", "large"]


def test_commits_go_on_and_readers_behind_wait_until_the_view_is_merged() -> None:
    database, pair = Database(), make_view(upper=True)
    view, state = pair
    database.commit([1], pair)
    with ThreadPoolExecutor(2) as pool, snapshot(database.lock, lambda: [view]) as taken:
        database.commit([2], pair)
        behind = pool.submit(database.read, view)
        until(lambda: len(view.cuts) == 2)
        time.sleep(0.1)
        assert not behind.done()
        assert (state.merged, database.executor.runs) == ([], [])
        states = taken.states()
        _, pages = next(states)
        assert rows(behind.result(WAIT_S)["v"]) == (3, 2)
        assert numbers(pages) == [1]
        assert list(states) == []


def test_a_reader_may_join_the_cut_of_a_snapshot() -> None:
    database, pair = Database(), make_view()
    view, state = pair
    database.commit([1], pair)
    with ThreadPoolExecutor(1) as pool:
        with snapshot(database.lock, lambda: [view]) as taken:
            reader = pool.submit(database.read, view)
            until(lambda: bool(view.cuts) and view.cuts[0].waiting == 2)
            database.commit([2], pair)
            assert read_all(taken) == {"v": [1]}
        assert rows(reader.result(WAIT_S)["v"]) == (1, 1)
    assert (state.swaps_count, idle(view)) == (1, True)


def test_a_reader_behind_can_be_cancelled() -> None:
    database, pair = Database(), make_view()

    def refuse() -> None:
        raise cancelled()

    with snapshot(database.lock, lambda: [pair[0]]) as taken:
        database.commit([1], pair)
        with pytest.raises(SqlError) as failure:
            database.read(pair[0], check_cancelled=refuse)
        assert failure.value.sqlstate == "57014"
        assert read_all(taken) == {"v": []}
    assert rows(database.read(pair[0])["v"]) == (1, 1)


def test_the_running_refresh_is_waited_for() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        assert go_on.wait(WAIT_S)

    database, pair = Database(FakeExecutor(hold)), make_view(upper=True)
    database.commit([1], pair)
    with ThreadPoolExecutor(2) as pool:
        reader = pool.submit(database.read, pair[0])
        assert entered.wait(WAIT_S)
        database.commit([2], pair)
        found = pool.submit(whole, database, pair)
        until(lambda: len(pair[0].cuts) == 2)
        time.sleep(0.1)
        assert pair[1].merged == [1]
        go_on.set()
        assert rows(reader.result(WAIT_S)["v"]) == (1, 1)
        assert found.result(WAIT_S) == {"v": [1, 2]}
    assert idle(pair[0])


def test_views_that_nobody_reads_do_not_wait_for_those_that_somebody_does() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        assert go_on.wait(WAIT_S)

    database = Database(FakeExecutor(hold))
    busy, awaited, free = make_view("a", upper=True), make_view("b"), make_view("c")
    free[1].bytes_count = 1
    database.commit([1], busy, awaited, free)
    with ThreadPoolExecutor(3) as pool:
        both = pool.submit(database.read, busy[0], awaited[0])
        assert entered.wait(WAIT_S)
        database.commit([2], busy, awaited, free)
        with snapshot(database.lock, lambda: [view for view, _ in (busy, awaited, free)]) as taken:
            states = taken.states()
            assert next(states)[0] is free[0]
            rest = pool.submit(lambda: {view.name: numbers(pages) for view, pages in states})
            # The reader of `awaited` is not there yet; another one makes the version for it.
            helper = pool.submit(database.read, awaited[0])
            assert rows(helper.result(WAIT_S)["b"]) == (3, 2)
            go_on.set()
            assert rest.result(WAIT_S) == {"a": [1, 2], "b": [1, 2]}
        versions = both.result(WAIT_S)
        assert rows(versions["a"]) == rows(versions["b"]) == (1, 1)
    assert idle(busy[0], awaited[0], free[0])


def test_a_cut_whose_reader_went_away_is_merged() -> None:
    database, pair = Database(), make_view()
    pair[1].failures.append(cancelled())
    database.commit([1], pair)
    with pytest.raises(SqlError):
        database.read(pair[0])
    database.commit([2], pair)
    assert len(pair[0].cuts) == 1
    assert whole(database, pair) == {"v": [1, 2]}
    assert idle(pair[0])


class DiskFullError(Exception):
    """Error that a consumer of pages may raise."""


@pytest.mark.parametrize("read_count", [0, 1, 2])
def test_a_failure_between_two_views_loses_nothing(read_count: int) -> None:
    database, views = Database(), [make_view(name) for name in ("one", "two", "three")]
    database.commit([1], *views)

    def fail() -> None:
        with snapshot(database.lock, lambda: [view for view, _ in views]) as taken:
            database.commit([2], *views)
            states = taken.states()
            for _ in range(read_count):
                next(states)
            raise DiskFullError

    with pytest.raises(DiskFullError):
        fail()
    assert idle(*(view for view, _ in views))
    assert [state.merged for _, state in views] == [[1]] * 3, "what was given up does not pile up"
    assert {rows(version) for version in database.read(*(view for view, _ in views)).values()} == {(3, 2)}
    assert list(whole(database, *views).values()) == [[1, 2]] * 3


def test_a_failure_under_the_commit_lock() -> None:
    database, pair = Database(), make_view()

    def note() -> Iterator[Chain]:
        yield pair[0]
        raise DiskFullError

    database.commit([1], pair)
    with pytest.raises(DiskFullError), snapshot(database.lock, note):  # type: ignore[arg-type]  # it fails after the first view
        raise AssertionError
    assert idle(pair[0])
    assert not database.lock.locked()
    assert rows(database.read(pair[0])["v"]) == (1, 1)


def test_cancelling_a_snapshot_that_waits() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        assert go_on.wait(WAIT_S)

    def refuse() -> None:
        raise cancelled()

    def try_it(database: Database) -> None:
        with snapshot(database.lock, lambda: [pair[0]], refuse) as taken:
            list(taken.states())

    database, pair = Database(FakeExecutor(hold)), make_view(upper=True)
    database.commit([1], pair)
    with ThreadPoolExecutor(1) as pool:
        reader = pool.submit(database.read, pair[0])
        assert entered.wait(WAIT_S)
        database.commit([2], pair)
        with pytest.raises(SqlError) as failure:
            try_it(database)
        assert failure.value.sqlstate == "57014"
        go_on.set()
        assert rows(reader.result(WAIT_S)["v"]) == (1, 1)
    assert rows(database.read(pair[0])["v"]) == (3, 2)
    assert idle(pair[0])


class Turmoil:
    """Two views, and threads that write, read and take snapshots until the readers and the
    snapshots are through.
    """

    def __init__(self) -> None:
        self.database = Database(FakeExecutor(partial(time.sleep, 0)))
        self.pairs = (make_view("one", upper=True), make_view("two"))
        self.views = [view for view, _ in self.pairs]
        self.committed = 0
        self.working = 5
        self.wrong: list[str] = []
        self.whole_count = 0

    def write(self, draw: random.Random) -> None:
        while self.working:
            first = draw.randrange(100)
            with self.database.lock:
                for view, state in self.pairs:
                    state.apply_rows([first, 100 - first])
                    view.state.groups.note_commit()
                self.committed += 1
            if draw.random() < 0.05:
                draw.choice(self.pairs)[1].failures.append(cancelled())
            time.sleep(0)

    def read(self, draw: random.Random) -> None:
        seen = 0
        for _ in range(60):
            chosen = draw.sample(self.views, draw.randint(1, 2))
            at_least = self.committed
            try:
                versions = self.database.read(*chosen)
            except SqlError:
                continue
            found = {rows(version) for version in versions.values()}
            position = min(version.position for version in versions.values())
            if found != {(position * 100, position * 2)} or position < max(at_least, seen):
                self.wrong.append(f"{found} at {position}, committed {at_least}, seen {seen}")
            seen = position
        self.end()

    def checkpoint(self, draw: random.Random) -> None:
        noted = 0

        def note() -> list[Chain]:
            nonlocal noted
            noted = self.committed
            return draw.sample(self.views, 2)

        for _ in range(60):
            stop_after = draw.choice((0, 1, 2, 2, 2))
            with snapshot(self.database.lock, note) as taken:
                for count, (_, pages) in enumerate(taken.states(), 1):
                    time.sleep(0)
                    content = numbers(pages)
                    if len(content) != 2 * noted or sum(content) != 100 * noted:
                        self.wrong.append(f"{len(content)} rows, noted {noted}")
                    if count > stop_after:
                        break
                else:
                    self.whole_count += 1
        self.end()

    def end(self) -> None:
        with self.database.lock:
            self.working -= 1


@pytest.mark.usefixtures("many_switches")
@pytest.mark.parametrize("seed", range(4))
def test_snapshots_among_readers_and_writers(seed: int) -> None:
    """Each statement adds two rows that sum to 100 to both views, readers come for one or both;
    some refreshes and snapshots fail.
    """
    generator = random.Random(seed)
    turmoil = Turmoil()
    runs = [*[turmoil.write] * 3, *[turmoil.read] * 4, turmoil.checkpoint]
    threads = [threading.Thread(target=run, args=(random.Random(generator.random()),)) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_S)
    assert not any(thread.is_alive() for thread in threads)
    assert turmoil.wrong == [], f"seed {seed}"
    assert turmoil.whole_count > 5
    for _, state in turmoil.pairs:
        state.failures.clear()
    final = turmoil.database.read(*turmoil.views)
    assert {rows(version) for version in final.values()} == {(turmoil.committed * 100, turmoil.committed * 2)}
    assert idle(*turmoil.views)
