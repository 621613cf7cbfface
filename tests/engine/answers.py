"""The same SQL text in PostgreSQL and in an engine: one table of values with extremes, and what
each of the two answers.

PostgreSQL gets the text; the engine gets the tree that bind makes of it. An answer is the rows as
PostgreSQL's output text, or the SQLSTATE of an error. Rows are compared in order where the query
has one, else sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cache
from random import Random
from typing import Any

import psycopg
import pyarrow as pa

from engine.embedded.arrow_numerics import decimal_array, numeric_rows
from engine.embedded.decimals import Numeric
from engine.embedded.functions import special_numerics
from ringbuffer.encode.columns import text_column
from ringbuffer.encode.encoded_column import EncodedColumn
from ringbuffer.encode.output_forms import Forms
from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import OutputColumn, Relation, Schema
from sql.types.datatypes import (
    BOOL,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
    numeric,
)
from sql.values.literal_output import output_text
from sql.values.literals import input_value
from views.model.arrow_schema import arrow_schema

Row = tuple[str | None, ...]
Run = Callable[[Relation, Mapping[str, pa.Table]], pa.Table]
TABLE = "t"
EXACT = Context(prec=100)
COLUMNS: tuple[tuple[str, SqlType, str], ...] = (
    ("id", INT4, "integer"),
    ("b", BOOL, "boolean"),
    ("s", INT2, "smallint"),
    ("i", INT4, "integer"),
    ("l", INT8, "bigint"),
    ("n", numeric(10, 2), "numeric(10,2)"),
    ("w", numeric(38, 4), "numeric(38,4)"),
    ("r", FLOAT4, "real"),
    ("f", FLOAT8, "double precision"),
    ("c", TEXT, "text"),
    ("v", SqlType("varchar", length=8), "varchar(8)"),
    ("d", DATE, "date"),
    ("ts", TIMESTAMP, "timestamp"),
    ("tz", TIMESTAMPTZ, "timestamptz"),
)
VALUES: dict[str, tuple[str | None, ...]] = {
    "b": ("true", "false", None),
    "s": ("0", "1", "-1", "7", "-32768", "32767", None),
    "i": ("0", "1", "-1", "5", "-7", "1000", "-2147483648", "2147483647", None),
    "l": ("0", "1", "-1", "3", "-12345678901", "-9223372036854775808", "9223372036854775807", None),
    "n": ("0.00", "1.25", "-1.25", "2.50", "0.05", "-99999999.99", "99999999.99", None),
    "w": ("0.0000", "1.0000", "-0.0005", "12345.6789", "-9999999999999.9999", None),
    "r": ("0", "-0", "1.5", "-2.5", "3.4e38", "1e-40", "NaN", "Infinity", "-Infinity", "16777216", "0.1", None),
    "f": ("0", "-0", "0.5", "1.5", "2.5", "-2.5", "1e308", "-1e308", "1e-308", "NaN", "Infinity", "-Infinity", "0.1", "1e15", None),
    "c": ("", "a", "B", "abc", "é☃", "a%b", "x_y", "  pad ", "12", "-3.5", "1e2", "true", "back\\slash", "it's", None),
    "v": ("", "a", "12345678", "äöü", "b ", None),
    "d": ("1970-01-01", "2000-02-29", "2024-12-31", "1969-12-31", "2021-01-03", "0001-01-01", "0044-03-15 BC", None),
    "ts": ("1970-01-01 00:00:00", "2000-02-29 23:59:59.999999", "2024-03-10 02:30:00", "2024-11-03 01:30:00", "1969-12-31 23:59:58.5",
           "0044-03-15 12:00:00 BC", "9999-12-31 12:34:56.7", None),
    "tz": ("1970-01-01 00:00:00+00", "2024-03-10 07:30:00+00", "2024-11-03 05:30:00+00", "2024-11-03 06:30:00+00",
           "1969-12-31 23:59:58.5+00", "1890-01-01 00:00:00+00", "2024-07-01 12:00:00.25+00", None),
}  # fmt: skip
ROWS_COUNT = 40
# Their physical form is not what `output_text` takes.
ENCODED = frozenset({"interval", "timetz", "time", "bytea"})


@dataclass(frozen=True)
class Answer:
    """Rows as text, or an error's SQLSTATE."""

    rows: tuple[Row, ...] = ()
    sqlstate: str | None = None


class OneTable:
    """A catalog of the one table."""

    def relation(self, name: str) -> RelationDescription | None:
        if name != TABLE:
            return None
        return RelationDescription(
            TABLE, "view", 20_000, tuple(ColumnDescription(name, kind) for name, kind, _ in COLUMNS)
        )

    def relation_names(self) -> Iterable[str]:
        return (TABLE,)


@cache
def table_rows() -> tuple[Row, ...]:
    """Return the table's rows: each value occurs, and beside the others of its row by a seeded
    chance.
    """
    columns = [mixed(VALUES[name], name) for name, _, _ in COLUMNS if name != "id"]
    return tuple((str(index), *row) for index, row in enumerate(zip(*columns, strict=True)))


def mixed(values: Sequence[str | None], name: str) -> list[str | None]:
    """Return a column of the table: all of `values` over and over, shuffled."""
    column = [values[index % len(values)] for index in range(ROWS_COUNT)]
    Random(name).shuffle(column)
    return column


def arrow_table() -> pa.Table:
    """Return the rows in the forms of `views.model.arrow_schema`."""
    schema: Schema = tuple(OutputColumn(name, kind) for name, kind, _ in COLUMNS)
    columns = []
    for position, (_, kind, _) in enumerate(COLUMNS):
        values = [None if row[position] is None else input_value(row[position] or "", kind) for row in table_rows()]
        columns.append(arrow_column(values, kind))
    return pa.table(columns, schema=arrow_schema(schema))


def arrow_column(values: Sequence[Any], kind: SqlType) -> pa.Array:
    """Return values of a type as Arrow."""
    if kind.family == "numeric":
        scale = kind.display_scale or 0
        unscaled = [None if value is None else int(value.scaleb(scale, context=EXACT)) for value in values]
        return decimal_array(unscaled, 38, scale)
    if kind.family == "date":
        return pa.array(values, pa.int32()).cast(pa.date32())
    if kind.family in ("timestamp", "timestamptz"):
        form = arrow_schema((OutputColumn("", kind),)).field(0).type
        return pa.array(values, pa.int64()).cast(form)
    return pa.array(values, arrow_schema((OutputColumn("", kind),)).field(0).type)


def create_oracle_table(connection: psycopg.Connection[Any]) -> None:
    """Fill PostgreSQL's table."""
    connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
    connection.execute(f"CREATE TABLE {TABLE} ({', '.join(f'{name} {text}' for name, _, text in COLUMNS)})")
    places = ", ".join(f"%s::{text}" for _, _, text in COLUMNS)
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {TABLE} VALUES ({places})", table_rows())


def oracle_answer(connection: psycopg.Connection[Any], query: str) -> Answer:
    """Return PostgreSQL's answer."""
    result = connection.pgconn.exec_(query.encode())
    if result.error_field(psycopg.pq.DiagnosticField.SQLSTATE) is not None:
        return Answer(sqlstate=(result.error_field(psycopg.pq.DiagnosticField.SQLSTATE) or b"").decode())
    rows = []
    for index in range(result.ntuples):
        fields = [result.get_value(index, column) for column in range(result.nfields)]
        rows.append(tuple(None if field is None else field.decode() for field in fields))
    return Answer(tuple(rows))


def bound_root(query: str, zone: str = "UTC") -> Relation:
    """Return what a query over the table is bound to."""
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    return bind_query(statement.query, OneTable(), SessionSettings(time_zone=zone)).root


def engine_answer(run: Run, query: str, inputs: Mapping[str, pa.Table], zone: str = "UTC") -> Answer:
    """Return an engine's answer; 0A000 stands for what it does not support."""
    try:
        root = bound_root(query, zone)
        table = run(root, inputs)
    except SqlError as error:
        return Answer(sqlstate=error.sqlstate)
    return Answer(tuple(output_rows(table, root.schema, zone)))


def output_rows(table: pa.Table, schema: Schema, zone: str = "UTC") -> list[Row]:
    """Return an Arrow table as PostgreSQL's output text."""
    assert table.schema == arrow_schema(schema)
    columns = [
        column_texts(column.combine_chunks(), kind.type, zone)
        for column, kind in zip(table.columns, schema, strict=True)
    ]
    return list(zip(*columns, strict=True))


def shown_numeric(value: Numeric) -> str:
    """Return a numeric as PostgreSQL prints it."""
    if special_numerics.is_special(value):
        return special_numerics.to_text(value)
    return f"{Decimal(value[0]).scaleb(-value[1], EXACT):f}"


def column_texts(column: Any, kind: SqlType, zone: str) -> list[str | None]:
    """Return a column's values as text."""
    array = pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column
    if kind.is_array or kind.family in ENCODED:
        return encoded_texts(text_column(array, kind.family, Forms(zone)))
    if kind.is_variable_numeric:
        return [None if row is None else shown_numeric(row) for row in numeric_rows(array)]
    if kind.family == "numeric":
        return [None if value is None else format(value, "f") for value in array.to_pylist()]
    if kind.family in ("date", "timestamp", "timestamptz"):
        width = pa.int32() if kind.family == "date" else pa.int64()
        return [output_text(value, kind, zone) for value in array.cast(width).to_pylist()]
    return [output_text(value, kind, zone) for value in array.to_pylist()]


def encoded_texts(column: EncodedColumn) -> list[str | None]:
    """Return the values of an encoded column."""
    data, ends = column.data.tobytes(), column.ends
    return [
        data[ends[row] : ends[row + 1]].decode() if len(column.valid) == 0 or column.valid[row] else None
        for row in range(len(ends) - 1)
    ]


def difference(expected: Answer, found: Answer, ordered: bool = False) -> str | None:
    """Return what differs, None when nothing does."""
    if expected.sqlstate != found.sqlstate:
        return f"PostgreSQL: {expected.sqlstate or expected.rows[:5]}, here: {found.sqlstate or found.rows[:5]}"
    left, right = list(expected.rows), list(found.rows)
    if not ordered:
        left.sort(key=repr)
        right.sort(key=repr)
    for one, other in zip(left, right, strict=False):
        if one != other:
            return f"PostgreSQL: {one}, here: {other}"
    return None if len(left) == len(right) else f"PostgreSQL: {len(left)} rows, here: {len(right)}"
