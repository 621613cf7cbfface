"""Subqueries, WITH, LATERAL, set operations, grouping sets, nested in each other: PostgreSQL's
rows, from the embedded engine.

free_select.sql holds one query per line. The relations are those of tests/sql/sample_catalog.py
with a few rows, many of them NULL.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from engine.embedded.query_engine import QueryEngine
from sql.bind import bind_query
from sql.catalog.catalog import ARRIVAL
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import OutputColumn
from sql.types.datatypes import SqlType
from sql.values.literals import input_value
from tests.engine.answers import Answer, Row, arrow_column, difference, oracle_answer, output_rows
from tests.oracle.postgres import PostgresCluster
from tests.sql.sample_catalog import (
    ITEM_COLUMNS,
    POSTGRES_TABLES,
    SETTINGS,
    STREAM_COLUMNS,
    VIEW_COLUMNS,
    SampleCatalog,
)
from views.model.arrow_schema import arrow_schema, arrow_type

QUERIES = [line for line in (Path(__file__).parent / "free_select.sql").read_text().splitlines() if line]
COLUMNS = {"s": STREAM_COLUMNS, "v": VIEW_COLUMNS, "items": ITEM_COLUMNS}
COUNTS = {"s": 12, "v": 6, "items": 6}
VALUES: dict[str, tuple[str | None, ...]] = {
    "int4": ("1", "2", "3", "4", None),
    "int8": ("1", "2", "3", "5", "10", None),
    "text": ("x", "y", "abc", None),
    "varchar": ("x", "yy", None),
    "numeric": ("1.00", "2.50", "3.00", None),
    "float8": ("1.5", "2", None),
    "bool": ("t", "f", None),
    "date": ("2020-01-01", None),
    "timestamp": ("2020-01-01 10:00:00", "2021-05-05 01:02:03", None),
    "timestamptz": ("2020-01-31 10:00:00+00", None),
    "interval": ("1 mon 2 days", "03:00:00", None),
    "text[]": ("{x,y}", "{z}", "{}", None),
}


def rows(name: str) -> list[Row]:
    """Return the rows of a relation, always the same; the keys of items are different."""
    random = Random(name)
    found = [tuple(random.choice(VALUES[kind.family]) for _, kind in COLUMNS[name]) for _ in range(COUNTS[name])]
    return [(str(index), *row[1:]) for index, row in enumerate(found, 1)] if name == "items" else found


def arrow(name: str) -> pa.Table:
    """Return the rows as the engine reads them."""
    schema = tuple(OutputColumn(column, kind) for column, kind in COLUMNS[name])
    columns = [
        arrow_column([engine_value(row[index], kind) for row in rows(name)], kind)
        for index, (_, kind) in enumerate(COLUMNS[name])
    ]
    return pa.table(columns, schema=arrow_schema(schema))


def engine_value(text: str | None, kind: SqlType) -> Any:
    value = None if text is None else input_value(text, kind)
    if kind.family == "interval" and isinstance(value, tuple):
        return dict(zip(("months", "days", "micros"), value, strict=True))
    return value


@pytest.fixture(scope="module")
def filled(postgres: PostgresCluster) -> Iterator[psycopg.Connection[Any]]:
    """A database of PostgreSQL's with the same rows."""
    with postgres.connect() as connection:
        connection.execute("DROP DATABASE IF EXISTS free_select")
        connection.execute("CREATE DATABASE free_select")
    with psycopg.connect(postgres.dsn, dbname="free_select", autocommit=True) as connection:
        connection.execute(POSTGRES_TABLES)
        for name, columns in COLUMNS.items():
            places = ", ".join(f"%s::{kind.sql_name}" for _, kind in columns)
            with connection.cursor() as cursor:
                cursor.executemany(f"INSERT INTO {name} VALUES ({places})", rows(name))
        yield connection


@pytest.mark.turns(2)
@pytest.mark.parametrize("query", QUERIES)
def test_rows_are_those_of_postgres(query: str, filled: psycopg.Connection[Any], engine: QueryEngine) -> None:
    inputs = {name: arrow(name) for name in COLUMNS}
    hidden = pa.nulls(COUNTS["s"], arrow_type(ARRIVAL.type))
    inputs["s"] = inputs["s"].append_column(ARRIVAL.name, hidden)
    assert difference(oracle_answer(filled, query), answer(query, engine, inputs), "order by 1" in query) is None


def answer(query: str, engine: QueryEngine, inputs: dict[str, pa.Table]) -> Answer:
    """Return the engine's rows, or the SQLSTATE of its error."""
    try:
        (statement,) = parse(query)
        assert isinstance(statement, Select)
        root = bind_query(statement.query, SampleCatalog(), SETTINGS).root
        table = engine.run(root, inputs)
    except SqlError as error:
        return Answer(sqlstate=error.sqlstate)
    return Answer(tuple(output_rows(table, root.schema, SETTINGS.time_zone)))
