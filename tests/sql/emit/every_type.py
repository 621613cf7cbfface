"""A catalog whose table `t` has a column of every type, and what both printers make of a query."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sql.bind import bind_query
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.emit.duckdb import emit_duckdb
from sql.emit.layout import laid_out
from sql.emit.open_values import OpenText
from sql.emit.spark import emit_spark
from sql.errors import SqlError
from sql.names.relation_keys import relation_key
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import Relation
from sql.tree.walks import scans
from sql.types.datatypes import (
    BOOL,
    BYTEA,
    CHAR,
    CIDR,
    DATE,
    FLOAT4,
    FLOAT8,
    INET,
    INT2,
    INT4,
    INT8,
    INTERVAL,
    JSON,
    JSONB,
    NUMERIC,
    OID,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMETZ,
    UUID,
    SqlType,
    array_of,
    enum_type,
    numeric,
)
from sql.types.enums import EnumType, new_enum
from tests.golden import error_lines
from tests.sql.sample_catalog import SETTINGS, SampleCatalog

MOOD = new_enum("mood", 20_000, ("sad", "ok", "happy"))
COLUMNS: dict[str, SqlType] = {
    "id": INT4,
    "b": BOOL,
    "s": INT2,
    "i": INT4,
    "l": INT8,
    "n": numeric(10, 2),
    "w": numeric(38, 4),
    "m": NUMERIC,
    "r": FLOAT4,
    "f": FLOAT8,
    "c": TEXT,
    "v": SqlType("varchar", length=8),
    "p": SqlType("bpchar", length=5),
    "d": DATE,
    "ts": TIMESTAMP,
    "tz": TIMESTAMPTZ,
    "ti": TIME,
    "tt": TIMETZ,
    "iv": INTERVAL,
    "u": UUID,
    "y": BYTEA,
    "j": JSON,
    "jb": JSONB,
    "ip": INET,
    "net": CIDR,
    "o": OID,
    "q": CHAR,
    "x": array_of(INT4),
    "ws": array_of(TEXT),
    "e": enum_type(MOOD),
}


class EveryType(SampleCatalog):
    """The sample catalog, the table t, and an enum."""

    def __init__(self) -> None:
        super().__init__()
        columns = (ColumnDescription(column, kind) for column, kind in COLUMNS.items())
        self.relations["t"] = RelationDescription("t", "table", 20_001, tuple(columns))

    def type(self, key: str) -> EnumType | None:
        return MOOD if key == relation_key("public", "mood") else None


def bound_root(text: str) -> Relation:
    """Return the tree of a query."""
    (statement,) = parse(text)
    assert isinstance(statement, Select)
    return bind_query(statement.query, EveryType(), SETTINGS, ()).root


def printed_lines(text: str) -> list[str]:
    """Return the query as it is printed for DuckDB, then as it is for Spark."""
    try:
        root = bound_root(text)
    except SqlError as error:
        return error_lines(error)
    ours, theirs = printed(root, without_values), printed(root, emit_spark)
    return ["DuckDB", *ours, "Spark", *theirs]


def without_values(root: Relation, sources: Mapping[str, str]) -> str:
    """Return DuckDB's text, which is refused where a parameter is open in it."""
    return OpenText(emit_duckdb(root, sources), root).filled((), str)


def printed(root: Relation, emit: Callable[[Relation, Mapping[str, str]], str]) -> list[str]:
    """Return what a printer writes, or the error by which it refuses."""
    try:
        return laid_out(emit(root, {scan.name: scan.name for scan in scans(root)})).split("\n")
    except SqlError as error:
        return error_lines(error)
