"""The registry of functions that a session answers for DuckDB's SQL: nextval, pg_sleep and the
like.

A function registers itself: `@answers("pg_sleep", "DOUBLE", "VARCHAR")`. Enters: calls for a whole
column of rows at once, with the number of the session that runs the statement. Leaves: values in
the order of the rows. Must not know what any of the functions does.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Protocol

import duckdb
import pyarrow as pa
from duckdb.func import FunctionNullHandling, PythonUDFType

from engine.embedded.error_mark import marked
from engine.embedded.functions.registration import type_of
from engine.tables.locks import SessionLocks
from sql.errors import SqlError


class Backend(Protocol):
    """A session's access to the time and to other sessions, on the thread that runs the
    statement.

    Attributes:
        locks: the locks of the session.
    """

    locks: SessionLocks

    def sleep(self, seconds: float) -> None:
        """Wait. Raises SqlError 57014 when the statement is cancelled meanwhile."""

    def signal(self, process_id: int, terminates: bool) -> bool:
        """Cancel the statement of the session with this number, or end the session.

        False, with a WARNING: there is no such session.
        """

    def set_config(self, name: str | None, value: str | None, local: bool) -> str:
        """Set a setting of the session; return its new value as SHOW prints it."""

    def after_commit(self, effect: Hashable) -> None:
        """Let an effect happen after the transaction's COMMIT."""

    def warn(self, text: str) -> None:
        """Give the client a WARNING."""


class AnsweringSession(Protocol):
    """A session as the functions get it (`engine.tables.sequence_functions.SequenceSession`).

    Attributes:
        backend: the session's effects on sessions.
    """

    backend: Backend


# A function of the session and the columns of its arguments; without arguments it returns one row.
Answer = Callable[..., pa.Array]
# A function of the session and the values of one row.
Row = Callable[..., str | bool | int | None]
RESULTS = {"VARCHAR": pa.string(), "BOOLEAN": pa.bool_(), "BIGINT": pa.int64()}
# Name -> the function, DuckDB's types of its arguments without the session, and of its result.
ANSWERS: dict[str, tuple[Answer, list[str], str]] = {}
# The sessions by their numbers.
SESSIONS: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def answers(name: str, arguments: str, result: str) -> Callable[[Answer], Answer]:
    """Register a function under its canonical name (`sql.functions`).

    arguments: DuckDB's types of all but the session, with blanks between.
    """

    def register(answer: Answer) -> Answer:
        assert name not in ANSWERS, name
        ANSWERS[name] = (answer, arguments.split(), result)
        return answer

    return register


def answers_rows(name: str, arguments: str, result: str, strict: bool = True) -> Callable[[Row], Row]:
    """Register a function of the values of one row, as `answers` does. strict: NULL gives NULL."""

    def register(row: Row) -> Row:
        @answers(name, arguments, result)
        @wraps(row)
        def of_columns(session: AnsweringSession, *columns: pa.ChunkedArray) -> pa.Array:
            rows = zip(*(column.to_pylist() for column in columns), strict=True)
            return pa.array([None if strict and None in values else row(session, *values) for values in rows], arrow)

        return row

    arrow = RESULTS[result]
    return register


def register_session_functions(connection: duckdb.DuckDBPyConnection) -> None:
    """Register the functions in DuckDB, which may not fold, share or leave out any call."""
    for name, (answer, arguments, result) in ANSWERS.items():
        connection.create_function(
            f"session_{name}",
            answered(answer),
            [type_of(connection, argument) for argument in ("BIGINT", *arguments)],
            type_of(connection, result),
            type=PythonUDFType.ARROW,
            null_handling=FunctionNullHandling.SPECIAL,
            side_effects=True,
        )


def answered(answer: Answer) -> Answer:
    """Return a function of the numbers of the session, one per row, in place of the session.

    Its parameters are those of `answer`, since DuckDB counts them.
    """

    @wraps(answer)
    def call(numbers: pa.ChunkedArray, *columns: pa.ChunkedArray) -> pa.Array:
        try:
            found = answer(SESSIONS[numbers[0].as_py()], *columns)
        except SqlError as error:
            raise ValueError(marked(error)) from error
        return found if columns else pa.concat_arrays([found] * len(numbers))

    return call
