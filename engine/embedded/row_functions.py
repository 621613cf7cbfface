"""Expressions as Python functions of one row: for a few rows a call of DuckDB takes a hundred times
as long as the computation.

Enters: an expression. Leaves: a function that is made of the very functions which DuckDB calls for
the same expression, of those that the rows of the table give for Python's values (`plain`), and of
what texts for DuckDB mean (`printed_texts`); None where DuckDB has something else of its own.
Between functions, values are what functions of ours take and return: numerics are (unscaled,
scale).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import itemgetter
from typing import Any

from engine.embedded.functions.json import read_field_text
from engine.embedded.functions.routines import VARIABLE, physical
from engine.embedded.own_functions import RowFunction, called_with, own_function
from engine.embedded.printed_parts import Part
from engine.embedded.printed_texts import OPERAND, text_function
from sql.emit.duckdb import DuckDbExpressions
from sql.errors import SqlError
from sql.functions.constants import unscaled_value
from sql.functions.printing import MOMENTS, form_of
from sql.functions.rows import of_form
from sql.functions.table import ROWS, is_lazy
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal
from sql.types.datatypes import SqlType

# Families whose values are the same ones in functions of ours and in a row of Python values.
STRINGS = frozenset("text varchar bpchar name char json jsonb uuid inet cidr".split())
SAME = STRINGS | frozenset("int2 int4 int8 bool float4 float8 bytea interval time timetz oid".split())
# Its rule for DuckDB calls its own function.
FIELD_TEXT = "json_field_text"
# Of integers: a value beyond is out of range.
BOUNDS = {"int2": 1 << 15, "int4": 1 << 31, "int8": 1 << 63}


def row_function(expression: Expression) -> RowFunction | None:
    """Return what computes an expression from the values of the columns of a row; None: only DuckDB
    computes it.

    The values, and the result, are as `ringbuffer.memory.few_rows` has them. The function raises
    SqlError for a row that fails.
    """
    # A numeric of one scale would have to be brought to the scale.
    return None if is_scaled(expression.type) else inner_function(expression)


def is_scaled(kind: SqlType) -> bool:
    """Tell whether all values of a type are numerics of one scale."""
    return kind.family == "numeric" and not kind.is_variable_numeric


def inner_function(expression: Expression) -> RowFunction | None:
    """Return what computes the value that a function of ours takes."""
    if not is_plain(expression.type):
        return None
    match expression:
        case Column():
            return itemgetter(expression.index)
        case Literal():
            value = constant(expression)
            return lambda row: value
        case Cast(operand=operand, type=kind):
            if kind.family == "numeric" and operand.type.family in BOUNDS:
                return applied(lambda value: (value, 0), True, [operand])
            return printed(expression, [operand])
        case Case() if not is_scaled(expression.type):
            return chosen(expression)
        case Call(function="json_field_text", arguments=(Cast(operand=operand, type=read), key)) if (
            operand.type.family == "text" and read.family == "json"
        ):
            return applied(read_field_text, True, [operand, key])
        case Call():
            return called(expression)
    return None


def constant(literal: Literal) -> Any:
    """Return a constant as functions of ours take it."""
    value, kind = literal.value, literal.type
    if value is None:
        return None
    if kind.is_array:
        assert isinstance(value, tuple), value
        return [constant(Literal(item, kind.element)) for item in value]
    return unscaled_value(value, kind) if kind.family == "numeric" else value


def chosen(case: Case) -> RowFunction | None:
    """Return the value of the first branch whose condition holds."""
    branches = [(inner_function(condition), inner_function(value)) for condition, value in case.branches]
    default = inner_function(case.default)
    known = [(test, value) for test, value in branches if test is not None and value is not None]
    if default is None or len(known) < len(branches):
        return None
    last = default
    return lambda row: next((value for test, value in known if test(row)), last)(row)


def called(call: Call) -> RowFunction | None:
    """Return the function of a call."""
    plain, found = plain_function(call), ROWS.get(call.function)
    if plain is not None:
        return applied(plain, found is None or found.strict, call.arguments)
    if found is None or not call.arguments or found.of_session or found.waits:
        return None
    if (found.both is None and found.duckdb is None) or call.function == FIELD_TEXT:
        routine = found.routines.get(form_of(call.arguments[0].type).replace("variable", "numeric"))
        if routine is None or routine.is_volatile:
            return None
        return applied(*own_function(routine.name), call.arguments)
    return printed(call, call.arguments)


def plain_function(call: Call) -> Callable[..., Any] | None:
    """Return the function of Python's values that the row of a call gives."""
    row, kind = ROWS.get(call.function), call.type
    if row is None or not call.arguments:
        return None
    compute: Callable[..., Any] | None = of_form(row.plain, form_of(call.arguments[0].type))
    if compute is None or kind.family not in BOUNDS:
        return compute
    bound, found = BOUNDS[kind.family], compute

    def checked(*operands: Any) -> int | None:
        value: int | None = found(*operands)
        if value is not None and not -bound <= value < bound:
            raise SqlError("22003", f"{kind.row.sql_name} out of range")
        return value

    return checked


def printed(node: Call | Cast, operands: Sequence[Expression]) -> RowFunction | None:
    """Return what the text computes that DuckDB is given for a node."""
    functions = [made for made in map(inner_function, operands) if made is not None]
    if len(functions) < len(operands) or is_scaled(node.type):
        return None
    constants = [
        operand if isinstance(operand, Literal) and operand.type.family != "bytea" else Column(place, "", operand.type)
        for place, operand in enumerate(operands)
    ]
    named = ROWS[node.function].constants if isinstance(node, Call) else {}
    columns = [Column(place, "", one.type) if place in named else one for place, one in enumerate(constants)]
    # Other operands are computed once, however often the text has them.
    lazily = isinstance(node, Call) and is_lazy(node.function)
    values: Sequence[RowFunction] = functions if lazily else [itemgetter(place) for place in range(len(operands))]
    parts = [Part(value, engine_type(part.type)) for value, part in zip(values, operands, strict=True)]
    printer = DuckDbExpressions([OPERAND.format(place) for place in range(len(operands))])
    # The text for a constant may be DuckDB's own: RE2's of a regular expression.
    for given in (constants, columns):
        read = replace(node, operand=given[0]) if isinstance(node, Cast) else replace(node, arguments=tuple(given))
        with suppress(SqlError, LookupError):
            found = text_function(printer.text(read), parts)
            if (found.kind == VARIABLE) != (node.type.family == "numeric"):
                return None
            return found.value if lazily else over(found.value, functions)
    return None


def over(compute: RowFunction, parts: Sequence[RowFunction]) -> RowFunction:
    """Return a function of the values of parts of a row."""
    return lambda row: compute([part(row) for part in parts])


def engine_type(kind: SqlType) -> str:
    """Return DuckDB's type of the values."""
    return f"DECIMAL(38,{kind.display_scale})" if is_scaled(kind) else physical(kind.family)


def is_plain(kind: SqlType) -> bool:
    """Tell whether values of a type are passed as they are, or as microseconds or a pair."""
    if kind.is_enum or kind.record is not None:
        return False
    if kind.is_array:
        return is_plain(kind.element)
    return kind.family in SAME or kind.family in MOMENTS or kind.family == "numeric"


def applied(function: Callable[..., Any], strict: bool, operands: Sequence[Expression]) -> RowFunction | None:
    """Return a function of operands; None where an operand has none."""
    parts = [part for part in map(inner_function, operands) if part is not None]
    return called_with(function, parts, strict) if len(parts) == len(operands) else None
