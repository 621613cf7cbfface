"""Function calls: plain functions by overload, forms that take any type, session functions; aggregates and windows go to their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sql.bind import aggregates, homes, table_functions, time_functions, windows
from sql.bind.coerce import coerce, require_usual_form
from sql.bind.common_type import unify
from sql.bind.json_values import JSON_NAMES, json_call
from sql.bind.operators import binary, comparison_signature, finish, type_name, with_blanks
from sql.bind.places import start_of
from sql.bind.polymorphic import converted
from sql.bind.session_functions import SESSION_FUNCTIONS, session_function
from sql.errors import SqlError, not_supported
from sql.functions.aggregates import AGGREGATES, ORDERED_SET_AGGREGATES, WINDOW_FUNCTIONS
from sql.functions.missing import AGGREGATE_NAMES, NAMES
from sql.functions.overloads import AmbiguousError, choose
from sql.functions.scalars import FUNCTIONS, TABLE_FUNCTIONS, VOLATILE
from sql.functions.signatures import PSEUDO
from sql.names.suggestions import did_you_mean
from sql.parse.syntax import FunctionCall
from sql.tree.expressions import Call, Case, Expression, Literal
from sql.types.datatypes import TEXT, SqlType

if TYPE_CHECKING:
    from sql.bind.expressions import Binder

# Functions of time zones, with the number of their own arguments: the session's zone comes last.
ZONED = {"age": 2, "age_today": 1, "make_timestamptz": 6, "format_time": 2, "read_timestamp": 2}
# Functions of any values that take them as their output functions print them.
OUTPUT_TEXTS = frozenset({"concat", "concat_ws", "format"})
# These make texts of values without a cast in the tree.
PRINTING = frozenset({"array_to_string"})
NONE_HINT = "No function matches the given name and argument types. You might need to add explicit type casts."
FORMS = frozenset({"coalesce", "greatest", "least", "nullif"})
SCALAR_NAMES = FORMS | SESSION_FUNCTIONS | time_functions.TIME_FUNCTIONS | FUNCTIONS.keys()
CALLED_NAMES = (
    SCALAR_NAMES | AGGREGATES.keys() | ORDERED_SET_AGGREGATES.keys() | WINDOW_FUNCTIONS.keys() | TABLE_FUNCTIONS.keys()
)
MANY_HINT = "Could not choose a best candidate function. You might need to add explicit type casts."


def call(binder: Binder, node: FunctionCall) -> Expression:
    """Bind a call."""
    name = node.name
    if name in JSON_NAMES:
        return json_call(binder, node)
    if name in AGGREGATES or name in ORDERED_SET_AGGREGATES or name in AGGREGATE_NAMES:
        if name in AGGREGATE_NAMES:
            raise not_supported(f"the aggregate {name}", node.position)
        return aggregates.aggregate(binder, node)
    if name == "grouping" and node.spelled:
        return homes.grouping_call(binder, node)
    if name in TABLE_FUNCTIONS:
        return table_functions.in_expression(binder, node)
    if name not in CALLED_NAMES and name not in NAMES:
        return function(binder, node)
    if node.over is not None or name in WINDOW_FUNCTIONS:
        return windows.window(binder, node)
    refuse_decorations(node)
    if name in time_functions.TIME_FUNCTIONS:
        return time_functions.time_function(binder, node)
    if name in SESSION_FUNCTIONS:
        return session_function(binder, node)
    if name in ("coalesce", "greatest", "least"):
        sets_count = binder.sets_count
        operands = [binder.bind(argument) for argument in node.arguments]
        if name == "coalesce":
            table_functions.refuse_sets(binder, sets_count, "COALESCE")
        places = [start_of(argument) for argument in node.arguments]
        kind, values = unify(operands, name.upper(), binder.context, places)
        return Call(name, tuple(values), kind, node.position, node.text)
    if name == "nullif":
        return nullif(binder, node)
    return function(binder, node)


def refuse_decorations(node: FunctionCall) -> None:
    """Raise what PostgreSQL says about DISTINCT, FILTER and the like on a function that is no aggregate."""
    name = node.name
    if node.star and name in FUNCTIONS:
        raise no_function(f"{name}()", node.position)
    for present, what in (
        (node.star, f"{name}(*) specified, but {name} is not an aggregate function"),
        (node.distinct, f"DISTINCT specified, but {name} is not an aggregate function"),
        (node.order_by, f"ORDER BY specified, but {name} is not an aggregate function"),
        (node.filter, f"FILTER specified, but {name} is not an aggregate function"),
    ):
        if present:
            raise SqlError("42809", what, node.position)


def no_function(written: str, position: int, hint: str | None = None) -> SqlError:
    return SqlError("42883", f"function {written} does not exist", position, hint=hint or NONE_HINT)


def nullif(binder: Binder, node: FunctionCall) -> Expression:
    """Bind NULLIF: compared as `=` compares, with the type that the first argument has there."""
    left, right = (binder.bind(argument) for argument in node.arguments)
    equal = binary(binder, "=", left, right, node.position, node.text)
    assert isinstance(equal, Call)
    kept = comparison_signature("=", left, right, node.position).arguments[0]
    if kept not in PSEUDO and kept != equal.arguments[0].type.family:
        # PostgreSQL compares sizes of numbers and kinds of times without a conversion, so that the value keeps its type.
        value = coerce(left, SqlType(kept), binder.context)
        return Case(((equal, Literal(None, value.type)),), value, value.type)
    return Call("nullif", equal.arguments, equal.arguments[0].type, node.position, node.text)


def function(binder: Binder, node: FunctionCall) -> Expression:
    """Bind an ordinary function by its overloads."""
    name = node.name
    operands = [binder.bind(argument) for argument in node.arguments]
    if name == "octet_length":
        operands = [with_blanks(operand) for operand in operands]
    families = [operand.type.family for operand in operands]
    prefix = "pg_catalog." if node.spelled else ""
    written = f"{prefix}{name}({', '.join(type_name(operand) for operand in operands)})"
    candidates = FUNCTIONS.get(name, ())
    if not candidates:
        if name in NAMES:
            raise not_supported(f"the function {name}", node.position)
        raise no_function(written, node.position, did_you_mean(name, sorted(CALLED_NAMES), "the function"))
    try:
        found = choose(candidates, families)
    except AmbiguousError:
        raise SqlError("42725", f"function {written} is not unique", node.position, hint=MANY_HINT) from None
    if found is None:
        raise no_function(written, node.position)
    if not found.canonical:
        raise not_supported(f"the function {written.removeprefix('pg_catalog.')}", node.position)
    if found.canonical in VOLATILE:
        binder.context.stable = True
    values = converted(found, operands, binder.context)
    if found.canonical in OUTPUT_TEXTS:
        fixed = len(found.arguments) - 1 if found.variadic else len(values)
        values[fixed:] = [as_output_text(binder, value) for value in values[fixed:]]
    if found.canonical in PRINTING:
        require_usual_form(values[0].type, binder.context.settings, node.position)
    if found.canonical in ("date_trunc", "extract", "date_part", "to_zone", "from_zone"):
        return time_functions.field_function(binder, found, values, node)
    if (
        found.canonical in ZONED
        and "timestamptz" in (*found.cast_to, found.result)
        and len(values) == ZONED[found.canonical]
    ):
        values.append(Literal(binder.context.settings.clock_zone, TEXT))
    elif found.canonical in ("age", "age_today"):
        values.append(Literal("", TEXT))
    if found.canonical == "age_today":
        return time_functions.age_today(binder, values, node)
    if found.canonical in ("trim_both", "trim_left", "trim_right") and len(values) == 1:
        values.append(Literal(" ", TEXT))
    if found.canonical in ("lpad", "rpad") and len(values) == 2:
        values.append(Literal(" ", TEXT))
    return finish(found, values, node.position, node.text)


def as_output_text(binder: Binder, operand: Expression) -> Expression:
    """Return the operand as its output function prints it, which for a boolean is not what a cast to text gives."""
    if operand.type.family == "bool":
        words = (Literal("t", TEXT), Literal("f", TEXT))
        branches = ((operand, words[0]), (Call("not", (operand,), SqlType("bool")), words[1]))
        return Case(branches, Literal(None, TEXT), TEXT)
    if operand.type.family == "inet":
        # A cast to text shows the bits of every network.
        return Call("inet_output", (operand,), TEXT)
    return coerce(with_blanks(operand), TEXT, binder.context)
