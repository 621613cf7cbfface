"""PostgreSQL's errors for a row that a relation can't have, with the row in the DETAIL.

Enters: one row as Arrow. Leaves: SqlError with a DETAIL for each kind of reader. Must not check
anything.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

import pyarrow as pa

from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.rows import encode_data_rows
from sql.catalog.catalog import ColumnDescription
from sql.errors import SqlError
from views.model.arrow_schema import encoded_family

# PostgreSQL shows so much of each value.
SHOWN_BYTES_MAX = 64
# Of a DataRow message: type byte, length, count of values.
DATA_ROW_HEAD_BYTES = 7


class FailingRowError(SqlError):
    """A row that a table can't have. row: its index among the rows that were checked."""

    row: int = 0


def null_error(relation: str, column: str) -> FailingRowError:
    """Return the error 23502 for a NULL in a column that takes none."""
    message = f'null value in column "{column}" of relation "{relation}" violates not-null constraint'
    return FailingRowError("23502", message, table_name=relation, column_name=column)


def tell_row(
    error: SqlError,
    oid: int,
    columns: Sequence[ColumnDescription],
    row: pa.Table,
    given: Iterable[int],
    time_zone: str,
) -> None:
    """Put a row of the relation with that oid into the DETAIL of an error.

    A client that may not read the row is told only the values that its statement has given.
    """
    values = row_values(columns, row, time_zone)
    error.detail = f"Failing row contains ({', '.join(values)})."
    error.read_oid = oid
    shown = sorted(set(given))
    if shown:
        names = ", ".join(columns[index].name for index in shown)
        texts = ", ".join(values[index] for index in shown)
        error.detail_without = f"Failing row contains ({names}) = ({texts})."


def row_values(columns: Sequence[ColumnDescription], row: pa.Table, time_zone: str) -> list[str]:
    """Return the values of one row in the form that DETAIL shows."""
    families = [encoded_family(column.type) for column in columns]
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
    """Return the text of a value, cut where PostgreSQL cuts it."""
    if len(value) <= SHOWN_BYTES_MAX:
        return value.decode()
    return value[:SHOWN_BYTES_MAX].decode(errors="ignore") + "..."
