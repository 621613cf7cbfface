"""Snapshots that readers return, for the next reader: to take one costs as much as a small query.

Enters: cursors whose transactions have only read. Leaves: the same cursors, while they see the
newest commit. Each COMMIT ends them before it begins, since DuckDB shortens its log at a COMMIT
only while no other transaction is open. Thread-safe.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from engine.embedded.query_engine import Cursor, QueryEngine

KEPT_MAX = 8
# The number of the commit that made all rows which a server finds when it starts.
FOUND = 1


class SnapshotPool:
    """The cursors that wait for the next reader.

    Attributes:
        commits_count: the number of the newest snapshot, which is that of the last commit.
    """

    def __init__(self, engine: QueryEngine) -> None:
        self.commits_count = FOUND
        self._engine = engine
        self._lock = threading.Lock()
        self._kept: list[Cursor] = []
        # COMMITs that are under way, one in another.
        self._commits_running = 0

    def take(self) -> Cursor | None:
        """Return a cursor that sees the newest commit, or None.

        The caller makes sure that there is no commit meanwhile.
        """
        with self._lock:
            return self._kept.pop() if self._kept else None

    def give(self, cursor: Cursor, snapshot: int) -> bool:
        """Keep a cursor that sees the first `snapshot` commits.

        False: the next reader can't use it, and the caller ends it.
        """
        with self._lock:
            if self._commits_running or snapshot != self.commits_count or len(self._kept) >= KEPT_MAX:
                return False
            self._kept.append(cursor)
        return True

    @contextmanager
    def none_open(self) -> Iterator[None]:
        """End the kept cursors, and keep none until the end of the block, which is a COMMIT or the
        close.
        """
        with self._lock:
            self._commits_running += 1
            kept, self._kept = self._kept, []
        try:
            for cursor in kept:
                self._engine.roll_back(cursor)
            yield
        finally:
            with self._lock:
                self._commits_running -= 1

    def advance(self) -> None:
        """Count a commit, while none is open."""
        with self._lock:
            assert self._commits_running and not self._kept
            self.commits_count += 1
