"""pg_sleep, pg_cancel_backend and pg_terminate_backend, as DuckDB's SQL calls them: what a statement does to sessions, its own and others.

Enters: calls of a whole column of rows at once, and the session that runs the statement. Leaves: what its `Backend` answers. Must not know
connections.
"""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

# A statement with one of these may take as long as it likes.
WAITING = frozenset({"pg_sleep"})


class Backend(Protocol):
    """A session's way to the time and to other sessions. Called on the thread that runs the statement."""

    def sleep(self, seconds: float) -> None:
        """Wait. Raises SqlError 57014 when the statement is cancelled meanwhile."""

    def signal(self, process_id: int, terminates: bool) -> bool:
        """Cancel what the session with this number runs, or end it. False, with a WARNING: there is no such session."""


def sleep_rows(backend: Backend, seconds: pa.ChunkedArray) -> pa.Array:
    """Wait once per row that is not NULL; void is an empty text."""
    out = []
    for value in seconds.to_pylist():
        if value is not None:
            backend.sleep(value)
        out.append(None if value is None else "")
    return pa.array(out, pa.string())


def signal_rows(backend: Backend, process_ids: pa.ChunkedArray, terminates: bool) -> pa.Array:
    """Signal the session of each row that is not NULL; tell whether it is there."""
    return pa.array(
        [None if number is None else backend.signal(number, terminates) for number in process_ids.to_pylist()],
        pa.bool_(),
    )
