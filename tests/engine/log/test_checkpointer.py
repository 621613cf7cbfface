"""When checkpoints are made, and what those who ask for one are told."""

from __future__ import annotations

import errno
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.log.checkpointer import RETRY_S, RETRY_S_MAX, Checkpointer
from sql.errors import SqlError

WAIT_S = 20.0


class TestClock:
    """A clock that a test moves on."""

    __test__ = False

    def __init__(self) -> None:
        self.seconds = 1000.0

    def now_us(self) -> int:
        return int(self.seconds * 1e6)

    def monotonic_s(self) -> float:
        return self.seconds


class World:
    """A log that grows, and checkpoints that are only counted. before: called within each of
    them.
    """

    def __init__(self, log_bytes: int = 100, interval_s: float = 60.0) -> None:
        self.clock = TestClock()
        self.position = 10
        self.made: list[int] = []
        self.running = 0
        self.before: Callable[[Callable[[], None]], None] = lambda check: None
        self.checkpointer = Checkpointer(self.make, lambda: self.position, self.clock, log_bytes, interval_s, 0.005)

    def make(self, check_cancelled: Callable[[], None]) -> int:
        self.running += 1
        assert self.running == 1, "one at a time"
        try:
            position = self.position
            self.before(check_cancelled)
            self.made.append(position)
            return position
        finally:
            self.running -= 1


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    made.checkpointer.start(10)
    yield made
    made.checkpointer.stop(False)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline, "it never came there"
        time.sleep(0.001)


def settled() -> None:
    """Give the thread the time for several looks."""
    time.sleep(0.05)


def test_after_so_many_bytes(world: World) -> None:
    world.position = 109
    settled()
    assert world.made == []
    world.position = 110
    until(lambda: world.made == [110])
    world.position = 209
    settled()
    assert world.made == [110]


def test_after_so_much_time_if_anything_is_new(world: World) -> None:
    world.clock.seconds += 61
    settled()
    assert world.made == []
    world.position = 11
    until(lambda: world.made == [11])
    world.position = 12
    world.clock.seconds += 59
    settled()
    assert world.made == [11]
    world.clock.seconds += 1
    until(lambda: world.made == [11, 12])


def test_never_by_time() -> None:
    world = World(interval_s=0)
    world.checkpointer.start(10)
    world.position = 11
    world.clock.seconds += 1e9
    settled()
    world.checkpointer.stop(False)
    assert world.made == []


def test_by_command(world: World) -> None:
    world.checkpointer.request()
    assert world.made == [], "there is nothing new"
    world.position = 11
    world.checkpointer.request()
    assert world.made == [11]


def test_a_command_that_comes_during_a_checkpoint_gets_the_next_one(world: World) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def hold(check_cancelled: Callable[[], None]) -> None:
        entered.set()
        assert go_on.wait(WAIT_S)

    world.before = hold
    with ThreadPoolExecutor(4) as pool:
        world.position = 11
        first = pool.submit(world.checkpointer.request)
        assert entered.wait(WAIT_S)
        world.position = 12
        others = [pool.submit(world.checkpointer.request) for _ in range(3)]
        settled()
        assert not any(other.done() for other in (first, *others))
        go_on.set()
        for each in (first, *others):
            each.result(WAIT_S)
    assert world.made == [11, 12]


@pytest.mark.parametrize(("code", "sqlstate"), [(errno.ENOSPC, "53100"), (errno.EIO, "58030")])
def test_a_disk_that_fails_is_the_commands_error_and_tried_again(world: World, code: int, sqlstate: str) -> None:
    def fail(check_cancelled: Callable[[], None]) -> None:
        raise OSError(code, "no")

    world.before = fail
    world.position = 11
    with pytest.raises(SqlError, match="could not write a checkpoint: no") as raised:
        world.checkpointer.request()
    assert raised.value.sqlstate == sqlstate
    world.before = lambda check: None
    world.clock.seconds += RETRY_S - 1
    settled()
    assert world.made == []
    world.clock.seconds += 1
    until(lambda: world.made == [11])


def test_failures_in_a_row_are_tried_again_ever_more_rarely() -> None:
    world = World(log_bytes=1)
    attempts: list[float] = []

    def fail(check_cancelled: Callable[[], None]) -> None:
        attempts.append(world.clock.seconds)
        raise SqlError("58030", "no")

    world.before = fail
    world.checkpointer.start(10)
    world.position = 11
    for count in range(1, 10):
        until(lambda count=count: len(attempts) == count)  # type: ignore[misc]  # mypy knows no defaults of lambdas here
        until(lambda: world.running == 0)
        settled()
        world.clock.seconds += min(RETRY_S * 2 ** (count - 1), RETRY_S_MAX)
    world.checkpointer.stop(False)
    gaps = [second - first for first, second in itertools.pairwise(attempts)]
    assert gaps[:3] == [RETRY_S, 2 * RETRY_S, 4 * RETRY_S]
    assert gaps[-1] == RETRY_S_MAX


def test_who_waits_can_be_cancelled(world: World) -> None:
    go_on = threading.Event()
    world.before = lambda check: [None][not go_on.wait(WAIT_S)]

    def refuse() -> None:
        raise SqlError("57014", "canceling statement due to user request")

    world.position = 11
    with pytest.raises(SqlError) as raised:
        world.checkpointer.request(refuse)
    assert raised.value.sqlstate == "57014"
    go_on.set()
    until(lambda: world.made == [11])


def test_the_end_interrupts_a_checkpoint_and_makes_a_last_one() -> None:
    world = World()
    entered = threading.Event()
    interrupted = []

    def hold(check_cancelled: Callable[[], None]) -> None:
        if entered.is_set():
            return
        entered.set()
        try:
            while True:
                check_cancelled()
                time.sleep(0.001)
        except SqlError as error:
            interrupted.append(error.sqlstate)
            raise

    world.before = hold
    world.checkpointer.start(10)
    with ThreadPoolExecutor(1) as pool:
        world.position = 11
        asked = pool.submit(world.checkpointer.request)
        assert entered.wait(WAIT_S)
        world.position = 12
        world.checkpointer.stop(True)
        with pytest.raises(SqlError) as raised:
            asked.result(WAIT_S)
        assert raised.value.sqlstate in ("57P01", "57014")
    assert (interrupted, world.made) == (["57014"], [12])
    with pytest.raises(SqlError) as raised:
        world.checkpointer.request()
    assert raised.value.sqlstate == "57P01"


def test_a_clean_end_without_anything_new_makes_none(world: World) -> None:
    world.checkpointer.stop(True)
    assert world.made == []


def test_a_last_one_that_fails_does_not_keep_the_server_from_stopping(world: World) -> None:
    def fail(check_cancelled: Callable[[], None]) -> None:
        raise OSError(errno.EIO, "no")

    world.before = fail
    world.position = 11
    world.checkpointer.stop(True)
    assert world.made == []


def test_stopping_one_that_never_started() -> None:
    World().checkpointer.stop(False)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_bug_leaves_nobody_waiting() -> None:
    world = World()

    def fail(check_cancelled: Callable[[], None]) -> None:
        raise ZeroDivisionError

    world.before = fail
    world.checkpointer.start(10)
    world.position = 11
    with pytest.raises(SqlError) as raised:
        world.checkpointer.request()
    assert raised.value.sqlstate == "XX000"
    with pytest.raises(SqlError):
        world.checkpointer.request()
    world.checkpointer.stop(False)
