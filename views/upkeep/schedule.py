"""When a view that has `refresh_every` is due: pure policy, in seconds of a monotonic clock.

Enters: intervals, and when refreshes began, ended and failed. Leaves: the time of the next one.
Must not know threads, clocks or what a refresh does.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

# After a failure the next try comes after the interval, then after twice that, up to a limit.
RETRY_S_MAX = 60.0
# How long a refresh may take before nobody wants it any more.
DEADLINE_S_MIN, DEADLINE_INTERVALS = 60.0, 10


@dataclass(frozen=True, slots=True)
class Pace:
    """The schedule of one view.

    Attributes:
        every_s: the age of a version at which the next one is due.
        due_s: when the next refresh is due.
        failures: how many refreshes have failed since one succeeded.
    """

    every_s: float
    due_s: float
    failures: int = 0

    def after(self, began_s: float, ended_s: float, failed: bool) -> Pace:
        """Return the schedule after a refresh.

        A refresh that takes longer than half of the interval leaves as much time to others as it
        took itself.
        """
        failures = self.failures + 1 if failed else 0
        wait_s = self.every_s * 2.0 ** min(failures, 30)
        wait_s = min(wait_s, max(RETRY_S_MAX, self.every_s)) if failed else self.every_s
        return replace(self, due_s=max(began_s + wait_s, ended_s + (ended_s - began_s)), failures=failures)

    def with_interval(self, every_s: float, now_s: float) -> Pace:
        """Return the schedule with another interval: due at once if that is shorter."""
        if every_s == self.every_s:
            return self
        return Pace(every_s, min(self.due_s, now_s + every_s))

    def deadline_s(self, began_s: float) -> float:
        """Return when a refresh that begins now is given up."""
        return began_s + max(DEADLINE_S_MIN, self.every_s * DEADLINE_INTERVALS)
