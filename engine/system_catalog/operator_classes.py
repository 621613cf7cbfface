"""Operator classes of indexes: the default one of a type, and those that CREATE INDEX names.

Enters: an access method, a name, a type. Leaves: a row of pg_opclass, or PostgreSQL's error. Must
not know indexes: no class changes what a query answers.
"""

from __future__ import annotations

from functools import cache

from engine.system_catalog.object_oids import METHODS, OWN_TYPE
from engine.system_catalog.static_rows import ANY_ARRAY, Row, static_rows
from sql.catalog.catalog import ConstraintDescription
from sql.errors import SqlError
from sql.types.casts import plain_name
from sql.types.datatypes import SqlType

# What a hash index keeps, and the elements of the values of a GIN index over arrays.
HASH_TYPE, ANY_ELEMENT = 23, 2283


def operator_class(method: str, name: str, kind: SqlType) -> Row:
    """Return the class of a key of an index.

    name: '' for the default one. Raises 42704 for a class that is not there, and 42804 for one that
    does not take the type.
    """
    wanted = _input_type(kind)
    if not name:
        found = _default(method, wanted)
        if found is None:
            message = f'data type {plain_name(kind)} has no default operator class for access method "{method}"'
            hint = (
                "You must specify an operator class for the index or define a default operator class for the data type."
            )
            raise SqlError("42704", message, hint=hint)
        return found
    found = next((row for row in _classes(method) if row["opcname"] == name), None)
    if found is None:
        raise SqlError("42704", f'operator class "{name}" does not exist for access method "{method}"')
    if found["opcintype"] not in (wanted, *_taken_as(wanted)):
        raise SqlError("42804", f'operator class "{name}" does not accept data type {plain_name(kind)}')
    return found


def _input_type(kind: SqlType) -> int:
    """Return the OID of the type by which classes know a type."""
    return ANY_ARRAY if kind.is_array else OWN_TYPE if kind.is_enum else kind.oid


@cache
def _classes(method: str) -> list[Row]:
    return [row for row in static_rows("pg_opclass") if row["opcmethod"] == METHODS[method]]


@cache
def _default(method: str, wanted: int) -> Row | None:
    """Return the default class of a type, or of one that its values can be taken as: a preferred
    one where there are several.
    """
    by_type = {row["opcintype"]: row for row in _classes(method) if row["opcdefault"]}
    if wanted in by_type:
        return by_type[wanted]
    preferred = {row["oid"] for row in static_rows("pg_type") if row["typispreferred"]}
    others = [oid for oid in _taken_as(wanted) if oid in by_type]
    best = [oid for oid in others if oid in preferred] or others
    return by_type[best[0]] if len(best) == 1 else None


@cache
def _taken_as(wanted: int) -> frozenset[int]:
    """Return the types as which the values of a type are taken without a conversion."""
    rows = static_rows("pg_cast")
    return frozenset(
        row["casttarget"]
        for row in rows
        if row["castsource"] == wanted and row["castmethod"] == "b" and row["castcontext"] == "i"
    )


def stored_key_type(index: ConstraintDescription, number: int, kind: SqlType) -> int | None:
    """Return the OID of the type of a key in an index, None where it is that of the values."""
    if index.method == "hash":
        return HASH_TYPE
    name = index.classes[number - 1] if index.classes else ""
    kept = int(operator_class(index.method, name, kind)["opckeytype"])
    return kind.element.oid if kept == ANY_ELEMENT else kept or None
