"""The way to end a function of ours in the middle of a batch of rows: DuckDB itself looks between
batches alone.

A cursor has a `Run`, whose number is a variable of its connection; calls that may take long get the
number as their last argument. Must not know of sessions.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from weakref import WeakValueDictionary

import pyarrow as pa

from sql.errors import SqlError
from sql.functions.arguments import RUN_VARIABLE

NUMBERS = itertools.count(1)
HERE = threading.local()


class Run:
    """The run of a statement on a cursor.

    Attributes:
        is_stopped: the run is to end.
        execute: of the cursor's connection.
    """

    def __init__(self, execute: Callable[[str], object]) -> None:
        self.number = next(NUMBERS)
        self.is_stopped = False
        execute(f"SET VARIABLE {RUN_VARIABLE} = {self.number}::BIGINT")
        RUNS[self.number] = self


RUNS: WeakValueDictionary[int, Run] = WeakValueDictionary()


def in_run(function: Callable[..., pa.Array]) -> Callable[..., pa.Array]:
    """Return a function with the number of its run as a further argument.

    `go_on` in the function asks for that run.
    """

    def run(*columns: pa.ChunkedArray) -> pa.Array:
        *others, numbers = columns
        HERE.run = RUNS.get(numbers[0].as_py()) if len(numbers) else None
        try:
            return function(*others)
        finally:
            HERE.run = None

    return run


def go_on() -> None:
    """Do nothing, unless the run of this thread is to end. Raises 57014."""
    run = getattr(HERE, "run", None)
    if run is not None and run.is_stopped:
        raise SqlError("57014", "canceling statement due to user request")
