"""The activity of a stream in numbers: running scans, overtaken scans, and the rate of rows.

Enters: the beginning and the end of scans, counts of tuples. Leaves: the numbers. Any thread may
call.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

# A rate is since the last look that is at least so old, or since the beginning.
RATE_S = 10.0
# Looks that follow each other faster are not remembered.
LOOK_S = 1.0


class StreamActivity:
    """The numbers of one stream since the start of the server.

    Attributes:
        running: scans that run.
        aborted: scans that were overtaken.
    """

    def __init__(self) -> None:
        self.running = 0
        self.aborted = 0
        self._lock = threading.Lock()
        self._looks = deque([(time.monotonic(), 0)])

    def begin(self, tuples_count: int) -> None:
        """Set the number of tuples that the stream had before this server started."""
        with self._lock:
            self._looks = deque([(time.monotonic(), tuples_count)])

    @contextmanager
    def scan(self) -> Iterator[None]:
        """Count a scan as running in the block."""
        with self._lock:
            self.running += 1
        try:
            yield
        finally:
            with self._lock:
                self.running -= 1

    def note_abort(self) -> None:
        """Count a scan that was overtaken by writers."""
        with self._lock:
            self.aborted += 1

    def tuples_per_second(self, tuples_count: int) -> float:
        """Return the rate of tuples since the call about RATE_S ago, or the first one, and note
        this call.
        """
        now_s = time.monotonic()
        with self._lock:
            looks = self._looks
            while len(looks) > 1 and now_s - looks[1][0] >= RATE_S:
                looks.popleft()
            then_s, then_count = looks[0]
            if now_s - looks[-1][0] >= LOOK_S:
                looks.append((now_s, tuples_count))
        return max(tuples_count - then_count, 0) / max(now_s - then_s, 1e-3)
