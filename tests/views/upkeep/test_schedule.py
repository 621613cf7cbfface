"""The policy of scheduled refreshes: when the next one is due."""

from __future__ import annotations

import pytest

from views.upkeep.schedule import DEADLINE_S_MIN, RETRY_S_MAX, Pace

PACE = Pace(1.0, 100.0)


def test_a_quick_refresh_keeps_the_interval() -> None:
    assert PACE.after(100.0, 100.1, failed=False) == Pace(1.0, 101.0)


def test_a_slow_refresh_leaves_half_of_the_time_to_others() -> None:
    assert PACE.after(100.0, 103.0, failed=False) == Pace(1.0, 106.0)


@pytest.mark.parametrize(("failures", "wait_s"), [(0, 2.0), (1, 4.0), (4, 32.0), (5, RETRY_S_MAX), (500, RETRY_S_MAX)])
def test_failures_are_tried_again_later_and_later(failures: int, wait_s: float) -> None:
    after = Pace(1.0, 100.0, failures).after(100.0, 100.0, failed=True)
    assert after == Pace(1.0, 100.0 + wait_s, failures + 1)
    assert after.after(200.0, 200.0, failed=False) == Pace(1.0, 201.0)


def test_a_long_interval_is_no_shorter_after_a_failure() -> None:
    assert Pace(3600.0, 0.0).after(100.0, 100.0, failed=True).due_s == 3700.0


def test_another_interval_counts_from_now() -> None:
    assert Pace(60.0, 150.0).with_interval(1.0, 100.0) == Pace(1.0, 101.0)
    assert Pace(1.0, 100.5).with_interval(60.0, 100.0) == Pace(60.0, 100.5)
    assert PACE.with_interval(1.0, 500.0) is PACE


def test_a_refresh_has_a_deadline() -> None:
    assert PACE.deadline_s(5.0) == 5.0 + DEADLINE_S_MIN
    assert Pace(60.0, 0.0).deadline_s(5.0) == 605.0
