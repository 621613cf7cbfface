"""A table with a column of every new type, in PostgreSQL and in Arrow, with the same random rows;
and a query's answer over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from random import Random
from typing import Any

import psycopg
import pyarrow as pa
from psycopg import sql as composed

from engine.embedded.query_engine import QueryEngine
from engine.spark.upper import SparkUpperExecutor
from engine.tables.arrow_values import column_array
from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Relation
from sql.types.datatypes import INT4, LiteralValue, SqlType, array_of
from sql.values.literal_output import output_text
from tests.engine.answers import Answer, output_rows
from tests.engine.in_spark import in_spark
from tests.types import random_value

SEED = 20_261_121
ROWS_COUNT = 60
COLUMNS: dict[str, SqlType] = {
    "id": INT4,
    "b": SqlType("bool"),
    "i": INT4,
    "l": SqlType("int8"),
    "f": SqlType("float8"),
    "n": SqlType("numeric"),
    "t": SqlType("text"),
    "vc": SqlType("varchar", length=5),
    "c": SqlType("bpchar", length=4),
    "cc": SqlType("bpchar"),
    "d": SqlType("date"),
    "ts": SqlType("timestamp"),
    "tz": SqlType("timestamptz"),
    "ti": SqlType("time"),
    "tt": SqlType("timetz"),
    "iv": SqlType("interval"),
    "u": SqlType("uuid"),
    "by": SqlType("bytea"),
    "ip": SqlType("inet"),
    "ci": SqlType("cidr"),
    "aip": SqlType("inet[]"),
    "j": SqlType("json"),
    "jb": SqlType("jsonb"),
    "o": SqlType("oid"),
    "nm": SqlType("name"),
    "ch": SqlType("char"),
    "ai": SqlType("int4[]"),
    "at": SqlType("text[]"),
    "an": SqlType("numeric[]"),
    "ac": array_of(SqlType("bpchar", length=4)),
    "aiv": SqlType("interval[]"),
    "ab": SqlType("bool[]"),
    "atz": SqlType("timestamptz[]"),
}


@cache
def columns() -> dict[str, list[LiteralValue]]:
    """Return the values by column; they repeat, so that groups and joins have something to do."""
    numbers = Random(SEED)
    found: dict[str, list[LiteralValue]] = {"id": list(range(ROWS_COUNT))}
    for name, kind in COLUMNS.items():
        if name != "id":
            pool = [random_value(kind, numbers) for _ in range(ROWS_COUNT // 3)]
            found[name] = [None if numbers.random() < 0.1 else numbers.choice(pool) for _ in range(ROWS_COUNT)]
    return found


@cache
def arrow_table() -> pa.Table:
    """Return the table in the forms of views."""
    return pa.table({name: column_array(values, COLUMNS[name]) for name, values in columns().items()})


def create_oracle_table(connection: psycopg.Connection[Any]) -> None:
    """Create the table `v` in PostgreSQL."""
    definitions = ", ".join(f"{name} {kind.sql_name}" for name, kind in COLUMNS.items())
    connection.execute(f"DROP TABLE IF EXISTS v; CREATE TABLE v ({definitions})".encode())
    for row in zip(*columns().values(), strict=True):
        texts = [output_text(value, kind) for value, kind in zip(row, COLUMNS.values(), strict=True)]
        values = composed.SQL(", ").join(composed.Literal(text) for text in texts)
        connection.execute(composed.SQL("INSERT INTO v VALUES ({})").format(values))


class TypedTable:
    """A catalog of the one table."""

    def relation(self, name: str) -> RelationDescription | None:
        if name != "v":
            return None
        return RelationDescription(
            "v", "view", 20_001, tuple(ColumnDescription(column, kind) for column, kind in COLUMNS.items())
        )

    def relation_names(self) -> Iterable[str]:
        return ("v",)


def engine_answer(engine: QueryEngine, query: str) -> Answer:
    """Return the embedded engine's answer."""
    return _answer(lambda root: engine.run(root, {"v": arrow_table()}), query)


def executor_answer(upper: SparkUpperExecutor, query: str) -> Answer:
    """Return Spark's answer."""
    return _answer(lambda root: upper.run("view", in_spark(root), {"v": arrow_table()}, {}), query)


def bound(query: str) -> Relation:
    """Return the tree of a query on the table."""
    (statement,) = parse(query)
    assert isinstance(statement, Select)
    return bind_query(statement.query, TypedTable(), SessionSettings(time_zone="UTC")).root


def _answer(run: Callable[[Relation], pa.Table], query: str) -> Answer:
    try:
        root = bound(query)
        table = run(root)
    except SqlError as error:
        return Answer(sqlstate=error.sqlstate)
    return Answer(tuple(output_rows(table, root.schema)))
