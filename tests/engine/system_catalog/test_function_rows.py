"""The rows of pg_proc, pg_aggregate and pg_operator that are shown: those of the overloads that the
table of functions has, and no others.
"""

from __future__ import annotations

from engine.system_catalog.static_rows import static_rows, type_names
from sql.functions.catalog import CATALOG
from sql.functions.session import VIEW_CHANGES
from sql.functions.table import (
    AGGREGATES,
    BINARY_OPERATORS,
    FUNCTIONS,
    PREFIX_OPERATORS,
    TABLE_FUNCTIONS,
    WINDOW_FUNCTIONS,
)

CALLED = (FUNCTIONS, AGGREGATES, WINDOW_FUNCTIONS, TABLE_FUNCTIONS)
SHOWN = {
    (row["proname"], *(type_names().get(oid, "") for oid in row["proargtypes"])): row["oid"]
    for row in static_rows("pg_proc")
}


def test_each_name_of_the_table_is_shown() -> None:
    names = {name for table in CALLED for name in table} - {"_pg_expandarray", *VIEW_CHANGES}
    assert names - {key[0] for key in SHOWN} == set()
    symbols = {row["oprname"] for row in static_rows("pg_operator")}
    assert symbols == BINARY_OPERATORS.keys() | PREFIX_OPERATORS.keys()


def test_each_overload_of_plain_types_is_shown() -> None:
    """An argument that has a default stands in one row of PostgreSQL with all the others."""
    kinds = set(type_names().values())
    longest = {key[0]: max(len(other) for other in SHOWN if other[0] == key[0]) for key in SHOWN}
    wanted = {
        (name, *signature.arguments)
        for table in CALLED
        for name, signatures in table.items()
        for signature in signatures
        if signature.canonical and name not in CATALOG and kinds.issuperset(signature.arguments)
        if not signature.variadic and len(signature.arguments) == longest.get(name, 0) - 1
    }
    # PostgreSQL's take a regclass.
    assert (
        wanted - SHOWN.keys() - {("nextval", "text"), ("currval", "text"), ("setval", "text", "int8", "bool")} == set()
    )
    assert len(wanted) > 200


def test_no_missing_overload_is_shown() -> None:
    missing = {
        (name, *signature.arguments)
        for table in CALLED
        for name, signatures in table.items()
        for signature in signatures
        if not signature.canonical
    }
    assert len(missing) > 3
    # Its second argument has a default.
    assert missing & SHOWN.keys() == {("pg_terminate_backend", "int4", "int8")}
    # Neither are overloads of types that Antumbra does not have, and those of other names.
    assert not SHOWN.keys() & {("max", "pg_lsn"), ("rank", "any"), ("to_tsvector", "text")}


def test_aggregates_are_those_of_the_table() -> None:
    names = {oid: key[0] for key, oid in SHOWN.items()}
    assert {names[row["aggfnoid"]] for row in static_rows("pg_aggregate")} == AGGREGATES.keys()
