"""A catalog with a stream, two views and a durable table for tests of bind, and the same relations
in PostgreSQL.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from sql.bind import bind_query
from sql.catalog.catalog import (
    ARRIVAL,
    Catalog,
    ColumnDescription,
    ConstraintDescription,
    RelationDescription,
    SessionSettings,
)
from sql.catalog.functions import FunctionArgument, FunctionDescription
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


def function(name: str, arguments: str, result: SqlType, body: str, **more: Any) -> FunctionDescription:
    """Return a function whose arguments are 'name family [default]', with commas between them."""
    parts = [one.split() for one in arguments.split(",")]
    taken = tuple(FunctionArgument(part[0], "i", SqlType(part[1]), *part[2:]) for part in parts)
    oid = 16_400 + zlib.crc32(name.encode()) % 1000
    return FunctionDescription(name, oid, taken, result, more.pop("rows_of", False), "string", body, **more)


FUNCTIONS = (
    function("net", "price numeric, pct int4 20", SqlType("numeric"), "select price * (100 - pct) / 100"),
    function("first_name", "id int4", TEXT, "select name from items where items.id = first_name.id order by made"),
    function(
        "names_from", "first int4, other text", TEXT,
        "select name from items where id >= first and name <> other", rows_of=True,
    ),
    function("strict_sum", "x int4, y int4", INT4, "select x + y", strict=True),
    function("bound_rows", "x numeric", INT8, "select count(*) from items where price > x"),
    function(
        "deep", "x int4", INT4,
        "with q as (select id from items where id <> x) select max(q.id) from q, lateral "
        "(select i.id + x as y from items i where i.id = q.id and exists (select from items j where j.id = x + i.id)) z",
    ),
    function("again", "x int4", INT4, "select again(x - 1)"),
)  # fmt: skip


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

    def has_schema(self, name: str) -> bool:
        return name in ("public", "pg_catalog")

    def relation_names(self) -> Iterable[str]:
        return self.relations

    def functions_called(self, key: str) -> tuple[FunctionDescription, ...]:
        return tuple(one for one in FUNCTIONS if one.name == key)

    def body_catalog(self, function: FunctionDescription, in_default: bool = False) -> Catalog:
        return self
