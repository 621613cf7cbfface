"""Functions of the catalog about functions: arguments, results, whole definitions."""

from __future__ import annotations

from dataclasses import replace

from engine.catalog.image import SourceText
from engine.system_catalog.catalog_functions import catalog_function
from engine.system_catalog.deparse.definitions import default_text, function_text
from engine.system_catalog.functions.objects import style_of
from engine.system_catalog.session_context import SessionContext
from engine.system_catalog.static_rows import Row
from sql.catalog.catalog import ColumnDescription
from sql.catalog.functions import FunctionDescription
from sql.errors import SqlError
from sql.names.relation_keys import name_of, quoted, schema_of

MODES = {"o": "OUT ", "b": "INOUT ", "v": "VARIADIC "}
VOLATILITIES = {"i": ["IMMUTABLE"], "s": ["STABLE"], "v": []}
PARALLELS = {"s": ["PARALLEL SAFE"], "r": ["PARALLEL RESTRICTED"], "u": []}
COST, ROWS = 100, 1000


def _row(context: SessionContext, oid: int | None) -> Row | None:
    return None if oid is None else context.snapshot.row("pg_proc", oid)


@catalog_function
def pg_get_function_result(context: SessionContext, oid: int | None) -> str | None:
    """Return the type that a function returns."""
    row = _row(context, oid)
    if row is None or row["prokind"] == "p":
        return None
    if "t" in (row["proargmodes"] or ()):
        columns = _parts(context, row, ("t",), defaults=False)
        return f"TABLE({', '.join(columns)})"
    text = context.snapshot.type_text(row["prorettype"], None)
    return f"SETOF {text}" if row["proretset"] else text


@catalog_function
def pg_get_function_arguments(context: SessionContext, oid: int | None) -> str | None:
    """Return the arguments of a function, with their defaults."""
    row = _row(context, oid)
    return None if row is None else _arguments(context, row, defaults=True)


@catalog_function
def pg_get_function_identity_arguments(context: SessionContext, oid: int | None) -> str | None:
    """Return the arguments of a function that tell it from others."""
    row = _row(context, oid)
    return None if row is None else _arguments(context, row, defaults=False)


@catalog_function
def pg_get_function_arg_default(context: SessionContext, oid: int | None, number: int | None) -> str | None:
    """Return the default of an argument, NULL where it has none."""
    function = context.snapshot.image.functions.get(oid or 0)
    if function is None or not 1 <= (number or 0) <= len(function.arguments):
        return None
    return _defaults(context, function)[(number or 0) - 1]


@catalog_function
def pg_get_function_sqlbody(context: SessionContext, oid: int | None) -> str | None:
    """Return the body of RETURN or BEGIN ATOMIC, NULL for a body that is a string."""
    function = context.snapshot.image.functions.get(oid or 0)
    if function is None or function.form == "string":
        return None
    return function_text(function, context.snapshot.image, style_of(context, False), context.settings.time_zone)


@catalog_function
def pg_get_functiondef(context: SessionContext, oid: int | None) -> str | None:
    """Return the statement that makes a function. Raises 0A000 for PostgreSQL's own."""
    row = _row(context, oid)
    if row is None:
        return None
    function = context.snapshot.image.functions.get(row["oid"])
    if function is None:
        raise SqlError("0A000", f'the definition of "{row["proname"]}" is not in SQL')
    name = f"{quoted(schema_of(function.name))}.{quoted(name_of(function.name))}"
    lines = [
        f"CREATE OR REPLACE FUNCTION {name}({_arguments(context, row, defaults=True)})",
        f" RETURNS {pg_get_function_result(context, oid)}",
        " LANGUAGE sql",
    ]
    words = [*VOLATILITIES[function.volatility], *PARALLELS[function.parallel]]
    words += ["STRICT"] * function.strict + ["LEAKPROOF"] * function.leakproof
    words += [f"COST {function.cost:g}"] * (function.cost != COST)
    words += [f"ROWS {function.rows:g}"] * (function.returns_set and function.rows != ROWS)
    lines += [f" {' '.join(words)}"] if words else []
    if function.form == "string":
        mark = "$function$"
        while mark in function.body:
            mark = f"{mark[:-1]}x$"
        lines.append(f"AS {mark}{function.body}{mark}")
    else:
        lines.append(str(pg_get_function_sqlbody(context, oid)))
    return "\n".join(lines) + "\n"


def _arguments(context: SessionContext, row: Row, defaults: bool) -> str:
    if row["prokind"] == "a" and row["provariadic"] == 0 and row["pronargs"] == 0:
        return "*"
    return ", ".join(_parts(context, row, ("i", "o", "b", "v"), defaults))


def _parts(context: SessionContext, row: Row, wanted: tuple[str, ...], defaults: bool) -> list[str]:
    """Return the arguments of these modes as a definition has them."""
    types = row["proallargtypes"] or row["proargtypes"]
    modes, names = row["proargmodes"] or ["i"] * len(types), row["proargnames"] or [""] * len(types)
    function = context.snapshot.image.functions.get(row["oid"])
    known = _defaults(context, function) if function is not None and defaults else [None] * len(types)
    return [
        MODES.get(mode, "")
        + (f"{quoted(name)} " if name else "")
        + context.snapshot.type_text(kind, None)
        + ("" if default is None else f" DEFAULT {default}")
        for kind, mode, name, default in zip(types, modes, names, known, strict=False)
        if mode in wanted
    ]


def _defaults(context: SessionContext, function: FunctionDescription) -> list[str | None]:
    image, style, zone = context.snapshot.image, style_of(context, False), context.settings.time_zone
    known = SourceText("", "UTC", search_path=function.search_path, objects=function.objects or ())
    return [
        default_text(replace(known, text=one.default), ColumnDescription(one.name, one.type), image, style, zone)
        if one.default
        else None
        for one in function.arguments
    ]
