"""The select list: its items, their names by PostgreSQL's FigureColname, and the items of GROUP BY,
ORDER BY and DISTINCT ON that mean one.

An operand of a set operation is a bound query whose untyped constants may still take the type that
the operation finds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.bind.expressions.binder import Binder, settle
from sql.bind.expressions.coerce import coerce, unify
from sql.bind.expressions.context import BindContext, Operand, untyped_items
from sql.bind.expressions.scope import Output, Scope, expand_star
from sql.errors import SqlError
from sql.parse.syntax import (
    ArrayItems,
    CaseWhen,
    Collation,
    Constant,
    FieldSelection,
    FunctionCall,
    Name,
    Query,
    Row,
    SelectBody,
    SetOperation,
    SortItem,
    Star,
    Subquery,
    Subscript,
    Target,
    TypeCast,
    ValuesBody,
)
from sql.parse.syntax import Expression as Syntax
from sql.tree.expressions import Cast, Column, Expression, Literal, SortKey
from sql.tree.relations import (
    Limit,
    Project,
    Relation,
)
from sql.types.casts import require_order
from sql.types.datatypes import SqlType


def bind_target(target: Target, binder: Binder, untyped: bool = False) -> list[Output]:
    """Return the output columns of one item of the target list; untyped: a constant needs no type
    yet.
    """
    node = target.expression
    if isinstance(node, Star):
        return expand_star(node, binder.scope)
    expression = binder.bind(node)
    if not untyped:
        expression = settle(expression, binder.context)
    return [Output(target.alias or output_name(node), expression, node, target.position)]


def column_outputs(scope: Scope) -> list[Output]:
    """Return the visible columns of a scope as output columns."""
    return [Output(column.name, column.expression, None, 0) for column in scope.visible]


def bare_name(node: Syntax) -> str | None:
    """Return the one word that an expression consists of, else None."""
    return node.parts[0] if isinstance(node, Name) and len(node.parts) == 1 else None


def output_named(wanted: str, position: int, outputs: list[Output], clause: str) -> Expression | None:
    """Return the output column that a bare name means, None when there is none."""
    found = [output.expression for output in outputs if output.name == wanted]
    if any(expression != found[0] for expression in found[1:]):
        raise SqlError("42702", f'{clause} "{wanted}" is ambiguous', position)
    return found[0] if found else None


def ordinal_place(item: Constant, count: int, clause: str) -> int:
    """Return the index of the output column that a number stands for."""
    if item.kind != "integer":
        raise SqlError("42601", f"non-integer constant in {clause}", item.position)
    if not 1 <= int(item.value) <= count:
        raise SqlError("42P10", f"{clause} position {item.value} is not in select list", item.position)
    return int(item.value) - 1


def output_item(node: Syntax, position: int, outputs: list[Output], binder: Binder) -> Expression:
    """Return an item of ORDER BY or DISTINCT ON.

    An output column wins over an input column of the same name.
    """
    wanted = bare_name(node)
    found = None if wanted is None else output_named(wanted, position, outputs, binder.clause)
    if found is not None:
        return found
    if isinstance(node, Constant):
        return outputs[ordinal_place(node, len(outputs), binder.clause)].expression
    return binder.bind_value(node)


def bind_order(item: SortItem, outputs: list[Output], binder: Binder) -> SortKey:
    """Return the sort key of an ORDER BY item."""
    expression = output_item(item.expression, item.position, outputs, binder)
    require_order(expression.type, item.position)
    nulls_first = item.descending if item.nulls_first is None else item.nulls_first
    return SortKey(expression, item.descending, nulls_first)


def converted(operand: Operand, kinds: Sequence[SqlType], context: BindContext) -> Relation:
    """Return the operand's relation with columns of exactly these types."""
    return convert(operand.relation, kinds, context)


def convert(relation: Relation, kinds: Sequence[SqlType], context: BindContext) -> Relation:
    if all(column.type == kind for column, kind in zip(relation.schema, kinds, strict=True)):
        return relation
    if isinstance(relation, Project):
        pairs = zip(relation.items, kinds, strict=True)
        items = tuple((name, fitted(item, kind, context)) for (name, item), kind in pairs)
        return Project(relation.input, items)
    if isinstance(relation, Limit) and untyped_items(relation):
        return replace(relation, input=convert(relation.input, kinds, context))
    items = tuple(
        (column.name, fitted(Column(index, column.name, column.type), kind, context))
        for index, (column, kind) in enumerate(zip(relation.schema, kinds, strict=True))
    )
    return Project(relation, items)


def fitted(expression: Expression, kind: SqlType, context: BindContext) -> Expression:
    """Return the expression with exactly this type, its display scale included."""
    found = coerce(expression, kind.without_modifier(), context)
    if found.type == kind:
        return found
    if isinstance(found, Literal):
        return Literal(found.value, kind, found.position)
    return Cast(found, kind)


NAMELESS = "?column?"


def output_name(expression: Syntax) -> str:
    """Return the name that PostgreSQL gives to the column."""
    return figure(expression)[0] or NAMELESS


def figure(expression: Syntax) -> tuple[str, int]:
    """Return the name and how strong it is: 0 none, 1 a type or a CASE, 2 a column or a
    function.
    """
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


# What clients know under their own OIDs; the rows of a statement are those of the table that it
# writes to.


def common_types(body: SetOperation, left: Operand, right: Operand, context: BindContext) -> list[SqlType]:
    """Return the type that each pair of columns has together, or raise 42601 or 42804."""
    word = body.operator.upper()
    if len(left.places) != len(right.places):
        message = f"each {word} query must have the same number of columns"
        raise SqlError("42601", message, min(right.places, default=None))
    kinds = []
    columns = zip(left.columns, right.columns, left.places, right.places, strict=True)
    for one, two, first_place, second_place in columns:
        kind, _ = unify([one, two], word, context, [first_place, second_place])
        if kind.family == "json" and not body.all:
            raise SqlError("42883", "could not identify an equality operator for type json", first_place)
        kinds.append(kind)
    if context.references.notes is not None:
        context.references.notes.columns[id(body)] = kinds
    return kinds
