"""How late a machine is: a thread that wakes up, writes and syncs a few bytes beside the server,
again and again.

Enters: a folder on the server's disk. Leaves: how late the latest of its beats was. A server on a
machine that keeps everybody waiting can't keep its times either, and only by what is measured may
it be late.
"""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from types import TracebackType

BEAT_S = 0.03


class Pulse:
    """Beats inside a `with` block."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "pulse"
        self._late_s = 0.0
        self._due_s = 0.0
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._run, name="pulse")

    def __enter__(self) -> Pulse:
        self._due_s = time.monotonic() + BEAT_S
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ends.set()
        self._thread.join()

    @property
    def late_s(self) -> float:
        """How late the latest beat of all was, or the one that is still to come."""
        return max(self._late_s, time.monotonic() - self._due_s)

    def _run(self) -> None:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT)
        try:
            while not self._ends.wait(max(self._due_s - time.monotonic(), 0)):
                os.pwrite(descriptor, b"beat", 0)
                os.fdatasync(descriptor)
                self._late_s = self.late_s
                self._due_s = time.monotonic() + BEAT_S
        finally:
            os.close(descriptor)
