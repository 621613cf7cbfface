"""NOT NULL and CHECK of rows that are about to be written, and how PostgreSQL tells of the first row that fails.

Enters: whole rows of a table. Leaves: nothing, or 23502 or 23514 with the failing row in DETAIL. Must not write.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from ringbuffer.encode_rows import encode_data_rows
from ringbuffer.output_forms import Forms
from sql.bind.substitute import substitute_now
from sql.bind.write_target import ROWS, columns_schema
from sql.catalog import RelationDescription
from sql.datatypes import BOOL
from sql.errors import SqlError
from sql.expressions import Call
from sql.relations import Project, Scan
from views.arrow_schema import encoded_family

if TYPE_CHECKING:
    from engine.tables.table_transaction import TableTransaction

# PostgreSQL shows so much of each value.
SHOWN_BYTES_MAX = 64
# Of a DataRow message: type byte, length, count of values.
DATA_ROW_HEAD_BYTES = 7


class FailingRowError(SqlError):
    """A row that a table can't have. row: its index among the rows that were checked."""

    row: int = 0


def check_rows(
    transaction: TableTransaction,
    relation: RelationDescription,
    rows: pa.Table,
    now_us: int,
    time_zone: str,
    given: Iterable[int],
) -> None:
    """Raise what is wrong with the first bad row, in PostgreSQL's order: NULLs by column, then checks by name.

    given: indexes of the columns whose values the statement has given. Nobody is told of others who may not read the table.
    """
    failures = [*null_failures(relation, rows), *check_failures(transaction, relation, rows, now_us)]
    if failures:
        place, error = min(failures, key=lambda failure: failure[0])
        error.row = place
        values = row_values(relation, rows.slice(place, 1), time_zone)
        error.detail = f"Failing row contains ({', '.join(values)})."
        error.read_oid = relation.oid
        shown = sorted(set(given))
        if shown:
            names = ", ".join(relation.columns[index].name for index in shown)
            texts = ", ".join(values[index] for index in shown)
            error.detail_without = f"Failing row contains ({names}) = ({texts})."
        raise error


def null_failures(relation: RelationDescription, rows: pa.Table) -> Iterator[tuple[int, FailingRowError]]:
    """Yield the first NULL of each column that takes none."""
    for column, values in zip(relation.columns, rows.columns, strict=True):
        if column.not_null and values.null_count:
            message = f'null value in column "{column.name}" of relation "{relation.name}" violates not-null constraint'
            error = FailingRowError("23502", message, table_name=relation.name, column_name=column.name)
            yield pc.index(values.is_null(), True).as_py(), error


def check_failures(
    transaction: TableTransaction, relation: RelationDescription, rows: pa.Table, now_us: int
) -> Iterator[tuple[int, FailingRowError]]:
    """Yield the first row of each check that is false for it."""
    checks = sorted((one for one in relation.constraints if one.kind == "check"), key=lambda one: one.name)
    if not checks or not rows.num_rows:
        return
    items = tuple((one.name, Call("is_false", (one.condition,), BOOL)) for one in checks if one.condition is not None)
    root = substitute_now(Project(Scan(ROWS, "rows", columns_schema(relation)), items), now_us)
    for check, failed in zip(checks, transaction.query(root, {ROWS: rows}).columns, strict=True):
        place = pc.index(failed, True).as_py()
        if place >= 0:
            message = f'new row for relation "{relation.name}" violates check constraint "{check.name}"'
            yield place, FailingRowError("23514", message, table_name=relation.name, constraint_name=check.name)


def row_values(relation: RelationDescription, row: pa.Table, time_zone: str) -> list[str]:
    """Return the values of one row as DETAIL shows them."""
    families = [encoded_family(column.type) for column in relation.columns]
    message, _ = encode_data_rows(row.columns, families, [0] * len(families), Forms(time_zone), 1)
    shown = []
    start = DATA_ROW_HEAD_BYTES
    for _ in families:
        (length,) = struct.unpack_from("!i", message, start)
        start += 4
        shown.append("null" if length < 0 else clipped(message[start : start + length]))
        start += max(length, 0)
    return shown


def clipped(value: bytes) -> str:
    """Return a value's text, cut where PostgreSQL cuts it."""
    if len(value) <= SHOWN_BYTES_MAX:
        return value.decode()
    return value[:SHOWN_BYTES_MAX].decode(errors="ignore") + "..."
