"""The catalog of every database: relations of pg_catalog and information_schema, types, functions,
operators.

The rows are read from static/, which `tests/system_catalog/write_static.py` makes from a new
PostgreSQL 15. Must not know this database.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engine.system_catalog.own_functions import own_rows
from engine.system_catalog.own_relations import OWN_RELATIONS
from sql.bind.expressions.calls import CALLED_NAMES
from sql.functions.catalog import CATALOG
from sql.functions.signatures import Signature
from sql.functions.table import (
    AGGREGATES,
    BINARY_OPERATORS,
    FUNCTIONS,
    PREFIX_OPERATORS,
    TABLE_FUNCTIONS,
    WINDOW_FUNCTIONS,
)
from sql.types.casts import can_cast
from sql.types.datatypes import FAMILIES, SqlType

FOLDER = Path(__file__).parent / "static"
CATALOG_SCHEMA = 11
PUBLIC_SCHEMA = 2200
ANY_ARRAY = 2277
TYPE_FUNCTIONS = "typinput typoutput typreceive typsend typmodin typmodout typsubscript typanalyze".split()
Row = dict[str, Any]
TABLES = (FUNCTIONS, AGGREGATES, WINDOW_FUNCTIONS, TABLE_FUNCTIONS)
# Functions that take names of objects as well, whatever type these have in PostgreSQL.
OF_OBJECTS = frozenset({"nextval", "currval", "setval", *CATALOG})
# The pseudo-types of signatures, by PostgreSQL's names.
POLYMORPHIC = {
    **dict.fromkeys(("anyelement", "anycompatible"), "element"),
    **dict.fromkeys(("anyarray", "anycompatiblearray"), "array"),
    "anyenum": "enum",
}


@dataclass(frozen=True, slots=True)
class CatalogColumn:
    """A column of a catalog relation.

    Attributes:
        type: by name; an array's is that of its elements with [] after it.
        type_oid: the type by OID.
    """

    name: str
    type: str
    type_oid: int
    not_null: bool


# Columns of every relation that only their names reach: its oid, and who has written a row.
HIDDEN = (
    CatalogColumn("tableoid", "oid", 26, True),
    CatalogColumn("xmin", "xid", 28, True),
    CatalogColumn("xmax", "xid", 28, True),
)
DOMAINS = {
    "sql_identifier": "name",
    "character_data": "varchar",
    "yes_or_no": "varchar",
    "cardinal_number": "int4",
    "time_stamp": "timestamptz",
}


def column_type(column: CatalogColumn) -> SqlType:
    """Return the type of a column; for a domain the type below it."""
    return SqlType(DOMAINS.get(column.type, column.type))


@dataclass(frozen=True, slots=True)
class CatalogRelation:
    """A relation of pg_catalog or information_schema.

    Attributes:
        kind: 'r' or 'v'.
    """

    oid: int
    schema: str
    name: str
    kind: str
    row_type: int
    columns: tuple[CatalogColumn, ...]

    @property
    def key(self) -> str:
        """The relation's name with its schema."""
        return f"{self.schema}.{self.name}"


@cache
def relations() -> dict[tuple[str, str], CatalogRelation]:
    """Return the catalog's relations by schema and name."""
    names = type_names()
    found = {}
    stored = json.loads((FOLDER / "relations.json").read_text())
    for oid, schema, name, kind, row_type, columns in (*stored, *OWN_RELATIONS):
        # A column of arrays of rows is shown as any array: it is always NULL here.
        types = [number if number in names else ANY_ARRAY for _, number, _ in columns]
        described = tuple(
            CatalogColumn(column, names[number], number, needed)
            for (column, _, needed), number in zip(columns, types, strict=True)
        )
        found[schema, name] = CatalogRelation(oid, schema, name, kind, row_type, described)
    return found


@cache
def type_names() -> dict[int, str]:
    """Return the names of types by OID; an array's is that of its elements with [] after it."""
    rows = _stored()["pg_type"]
    names = {row["oid"]: row["typname"] for row in rows}
    for row in rows:
        if row["typcategory"] == "A" and row["typelem"] and row["typtype"] == "b" and row["typname"].startswith("_"):
            names[row["oid"]] = f"{names[row['typelem']]}[]"
    return names


@cache
def static_rows(name: str) -> list[Row]:
    """Return the rows of a relation of pg_catalog that every database has."""
    rows = _stored().get(name, [])
    if name == "pg_namespace":
        return [row for row in rows if row["oid"] != PUBLIC_SCHEMA]
    if name in ("pg_proc", "pg_aggregate", "pg_description", "pg_operator"):
        own = own_rows(name) if name in ("pg_proc", "pg_aggregate") else []
        return [row for row in rows if _is_ours(name, row)] + own
    return rows


def _is_ours(name: str, row: Row) -> bool:
    """Tell whether a client can call the function of a row: PostgreSQL has more functions than we
    have.
    """
    match name:
        case "pg_proc":
            return row["oid"] in _functions()
        case "pg_aggregate":
            return row["aggfnoid"] in _functions()
        case "pg_operator":
            overloads = (PREFIX_OPERATORS if row["oprkind"] == "l" else BINARY_OPERATORS).get(row["oprname"], ())
            operands = [oid for oid in (row["oprleft"], row["oprright"]) if oid]
            return bool(overloads) and (row["oid"] in _index_operators() or _has_overload(overloads, operands))
    return row["classoid"] != relations()["pg_catalog", "pg_proc"].oid or row["objoid"] in _functions()


@cache
def _functions() -> frozenset[int]:
    """Return the OIDs of the functions that we have, and of those that other rows name."""
    stored = _stored()
    named = {row[column] for row in stored["pg_type"] for column in TYPE_FUNCTIONS}
    named |= {row["amproc"] for row in stored["pg_amproc"]} | {row["castfunc"] for row in stored["pg_cast"]}
    named |= {row["oprcode"] for row in static_rows("pg_operator")} | {row["amhandler"] for row in stored["pg_am"]}
    return frozenset(row["oid"] for row in stored["pg_proc"] if row["oid"] in named or _is_called(row))


def _is_called(row: Row) -> bool:
    """Tell whether a row of the table of functions takes the arguments of a row of pg_proc.

    What is no row, since its grammar or the session decides, has the overloads of PostgreSQL.
    """
    name = row["proname"]
    overloads = [one for table in TABLES for one in table.get(name, ())]
    if not overloads or name in OF_OBJECTS:
        return name in CALLED_NAMES and "internal" not in [type_names().get(oid, "") for oid in row["proargtypes"]]
    types = row["proargtypes"]
    fewest = len(types) - row["pronargdefaults"]
    return any(_has_overload(overloads, types[:count]) for count in range(fewest, len(types) + 1))


def _has_overload(overloads: Iterable[Signature], types: Sequence[int]) -> bool:
    """Tell whether one of the overloads takes arguments of these types, and is not missing."""
    families = [POLYMORPHIC.get(name, name) for name in (type_names().get(oid, "") for oid in types)]
    found = [one for one in overloads if len(one.arguments) == len(families)]
    exact = [one for one in found if list(one.arguments) == families]
    return any(one.canonical and all(map(_takes, one.arguments, families)) for one in exact or found)


def _takes(wanted: str, family: str) -> bool:
    if family == "anynonarray":
        # Beside a text and || bind makes a text of it.
        return wanted in ("element", "text")
    known = family in FAMILIES and wanted in FAMILIES
    return wanted in ("any", family) or (known and can_cast(family, wanted, "implicit"))


@cache
def _index_operators() -> frozenset[int]:
    """Return the OIDs of operators that rows of operator families name, and of their negators."""
    named = {row["amopopr"] for row in _stored()["pg_amop"]}
    return frozenset(named | {row["oprnegate"] for row in _stored()["pg_operator"] if row["oid"] in named})


@cache
def _stored() -> dict[str, list[Row]]:
    stored = json.loads((FOLDER / "rows.json").read_text())
    return {
        name: [dict(zip(part["columns"], row, strict=True)) for row in part["rows"]] for name, part in stored.items()
    }
