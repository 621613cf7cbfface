"""The reads of SELECT ...

FOR UPDATE and the like: rows are found in the transaction's snapshot, locked, and given to the
statement.

Enters: `LockedRead`s without open parameters, inside of a transaction. Leaves: Arrow tables by the
names of the scans that stand for them. May wait for others, so it needs a thread that nobody else
does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from engine.catalog.image import TableEntry
from engine.execution.reading import locks_rows
from engine.tables.locks import SessionLocks
from engine.tables.table_transaction import TableTransaction
from sql.errors import SqlError, not_supported
from sql.tree.expressions import Literal
from sql.tree.relations import Limit, LockedRead, Project, Relation, RowLock
from sql.types.datatypes import INT8


@locks_rows
def read_locked(
    transaction: TableTransaction, reads: Sequence[LockedRead], inputs: Mapping[str, pa.Table], read_only: bool
) -> dict[str, pa.Table]:
    """Return the rows of each read, all of them locked.

    Raises 25006, 40001, 40P01, 55P03, 57014.
    """
    found: dict[str, pa.Table] = {}
    for one in reads:
        if read_only and one.locks:
            what = f"SELECT {one.locks[0].strength}"
            raise SqlError("25006", f"cannot execute {what} in a read-only transaction")
        found[one.name] = locked_rows(transaction, one, {**inputs, **found}).select(range(one.width))
    return found


def locked_rows(transaction: TableTransaction, read: LockedRead, inputs: Mapping[str, pa.Table]) -> pa.Table:
    """Return the rows of a read with their identities."""
    locks = transaction.locks
    assert locks is not None, "a session's transaction"
    entries = [table_of(transaction, lock) for lock in read.locks]
    for entry in entries:
        locks.take(("table", entry.description.oid), "ROW SHARE")
    if any(lock.wait == "skip" for lock in read.locks):
        rows = free_rows(transaction, read, entries, inputs)
    else:
        rows = transaction.query(read.root, inputs)
        for lock, entry in zip(read.locks, entries, strict=True):
            take(locks, lock, entry, rows.column(lock.column).to_pylist())
    for lock, entry in zip(read.locks, entries, strict=True):
        transaction.require_unchanged(entry, rows.column(lock.column))
    return rows


def free_rows(
    transaction: TableTransaction, read: LockedRead, entries: Sequence[TableEntry], inputs: Mapping[str, pa.Table]
) -> pa.Table:
    """Return the rows of which nobody else has locks, as many as LIMIT wants; those are locked."""
    locks = transaction.locks
    assert locks is not None, "a session's transaction"
    root, limit, offset = unlimited(read.root)
    if limit is not None:
        counts = [locks.others_rows(entry.description.oid) for entry in entries]
        if None not in counts:
            wanted = offset + limit + sum(count or 0 for count in counts)
            root = Limit(root, Literal(wanted, INT8), None)
    rows = transaction.query(root, inputs)
    kept: list[int] = []
    identities = [rows.column(lock.column).to_pylist() for lock in read.locks]
    for index in range(rows.num_rows):
        if limit is not None and len(kept) >= offset + limit:
            break
        pairs = zip(read.locks, entries, identities, strict=True)
        if all(take(locks, lock, entry, [numbers[index]]) for lock, entry, numbers in pairs):
            kept.append(index)
    return rows.take(pa.array(kept[offset:], pa.int64()))


def unlimited(root: Relation) -> tuple[Relation, int | None, int]:
    """Return a relation without its LIMIT and OFFSET, and these."""
    if isinstance(root, Limit):
        return root.input, count_of(root.limit), count_of(root.offset) or 0
    if isinstance(root, Project) and isinstance(root.input, Limit):
        inner, limit, offset = unlimited(root.input)
        return replace(root, input=inner), limit, offset
    return root, None, 0


def count_of(value: object) -> int | None:
    """Return a constant count."""
    if value is None:
        return None
    if not isinstance(value, Literal):
        raise not_supported("SKIP LOCKED with a LIMIT that is no constant")
    if value.value is not None and int(str(value.value)) < 0:
        raise SqlError("2201W", "LIMIT must not be negative")
    return None if value.value is None else int(str(value.value))


def take(locks: SessionLocks, lock: RowLock, entry: TableEntry, rowids: Sequence[int]) -> bool:
    """Lock rows of a table; False: others have locks of them, and they are to be skipped.

    Raises 55P03 for NOWAIT.
    """
    if locks.take_rows(entry.description.oid, rowids, lock.strength, waits=lock.wait == "wait"):
        return True
    if lock.wait == "nowait":
        raise SqlError("55P03", f'could not obtain lock on row in relation "{lock.table}"')
    return False


def table_of(transaction: TableTransaction, lock: RowLock) -> TableEntry:
    """Return the entry of a locked table."""
    entry = transaction.image.entries[lock.table]
    assert isinstance(entry, TableEntry), lock.table
    return entry
