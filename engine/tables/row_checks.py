"""NOT NULL and CHECK of rows before they are written, with PostgreSQL's error for the first bad
row, and what indexes compute of them.

Enters: whole rows of a table. Leaves: values of keys, or 23502 or 23514 with the failing row in
DETAIL. Must not write.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from engine.streams.failing_rows import FailingRowError, null_error, tell_row
from engine.tables.table_expressions import hidden_keys
from sql.bind.readers import with_zone
from sql.bind.substitute import substitute_now
from sql.bind.writes.write_target import ROWS, columns_schema
from sql.catalog.catalog import ColumnDescription, ConstraintDescription, RelationDescription
from sql.emit.failing import can_fail
from sql.tree.expressions import Call, Expression
from sql.tree.relations import OutputColumn, Project, Scan
from sql.types.datatypes import BOOL

if TYPE_CHECKING:
    from engine.catalog.image import TableEntry
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


def with_computed(transaction: TableTransaction, table: TableEntry, rows: pa.Table) -> pa.Table:
    """Return rows with the values of the table's keys that no client sees, called as the others.

    What other indexes compute is evaluated where it may fail.

    rows: all columns of the table, called v<number>. Raises the errors of what indexes compute.
    """
    hidden = hidden_keys(table)
    columns, indexes = table.description.columns, table.description.constraints
    items = [value for _, value in hidden]
    items += [value for index in indexes for value in risky_values(index, columns)]
    if not rows.num_rows or not items:
        return rows
    schema = tuple(OutputColumn(f"v{column.number}", column.type) for column in columns)
    root = Project(Scan(ROWS, "rows", schema), tuple((f"?{place}?", item) for place, item in enumerate(items)))
    found = transaction.query(root, {ROWS: rows})
    for (column, _), values in zip(hidden, found.columns, strict=False):
        rows = rows.append_column(f"v{column.number}", values)
    return rows


def risky_values(index: ConstraintDescription, columns: Sequence[ColumnDescription]) -> list[Expression]:
    """Return what an index that is no key computes, as far as it may fail."""
    if not index.is_index or index.is_key or index.condition is None:
        return []
    where = index.where
    values = (*index.values(columns), *(() if where is None else (where,)))
    return [value for value in values if can_fail(value)]
