"""The changes of a query's answer, as SUBSCRIBE gives them: rows that are gone and rows that have
come, with the time and the difference before their columns.

Enters: two answers as Arrow tables. Leaves: one table in the form of `subscribed_schema`. The names
of the added columns are Materialize's. Must not read an answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import pyarrow as pa

from engine.embedded.query_engine import QueryEngine
from ringbuffer.memory.stored_values import bytes_of, values_of
from sql.catalog.catalog import ColumnDescription
from sql.tree.relations import OutputColumn, Scan, Schema, SetOperation
from sql.types.datatypes import BOOL, BYTEA, INT8, TEXT
from views.model.arrow_schema import arrow_schema, column_layout

BEFORE, AFTER = "before", "after"


def subscribed_schema(told: Schema, progress: bool) -> Schema:
    """Return the columns of a subscription to a query whose columns are `told`.

    mz_timestamp is in milliseconds since 1970, and rises from one answer to the next; mz_diff is 1
    for a row that has come, -1 for one that is gone.
    """
    progressed = (OutputColumn("mz_progressed", BOOL),) if progress else ()
    return (OutputColumn("mz_timestamp", INT8), *progressed, OutputColumn("mz_diff", INT8), *told)


def differences(
    engine: QueryEngine, told: Schema, before: pa.Table, after: pa.Table, token: Hashable
) -> list[tuple[int, pa.Table]]:
    """Return the rows that are gone, and those that have come, each with its difference.

    Equal rows count one by one. Raises 57014.
    """
    if before is after or before.equals(after):
        return []
    forms = _forms(told)
    schema, tables = compared(told, (before, after))
    inputs = dict(zip((BEFORE, AFTER), tables, strict=True))
    scans = {name: Scan(name, "rows", schema) for name in inputs}
    found = []
    for diff, one, other in ((-1, BEFORE, AFTER), (1, AFTER, BEFORE)):
        rows = engine.run(SetOperation("except", True, scans[one], scans[other], schema), inputs, token)
        if rows.num_rows:
            columns = [
                column if form is None else values_of(column.combine_chunks(), form)
                for column, form in zip(rows.columns, forms, strict=True)
            ]
            found.append((diff, pa.Table.from_arrays(columns, schema=arrow_schema(told))))
    return found


def compared(told: Schema, tables: Sequence[pa.Table]) -> tuple[Schema, list[pa.Table]]:
    """Return tables in a form in which the engine compares values as they are kept, and its
    columns.
    """
    forms = _forms(told)
    # What is a text here is compared as such: the engine would compare jsonb by its meaning.
    kinds = [
        BYTEA if form is not None else TEXT if field.type == pa.string() else column.type
        for column, form, field in zip(told, forms, arrow_schema(told), strict=True)
    ]
    schema: Schema = tuple(OutputColumn(f"c{number}", kind) for number, kind in enumerate(kinds))
    return schema, [_comparable(table, forms, schema) for table in tables]


def _forms(told: Schema) -> list[pa.DataType | None]:
    return [column_layout(ColumnDescription(column.name, column.type)).value_form for column in told]


def _comparable(table: pa.Table, forms: list[pa.DataType | None], schema: Schema) -> pa.Table:
    """Return rows whose values of other forms than the engine compares are their bytes."""
    columns = [
        column if form is None else bytes_of(column.combine_chunks())
        for column, form in zip(table.columns, forms, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema=arrow_schema(schema))


def as_told(rows: list[tuple[int, pa.Table]], time_ms: int, told: Schema, progress: bool) -> pa.Table:
    """Return rows with their time and difference; with `progress`, a row follows that says that no
    more come before the next millisecond.
    """
    schema = arrow_schema(subscribed_schema(told, progress))
    pieces = [
        _with_columns([time_ms, *([False] if progress else []), diff], table.columns, table.num_rows, schema)
        for diff, table in rows
    ]
    if progress:
        nulls = [pa.nulls(1, field.type) for field in list(schema)[3:]]
        pieces.append(_with_columns([time_ms + 1, True, None], nulls, 1, schema))
    return pa.concat_tables(pieces) if pieces else schema.empty_table()


def _with_columns(first: list[object], columns: list[pa.Array], rows_count: int, schema: pa.Schema) -> pa.Table:
    """Return columns after columns of one value each."""
    added = [pa.array([value] * rows_count, field.type) for value, field in zip(first, schema, strict=False)]
    return pa.Table.from_arrays([*added, *columns], schema=schema)
