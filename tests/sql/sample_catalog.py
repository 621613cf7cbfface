"""A catalog with a stream, two views and a durable table for tests of bind, and the same relations
in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sql.bind import bind_query
from sql.catalog.catalog import (
    ARRIVAL,
    Catalog,
    ColumnDescription,
    ConstraintDescription,
    RelationDescription,
    SessionSettings,
)
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.types.datatypes import (
    BOOL,
    DATE,
    FLOAT8,
    INT4,
    INT8,
    INTERVAL,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
    array_of,
    numeric,
)

SETTINGS = SessionSettings(time_zone="Europe/Berlin")

STREAM_COLUMNS: tuple[tuple[str, SqlType], ...] = (
    ("a", INT4),
    ("b", TEXT),
    ("c", numeric(10, 2)),
    ("d", TIMESTAMP),
    ("e", FLOAT8),
    ("f", BOOL),
    ("g", SqlType("varchar", length=5)),
    ("h", DATE),
    ("i", INT8),
    ("z", TIMESTAMPTZ),
)
ITEM_COLUMNS: tuple[tuple[str, SqlType], ...] = (
    ("id", INT4),
    ("name", SqlType("varchar", length=10)),
    ("price", numeric(8, 2)),
    ("tags", array_of(TEXT)),
    ("made", TIMESTAMPTZ),
    ("spent", INTERVAL),
)
COSTS = "select id, price * 2 as double_price from items where price > 1"
VIEW_COLUMNS: tuple[tuple[str, SqlType], ...] = (("a", INT4), ("n", INT8))

POSTGRES_TABLES = """
    DROP SCHEMA public CASCADE; CREATE SCHEMA public;
    CREATE TABLE s (a int, b text, c numeric(10,2), d timestamp, e float8, f bool, g varchar(5), h date, i bigint, z timestamptz);
    CREATE TABLE v (a int, n bigint);
    CREATE TABLE items (id int PRIMARY KEY, name varchar(10), price numeric(8,2), tags text[], made timestamptz, spent interval);
    CREATE VIEW costs AS select id, price * 2 as double_price from items where price > 1;
    SET timezone = 'Europe/Berlin';
"""


def description(name: str, kind: str, oid: int, columns: tuple[tuple[str, SqlType], ...]) -> RelationDescription:
    return RelationDescription(
        name, kind, oid, tuple(ColumnDescription(column, sql_type) for column, sql_type in columns)
    )


def items_table() -> RelationDescription:
    columns = tuple(
        ColumnDescription(name, kind, number=number) for number, (name, kind) in enumerate(ITEM_COLUMNS, start=1)
    )
    key = ConstraintDescription("items_pkey", "primary key", (1,))
    return RelationDescription("items", "table", 16_386, columns, constraints=(key,))


def costs_view(catalog: Catalog) -> RelationDescription:
    (statement,) = parse(COSTS)
    assert isinstance(statement, Select)
    query = bind_query(statement.query, catalog, SETTINGS)
    columns = tuple((column.name, column.type) for column in query.root.schema)
    return replace(description("costs", "query", 16_387, columns), query=query)


class SampleCatalog:
    """Stream s, continuous view v, table items and the ordinary view costs over it."""

    def __init__(self) -> None:
        self.relations = {
            "s": replace(description("s", "stream", 16_384, STREAM_COLUMNS), hidden=(ARRIVAL,)),
            "v": description("v", "view", 16_385, VIEW_COLUMNS),
            "items": items_table(),
        }
        self.relations["costs"] = costs_view(self)

    def relation(self, name: str) -> RelationDescription | None:
        return self.relations.get(name)

    def relation_names(self) -> Iterable[str]:
        return self.relations
