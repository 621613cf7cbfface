"""Expressions as Python functions of one row: for a few rows a call of DuckDB takes a hundred times
as long as the computation.

Enters: an expression. Leaves: a function that is made of the very functions which DuckDB calls for
the same expression and of those of `plain_functions`, or None where DuckDB has something else of
its own. Between functions, values are
what functions of ours take and return: numerics are (unscaled, scale). Must not compute anything
else than these functions do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from engine.embedded.functions.json import read_field_text
from engine.embedded.functions.registration import either
from engine.embedded.functions.routines import implementation, special_of
from engine.embedded.functions.type import reader
from engine.embedded.plain_functions import plain_function
from sql.emit.duckdb import DuckDbExpressions
from sql.errors import SqlError
from sql.functions.arguments import RUN
from sql.functions.constants import unscaled_value
from sql.functions.printing import MOMENTS, form_of
from sql.functions.rows import Kernel, Routine
from sql.functions.table import ROUTINES, ROWS
from sql.tree.expressions import Call, Cast, Column, Expression, Literal
from sql.types.datatypes import SqlType

RowFunction = Callable[[Sequence[Any]], Any]
Reading = Callable[[Any], Any]
# Families whose values are the same ones in functions of ours and in a row of Python values.
STRINGS = frozenset("text varchar bpchar name json jsonb uuid inet cidr".split())
SAME = STRINGS | frozenset("int2 int4 int8 bool float8 bytea interval time timetz oid".split())
# Families whose texts are read without a setting of the session.
READ = frozenset({"json", "jsonb", "uuid", "inet", "cidr", "bytea"})
# Its rule for DuckDB calls its own function.
FIELD_TEXT = "json_field_text"
BY_NAME = {routine.name: routine for routine in ROUTINES}
# A call of one of our functions in DuckDB's text, of operands, which are written so, and constants.
OPERAND = "operand_{}"
OWN_CALL = re.compile(r"(\w+)\((.*)\)")
GIVEN = re.compile(r"operand_(?P<place>\d+)|'(?P<text>(?:[^']|'')*)'|(?P<number>-?\d+)|(?P<run>" + re.escape(RUN) + ")")


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
            return None if convert is None else applied(convert, [expression.operand])
        case Call(function="json_field_text", arguments=(Cast(operand=operand, type=read), key)) if (
            operand.type.family == "text" and read.family == "json"
        ):
            return applied(read_field_text, [operand, key])
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
    if given.family == "text" and wanted.family in READ:
        return reader(wanted)
    if given.family in ("int2", "int4", "int8"):
        if wanted.family == "numeric":
            return lambda value: (value, 0)
        if wanted.family in ("float8", "text"):
            return float if wanted.family == "float8" else str
        return same if wanted.family in ("int4", "int8") and wanted.family >= given.family else None
    if wanted.family == "text" and given.family in ("json", "jsonb", "varchar", "name", "uuid"):
        return same
    return None


def same(value: Any) -> Any:
    """Return the value."""
    return value


def called(call: Call) -> RowFunction | None:
    """Return the function of a call."""
    plain = plain_function(call)
    if plain is not None:
        return applied(plain, call.arguments)
    found = ROWS.get(call.function)
    if found is None or not call.arguments or found.of_session or found.waits:
        return None
    operands: Sequence[Expression] = call.arguments
    if (found.both is None and found.duckdb is None) or call.function == FIELD_TEXT:
        routine = found.routines.get(form_of(call.arguments[0].type).replace("variable", "numeric"))
    else:
        routine, operands = printed_call(call)
    if routine is None or not routine.is_strict or routine.is_volatile or isinstance(routine.implementation, Kernel):
        # A kernel takes vectors.
        return None
    function = implementation(routine)
    numerics = [place for place, family in enumerate(routine.arguments) if family == "numeric"]
    special = special_of(routine)
    if special is not None and numerics:
        function = either(function, special, numerics)
    return applied(function, operands)


def printed_call(call: Call) -> tuple[Routine | None, Sequence[Expression]]:
    """Return the function of ours that DuckDB calls for a call, where the function is all that
    DuckDB does, and its operands.
    """
    nothing: Sequence[Expression] = ()
    if any(operand.type.family == "numeric" for operand in (call, *call.arguments)):
        # DuckDB brings them to the form of our functions.
        return None, nothing
    operands = [
        operand if isinstance(operand, Literal) else Column(place, "", operand.type)
        for place, operand in enumerate(call.arguments)
    ]
    printer = DuckDbExpressions([OPERAND.format(place) for place in range(len(operands))])
    try:
        text = printer.text(replace(call, arguments=tuple(operands)))
    except SqlError:
        return None, nothing
    match = OWN_CALL.fullmatch(text)
    routine = None if match is None else BY_NAME.get(match[1])
    if match is None or routine is None:
        return None, nothing
    found: list[Expression] = []
    kinds = iter(routine.arguments)
    rest = match[2]
    while rest:
        given = GIVEN.match(rest)
        if given is None or rest[given.end() :][:2] not in ("", ", "):
            return None, nothing
        rest = rest[given.end() + 2 :]
        if given["run"] is None:
            kind = SqlType(next(kinds))
            found.append(operand_of(given, kind, call.arguments))
    return routine, found


def operand_of(given: re.Match[str], kind: SqlType, arguments: Sequence[Expression]) -> Expression:
    """Return an operand that has been printed."""
    if given["place"] is not None:
        return arguments[int(given["place"])]
    return Literal(given["text"].replace("''", "'") if given["text"] is not None else int(given["number"]), kind)


def is_plain(kind: SqlType) -> bool:
    """Tell whether values of a type are passed as they are, or as microseconds or a pair."""
    if kind.is_enum or kind.record is not None:
        return False
    if kind.is_array:
        return kind.element.family in SAME and not kind.element.is_enum
    return kind.family in SAME or kind.family in MOMENTS or kind.family == "numeric"


def applied(function: Callable[..., Any], operands: Sequence[Expression]) -> RowFunction | None:
    """Return a strict function of operands; None where an operand has none."""
    made = [inner_function(operand) for operand in operands]
    if None in made:
        return None
    parts = [part for part in made if part is not None]
    if len(parts) == 1:
        (only,) = parts

        def of_one(row: Sequence[Any]) -> Any:
            value = only(row)
            return None if value is None else function(value)

        return of_one

    def of_several(row: Sequence[Any]) -> Any:
        values = [part(row) for part in parts]
        return None if None in values else function(*values)

    return of_several
