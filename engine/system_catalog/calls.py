"""Calls in catalog queries: our own catalog functions, those of the embedded engine with the same meaning, aggregates, rows.

A function that is in none of the tables does not exist (42883); the server's log says which query asked for it.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass

from engine.system_catalog import casts, expressions, records
from engine.system_catalog.catalog_functions import FUNCTIONS, CatalogFunction
from engine.system_catalog.printed import (
    INTEGERS,
    NUMBERS,
    UNKNOWN,
    VECTORS,
    Printed,
    element_of,
    engine_type,
    fields_of,
    is_text,
    record_type,
    string,
)
from engine.system_catalog.printing import Printing, common_type
from engine.system_catalog.scopes import Scope
from sql.bind.calls import NONE_HINT
from sql.datatypes import FAMILIES
from sql.errors import SqlError, not_supported
from sql.literal_output import zoned_text
from sql.syntax import FunctionCall, TypeName

log = logging.getLogger(__name__)

FUNCTION_PREFIX = casts.FUNCTION_PREFIX
# Functions of the embedded engine that mean the same: how they are printed, and the type of the result. {0} and so on are the arguments,
# {} all of them; types of arguments are not looked at, but untyped literals are texts.
NATIVE: dict[tuple[str, int], tuple[str, str]] = {
    ("lower", 1): ("lower({})", "text"),
    ("upper", 1): ("upper({})", "text"),
    ("length", 1): ("CAST(length({}) AS INTEGER)", "int4"),
    ("char_length", 1): ("CAST(length({}) AS INTEGER)", "int4"),
    ("character_length", 1): ("CAST(length({}) AS INTEGER)", "int4"),
    ("octet_length", 1): ("CAST(strlen({}) AS INTEGER)", "int4"),
    ("substring", 2): ("substring({0}, CAST({1} AS BIGINT))", "text"),
    ("substring", 3): ("substring({0}, CAST({1} AS BIGINT), CAST({2} AS BIGINT))", "text"),
    ("substr", 2): ("substring({0}, CAST({1} AS BIGINT))", "text"),
    ("substr", 3): ("substring({0}, CAST({1} AS BIGINT), CAST({2} AS BIGINT))", "text"),
    ("left", 2): ("left({0}, CAST({1} AS BIGINT))", "text"),
    ("right", 2): ("right({0}, CAST({1} AS BIGINT))", "text"),
    ("replace", 3): ("replace({})", "text"),
    ("split_part", 3): ("split_part({0}, {1}, CAST({2} AS BIGINT))", "text"),
    ("strpos", 2): ("CAST(strpos({}) AS INTEGER)", "int4"),
    ("position", 2): ("CAST(strpos({}) AS INTEGER)", "int4"),
    ("btrim", 1): ("trim({}, ' ')", "text"),
    ("ltrim", 1): ("ltrim({}, ' ')", "text"),
    ("rtrim", 1): ("rtrim({}, ' ')", "text"),
    ("btrim", 2): ("trim({})", "text"),
    ("ltrim", 2): ("ltrim({})", "text"),
    ("rtrim", 2): ("rtrim({})", "text"),
    ("starts_with", 2): ("starts_with({})", "bool"),
    ("reverse", 1): ("reverse({})", "text"),
    ("md5", 1): ("md5({})", "text"),
    ("array_length", 2): ("CAST(nullif(len({0}), 0) AS INTEGER)", "int4"),
    ("cardinality", 1): ("CAST(len({0}) AS INTEGER)", "int4"),
    ("array_ndims", 1): ("CASE WHEN len({0}) > 0 THEN CAST(1 AS INTEGER) END", "int4"),
}
# The type of the result is that of the first argument.
SAME = {
    "abs": "abs({})",
    "floor": "floor({})",
    "ceil": "ceil({})",
    "round": "round({})",
    "array_append": "list_append({})",
    "array_remove": "list_filter({0}, lambda item: item IS DISTINCT FROM {1})",
}
TIMES = frozenset(
    "now current_timestamp transaction_timestamp statement_timestamp clock_timestamp current_date".split()
)
CHOICES = {"coalesce": "coalesce", "greatest": "greatest", "least": "least"}
AGGREGATES = {
    "count": "int8",
    "sum": "numeric",
    "avg": "numeric",
    "min": "",
    "max": "",
    "bool_and": "bool",
    "bool_or": "bool",
    "every": "bool",
    "string_agg": "text",
    "array_agg": "[]",
}
WINDOWS = {
    "row_number": "int8",
    "rank": "int8",
    "dense_rank": "int8",
    "first_value": "",
    "last_value": "",
    "lag": "",
    "lead": "",
}
ROW_FUNCTIONS = frozenset({"unnest", "generate_series", "generate_subscripts", "_pg_expandarray"})


@dataclass(frozen=True, slots=True)
class Rows:
    """What a function returns as rows: a list, of values of `type` or of structs with `fields`."""

    text: str
    type: str
    fields: tuple[tuple[str, str], ...] = ()


def returns_rows(node: FunctionCall) -> bool:
    """Tell whether a call returns rows."""
    known = FUNCTIONS.get(node.name)
    return node.name in ROW_FUNCTIONS or (known is not None and known.returns_rows)


def unnested(printing: Printing, node: FunctionCall, scope: Scope) -> Printed:
    """Return a function of rows in a select list."""
    (rows, *others) = row_function(printing, node, scope)
    if others:
        raise not_supported("several columns of a function in a select list of a query on the catalog", node.position)
    return Printed(f"unnest({rows.text})", record_type(rows.fields) if rows.fields else rows.type)


def row_function(printing: Printing, node: FunctionCall, scope: Scope) -> list[Rows]:
    """Return the lists of a function in FROM, one per column of values. Raises 42883."""
    arguments = [expressions.print_expression(printing, argument, scope) for argument in node.arguments]
    match node.name:
        case "unnest":
            arguments = [printing.coerced(argument, "text[]", node.position) for argument in arguments]
            elements = [element_of(argument.type) for argument in arguments]
            if None not in elements and arguments:
                return [
                    Rows(argument.text, element or "") for argument, element in zip(arguments, elements, strict=True)
                ]
        case "generate_series" if len(arguments) in (2, 3):
            kind = common_type(arguments)
            if kind in ("int2", "int4", "int8"):
                values = ", ".join(f"CAST({argument.text} AS BIGINT)" for argument in arguments)
                return [Rows(f"CAST(generate_series({values}) AS {engine_type(kind)}[])", kind)]
        case "generate_subscripts" if len(arguments) == 2:
            first = 0 if arguments[0].type in VECTORS else 1
            numbers = f"CAST(range({first}, len({arguments[0].text}) + {first}) AS INTEGER[])"
            return [Rows(f"CASE WHEN {arguments[1].text} = 1 THEN {numbers} END", "int4")]
        case "_pg_expandarray" if len(arguments) == 1 and element_of(arguments[0].type) is not None:
            item, place = printing.name("item"), printing.name("place")
            pair = f"{{'x': {item}, 'n': CAST({place} AS INTEGER)}}"
            fields = (("x", element_of(arguments[0].type) or ""), ("n", "int4"))
            return [Rows(f"list_transform({arguments[0].text}, lambda {item}, {place}: {pair})", "", fields)]
        case _:
            known = FUNCTIONS.get(node.name)
            if known is not None and known.accepts(len(arguments)):
                if known.returns_rows:
                    return [Rows(_own(printing, known, arguments, node.position), known.result, known.fields)]
                value = _own(printing, known, arguments, node.position)
                return [Rows(f"[{value}]", known.result)]
            if known is None and node.name not in ROW_FUNCTIONS:
                single = print_call(printing, node, scope)
                return [Rows(f"[{single.text}]", single.type)]
    raise unknown_function(node, arguments)


def print_call(printing: Printing, node: FunctionCall, scope: Scope) -> Printed:
    """Return a call. Raises 42883 for a function that is not known here."""
    if node.name in AGGREGATES or (node.name in WINDOWS and node.over is not None):
        return _aggregate(printing, node, scope)
    if returns_rows(node):
        raise SqlError("0A000", "set-returning functions are not allowed here", node.position)
    arguments = [expressions.print_expression(printing, argument, scope) for argument in node.arguments]
    known = FUNCTIONS.get(node.name)
    if known is not None and known.accepts(len(arguments)):
        return Printed(_own(printing, known, arguments, node.position), known.result)
    session = printing.context.session_value(node.name) if not arguments else None
    if session is not None:
        text = "NULL" if session[0] is None else printing.constant(session[0], session[1], None)
        return Printed(text, session[1])
    if node.name in TIMES and not arguments:
        micros = printing.context.now_us
        if node.name == "current_date":
            return Printed(
                f"CAST({string(zoned_text(micros, printing.context.settings.time_zone)[:10])} AS DATE)", "date"
            )
        return Printed(f"CAST(make_timestamp({micros}) AS TIMESTAMPTZ)", "timestamptz")
    if node.name in CHOICES and arguments:
        kind = common_type(arguments)
        kind = "text" if kind == UNKNOWN else kind
        texts = ", ".join(casts.as_common(printing, one, kind, node.position).text for one in arguments)
        return Printed(f"{CHOICES[node.name]}({texts})", kind)
    if node.name == "nullif" and len(arguments) == 2:
        left, right = printing.pair(arguments[0], arguments[1], node.position)
        return Printed(f"nullif({left.text}, {right.text})", left.type)
    found = _native(printing, node, arguments)
    if found is None:
        raise unknown_function(node, arguments)
    return found


def _native(printing: Printing, node: FunctionCall, arguments: list[Printed]) -> Printed | None:
    name, position = node.name, node.position
    if name in ("array_upper", "array_lower") and len(arguments) == 2:
        first = 0 if arguments[0].type in VECTORS else 1
        size = f"len({arguments[0].text})"
        value = f"{size} - 1 + {first}" if name == "array_upper" else str(first)
        return Printed(f"CASE WHEN {size} > 0 THEN CAST({value} AS INTEGER) END", "int4")
    if name in ("concat", "concat_ws") and arguments:
        texts = [casts.as_text(printing, argument, position).text for argument in arguments]
        return Printed(f"{name}({', '.join(texts)})", "text")
    if name == "array_position" and len(arguments) == 2:
        first = 0 if arguments[0].type in VECTORS else 1
        item = printing.coerced(arguments[1], element_of(arguments[0].type) or "text", position)
        return Printed(f"CAST(list_position({arguments[0].text}, {item.text}) - 1 + {first} AS INTEGER)", "int4")
    if name == "array_to_string" and len(arguments) in (2, 3):
        array = casts.as_common(printing, arguments[0], "text[]", position)
        inner = casts.print_list_as_texts(printing, array)
        rest = [printing.coerced(argument, "text", position).text for argument in arguments[1:]]
        rest += ["CAST(NULL AS VARCHAR)"] if len(rest) == 1 else []
        return Printed(f"{FUNCTION_PREFIX}array_to_string({printing.key}, {inner}, {', '.join(rest)})", "text")
    if name == "format" and arguments:
        texts = [casts.as_text(printing, argument, position).text for argument in arguments]
        return Printed(
            f"{FUNCTION_PREFIX}format({printing.key}, {texts[0]}, CAST([{', '.join(texts[1:])}] AS VARCHAR[]))", "text"
        )
    if name == "json_build_object":
        texts = [casts.as_text(printing, argument, position).text for argument in arguments]
        plain = "".join(
            "1" if argument.type in NUMBERS | {"bool"} and at % 2 else "0" for at, argument in enumerate(arguments)
        )
        return Printed(
            f"{FUNCTION_PREFIX}json_build_object({printing.key}, CAST([{', '.join(texts)}] AS VARCHAR[]), '{plain}')",
            "json",
        )
    if name == "row_to_json" and len(arguments) == 1:
        return records.row_to_json(printing, arguments[0], position)
    if name in ("text", "name", "bpchar", "varchar", "int4", "int8") and len(arguments) == 1 and not node.spelled:
        return casts.print_cast(printing, arguments[0], TypeName(name, (), position, name), position)
    if name == "to_char" and len(arguments) == 2 and arguments[0].type in ("timestamptz", "timestamp"):
        micros = f"epoch_us({arguments[0].text}), {string(arguments[0].type)}"
        wanted = printing.coerced(arguments[1], "text", position)
        return Printed(f"{FUNCTION_PREFIX}time_to_char({printing.key}, {micros}, {wanted.text})", "text")
    if name == "pg_typeof" and len(arguments) == 1:
        kind = "text" if arguments[0].type == UNKNOWN else arguments[0].type
        return Printed(printing.constant(kind, "regtype", position), "regtype")
    if name in ("date_part", "extract") and len(arguments) == 2:
        field = printing.coerced(arguments[0], "text", position)
        return Printed(f"date_part({field.text}, {arguments[1].text})", "float8" if name == "date_part" else "numeric")
    if (
        name in ("substring", "substr")
        and len(arguments) == 2
        and (arguments[1].type == UNKNOWN or is_text(arguments[1].type))
    ):
        texts = [casts.as_text(printing, argument, position).text for argument in arguments]
        return Printed(f"{FUNCTION_PREFIX}matching_part({printing.key}, {', '.join(texts)})", "text")
    template, kind = NATIVE.get((name, len(arguments)), ("", ""))
    if not template and name in SAME and arguments:
        template, kind = SAME[name], arguments[0].type
    if not template:
        return None
    texts = [_native_argument(printing, argument, position) for argument in arguments]
    return Printed(template.format(*texts) if "{0}" in template else template.format(", ".join(texts)), kind)


def _native_argument(printing: Printing, argument: Printed, position: int) -> str:
    return printing.coerced(argument, "text", position).text


def _own(printing: Printing, known: CatalogFunction, arguments: list[Printed], position: int) -> str:
    texts = []
    for argument, kind in zip(arguments, known.arguments, strict=False):
        texts.append(_converted(printing, argument, kind, position))
    texts += [f"CAST(NULL AS {engine_type(kind)})" for kind in known.arguments[len(arguments) :]]
    return f"{FUNCTION_PREFIX}{known.name}({', '.join([str(printing.key), *texts])})"


def _converted(printing: Printing, argument: Printed, kind: str, position: int) -> str:
    """Return an argument of one of our functions, which take OIDs and names apart by their type: see `CatalogFunction`."""
    if kind == "object":
        if argument.type == UNKNOWN or is_text(argument.type):
            return f"('=' || {casts.as_text(printing, argument, position).text})"
        return f"('#' || CAST({argument.text} AS VARCHAR))"
    if is_text(kind) and argument.type != UNKNOWN:
        return casts.as_text(printing, argument, position).text
    value = printing.coerced(argument, kind, position)
    return f"CAST({value.text} AS {engine_type(kind)})"


def _aggregate(printing: Printing, node: FunctionCall, scope: Scope) -> Printed:
    arguments = [expressions.print_expression(printing, argument, scope) for argument in node.arguments]
    arguments = [printing.coerced(argument, "text", node.position) for argument in arguments]
    if node.name == "string_agg":
        arguments = [casts.as_text(printing, argument, node.position) for argument in arguments]
    kind = AGGREGATES.get(node.name, WINDOWS.get(node.name, ""))
    first = arguments[0].type if arguments else ""
    if kind == "[]":
        kind = f"{first}[]"
    elif not kind:
        kind = first
    elif node.name == "sum":
        kind = {"int2": "int8", "int4": "int8", "float4": "float4", "float8": "float8"}.get(first, "numeric")
    elif node.name == "avg" and first in ("float4", "float8"):
        kind = "float8"
    inner = "*" if node.star else ", ".join(argument.text for argument in arguments)
    if node.distinct:
        inner = f"DISTINCT {inner}"
    if node.order_by:
        inner += f" ORDER BY {expressions.print_sort_keys(printing, node.order_by, scope)}"
    name = {"every": "bool_and"}.get(node.name, node.name)
    text = f"{name}({inner})"
    if node.filter is not None:
        text += f" FILTER (WHERE {expressions.print_condition(printing, node.filter, scope)})"
    if node.over is not None:
        text += f" OVER ({expressions.print_window(printing, node.over, scope)})"
    if node.name in ("sum", "avg"):
        scale = (
            "DECIMAL(38, 16)" if node.name == "avg" else "DECIMAL(38, 0)" if first in INTEGERS else engine_type(kind)
        )
        text = f"CAST({text} AS {scale if kind == 'numeric' else engine_type(kind)})"
    return Printed(text, kind)


def unknown_function(node: FunctionCall, arguments: list[Printed]) -> SqlError:
    """Return the 42883 error of a call, and write it into the log: a tool has asked for what the catalog does not have."""
    kinds = ("record" if fields_of(argument.type) else argument.type for argument in arguments)
    types = ", ".join(FAMILIES[kind].sql_name if kind in FAMILIES else kind for kind in kinds)
    log.warning("catalog: a client called %s(%s), which does not exist here: %s", node.name, types, node.text)
    return SqlError("42883", f"function {node.name}({types}) does not exist", node.position, hint=NONE_HINT)
