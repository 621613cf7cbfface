"""The wall clock of the process: code that needs the time gets a `views.model.protocols.Clock`.

Tests pass a clock of their own. No other file of the four packages may ask the system for the time
of day.
"""

from __future__ import annotations

import time


class SystemClock:
    """The time of day and the monotonic clock of this machine."""

    def now_us(self) -> int:
        """Microseconds since 1970-01-01 UTC."""
        return time.time_ns() // 1000

    def monotonic_s(self) -> float:
        """Seconds from an arbitrary start."""
        return time.monotonic()
