"""Cuts and versions: what is reused, what is shared, what a failure leaves, and consistency under
threads.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from sql.errors import SqlError
from tests.views.fakes import FakeClock, FakeExecutor, FakeState, cancelled, make_view
from views.model.protocols import NO_SOURCE
from views.upkeep.chain import Chain
from views.upkeep.cuts import Version
from views.upkeep.refresh import Engines, Reader, cut

WAIT_S = 20.0


class Database:
    """A commit lock, and the two things that are done under it."""

    def __init__(self, executor: FakeExecutor | None = None) -> None:
        self.lock = threading.Lock()
        self.executor = executor or FakeExecutor()
        self.engines = Engines(self.executor, FakeClock(), NO_SOURCE)

    def commit(self, rows: Sequence[int], *views: tuple[Chain, FakeState]) -> None:
        with self.lock:
            for view, state in views:
                state.apply_rows(list(rows))
                view.state.groups.note_commit()

    def read(
        self, *views: Chain, now_us: int = 0, check_cancelled: Callable[[], None] = lambda: None
    ) -> dict[str, Version]:
        return cut(views, self.lock, self.engines, Reader(now_us, check_cancelled))


def until(condition: Callable[[], bool]) -> None:
    """Wait for what another thread is about to do."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "the other thread never came there"
        time.sleep(0)


def cuts_count_is(view: Chain, count: int) -> bool:
    return len(view.cuts) == count


def rows(version: Version) -> tuple[int, int]:
    """Return (sum, count) of a version."""
    (row,) = version.table.to_pylist()
    return row["sum"], row["count"]


def test_a_version_is_reused_until_something_is_committed() -> None:
    database, (view, state) = Database(), make_view()
    first = database.read(view)["v"]
    assert (rows(first), first.number, first.position, first.created_us) == ((0, 0), 1, 0, 5)
    assert database.read(view)["v"] is first
    database.commit([1, 2], (view, state))
    second = database.read(view)["v"]
    assert (rows(second), second.number, second.position) == ((3, 2), 2, 1)
    assert database.read(view)["v"] is second
    assert len(state.exports) == 2
    assert rows(first) == (0, 0), "an old version stays as it was"


def test_only_views_with_something_new_are_swapped() -> None:
    database, (one, one_state), (two, two_state) = Database(), make_view("one"), make_view("two")
    database.read(one, two)
    database.commit([7], (one, one_state))
    versions = database.read(one, two)
    assert rows(versions["one"]) == (7, 1)
    assert (one_state.swaps_count, two_state.swaps_count) == (1, 0)


def test_reading_no_view_is_an_empty_cut() -> None:
    assert Database().read() == {}


def test_an_error_above_the_stream_is_the_readers_and_loses_nothing() -> None:
    database, (view, state) = Database(), make_view()
    state.failures.append(SqlError("53200", "out of memory"))
    database.commit([4], (view, state))
    with pytest.raises(SqlError) as failure:
        database.read(view)
    assert failure.value.sqlstate == "53200"
    assert state.merged == [4]
    database.commit([5], (view, state))
    assert rows(database.read(view)["v"]) == (9, 2)


def test_a_failed_view_of_several_keeps_the_others() -> None:
    database, (one, one_state), (two, two_state) = Database(), make_view("one"), make_view("two")
    one_state.failures.append(SqlError("53200", "out of memory"))
    database.commit([4], (one, one_state), (two, two_state))
    with pytest.raises(SqlError):
        database.read(one, two)
    versions = database.read(one, two)
    assert rows(versions["one"]) == rows(versions["two"]) == (4, 1)


def test_a_bug_below_leaves_the_view_readable() -> None:
    database, (view, state) = Database(), make_view()
    state.failures.append(RuntimeError("a bug"))
    database.commit([4], (view, state))
    with pytest.raises(RuntimeError):
        database.read(view)
    assert rows(database.read(view)["v"]) == (4, 1)


def test_now_is_each_readers_own_and_nothing_is_reused() -> None:
    database, (view, state) = Database(), make_view(time_dependent=True)
    versions = [database.read(view, now_us=now_us)["v"] for now_us in (10, 20)]
    assert state.exports == [10, 20]
    assert [version.number for version in versions] == [1, 2]


def test_readers_of_one_position_share_a_refresh() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        assert go_on.wait(WAIT_S)

    database, (view, state) = Database(FakeExecutor(hold)), make_view(upper=True)
    database.commit([1], (view, state))
    with ThreadPoolExecutor(8) as pool:
        first = pool.submit(database.read, view)
        assert entered.wait(WAIT_S)
        others = [pool.submit(database.read, view) for _ in range(7)]
        until(lambda: view.cuts[0].waiting == 8)
        go_on.set()
        found = {id(future.result(WAIT_S)["v"]) for future in (first, *others)}
    assert len(found) == 1
    assert len(database.executor.runs) == 1


def test_readers_behind_a_running_refresh_share_the_next_one() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        assert go_on.wait(WAIT_S)

    database, (view, state) = Database(FakeExecutor(hold)), make_view(upper=True)
    database.commit([1], (view, state))
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(database.read, view)
        assert entered.wait(WAIT_S)
        behind = []
        for number in (2, 3, 4):
            database.commit([number], (view, state))
            behind.append(pool.submit(database.read, view))
            until(partial(cuts_count_is, view, number))
        go_on.set()
        assert rows(first.result(WAIT_S)["v"]) == (1, 1)
        assert {rows(future.result(WAIT_S)["v"]) for future in behind} == {(10, 4)}
    assert len(database.executor.runs) == 2


def test_cancelling_the_reader_who_refreshes_lets_the_next_one_go_on() -> None:
    entered, go_on = threading.Event(), threading.Event()
    outcomes = [cancelled(), None]

    def hold() -> None:
        outcome = outcomes.pop(0)
        entered.set()
        assert go_on.wait(WAIT_S)
        if outcome is not None:
            raise outcome

    database, (view, state) = Database(FakeExecutor(hold)), make_view(upper=True)
    database.commit([6], (view, state))
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(database.read, view)
        assert entered.wait(WAIT_S)
        second = pool.submit(database.read, view)
        until(lambda: view.cuts[0].waiting == 2)
        go_on.set()
        with pytest.raises(SqlError) as failure:
            first.result(WAIT_S)
        assert failure.value.sqlstate == "57014"
        assert rows(second.result(WAIT_S)["v"]) == (6, 1)
    assert state.merged == [6]


def test_what_spark_runs_for_a_reader_is_known_by_that_reader() -> None:
    database, pair = Database(), make_view(upper=True)
    database.commit([6], pair)
    token = object()
    cut([pair[0]], database.lock, database.engines, Reader(0, lambda: None, token))
    assert database.executor.tokens == [token]


def test_a_waiting_reader_can_be_cancelled() -> None:
    entered, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        entered.set()
        assert go_on.wait(WAIT_S)

    def refuse() -> None:
        raise cancelled()

    database, (view, state) = Database(FakeExecutor(hold)), make_view(upper=True)
    database.commit([6], (view, state))
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(database.read, view)
        assert entered.wait(WAIT_S)
        with pytest.raises(SqlError) as failure:
            database.read(view, check_cancelled=refuse)
        assert failure.value.sqlstate == "57014"
        go_on.set()
        assert rows(first.result(WAIT_S)["v"]) == (6, 1)


@pytest.mark.usefixtures("many_switches")
@pytest.mark.parametrize("seed", range(4))
def test_every_read_is_one_statement_boundary_and_not_older_than_the_last_commit(seed: int) -> None:
    """Three writers commit rows that sum to 100 per statement in both views, while five readers
    read, and refreshes are cancelled.
    """
    generator = random.Random(seed)
    database = Database(FakeExecutor(partial(time.sleep, 0)))
    one, two = make_view("one", upper=True), make_view("two")
    committed, reading, wrong = [0], [5], []

    def write(writer_seed: float) -> None:
        draw = random.Random(writer_seed)
        while reading[0]:
            first = draw.randrange(100)
            with database.lock:
                for view, state in (one, two):
                    state.apply_rows([first, 100 - first])
                    view.state.groups.note_commit()
                committed[0] += 1
            if draw.random() < 0.05:
                draw.choice((one, two))[1].failures.append(cancelled())
            time.sleep(0)

    def read(reader_seed: float) -> None:
        draw = random.Random(reader_seed)
        seen = 0
        for _ in range(100):
            views = draw.choice([(one,), (two,), (one, two), (two, one)])
            at_least = committed[0]
            try:
                versions = database.read(*(view for view, _ in views))
            except SqlError:
                continue
            found = {rows(version) for version in versions.values()}
            positions = {version.position for version in versions.values()}
            position = min(positions)
            if found != {(position * 100, position * 2)} or position < max(at_least, seen):
                wrong.append(f"seed {seed}: {found} at {positions}, committed {at_least}, seen {seen}")
            seen = position
        with database.lock:
            reading[0] -= 1

    workers = [threading.Thread(target=write, args=(generator.random(),)) for _ in range(3)]
    workers += [threading.Thread(target=read, args=(generator.random(),)) for _ in range(5)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(WAIT_S)
    assert not any(worker.is_alive() for worker in workers)
    assert wrong == []
    for _, state in (one, two):
        state.failures.clear()
    final = database.read(one[0], two[0])
    assert {rows(version) for version in final.values()} == {(committed[0] * 100, committed[0] * 2)}
    assert one[0].upkeep.versions_count > 1, "readers and writers took turns"
    assert not one[0].cuts
    assert not two[0].cuts
