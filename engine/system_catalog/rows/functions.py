"""Rows of pg_proc: users' functions."""

from __future__ import annotations

from collections.abc import Callable

from engine.catalog.image import CatalogImage
from engine.catalog.privileges import access_texts
from engine.system_catalog.static_rows import Row
from sql.bind.expressions.user_overloads import element_of
from sql.catalog.functions import FunctionDescription
from sql.names.relation_keys import name_of
from sql.types.records import OID as RECORD

SQL_LANGUAGE = 14


def function_rows(image: CatalogImage) -> list[Row]:
    """Return the functions of users."""
    return [function_row(one, image) for one in image.functions.values()]


def function_row(function: FunctionDescription, image: CatalogImage) -> Row:
    """Return the row of one function."""
    inputs, arguments = function.inputs, function.arguments
    has_modes = any(one.mode != "i" for one in arguments)
    variadic = next((element_of(one.type).oid for one in inputs if one.mode == "v"), 0)
    names = [one.name for one in arguments]
    defaults = [one.default for one in inputs if one.default]
    return {
        "oid": function.oid,
        "proname": name_of(function.name),
        "pronamespace": image.schema_oid(function.name),
        "proowner": image.privileges.owner(function.oid),
        "prolang": SQL_LANGUAGE,
        "procost": function.cost,
        "prorows": function.rows,
        "provariadic": variadic,
        "prosupport": 0,
        "prokind": "f",
        "prosecdef": False,
        "proleakproof": function.leakproof,
        "proisstrict": function.strict,
        "proretset": function.returns_set,
        "provolatile": function.volatility,
        "proparallel": function.parallel,
        "pronargs": len(inputs),
        "pronargdefaults": len(defaults),
        "prorettype": RECORD if function.result is None else function.result.oid,
        "proargtypes": [one.type.oid for one in inputs],
        "proallargtypes": [one.type.oid for one in arguments] if has_modes else None,
        "proargmodes": [one.mode for one in arguments] if has_modes else None,
        "proargnames": names if any(names) else None,
        "proargdefaults": ", ".join(defaults) if defaults else None,
        "prosrc": function.body if function.form == "string" else "",
        "prosqlbody": None if function.form == "string" else function.body,
        "proacl": access_texts(image.roles, image.privileges, function.oid),
    }


FUNCTION_ROWS: dict[str, Callable[[CatalogImage], list[Row]]] = {"pg_proc": function_rows}
