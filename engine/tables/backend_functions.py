"""pg_sleep, pg_cancel_backend, pg_advisory_lock and their like: effects of a statement on sessions.

DuckDB's SQL calls these functions. Enters: calls for a whole column of rows at once, and the
session that runs the statement. Leaves: the answers of its `Backend`. Must not know connections.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pyarrow as pa

from engine.tables.locks import Key
from sql.functions.session import ADVISORY_CALLS

# A statement with one of these may take as long as it likes, or is to end another one that does.
WAITING = frozenset({"pg_sleep", "pg_cancel_backend", "pg_terminate_backend"}) | {
    name for name in ADVISORY_CALLS if "try" not in name and "unlock" not in name
}


class Backend(Protocol):
    """A session's access to the time and to other sessions, on the thread that runs the
    statement.
    """

    def sleep(self, seconds: float) -> None:
        """Wait. Raises SqlError 57014 when the statement is cancelled meanwhile."""

    def signal(self, process_id: int, terminates: bool) -> bool:
        """Cancel the statement of the session with this number, or end the session.

        False, with a WARNING: there is no such session.
        """

    def set_config(self, name: str | None, value: str | None, local: bool) -> str:
        """Set a setting of the session; return its new value as SHOW prints it."""

    def notify(self, channel: str | None, payload: str | None) -> None:
        """Let the transaction's COMMIT send a notification."""

    def lock(self, key: Key, shared: bool, waits: bool, lasting: bool) -> bool:
        """Take an advisory lock, for the session or, if not `lasting`, for its transaction.

        False: another session has it, and `waits` is false.
        """

    def unlock(self, key: Key | None, shared: bool) -> bool:
        """Release an advisory lock of the session, None: all of them.

        False, with a WARNING: it has no such lock.
        """


def sleep_rows(backend: Backend, seconds: pa.ChunkedArray) -> pa.Array:
    """Wait once per row that is not NULL; void is an empty text."""
    out = []
    for value in seconds.to_pylist():
        if value is not None:
            backend.sleep(value)
        out.append(None if value is None else "")
    return pa.array(out, pa.string())


def signal_rows(backend: Backend, process_ids: pa.ChunkedArray, terminates: bool) -> pa.Array:
    """Signal the session of each row that is not NULL, and return whether it exists."""
    return pa.array(
        [None if number is None else backend.signal(number, terminates) for number in process_ids.to_pylist()],
        pa.bool_(),
    )


def set_rows(backend: Backend, names: pa.ChunkedArray, values: pa.ChunkedArray, local: pa.ChunkedArray) -> pa.Array:
    """Set a setting per row; return the new values."""
    rows = zip(names.to_pylist(), values.to_pylist(), local.to_pylist(), strict=True)
    return pa.array([backend.set_config(name, value, bool(is_local)) for name, value, is_local in rows], pa.string())


def notify_rows(backend: Backend, channels: pa.ChunkedArray, payloads: pa.ChunkedArray) -> pa.Array:
    """Send a notification per row; void is an empty text."""
    for channel, payload in zip(channels.to_pylist(), payloads.to_pylist(), strict=True):
        backend.notify(channel, payload)
    return pa.array([""] * len(channels), pa.string())


def advisory_rows(name: str, backend: Backend, count: int, numbers: Sequence[pa.ChunkedArray]) -> pa.Array:
    """Take or release an advisory lock per row without NULL; void is an empty text."""
    shared, unlocks, tries, lasting = "_shared" in name, "unlock" in name, "_try_" in name, "_xact_" not in name
    if not numbers:
        backend.unlock(None, shared)
        return pa.array([""] * count, pa.string())
    out: list[bool | None] = []
    for values in zip(*(column.to_pylist() for column in numbers), strict=True):
        key = ("advisory", *values)
        if None in values:
            out.append(None)
        else:
            out.append(backend.unlock(key, shared) if unlocks else backend.lock(key, shared, not tries, lasting))
    if unlocks or tries:
        return pa.array(out, pa.bool_())
    return pa.array([None if one is None else "" for one in out], pa.string())
