"""ON CONFLICT for a whole set of rows at once, with the outcome that PostgreSQL reaches row by row.

Enters: rows to insert. Leaves: the rows to insert, the rows of the table that change instead, and
their order for RETURNING. Reads the table but does not write to it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from engine.tables.table_transaction import TableTransaction
from sql.bind.writes.on_conflict import EXCLUDED, ORDINAL, Arbiter, BoundConflict
from sql.errors import SqlError

SECOND_TIME = "ON CONFLICT DO UPDATE command cannot affect row a second time"
SECOND_TIME_HINT = (
    "Ensure that no rows proposed for insertion within the same command have duplicate constrained values."
)

Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Resolution:
    """The outcome of ON CONFLICT for the rows of one statement.

    Attributes:
        inserted: the rows to insert.
        changed: whole new rows for rows of the table, in the order of `identities`.
        places: the places of the inserted, then of the changed rows among those of the statement.
    """

    inserted: pa.Table
    changed: pa.Table | None
    identities: pa.ChunkedArray | None
    places: Numbers

    @property
    def rows_count(self) -> int:
        """How many rows the statement has written."""
        return len(self.places)

    def written(self) -> pa.Table:
        """Return the rows as they are written, in the order of the statement."""
        if self.changed is None:
            return self.inserted
        rows = pa.concat_tables([self.inserted, self.changed.rename_columns(self.inserted.column_names)])
        return rows.take(pa.array(np.argsort(self.places, kind="stable")))


def resolve(
    transaction: TableTransaction, conflict: BoundConflict, rows: pa.Table, inputs: Mapping[str, pa.Table]
) -> Resolution:
    """Return the outcome for each row. Raises 21000 when DO UPDATE would change a row twice."""
    count = rows.num_rows
    numbered = rows.append_column(ORDINAL.name, pa.array(np.arange(count, dtype=np.int64)))
    given = {**inputs, EXCLUDED: numbered}
    is_new = np.ones(count, dtype=np.bool_)
    matched: list[tuple[Numbers, Numbers]] = []
    for arbiter in conflict.arbiters:
        pairs = transaction.query(arbiter.matched, given)
        matched.append((numbers(pairs, 0), numbers(pairs, 1)))
        is_new[matched[-1][0]] = False
    if conflict.updates is None:
        if count > 1:
            drop_repeated(transaction, conflict.arbiters, given, is_new)
        return Resolution(rows.filter(pa.array(is_new)), None, None, np.flatnonzero(is_new))
    if count > 1:
        repeated = numbers(transaction.query(conflict.arbiters[0].repeated, given), 0)
        if is_new[repeated].any():
            raise SqlError("21000", SECOND_TIME, hint=SECOND_TIME_HINT)
    updates = transaction.query(conflict.updates, given)
    order = np.argsort(numbers(updates, 0), kind="stable")
    updates = updates.take(pa.array(order))
    refuse_second_change(matched[0], numbers(updates, 0))
    changed = updates.select(range(2, updates.num_columns))
    places = np.concatenate([np.flatnonzero(is_new), numbers(updates, 0)])
    return Resolution(rows.filter(pa.array(is_new)), changed, updates.column(1), places)


def drop_repeated(
    transaction: TableTransaction,
    arbiters: tuple[Arbiter, ...],
    given: Mapping[str, pa.Table],
    is_new: npt.NDArray[np.bool_],
) -> None:
    """Drop new rows that have a key of a kept row before them, whichever constraint the key is
    of.
    """
    groups_of: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for index, arbiter in enumerate(arbiters):
        repeated = transaction.query(arbiter.repeated, given)
        for ordinal, first in zip(numbers(repeated, 0).tolist(), numbers(repeated, 1).tolist(), strict=True):
            groups_of[ordinal].append((index, first))
    taken: set[tuple[int, int]] = set()
    for ordinal in sorted(groups_of):
        if not is_new[ordinal]:
            continue
        if taken.isdisjoint(groups_of[ordinal]):
            taken.update(groups_of[ordinal])
        else:
            is_new[ordinal] = False


def refuse_second_change(matched: tuple[Numbers, Numbers], updating: Numbers) -> None:
    """Raise 21000 when two rows would change the same row of the table."""
    ordinals, identities = matched
    if len(np.unique(identities)) == len(identities):
        return
    changing = set(updating.tolist())
    changed: set[int] = set()
    for ordinal, identity in sorted(zip(ordinals.tolist(), identities.tolist(), strict=True)):
        if identity in changed:
            raise SqlError("21000", SECOND_TIME, hint=SECOND_TIME_HINT)
        if ordinal in changing:
            changed.add(identity)


def numbers(table: pa.Table, index: int) -> Numbers:
    """Return the numbers of a bigint column."""
    column: Numbers = table.column(index).to_numpy()
    return column
