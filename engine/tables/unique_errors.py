"""PostgreSQL's error for a violated key: the constraint, and the key that exists already.

Enters: DuckDB's exception, and the rows that were to be written. Leaves: a 23505 SqlError. DuckDB
names no constraint and writes values in its own way, so the key is looked up by DuckDB's text of it
and encoded anew; this costs only on failure.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import replace

import duckdb
import pyarrow as pa

from engine.catalog.image import CatalogImage, TableEntry
from engine.catalog.system import the_system
from engine.embedded.query_engine import QueryEngine
from engine.embedded.result_forms import in_forms
from engine.tables.table_expressions import key_columns
from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.rows import encode_data_rows
from sql.catalog.catalog import ColumnDescription, ConstraintDescription
from sql.errors import SqlError
from sql.tree.relations import OutputColumn
from views.model.arrow_schema import encoded_family

NAMED_KEY = re.compile(r'Duplicate key "(.*)" violates (?:primary key|unique) constraint', re.DOTALL)
PLAIN_KEY = re.compile(r'constraint violation: duplicate key "(.*)"', re.DOTALL)
# Longer than any name of a client.
ROWS = "rows that a key has refused -----------------------------------------"
# Of a DataRow message: type byte, length, count of values.
DATA_ROW_HEAD_BYTES = 7


def unique_violation(
    engine: QueryEngine,
    error: duckdb.Error,
    tables: Sequence[TableEntry],
    rows: pa.Table | None,
    time_zone: str,
    image: CatalogImage,
) -> SqlError | None:
    """Return the client's error if `error` is a violated key of one of `tables`, else None.

    rows: those to be written, with columns v<number>; None at COMMIT, when the key is in a
    committed row of another transaction.
    """
    text = str(error)
    named, plain = NAMED_KEY.search(text), PLAIN_KEY.search(text)
    found = named or plain
    if found is None:
        return None
    fallback: SqlError | None = None
    for table, constraint in _keys(tables):
        columns = key_columns(table, constraint)
        labels = [f"c{column.number}: " if named is not None else "" for column in columns]
        if not found.group(1).startswith(labels[0]):
            continue
        key = _looked_up(engine, table, columns, labels, found.group(1), rows)
        shown = (
            None
            if key is None
            else key_text(key_names(image, table, constraint), values_text(key.columns, columns, time_zone))
        )
        failure = duplicate_key(table, constraint, shown)
        if key is not None:
            return failure
        fallback = fallback or failure
    return fallback


def values_text(values: Sequence[pa.ChunkedArray], columns: Sequence[ColumnDescription], time_zone: str) -> list[str]:
    """Return the values of one row, without NULLs, as PostgreSQL prints them."""
    families = [encoded_family(column.type) for column in columns]
    message, _ = encode_data_rows(values, families, [0] * len(families), Forms(time_zone), 1)
    shown: list[str] = []
    start = DATA_ROW_HEAD_BYTES
    for _ in families:
        (length,) = struct.unpack_from("!i", message, start)
        shown.append(message[start + 4 : start + 4 + length].decode())
        start += 4 + length
    return shown


def _keys(tables: Sequence[TableEntry]) -> Iterator[tuple[TableEntry, ConstraintDescription]]:
    for table in tables:
        for constraint in table.description.constraints:
            if constraint.is_key:
                yield table, constraint


def _looked_up(
    engine: QueryEngine,
    table: TableEntry,
    columns: Sequence[ColumnDescription],
    labels: Sequence[str],
    text: str,
    rows: pa.Table | None,
) -> pa.Table | None:
    """Return the key columns of the row that DuckDB prints as `text`.

    The row is one of those to write, or a committed row of the table.
    """
    sources = [(f"stored.{table.physical}", "c")]
    if rows is not None:
        sources.insert(0, (f'"{ROWS}"', "v"))
    cursor = engine.take_cursor()
    try:
        if rows is not None:
            cursor.connection.register(ROWS, rows)
        for source, letter in sources:
            names = [f"{letter}{column.number}" for column in columns]
            if letter == "v" and rows is not None and not set(names) <= set(rows.column_names):
                continue
            shown = " || ', ' || ".join(
                f"'{label}' || CAST({name} AS VARCHAR)" for label, name in zip(labels, names, strict=True)
            )
            query = f"SELECT {', '.join(names)} FROM {source} WHERE {shown} = ? LIMIT 1"
            try:
                found: pa.Table = cursor.connection.sql(query, params=[text]).to_arrow_table()
            except duckdb.CatalogException:
                # Only the transaction that has made the table sees it.
                continue
            if found.num_rows:
                return in_forms(found, tuple(OutputColumn(column.name, column.type) for column in columns))
    finally:
        if rows is not None:
            cursor.connection.unregister(ROWS)
        engine.give_back(cursor)
    return None


def duplicate_key(table: TableEntry, constraint: ConstraintDescription, key: str | None) -> SqlError:
    """Return the error for a key that exists already. key: columns and values, if they are
    known.
    """
    return SqlError(
        "23505",
        f'duplicate key value violates unique constraint "{constraint.name}"',
        detail=None if key is None else f"Key {key} already exists.",
        read_oid=table.description.oid,
        table_name=table.description.name,
        constraint_name=constraint.name,
    )


def key_names(image: CatalogImage, table: TableEntry, key: ConstraintDescription) -> list[str]:
    """Return what a key is over: names of columns, and the texts of expressions."""
    names = {column.number: column.name for column in table.description.columns}
    computed = iter(() if key.is_plain_key else the_system().index_texts(image, table, key))
    return [names[number] if number else next(computed) for number in key.columns]


def key_text(names: Sequence[str], values: Sequence[str]) -> str:
    """Return the text (a, b)=(1, x) of a key."""
    return f"({', '.join(names)})=({', '.join(values)})"


def with_keys_of(table: TableEntry, rows: pa.Table | None) -> TableEntry:
    """Return the table with those constraints that read a column of `rows`, called v<number>."""
    given = set() if rows is None else set(rows.column_names)
    description = table.description
    constraints = tuple(
        one for one in description.constraints if any(f"v{number}" in given for number in one.stored or one.columns)
    )
    return replace(table, description=replace(description, constraints=constraints))
