"""pg_sleep, pg_cancel_backend and their like: effects of a statement on sessions.

DuckDB's SQL calls these functions. Enters: calls for one row, and the session that runs the
statement. Leaves: the answers of its `Backend`. Must not know connections.
"""

from __future__ import annotations

from engine.tables.session_functions import AnsweringSession, answers_rows


@answers_rows("pg_sleep", "DOUBLE", "VARCHAR")
def pg_sleep(session: AnsweringSession, seconds: float) -> str:
    """Wait; void is an empty text."""
    session.backend.sleep(seconds)
    return ""


@answers_rows("pg_cancel_backend", "INTEGER", "BOOLEAN")
def pg_cancel_backend(session: AnsweringSession, process_id: int) -> bool:
    """Cancel what a session runs."""
    return session.backend.signal(process_id, terminates=False)


@answers_rows("pg_terminate_backend", "INTEGER", "BOOLEAN")
def pg_terminate_backend(session: AnsweringSession, process_id: int) -> bool:
    """End a session."""
    return session.backend.signal(process_id, terminates=True)


@answers_rows("set_config", "VARCHAR VARCHAR BOOLEAN", "VARCHAR", strict=False)
def set_config(session: AnsweringSession, name: str | None, value: str | None, local: bool | None) -> str:
    """Set a parameter; a NULL value resets it."""
    return session.backend.set_config(name, value, bool(local))
