"""NOT NULL and CHECK of rows before they are written, with PostgreSQL's error for the first bad
row.

Enters: whole rows of a table. Leaves: nothing, or 23502 or 23514 with the failing row in DETAIL.
Must not write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from engine.streams.failing_rows import FailingRowError, null_error, tell_row
from sql.bind.readers import with_zone
from sql.bind.substitute import substitute_now
from sql.bind.writes.write_target import ROWS, columns_schema
from sql.catalog.catalog import RelationDescription
from sql.tree.expressions import Call
from sql.tree.relations import Project, Scan
from sql.types.datatypes import BOOL

if TYPE_CHECKING:
    from engine.tables.table_transaction import TableTransaction


def check_rows(
    transaction: TableTransaction,
    relation: RelationDescription,
    rows: pa.Table,
    now_us: int,
    time_zone: str,
    given: Iterable[int],
) -> None:
    """Raise the error of the first bad row, in PostgreSQL's order: NULLs by column, then checks by
    name.

    given: indexes of the columns whose values the statement has given; a client that may not read
    the table is told no other values.
    """
    failures = [*null_failures(relation, rows), *check_failures(transaction, relation, rows, now_us, time_zone)]
    if failures:
        place, error = min(failures, key=lambda failure: failure[0])
        error.row = place
        tell_row(error, relation.oid, relation.columns, rows.slice(place, 1), given, time_zone)
        raise error


def null_failures(relation: RelationDescription, rows: pa.Table) -> Iterator[tuple[int, FailingRowError]]:
    """Yield the first NULL of each column that takes none."""
    for column, values in zip(relation.columns, rows.columns, strict=True):
        if column.not_null and values.null_count:
            yield pc.index(values.is_null(), True).as_py(), null_error(relation.name, column.name)


def check_failures(
    transaction: TableTransaction, relation: RelationDescription, rows: pa.Table, now_us: int, time_zone: str
) -> Iterator[tuple[int, FailingRowError]]:
    """Yield, for each check, the first row for which the check is false."""
    checks = sorted((one for one in relation.constraints if one.kind == "check"), key=lambda one: one.name)
    if not checks or not rows.num_rows:
        return
    items = tuple((one.name, Call("is_false", (one.condition,), BOOL)) for one in checks if one.condition is not None)
    checked = Project(Scan(ROWS, "rows", columns_schema(relation)), items)
    root = with_zone(substitute_now(checked, now_us), time_zone)
    for check, failed in zip(checks, transaction.query(root, {ROWS: rows}).columns, strict=True):
        place = pc.index(failed, True).as_py()
        if place >= 0:
            message = f'new row for relation "{relation.name}" violates check constraint "{check.name}"'
            yield place, FailingRowError("23514", message, table_name=relation.name, constraint_name=check.name)
