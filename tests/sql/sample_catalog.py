"""A catalog with one stream and one view for tests of bind, and the same relations as PostgreSQL tables."""

from __future__ import annotations

from collections.abc import Iterable

from sql.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.datatypes import BOOL, DATE, FLOAT8, INT4, INT8, TEXT, TIMESTAMP, TIMESTAMPTZ, SqlType, numeric

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
VIEW_COLUMNS: tuple[tuple[str, SqlType], ...] = (("a", INT4), ("n", INT8))

POSTGRES_TABLES = """
    DROP SCHEMA public CASCADE; CREATE SCHEMA public;
    CREATE TABLE s (a int, b text, c numeric(10,2), d timestamp, e float8, f bool, g varchar(5), h date, i bigint, z timestamptz);
    CREATE TABLE v (a int, n bigint);
    SET timezone = 'Europe/Berlin';
"""


def description(name: str, kind: str, oid: int, columns: tuple[tuple[str, SqlType], ...]) -> RelationDescription:
    return RelationDescription(
        name, kind, oid, tuple(ColumnDescription(column, sql_type) for column, sql_type in columns)
    )


class SampleCatalog:
    """Stream s and view v."""

    def __init__(self) -> None:
        self.relations = {
            "s": description("s", "stream", 16_384, STREAM_COLUMNS),
            "v": description("v", "view", 16_385, VIEW_COLUMNS),
        }

    def relation(self, name: str) -> RelationDescription | None:
        return self.relations.get(name)

    def relation_names(self) -> Iterable[str]:
        return self.relations
