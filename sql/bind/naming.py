"""Names of output columns that have no alias, by PostgreSQL's FigureColname."""

from __future__ import annotations

from sql.syntax import CaseWhen, Expression, FunctionCall, Name, TypeCast

NAMELESS = "?column?"


def output_name(expression: Expression) -> str:
    """Return the name that PostgreSQL gives to the column."""
    return figure(expression)[0] or NAMELESS


def figure(expression: Expression) -> tuple[str, int]:
    """Return the name and how strong it is: 0 none, 1 a type or a CASE, 2 a column or a function."""
    match expression:
        case Name():
            return expression.parts[-1], 2
        case FunctionCall():
            return expression.label, 2
        case TypeCast():
            name, strength = figure(expression.operand)
            return (expression.type.name, 1) if strength <= 1 else (name, strength)
        case CaseWhen():
            name, strength = ("", 0) if expression.default is None else figure(expression.default)
            return ("case", 1) if strength <= 1 else (name, strength)
    return "", 0
