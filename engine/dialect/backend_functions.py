"""pg_sleep, pg_cancel_backend and their like: effects of a statement on sessions.

DuckDB's SQL calls these functions. Enters: calls for a whole column of rows at once, and the
session that runs the statement. Leaves: the answers of its `Backend`. Must not know connections.
"""

from __future__ import annotations

import pyarrow as pa

from engine.tables.session_functions import AnsweringSession, Backend, answers


@answers("pg_sleep", "DOUBLE", "VARCHAR")
def pg_sleep(session: AnsweringSession, seconds: pa.ChunkedArray) -> pa.Array:
    """Wait once per row that is not NULL; void is an empty text."""
    out = []
    for value in seconds.to_pylist():
        if value is not None:
            session.backend.sleep(value)
        out.append(None if value is None else "")
    return pa.array(out, pa.string())


@answers("pg_cancel_backend", "INTEGER", "BOOLEAN")
def pg_cancel_backend(session: AnsweringSession, process_ids: pa.ChunkedArray) -> pa.Array:
    """Cancel what the session of each row runs."""
    return signalled(session.backend, process_ids, terminates=False)


@answers("pg_terminate_backend", "INTEGER", "BOOLEAN")
def pg_terminate_backend(session: AnsweringSession, process_ids: pa.ChunkedArray) -> pa.Array:
    """End the session of each row."""
    return signalled(session.backend, process_ids, terminates=True)


def signalled(backend: Backend, process_ids: pa.ChunkedArray, terminates: bool) -> pa.Array:
    """Signal the session of each row that is not NULL, and return whether it exists."""
    return pa.array(
        [None if number is None else backend.signal(number, terminates) for number in process_ids.to_pylist()],
        pa.bool_(),
    )


@answers("set_config", "VARCHAR VARCHAR BOOLEAN", "VARCHAR")
def set_config(
    session: AnsweringSession, names: pa.ChunkedArray, values: pa.ChunkedArray, local: pa.ChunkedArray
) -> pa.Array:
    """Set a setting per row; return the new values."""
    rows = zip(names.to_pylist(), values.to_pylist(), local.to_pylist(), strict=True)
    set_one = session.backend.set_config
    return pa.array([set_one(name, value, bool(is_local)) for name, value, is_local in rows], pa.string())
