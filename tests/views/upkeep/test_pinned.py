"""Pinned views: what a block reads later is as it was at its first read, and nobody waits for
blocks that never come.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from sql.errors import SqlError
from tests.views.fakes import FakeExecutor, FakeState, cancelled, make_view
from tests.views.upkeep.test_refresh import Database, rows
from tests.views.upkeep.test_snapshot import idle, whole
from views.model.protocols import NO_SOURCE
from views.upkeep.chain import Chain
from views.upkeep.pinned import CUTS_LEFT_MAX, PinnedViews, pin
from views.upkeep.refresh import Reader

Pair = tuple[Chain, FakeState]


def at_once(work: Callable[[], None]) -> None:
    work()


def pinned(database: Database, *pairs: Pair, now_us: int = 0) -> PinnedViews:
    return pin(lambda: [view for view, _ in pairs], database.lock, now_us, NO_SOURCE, at_once)


def seen(
    database: Database, pins: PinnedViews, pair: Pair, check_cancelled: Callable[[], None] = lambda: None
) -> tuple[int, int]:
    """Return what a block sees of a view."""
    return rows(pins.version(pair[0], database.engines, Reader(0, check_cancelled)))


def test_later_reads_of_a_block_see_the_position_of_the_first() -> None:
    database, one, two = Database(), make_view("one"), make_view("two", upper=True)
    database.commit([1], one, two)
    pins = pinned(database, one, two)
    assert seen(database, pins, one) == (1, 1)
    database.commit([2], one, two)
    assert rows(database.read(one[0])["one"]) == (3, 2)
    assert seen(database, pins, two) == seen(database, pins, one) == (1, 1)
    assert rows(database.read(two[0])["two"]) == (3, 2)
    pins.release()
    assert idle(one[0], two[0])


def test_a_reader_of_a_later_position_copies_the_groups_and_runs_nothing_for_the_block() -> None:
    database, pair = Database(), make_view(upper=True)
    database.commit([1], pair)
    pins = pinned(database, pair)
    database.commit([2], pair)
    assert rows(database.read(pair[0])["v"]) == (3, 2)
    assert len(database.executor.runs) == 1
    newest = pair[0].latest
    assert seen(database, pins, pair) == (1, 1)
    assert len(database.executor.runs) == 2
    assert pair[0].latest is newest, "an older version does not replace a newer one"
    pins.release()


def test_a_checkpoint_does_not_wait_for_a_block() -> None:
    database, pair = Database(), make_view(upper=True)
    database.commit([1], pair)
    pins = pinned(database, pair)
    database.commit([2], pair)
    assert whole(database, pair) == {"v": [1, 2]}
    assert database.executor.runs == []
    assert seen(database, pins, pair) == (1, 1)
    pins.release()
    assert idle(pair[0])


def test_what_is_current_is_not_swapped() -> None:
    database, pair = Database(), make_view()
    database.commit([1], pair)
    version = database.read(pair[0])["v"]
    pins = pinned(database, pair)
    assert pins.stored(pair[0]) is version
    database.commit([2], pair)
    assert seen(database, pins, pair) == (1, 1)
    assert pair[1].swaps_count == 1
    pins.release()
    assert idle(pair[0])


def test_blocks_of_one_position_share_its_cut_and_its_version() -> None:
    database, pair = Database(), make_view(upper=True)
    database.commit([1], pair)
    blocks = [pinned(database, pair) for _ in range(3)]
    assert len(pair[0].cuts) == 1
    database.commit([2], pair)
    database.read(pair[0])
    blocks[0].release()
    assert seen(database, blocks[1], pair) == (1, 1)
    blocks[1].release()
    assert seen(database, blocks[2], pair) == (1, 1)
    assert len(database.executor.runs) == 2
    blocks[2].release()
    assert idle(pair[0])


def test_the_time_of_a_block_is_its_own() -> None:
    database, pair = Database(), make_view(time_dependent=True)
    blocks = [pinned(database, pair, now_us=now_us) for now_us in (10, 20)]
    database.read(pair[0], now_us=30)
    assert pair[1].exports == [10, 20, 30]
    for block in blocks:
        seen(database, block, pair)
        block.release()
    assert pair[1].exports == [10, 20, 30]


@pytest.mark.parametrize("passed_by", [True, False])
def test_an_error_is_the_blocks_own(passed_by: bool) -> None:
    database, pair = Database(), make_view()
    database.commit([1], pair)
    pins = pinned(database, pair)
    pair[1].failures.append(SqlError("53200", "out of memory"))
    if passed_by:
        assert rows(database.read(pair[0])["v"]) == (1, 1)
    with pytest.raises(SqlError, match="53200"):
        seen(database, pins, pair)
    pins.release()
    assert rows(database.read(pair[0])["v"]) == (1, 1)


def test_a_cancelled_read_of_a_block_can_be_done_again() -> None:
    database, pair = Database(), make_view(upper=True)
    database.commit([1], pair)
    pins = pinned(database, pair)
    database.commit([2], pair)
    database.read(pair[0])

    def refuse() -> None:
        raise cancelled()

    database.executor.before = refuse
    with pytest.raises(SqlError, match="57014"):
        seen(database, pins, pair)
    database.executor.before = lambda: None
    assert seen(database, pins, pair) == (1, 1)
    pins.release()


def test_cuts_of_blocks_that_read_nothing_do_not_pile_up() -> None:
    database, pair = Database(), make_view()
    idle_block = pinned(database, pair)
    for number in range(5 * CUTS_LEFT_MAX):
        database.commit([number], pair)
        pinned(database, pair).release()
        assert len(pair[0].cuts) <= CUTS_LEFT_MAX + 1
    assert seen(database, idle_block, pair) == (0, 0)
    idle_block.release()
    expected = sum(range(5 * CUTS_LEFT_MAX))
    assert rows(database.read(pair[0])["v"]) == (expected, 5 * CUTS_LEFT_MAX)
    assert idle(pair[0])


class Turmoil:
    """Two views that get the same rows, and threads that write, read one view, hold blocks and take
    checkpoints.
    """

    def __init__(self) -> None:
        self.database = Database(FakeExecutor(partial(time.sleep, 0)))
        self.pairs = (make_view("one", upper=True), make_view("two"))
        self.working = 4
        self.committed = 0

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

    def repeatedly(self, work: Callable[[random.Random], None], draw: random.Random) -> None:
        try:
            for _ in range(100):
                work(draw)
        finally:
            with self.database.lock:
                self.working -= 1

    def block(self, draw: random.Random) -> None:
        before = self.committed
        pins = pinned(self.database, *self.pairs)
        expected: tuple[int, int] | None = None
        for pair in draw.choices(self.pairs, k=draw.randrange(4)):
            try:
                found = seen(self.database, pins, pair)
            except SqlError:
                continue
            assert expected is None or found == expected
            expected = found
            assert found[0] == 50 * found[1] >= 100 * before
        pins.release()

    def read(self, draw: random.Random) -> None:
        before = self.committed
        view, _ = draw.choice(self.pairs)
        try:
            total, count = rows(self.database.read(view)[view.name])
        except SqlError:
            return
        assert total == 50 * count >= 100 * before

    def checkpoint(self, _: random.Random) -> None:
        one, two = whole(self.database, *self.pairs).values()
        assert one == two


@pytest.mark.usefixtures("many_switches")
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_blocks_among_readers_writers_and_checkpoints(seed: int) -> None:
    turmoil = Turmoil()
    jobs = [turmoil.block, turmoil.block, turmoil.read, turmoil.checkpoint]
    with ThreadPoolExecutor(6) as pool:
        writer = pool.submit(turmoil.write, random.Random(seed))
        others = [
            pool.submit(turmoil.repeatedly, job, random.Random(f"{seed} {number}")) for number, job in enumerate(jobs)
        ]
        for done in [*others, writer]:
            done.result()
    for _, state in turmoil.pairs:
        state.failures.clear()
    versions = turmoil.database.read(*(view for view, _ in turmoil.pairs)).values()
    assert {rows(version)[0] for version in versions} == {100 * turmoil.committed}
    assert idle(*(view for view, _ in turmoil.pairs))
