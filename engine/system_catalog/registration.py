"""The functions of the catalog in DuckDB.

Enters: calls with the number of the session that runs the statement, and values of a row. Leaves:
what `catalog_functions` computes, in the forms of `views.model.arrow_schema`. Must not know
statements.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import duckdb
from duckdb.func import FunctionNullHandling, PythonUDFType

from engine.embedded.error_mark import marked
from engine.embedded.functions.registration import signature_of, type_of
from engine.system_catalog import system_relations
from engine.system_catalog.catalog_functions import RUNS, Run
from engine.system_catalog.functions import objects, privileges, routines, sessions, sizes
from engine.tables.session_functions import SESSIONS
from sql.emit.duckdb import DuckDbExpressions
from sql.errors import SqlError
from sql.functions.catalog import BY_CANONICAL, NAME_FORMS, PREFIX, CatalogFunction, is_text, registered_name
from sql.types.datatypes import SqlType

# The table of functions is filled, and images know the catalog, when these modules are imported.
FILLED = (objects, privileges, routines, sessions, sizes, system_relations)
# Those whose values depend on nothing but the image of the catalog, the captured settings, the role
# and their arguments.
SETTLED = (
    frozenset(NAME_FORMS)
    | {
        name
        for name, run in RUNS.items()
        if run.__module__ in (one.__name__ for one in (objects, privileges, routines))
    }
) - {PREFIX + "pg_sequence_last_value"}
SECOND_US = 1_000_000


def register_catalog_functions(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the functions known."""
    for canonical, known in BY_CANONICAL.items():
        run = called(known, RUNS[canonical])
        kinds = ["BIGINT", *(argument_type(kind) for kind in known.arguments)]
        setattr(run, "__signature__", signature_of(len(kinds)))  # noqa: B010
        connection.create_function(
            registered_name(canonical),
            run,
            [type_of(connection, kind) for kind in kinds],
            type_of(connection, argument_type(known.result) + ("[]" if known.returns_rows else "")),
            type=PythonUDFType.NATIVE,
            null_handling=FunctionNullHandling.SPECIAL,
        )


@cache
def argument_type(family: str) -> str:
    """Return DuckDB's type of the values of a family; what may be of several is a text."""
    return "VARCHAR" if is_text(family) else DuckDbExpressions(()).type_name(SqlType(family))


def called(known: CatalogFunction, function: Run) -> Callable[..., Any]:
    """Return the function that DuckDB calls for a row."""
    fields = known.fields

    def run(number: int, *arguments: Any) -> Any:
        try:
            found = function(SESSIONS[number].context(), *arguments)
        except SqlError as error:
            raise ValueError(marked(error)) from error
        if not fields or found is None:
            return found
        return [record(row, fields) for row in found]

    return run


def record(row: dict[str, Any], fields: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """Return a row as a record's value."""
    found = {}
    for place, (name, kind) in enumerate(fields, 1):
        value = row.get(name)
        if kind == "interval" and isinstance(value, int):
            value = {"months": 0, "days": 0, "micros": value * SECOND_US}
        found[f"f{place}"] = value
    return found
