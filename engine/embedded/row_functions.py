"""Expressions as Python functions of one row: for a few rows a call of DuckDB takes a hundred times
as long as the computation.

Enters: an expression. Leaves: a function that is made of the very functions which DuckDB calls for
the same expression, and of those that the rows of the table give for Python's values (`plain`);
None where DuckDB has something else of its own. Between functions, values are what functions of
ours take and return: numerics are (unscaled, scale). Must not compute anything else than these
functions do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from engine.embedded.functions.json import read_field_text
from engine.embedded.functions.type import reader
from engine.embedded.own_functions import (
    KERNEL_ROWS,
    OPERAND,
    PrintedText,
    RowFunction,
    called_with,
    of_kernel,
    own_function,
)
from ringbuffer.vectors.loops import ZONE
from sql.emit.duckdb import DuckDbExpressions
from sql.errors import SqlError
from sql.functions.constants import unscaled_value
from sql.functions.printing import MOMENTS, form_of
from sql.functions.rows import of_form
from sql.functions.table import ROWS
from sql.tree.expressions import Call, Cast, Column, Expression, Literal
from sql.types.datatypes import TEXT, SqlType

Reading = Callable[[Any], Any]
# Families whose values are the same ones in functions of ours and in a row of Python values.
STRINGS = frozenset("text varchar bpchar name json jsonb uuid inet cidr".split())
SAME = STRINGS | frozenset("int2 int4 int8 bool float4 float8 bytea interval time timetz oid".split())
# Families whose texts are read without a setting of the session.
READ = frozenset({"json", "jsonb", "uuid", "inet", "cidr", "bytea"})
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
    kind = expression.type
    # A numeric of one scale would have to be brought to the scale.
    return None if kind.family == "numeric" and not kind.is_variable_numeric else inner_function(expression)


def inner_function(expression: Expression) -> RowFunction | None:
    """Return what computes the value that a function of ours takes."""
    if not is_plain(expression.type):
        return None
    match expression:
        case Column():
            index = expression.index
            return lambda row: row[index]
        case Literal():
            value = constant(expression)
            return lambda row: value
        case Cast():
            convert = conversion(expression)
            return None if convert is None else applied(convert, True, [expression.operand])
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
        return list(value)
    return unscaled_value(value, kind) if kind.family == "numeric" else value


def conversion(cast: Cast) -> Reading | None:
    """Return the conversion of a value; None where only DuckDB has it."""
    given, wanted = cast.operand.type, cast.type
    if given.family == "text" or (given.family == "json" and wanted.family == "jsonb"):
        return reader(wanted) if wanted.family in READ else kernel_cast(f"{wanted.family}_from_text", cast)
    if given.family == "float4" and wanted.family == "float8":
        return same
    if given.family in ("int2", "int4", "int8"):
        if wanted.family == "numeric":
            return lambda value: (value, 0)
        if wanted.family in ("float8", "text"):
            return float if wanted.family == "float8" else str
        return same if wanted.family in ("int4", "int8") and wanted.family >= given.family else None
    if wanted.family == "text" and given.family in ("json", "jsonb", "varchar", "name", "uuid"):
        return same
    return kernel_cast(f"{given.family}_text", cast) if wanted == TEXT else None


def kernel_cast(name: str, cast: Cast) -> Reading | None:
    """Return the conversion to or from text that is a kernel; None where there is none."""
    row, kind = KERNEL_ROWS.get(name), cast.type
    if row is None or kind != kind.without_modifier() or not is_plain(cast.operand.type):
        return None
    convert, zone = of_kernel(name), cast.zone
    return convert if ZONE not in row.arguments else lambda value: convert(value, zone or "UTC")


def same(value: Any) -> Any:
    """Return the value."""
    return value


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
    return printed_call(call)


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


def printed_call(call: Call) -> RowFunction | None:
    """Return what the text computes that DuckDB is given for a call, where the text calls nothing
    but functions of ours.
    """
    if any(operand.type.family == "numeric" for operand in (call, *call.arguments)):
        # DuckDB brings them to the form of our functions.
        return None
    operands = [
        operand if isinstance(operand, Literal) else Column(place, "", operand.type)
        for place, operand in enumerate(call.arguments)
    ]
    printer = DuckDbExpressions([OPERAND.format(place) for place in range(len(operands))])
    try:
        printed = PrintedText(printer.text(replace(call, arguments=tuple(operands))), call.arguments, inner_function)
        made = printed.value()
    except (SqlError, LookupError):
        return None
    return made if printed.is_read else None


def is_plain(kind: SqlType) -> bool:
    """Tell whether values of a type are passed as they are, or as microseconds or a pair."""
    if kind.is_enum or kind.record is not None:
        return False
    if kind.is_array:
        return kind.element.family in SAME and not kind.element.is_enum
    return kind.family in SAME or kind.family in MOMENTS or kind.family == "numeric"


def applied(function: Callable[..., Any], strict: bool, operands: Sequence[Expression]) -> RowFunction | None:
    """Return a function of operands; None where an operand has none."""
    parts = [part for part in map(inner_function, operands) if part is not None]
    return called_with(function, parts, strict) if len(parts) == len(operands) else None
