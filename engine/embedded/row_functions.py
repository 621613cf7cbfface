"""Expressions as Python functions of one row: for a few rows a call of DuckDB takes a hundred times
as long as the computation.

Enters: an expression. Leaves: a function that is made of the very functions which DuckDB calls for
the same expression, or None where DuckDB has something of its own. Must not compute anything else
than these functions do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from engine.embedded.functions.json import read_field_text
from engine.embedded.functions.routines import implementation
from engine.embedded.functions.type import reader
from sql.functions.printing import form_of
from sql.functions.rows import Kernel
from sql.functions.table import ROWS
from sql.tree.expressions import Call, Cast, Column, Expression, Literal
from sql.types.datatypes import SqlType

RowFunction = Callable[[Sequence[Any]], Any]
# Families whose values are the same ones in functions of ours and in a row of Python values.
STRINGS = frozenset({"text", "varchar", "json", "jsonb"})
# Its rule for DuckDB calls its own function.
FIELD_TEXT = "json_field_text"
PLAIN = STRINGS | {"int2", "int4", "int8", "bool"}


def row_function(expression: Expression) -> RowFunction | None:
    """Return what computes an expression from the values of the columns of a row; None: only DuckDB
    computes it.

    The function raises SqlError for a row that fails.
    """
    if not is_plain(expression.type):
        return None
    match expression:
        case Column():
            index = expression.index
            return lambda row: row[index]
        case Literal():
            value = expression.value
            return lambda row: value
        case Cast() if is_read_as_json(expression):
            return applied(reader(expression.type), [expression.operand])
        case Call(function="json_field_text", arguments=(Cast() as read, key)) if (
            is_read_as_json(read) and read.type.family == "json"
        ):
            return applied(read_field_text, [read.operand, key])
        case Call():
            found = ROWS.get(expression.function)
            if (
                found is None
                or not expression.arguments
                or found.both is not None
                or (found.duckdb is not None and expression.function != FIELD_TEXT)
            ):
                return None
            routine = found.routines.get(form_of(expression.arguments[0].type))
            if routine is None or not routine.is_strict or routine.is_volatile:
                return None
            if isinstance(routine.implementation, Kernel):
                # A kernel takes vectors.
                return None
            return applied(implementation(routine), expression.arguments)
    return None


def is_read_as_json(cast: Cast) -> bool:
    """Tell whether a cast reads a text as json or jsonb."""
    return cast.operand.type.family == "text" and cast.type.family in ("json", "jsonb")


def is_plain(kind: SqlType) -> bool:
    """Tell whether values of a type are passed as they are."""
    return kind.family in PLAIN and not kind.is_array and not kind.is_enum and kind.record is None


def applied(function: Callable[..., Any], operands: Sequence[Expression]) -> RowFunction | None:
    """Return a strict function of operands; None where an operand has none."""
    made = [row_function(operand) for operand in operands]
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
