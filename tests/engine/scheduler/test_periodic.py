"""Periodic work: keys that come and go, failures, the end."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable, Iterator
from time import monotonic, sleep

import pytest

from engine.scheduler.periodic import Periodic
from sql.errors import SqlError
from views.upkeep import schedule

WAIT_S_MAX = 60.0


class Tasks:
    """Keys with intervals, and what was done for them."""

    def __init__(self) -> None:
        self.done: list[Hashable] = []
        self.failures: dict[Hashable, str] = {}
        self.held = threading.Event()
        self.ended: list[Hashable] = []
        self.periodic = Periodic(self.work, self.ended.append)

    def work(self, key: Hashable, check: Callable[[], None], deadline_s: float) -> None:
        assert deadline_s > monotonic()
        self.done.append(key)
        if key == "late":
            # The first call comes when nothing can be ended yet.
            while self.ended.count(key) < 2:
                sleep(0.005)
            raise SqlError("57014", "ended")
        if key == "held":
            while not self.held.wait(0.005):
                check()
        if key in self.failures:
            raise SqlError("22012", self.failures[key])
        if key == "bug":
            raise KeyError(key)


@pytest.fixture
def tasks() -> Iterator[Tasks]:
    tasks = Tasks()
    tasks.periodic.start()
    yield tasks
    tasks.held.set()
    tasks.periodic.stop()


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; a machine that is busy may take its time."""
    end_s = monotonic() + WAIT_S_MAX
    while not holds():
        assert monotonic() < end_s, "it never came to that"
        sleep(0.005)


def test_keys_come_and_go(tasks: Tasks) -> None:
    tasks.periodic.follow({"a": 0.01, "b": 0.01})
    until(lambda: tasks.done.count("a") > 3 and tasks.done.count("b") > 3)
    tasks.periodic.follow({"b": 0.01})
    until(lambda: tasks.periodic._paces.keys() == {"b"} and "a" not in tasks.periodic._running)
    count = tasks.done.count("a")
    until(lambda: tasks.done[-3:] == ["b", "b", "b"])
    assert tasks.done.count("a") == count


def test_one_that_takes_long_holds_up_no_other_and_is_never_done_twice(tasks: Tasks) -> None:
    tasks.periodic.follow({"held": 0.01, "a": 0.01})
    until(lambda: tasks.done.count("a") > 5)
    assert tasks.done.count("held") == 1


def test_a_failure_is_told_once_and_tried_again(tasks: Tasks, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    tasks.failures = {"a": "division by zero"}
    tasks.periodic.follow({"a": 0.01})
    until(lambda: tasks.done.count("a") > 3)
    tasks.failures = {"a": "another one"}
    until(lambda: any("another one" in record.getMessage() for record in caplog.records))
    tasks.failures = {}
    until(lambda: any("succeeds again" in record.getMessage() for record in caplog.records))
    texts = [record.getMessage() for record in caplog.records]
    assert [text.split(": ")[-1] for text in texts[:2]] == ["division by zero", "another one"]
    assert len(texts) == 3


def test_a_bug_is_in_the_log(tasks: Tasks, caplog: pytest.LogCaptureFixture) -> None:
    tasks.periodic.follow({"bug": 0.01})
    until(lambda: tasks.done.count("bug") > 1)
    assert any(record.exc_info and record.exc_info[0] is KeyError for record in caplog.records)
    assert tasks.periodic._paces["bug"].failures


def test_what_is_over_its_deadline_is_ended_until_it_ends(tasks: Tasks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schedule, "DEADLINE_S_MIN", 0.1)
    tasks.periodic.follow({"late": 0.01, "a": 0.01})
    until(lambda: len(tasks.ended) >= 2 and not tasks.periodic._running.keys() & {"late"})
    assert set(tasks.ended) == {"late"}
    assert tasks.done.count("late") == 1
    # A failure as any other: the next try comes later.
    assert tasks.periodic._paces["late"].failures == 1


def test_the_end_waits_for_nothing(tasks: Tasks) -> None:
    tasks.periodic.follow({"held": 0.01})
    until(lambda: "held" in tasks.done)
    tasks.periodic.stop()
    until(lambda: not tasks.periodic._running)
    assert tasks.done == ["held"]
