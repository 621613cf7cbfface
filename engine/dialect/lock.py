"""The statement LOCK TABLE.

Enters: the statement and its transaction. Leaves: a lock until the transaction ends. Queries wait
for no lock: they read a snapshot. Statements that write to a table do wait, as do SELECT ... FOR
UPDATE and the like, and other LOCK TABLE.
"""

from __future__ import annotations

from engine.catalog.image import WORDS, CatalogImage, TableEntry
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.errors import SqlError
from sql.parse.statements.lock import LockTable


@handles(LockTable)
async def lock_tables(statement: LockTable, work: Work) -> None:
    """Lock the tables, one after the other. Raises 25P01, 42P01, 42809, 55P03, 40P01, 57014."""
    if not work.in_block:
        raise SqlError("25P01", "LOCK TABLE can only be used in transaction blocks")
    image = work.image
    for name, position in statement.tables:
        await work.threads.in_thread(lock_table, statement, name, table_oid(image, name, position), work)


def table_oid(image: CatalogImage, name: str, position: int) -> int:
    """Return the oid of a table. Raises 42P01, and 42809 for another relation."""
    entry = image.existing(name, position)
    if not isinstance(entry, TableEntry):
        detail = f"This operation is not supported for {WORDS[entry.description.kind]}s."
        raise SqlError("42809", f'cannot lock relation "{name}"', detail=detail)
    return entry.description.oid


def lock_table(statement: LockTable, name: str, oid: int, work: Work) -> None:
    """Lock one table; blocks while others have the lock."""
    if not work.locks.take(("table", oid), statement.mode, waits=not statement.nowait):
        raise SqlError("55P03", f'could not obtain lock on relation "{name}"')
