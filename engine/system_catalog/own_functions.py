"""Rows of pg_proc and pg_aggregate of the functions that PostgreSQL does not have: aggregates, and
what reads their sketches.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from engine.system_catalog.object_oids import OWNER, part_oid
from sql.functions.aggregate_rows import Aggregate
from sql.functions.signatures import Signature
from sql.functions.sketches import FUNCTIONS as READERS
from sql.functions.table import AGGREGATE_ROWS, AGGREGATES, FUNCTIONS
from sql.types.datatypes import FAMILIES, SqlType, array_of

CATALOG_SCHEMA = 11
INTERNAL_LANGUAGE = 12
INTERNAL = 2281
PSEUDO = {"any": 2276, "element": 2283, "array": 2277}
Row = dict[str, Any]


@cache
def own_rows(relation: str) -> list[Row]:
    """Return the rows of pg_proc or pg_aggregate."""
    if relation == "pg_proc":
        return [_function(name, one, name in AGGREGATES) for name, one in _overloads()]
    return [_aggregate(name, one) for name, one in _overloads() if name in AGGREGATES]


def _overloads() -> list[tuple[str, Signature]]:
    """Return the names with each of their signatures."""
    own = [name for name, (first, *_) in AGGREGATES.items() if AGGREGATE_ROWS[first.canonical].is_own]
    found = [(name, one) for name in own for one in AGGREGATES[name]]
    readers = [name for row in READERS for name in row.names.split()]
    return found + [(name, one) for name in readers for one in FUNCTIONS[name]]


def _oid(name: str, signature: Signature) -> int:
    return part_oid("function", 0, f"{name}({', '.join(signature.arguments)})")


def _type_oid(written: str) -> int:
    """Return the OID of a type of a signature."""
    if written in PSEUDO:
        return PSEUDO[written]
    element = written.removesuffix("[]")
    return FAMILIES[element].oid if element == written else array_of(SqlType(element)).oid


def _function(name: str, signature: Signature, is_aggregate: bool) -> Row:
    arguments = [_type_oid(one) for one in signature.arguments]
    return {
        "oid": _oid(name, signature),
        "proname": name,
        "pronamespace": CATALOG_SCHEMA,
        "proowner": OWNER,
        "prolang": INTERNAL_LANGUAGE,
        "procost": 1.0,
        "prorows": 0.0,
        "provariadic": 0,
        "prosupport": 0,
        "prokind": "a" if is_aggregate else "f",
        "prosecdef": False,
        "proleakproof": False,
        "proisstrict": not is_aggregate,
        "proretset": False,
        "provolatile": "i",
        "proparallel": "s",
        "pronargs": len(arguments),
        "pronargdefaults": 0,
        "prorettype": _type_oid(signature.result),
        "proargtypes": arguments,
    } | dict.fromkeys("proallargtypes proargmodes proargnames proargdefaults protrftypes prosqlbody proconfig".split())


def _aggregate(name: str, signature: Signature) -> Row:
    """Return the row of an aggregate, whose states and steps are no functions."""
    row: Aggregate = AGGREGATE_ROWS[signature.canonical]
    functions = "trans final combine serial deserial mtrans minvtrans mfinal".split()
    return {
        "aggfnoid": _oid(name, signature),
        "aggkind": "o" if row.within_group else "n",
        "aggnumdirectargs": len(signature.arguments) - 1 if row.within_group else 0,
        **{f"agg{one}fn": 0 for one in functions},
        "aggfinalextra": False,
        "aggmfinalextra": False,
        "aggfinalmodify": "r",
        "aggmfinalmodify": "r",
        "aggsortop": 0,
        "aggtranstype": INTERNAL,
        "aggtransspace": 0,
        "aggmtranstype": 0,
        "aggmtransspace": 0,
        "agginitval": None,
        "aggminitval": None,
    }
