"""Calls in catalog queries: our own catalog functions, the embedded engine's with the same meaning,
aggregates, rows.

A function that is in none of the tables does not exist (42883); the server's log has the query that
asked for it.
"""

from __future__ import annotations

import logging
from contextlib import nullcontext
from dataclasses import dataclass, replace

from engine.system_catalog.catalog_functions import FUNCTIONS, CatalogFunction
from engine.system_catalog.printed import (
    ARRAYS_FROM_0,
    ARRAYS_OF_VECTORS,
    OIDS,
    REGISTERED,
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
from engine.system_catalog.queries import casts, comparisons, expressions, ordinary, records
from engine.system_catalog.queries.printing import Printing
from engine.system_catalog.queries.scopes import Scope
from engine.system_catalog.syntax_nodes import nodes
from sql.bind.expressions.aggregates import NONE_HINT
from sql.emit.table_functions import ZERO_STEP, bounded_series
from sql.errors import SqlError, not_supported
from sql.functions.aggregates import AGGREGATES, ORDERED_SET_AGGREGATES
from sql.parse.syntax import Constant, Expression, FunctionCall, Operation, ParameterNumber, TypeCast, TypeName
from sql.types.datatypes import FAMILIES
from sql.values.literal_output import zoned_text

log = logging.getLogger(__name__)

FUNCTION_PREFIX = casts.FUNCTION_PREFIX
TIMES = frozenset(
    "now current_timestamp transaction_timestamp statement_timestamp clock_timestamp current_date".split()
)
CHOICES = frozenset({"coalesce", "greatest", "least"})
# Functions of arrays that count the places of vectors from 0.
OF_VECTORS = frozenset({"array_upper", "array_lower", "array_length", "array_ndims", "cardinality", "array_position"})
# Functions of any values that see them as their output shows them.
OF_OUTPUTS = frozenset({"concat", "concat_ws", "format"})
# Functions of any values that make JSON of them.
OF_JSON = frozenset("json_build_object jsonb_build_object json_build_array jsonb_build_array to_json to_jsonb".split())
# Aggregates of any type whose values the embedded engine tells apart as PostgreSQL does.
OF_OIDS = frozenset({"count", "min", "max", "array_agg"})
WINDOWS = {
    "row_number": "int8",
    "rank": "int8",
    "dense_rank": "int8",
    "first_value": "",
    "last_value": "",
    "lag": "",
    "lead": "",
}
SEQUENCE_FUNCTIONS = frozenset("nextval currval lastval setval".split())
JSON_AGGREGATES = frozenset({"json_agg", "jsonb_agg", "json_object_agg", "jsonb_object_agg"})
# The numbers of arguments of functions that take any number.
WINDOW_ARGUMENTS = {"first_value": (1, 1), "last_value": (1, 1), "lag": (1, 3), "lead": (1, 3)}
# Nodes of an expression that is the same for all rows.
CONSTANT_NODES = (Constant, Operation, ParameterNumber, TypeCast, TypeName)
ROW_FUNCTIONS = frozenset({"unnest", "generate_series", "generate_subscripts", "_pg_expandarray"})

# Functions whose arguments are never OIDs.
NO_OIDS = frozenset(
    "numeric float4 float8 bool date time timetz timestamp timestamptz interval uuid json jsonb bytea".split()
)
# Types of which PostgreSQL has series, and types that may stand beside them.
SERIES_TYPES = frozenset({UNKNOWN, "int2", "int4", "int8", "numeric", "date", "timestamp", "timestamptz", "interval"})


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows that a function returns, as a list.

    Attributes:
        type: of the values, or of structs with `fields`.
    """

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
            kind = series_type(arguments)
            if kind is None and {argument.type for argument in arguments} <= SERIES_TYPES:
                raise not_supported("generate_series of anything but integers in a query on the catalog", node.position)
            if kind is not None:
                series = bounded_series([f"CAST({argument.text} AS BIGINT)" for argument in arguments])
                return [Rows(f"CAST({series} AS {engine_type(kind)}[])", kind)]
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


def series_type(arguments: list[Printed]) -> str | None:
    """Return the type of a series of integers, None for other series."""
    kinds = {argument.type for argument in arguments} - {UNKNOWN}
    if not kinds or not kinds <= {"int2", "int4", "int8"}:
        return None
    return "int8" if "int8" in kinds else "int4"


def constant_series(printing: Printing, node: FunctionCall) -> Printed | None:
    """Return a generate_series of constant integers as an item of FROM, whose rows are made one by
    one; None for other calls.
    """
    if node.name != "generate_series" or len(node.arguments) not in (2, 3):
        return None
    if not all(isinstance(part, CONSTANT_NODES) for part in nodes(node.arguments)):
        return None
    arguments = [expressions.print_expression(printing, argument, Scope()) for argument in node.arguments]
    kind = series_type(arguments)
    if kind is None:
        return None
    texts = [f"CAST({argument.text} AS BIGINT)" for argument in arguments]
    if len(texts) > 2:
        texts[2] = f"CASE WHEN {texts[2]} = 0 THEN error({string(ZERO_STEP)}) ELSE {texts[2]} END"
    return Printed(f"generate_series({', '.join(texts)})", kind)


def print_call(printing: Printing, node: FunctionCall, scope: Scope) -> Printed:
    """Return a call. Raises 42883 for an unknown function."""
    if node.name in ORDERED_SET_AGGREGATES or node.name in JSON_AGGREGATES:
        raise not_supported(f"the aggregate {node.name} in a query on the catalog", node.position)
    if node.name in AGGREGATES or (node.name in WINDOWS and node.over is not None):
        return _aggregate(printing, node, scope)
    if node.over is not None:
        raise not_supported(f"{node.name} with OVER in a query on the catalog", node.position)
    if node.name in SEQUENCE_FUNCTIONS:
        # Such calls are answered beside the catalog: see `catalog_parts`.
        raise unknown_function(node, [])
    if returns_rows(node):
        raise SqlError("0A000", "set-returning functions are not allowed here", node.position)
    with printing.perhaps() if node.name == "coalesce" and _is_decided(node) else nullcontext():
        arguments = [expressions.print_expression(printing, argument, scope) for argument in node.arguments]
    known = FUNCTIONS.get(node.name)
    if known is not None and known.accepts(len(arguments)) and not _is_other(node, arguments):
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
        kind, values = casts.unified(printing, arguments, node.name.upper(), node.position)
        if node.name == "coalesce":
            return Printed(f"coalesce({', '.join(value.text for value in values)})", kind)
        if kind in VECTORS:
            raise not_supported(f"{node.name} of {kind} in a query on the catalog", node.position)
        found = _ordinary(printing, node, [ordinary.as_plain_oids(value) for value in values])
        return replace(found, type=kind) if kind in REGISTERED else found
    if node.name == "nullif" and len(arguments) == 2:
        return comparisons.nullif(printing, arguments[0], arguments[1], node.position)
    return _special(printing, node, arguments) or _ordinary(printing, node, arguments)


def _is_decided(node: FunctionCall) -> bool:
    """Tell whether an argument of COALESCE may be a constant that keeps others from being
    computed.
    """
    return any(expressions.is_constant(item) and not _is_null(item) for item in node.arguments[:-1])


def _is_null(node: Expression) -> bool:
    return isinstance(node, Constant) and node.kind == "null"


def _is_other(node: FunctionCall, arguments: list[Printed]) -> bool:
    """Tell a function of the catalog from the ordinary one with its name: age of a transaction is
    not age of a time.
    """
    return node.name == "age" and (len(arguments) != 1 or arguments[0].type not in OIDS)


def _special(printing: Printing, node: FunctionCall, arguments: list[Printed]) -> Printed | None:
    """Return a function that looks at the types of the catalog itself, None for other functions."""
    name, position = node.name, node.position
    if name in OF_VECTORS and arguments and arguments[0].type in VECTORS:
        return _of_vector(printing, node, arguments)
    if name == "array_to_string" and len(arguments) in (2, 3) and element_of(arguments[0].type) is not None:
        if not ordinary.is_ordinary(arguments[0].type):
            texts = Printed(casts.print_list_as_texts(printing, arguments[0]), "text[]")
            return _ordinary(printing, node, [texts, *arguments[1:]])
        return None
    if name in OF_OUTPUTS:
        return _ordinary(printing, node, [casts.plain(printing, argument, position) for argument in arguments])
    if name in OF_JSON:
        return _ordinary(printing, node, [records.for_json(printing, argument, position) for argument in arguments])
    if name == "row_to_json" and len(arguments) == 1:
        return records.row_to_json(printing, arguments[0], position)
    if name in ("text", "name", "bpchar", "varchar", "int4", "int8") and len(arguments) == 1 and not node.spelled:
        return casts.print_cast(printing, arguments[0], TypeName(name, (), position, name), position)
    if name == "pg_typeof" and len(arguments) == 1:
        kind = arguments[0].type
        kind = ARRAYS_OF_VECTORS[kind] if kind in ARRAYS_FROM_0 else kind
        return Printed(printing.constant('"char"' if kind == "char" else kind, "regtype", position), "regtype")
    return None


def _of_vector(printing: Printing, node: FunctionCall, arguments: list[Printed]) -> Printed:
    """Return a function of a vector's places, which begin with 0."""
    vector = arguments[0]
    size = f"len({vector.text})"
    if node.name == "cardinality" and len(arguments) == 1:
        return Printed(f"CAST({size} AS INTEGER)", "int4")
    if node.name == "array_ndims" and len(arguments) == 1:
        return Printed(f"CASE WHEN {size} > 0 THEN CAST(1 AS INTEGER) END", "int4")
    if len(arguments) != 2:
        raise unknown_function(node, arguments)
    if node.name == "array_position":
        item = casts.as_common(printing, arguments[1], VECTORS[vector.type], node.position)
        return Printed(f"CAST(list_position({vector.text}, {item.text}) - 1 AS INTEGER)", "int4")
    dimension = ordinary.converted(printing, arguments[1], "int8", node.position).text
    value = {"array_upper": f"{size} - 1", "array_lower": "0", "array_length": size}[node.name]
    return Printed(f"CASE WHEN {size} > 0 AND {dimension} = 1 THEN CAST({value} AS INTEGER) END", "int4")


def _ordinary(printing: Printing, node: FunctionCall, arguments: list[Printed]) -> Printed:
    """Return a function of ordinary values.

    Raises 42883, with a line in the log, for an unknown one.
    """

    def build(*nodes: Expression) -> Expression:
        return replace(node, arguments=nodes)

    try:
        return ordinary.ordinary(printing, arguments, build, node.position)
    except SqlError as error:
        if error.sqlstate == "42883" and error.position == node.position:
            raise unknown_function(node, arguments) from None
        raise


def _own(printing: Printing, known: CatalogFunction, arguments: list[Printed], position: int) -> str:
    texts = []
    if any(
        argument.type in NO_OIDS and kind in (*OIDS, "object")
        for argument, kind in zip(arguments, known.arguments, strict=False)
    ):
        raise not_found(known.name, arguments, position)
    for argument, kind in zip(arguments, known.arguments, strict=False):
        texts.append(_converted(printing, argument, kind, position))
    texts += [f"CAST(NULL AS {engine_type(kind)})" for kind in known.arguments[len(arguments) :]]
    return f"{FUNCTION_PREFIX}{known.name}({', '.join([str(printing.key), *texts])})"


def _converted(printing: Printing, argument: Printed, kind: str, position: int) -> str:
    """Return an argument of one of our functions, which tell OIDs and names apart by their type:
    see `CatalogFunction`.
    """
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
    condition = None
    if node.filter is not None:
        condition = Printed(expressions.print_condition(printing, node.filter, scope), "bool")
    over = "" if node.over is None else f"OVER ({expressions.print_window(printing, node.over, scope)})"
    if node.name in WINDOWS:
        return _window(printing, node, arguments, over)
    if node.distinct and arguments:
        ordinary.require_plain_equality(arguments[0], f"{node.name}(DISTINCT)", node.position)
    if node.name in OF_OIDS and len(arguments) == 1 and not ordinary.is_ordinary(arguments[0].type):
        return _aggregate_of_oids(printing, node, arguments[0], condition, over, scope)
    keys = [expressions.print_expression(printing, item.expression, scope) for item in node.order_by]
    keys = [ordinary.as_plain_oids(key) for key in keys]
    if node.name == "string_agg":
        arguments = [casts.plain(printing, argument, node.position) for argument in arguments]
    return ordinary.ordinary_aggregate(printing, node, arguments, keys, condition, over)


def _aggregate_of_oids(
    printing: Printing, node: FunctionCall, argument: Printed, condition: Printed | None, over: str, scope: Scope
) -> Printed:
    """Return an aggregate of values of a type of the catalog alone.

    Raises 0A000 for min and max of other values than OIDs.
    """
    kind = {"count": "int8", "array_agg": f"{argument.type}[]"}.get(node.name, "oid")
    if node.name in ("min", "max") and argument.type not in OIDS:
        raise not_supported(f"{node.name} of {argument.type} in a query on the catalog", node.position)
    if element_of(argument.type) is not None and node.name == "array_agg":
        raise not_supported("array_agg of arrays in a query on the catalog", node.position)
    inner = ("DISTINCT " if node.distinct else "") + argument.text
    if node.order_by:
        inner += f" ORDER BY {expressions.print_sort_keys(printing, node.order_by, scope)}"
    text = f"{'list' if node.name == 'array_agg' else node.name}({inner})"
    if condition is not None:
        text += f" FILTER (WHERE {condition.text})"
    return Printed(f"{text} {over}" if over else text, kind)


def _window(printing: Printing, node: FunctionCall, arguments: list[Printed], over: str) -> Printed:
    """Return a function of windows."""
    if node.filter is not None or node.distinct or node.order_by:
        raise not_supported(f"DISTINCT, FILTER or ORDER BY in {node.name} of a query on the catalog", node.position)
    low, high = WINDOW_ARGUMENTS.get(node.name, (0, 0))
    if not low <= len(arguments) <= high or node.star:
        raise unknown_function(node, arguments)
    kind = WINDOWS[node.name]
    if arguments:
        first, *rest = arguments
        first = printing.coerced(first, "text", node.position)
        texts, kind = [first.text], first.type
        if rest:
            texts.append(ordinary.converted(printing, rest[0], "int4", node.position).text)
        if len(rest) > 1:
            kind, values = casts.unified(printing, [first, rest[1]], node.name, node.position)
            texts = [values[0].text, texts[1], values[1].text]
    else:
        texts = []
    return Printed(f"{node.name}({', '.join(texts)}) {over}", kind)


def unknown_function(node: FunctionCall, arguments: list[Printed]) -> SqlError:
    """Return the 42883 error of a call, and write it into the log: a tool has asked for a function
    that the catalog does not have.
    """
    log.warning(
        "catalog: a client called %s(%s), which does not exist here: %s", node.name, types_of(arguments), node.text
    )
    return not_found(node.name, arguments, node.position)


def not_found(name: str, arguments: list[Printed], position: int) -> SqlError:
    """Return the 42883 error of a function with such arguments."""
    return SqlError("42883", f"function {name}({types_of(arguments)}) does not exist", position, hint=NONE_HINT)


def types_of(arguments: list[Printed]) -> str:
    """Return the types of arguments as messages name them."""
    kinds = ("record" if fields_of(argument.type) else argument.type for argument in arguments)
    return ", ".join(FAMILIES[kind].sql_name if kind in FAMILIES else kind for kind in kinds)
