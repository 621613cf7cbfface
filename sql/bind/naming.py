"""Names of output columns that have no alias, by PostgreSQL's FigureColname."""

from __future__ import annotations

from sql.parse.syntax import (
    ArrayItems,
    CaseWhen,
    Collation,
    Expression,
    FieldSelection,
    FunctionCall,
    Name,
    Query,
    Row,
    SelectBody,
    SetOperation,
    Star,
    Subquery,
    Subscript,
    TypeCast,
    ValuesBody,
)

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
        case Collation():
            return figure(expression.operand)
        case ArrayItems():
            return "array", 2
        case Row():
            return "row", 2
        case Subscript():
            return figure(expression.operand)
        case FieldSelection():
            return expression.name, 2
        case Subquery():
            return subquery_name(expression)
        case CaseWhen():
            name, strength = ("", 0) if expression.default is None else figure(expression.default)
            return ("case", 1) if strength <= 1 else (name, strength)
    return "", 0


def subquery_name(node: Subquery) -> tuple[str, int]:
    """Return the name of a subquery: its kind, or the name of its one column."""
    if node.kind in ("exists", "array"):
        return node.kind, 2
    if node.kind != "scalar":
        return "", 0
    body = node.query.body
    while isinstance(body, SetOperation | Query):
        body = body.left if isinstance(body, SetOperation) else body.body
    if isinstance(body, ValuesBody):
        return "column1", 2
    assert isinstance(body, SelectBody), "a body without operands"
    target = body.targets[0] if body.targets else None
    if target is None or isinstance(target.expression, Star):
        return "", 0
    return target.alias or output_name(target.expression), 2
