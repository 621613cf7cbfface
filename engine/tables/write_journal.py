"""The writes of a transaction block to tables, so that ROLLBACK TO SAVEPOINT can repeat the first
of them.

DuckDB has no savepoints, and an error ends its transaction. A block that goes back gets a fresh
DuckDB transaction with the same snapshot, in which the steps before the savepoint are repeated:
their texts and rows, nothing is evaluated anew. The same snapshot can be had until another
transaction commits to tables; before that a block with savepoints gets spare transactions. Must not
know sessions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from engine.catalog.image import TableEntry
from engine.embedded.duckdb_errors import CONFLICT
from engine.embedded.query_engine import Cursor, passing_rows
from engine.tables.deferral import Deferral
from sql.errors import SqlError

# Spare transactions of a block from the moment at which its snapshot is not the newest any more.
SPARES = 8
# Longer than any name of a client.
ROWS = "rows of a statement -------------------------------------------------"
SNAPSHOT_GONE = "could not roll back to the savepoint because others have changed tables in between"


@dataclass(frozen=True)
class Step:
    """One statement for DuckDB.

    Attributes:
        rows: the table that is registered as `ROWS` for it.
        count: how many rows it has written, None: it counts none.
        repeatable: false if it computes something else each time.
    """

    text: str
    values: tuple[object, ...] = ()
    rows: pa.Table | None = None
    count: int | None = None
    repeatable: bool = True


@dataclass(frozen=True)
class TableMark:
    """A point of a transaction on tables. The default: its beginning."""

    steps_count: int = 0
    changed: bool = False
    written: dict[str, TableEntry] = field(default_factory=dict)
    unguarded: frozenset[str] = frozenset()
    decisive: frozenset[tuple[str, str]] = frozenset()
    deferral: Deferral[Any] = field(default_factory=Deferral)


class WriteJournal:
    """The steps of one block.

    A block whose rows take more than `bytes_max` forgets its steps and can't go back. Spares are
    open DuckDB transactions with the snapshot of the block.

    Attributes:
        holds: true if the snapshot is kept for going back.
    """

    def __init__(self, bytes_max: int) -> None:
        self.steps: list[Step] = []
        self.steps_count = 0
        self.holds = False
        self._spares: list[Cursor] | None = None
        self._is_over = False
        self._lock = threading.Lock()
        self._bytes_left = bytes_max
        self._bytes_max = bytes_max

    def provide(self, open_snapshot: Callable[[], Cursor]) -> None:
        """Open the spare transactions, once."""
        with self._lock:
            if self._spares is None and not self._is_over:
                self._spares = []
                for _ in range(SPARES):
                    self._spares.append(open_snapshot())

    def take_spare(self) -> Cursor:
        """Return a spare transaction. Raises 40001 without one."""
        with self._lock:
            if not self._spares:
                raise SqlError("40001", SNAPSHOT_GONE)
            return self._spares.pop()

    def end(self) -> list[Cursor]:
        """Return the spare transactions that are left: the block is over."""
        with self._lock:
            self._is_over = True
            left, self._spares = self._spares or [], None
            return left

    def add(self, step: Step) -> None:
        """Note a step that is done."""
        self.steps_count += 1
        if step.rows is not None:
            self._bytes_left -= step.rows.nbytes
        if self._bytes_left < 0:
            self.steps.clear()
        else:
            self.steps.append(step)

    def back_to(self, steps_count: int) -> Sequence[Step]:
        """Forget the steps after a mark, and return those before it.

        Raises 0A000 if they were too many to keep.
        """
        if self._bytes_left < 0:
            raise SqlError(
                "0A000",
                "cannot roll back to a savepoint of a transaction that has written so much to tables",
                detail=f"Its rows take more than {self._bytes_max:,} bytes.",
                hint="Roll back the whole transaction.",
            )
        for step in self.steps[steps_count:]:
            self._bytes_left += 0 if step.rows is None else step.rows.nbytes
        del self.steps[steps_count:]
        self.steps_count = steps_count
        return self.steps


def perform(cursor: Cursor, step: Step) -> int | None:
    """Do a step, and return how many rows it has written. Raises DuckDB's errors."""
    with passing_rows(cursor.connection, ROWS, step.rows):
        found = cursor.connection.execute(step.text, list(step.values)).fetchone()
    return int(found[0]) if found and isinstance(found[0], int) else None


def repeat(cursor: Cursor, steps: Sequence[Step]) -> None:
    """Repeat steps in a transaction with the same snapshot.

    Raises DuckDB's errors, 0A000, and 40001 if a step does not do the same.
    """
    for step in steps:
        if not step.repeatable:
            raise SqlError(
                "0A000",
                "cannot roll back to a savepoint behind ALTER TABLE with a volatile expression",
                hint="Roll back the whole transaction.",
            )
        if perform(cursor, step) != step.count:
            raise SqlError("40001", CONFLICT, detail="What came before the savepoint could not be repeated.")
