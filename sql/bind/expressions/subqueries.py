"""Subqueries in expressions: a value, EXISTS, ARRAY, and operand operator ANY | ALL (query), of
which IN is one.

A subquery is bound in a closure: its names may mean columns of the queries around it, which become
arguments. Enters: syntax. Leaves: `Subquery` expressions, with the casts that the comparison needs
inside the relation and on the operands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sql.bind.expressions.correlation import Closure
from sql.bind.expressions.operators import binary
from sql.errors import SqlError, not_supported
from sql.functions.comparisons import COMPARISONS, EQUAL, UNEQUAL
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import Row, Subquery
from sql.tree.expressions import AggregateCall, Call, Case, Cast, Column, Expression, Literal
from sql.tree.expressions import Subquery as BoundSubquery
from sql.tree.relations import Aggregate, Project, Relation, project
from sql.types.casts import plain_name
from sql.types.datatypes import BOOL, array_of, scaled_numeric

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder


def subquery(binder: Binder, node: Subquery) -> Expression:
    """Bind a subquery of any kind."""
    relation, closure = bind_inside(binder, node)
    kind = node.kind
    if kind in ("any", "all"):
        return quantified(binder, node, relation, closure)
    if kind == "exists":
        return BoundSubquery(kind, relation, tuple(closure.arguments), BOOL, position=node.position, text=node.text)
    check_single(relation, node)
    value = relation.schema[0].type
    if kind == "array":
        if value.is_array:
            raise not_supported("an array of arrays", node.position)
        value = array_of(value)
        relation = with_own_scales(relation)
    return BoundSubquery(kind, relation, tuple(closure.arguments), value, position=node.position, text=node.text)


def with_own_scales(relation: Relation) -> Relation:
    """Return a relation of one column in the form of an array's elements: each numeric carries its
    own scale.
    """
    (column,) = relation.schema
    if column.type.display_scale is None:
        return relation
    return Project(relation, ((column.name, Cast(Column(0, column.name, column.type), scaled_numeric(None))),))


def bind_inside(binder: Binder, node: Subquery) -> tuple[Relation, Closure]:
    """Return the relation of a subquery, and the values that it takes from outside."""
    closure = Closure(binder)
    with binder.context.inside(closure):
        return binder.context.queries.relation(node.query, binder.context), closure


def check_single(relation: Relation, node: Subquery) -> None:
    if len(relation.schema) != 1:
        raise SqlError("42601", "subquery must return only one column", node.position)


def quantified(binder: Binder, node: Subquery, relation: Relation, closure: Closure) -> Expression:
    """Bind operand operator ANY | ALL (query)."""
    assert node.operand is not None, node.kind
    items: tuple[Syntax, ...] = node.operand.items if isinstance(node.operand, Row) else (node.operand,)
    operands = [binder.bind(item) for item in items]
    if len(operands) != len(relation.schema):
        word = "many" if len(operands) < len(relation.schema) else "few"
        raise SqlError("42601", f"subquery has too {word} columns", node.position)
    pairs = []
    for index, (operand, column) in enumerate(zip(operands, relation.schema, strict=True)):
        right = Column(index, column.name, column.type)
        test = boolean(binder, node, operand, right)
        if len(operands) == 1 and not is_comparison(test):
            return tested(binder, node, relation, closure, operand)
        pairs.append(comparison(node, test))
    function = pairs[0].function
    if len(pairs) > 1 and function not in (EQUAL, UNEQUAL):
        raise not_supported(f"{node.operator} {node.kind.upper()} of several columns", node.position)
    columns = tuple((column.name, call.arguments[1]) for column, call in zip(relation.schema, pairs, strict=True))
    compared = project(relation, columns)
    left = tuple(call.arguments[0] for call in pairs)
    arguments = tuple(closure.arguments)
    if function == UNEQUAL and (node.kind == "all" or len(pairs) > 1):
        if node.kind == "any":
            raise not_supported("<> ANY of several columns", node.position)
        found = BoundSubquery("any", compared, arguments, BOOL, left, EQUAL, node.position, node.text)
        return Call("not", (found,), BOOL, node.position, node.text)
    return BoundSubquery(node.kind, compared, arguments, BOOL, left, function, node.position, node.text)


def tested(binder: Binder, node: Subquery, relation: Relation, closure: Closure, operand: Expression) -> Expression:
    """Return operand operator ANY | ALL (query) of an operator that does not order values: what the
    operator says to each row, taken together.
    """
    (column,) = relation.schema
    outside = closure.take(operand, "operand", node.position)
    test = boolean(binder, node, outside, Column(0, column.name, column.type))
    is_any = node.kind == "any"
    unknown = AggregateCall("bool_or", (Call("is_null", (test,), BOOL),), BOOL)
    together = AggregateCall("bool_or" if is_any else "bool_and", (test,), BOOL)
    found = Aggregate(relation, (), (("found", together), ("unknown", unknown)))
    first, second = (Column(place, name, BOOL) for place, (name, _) in enumerate(found.aggregates))
    decides = first if is_any else Call("not", (first,), BOOL)
    decided, usual = Literal(is_any, BOOL), Literal(not is_any, BOOL)
    value = Case(((decides, decided), (second, Literal(None, BOOL))), usual, BOOL)
    one = project(found, ((column.name, value),))
    return BoundSubquery("scalar", one, tuple(closure.arguments), BOOL, position=node.position, text=node.text)


def boolean(binder: Binder, node: Subquery, left: Expression, right: Expression) -> Expression:
    """Return what the operator says to an operand and a column. Raises 42804."""
    found = binary(binder, node.operator, left, right, node.position, node.text)
    if found.type.family != "bool":
        message = f"row comparison operator must yield type boolean, not type {plain_name(found.type)}"
        raise SqlError("42804", message, node.position)
    return found


def is_comparison(test: Expression) -> bool:
    """Tell whether a test is one of the six that order values."""
    return isinstance(test, Call) and test.function in COMPARISONS


def comparison(node: Subquery, test: Expression) -> Call:
    """Return a test of one of several columns, which must be one of the six."""
    if not isinstance(test, Call) or not is_comparison(test):
        raise not_supported(f"{node.operator} {node.kind.upper()} (subquery)", node.position)
    return test


def row_of_subquery(binder: Binder, node: Subquery, width: int, position: int) -> list[Expression]:
    """Return the columns of a subquery that stands beside a row, each as a value of its own.
    position: of the operator.
    """
    relation, closure = bind_inside(binder, node)
    if len(relation.schema) != width:
        word = "many" if width < len(relation.schema) else "few"
        raise SqlError("42601", f"subquery has too {word} columns", position)
    found: list[Expression] = []
    for index, column in enumerate(relation.schema):
        one = project(relation, ((column.name, Column(index, column.name, column.type)),))
        value = BoundSubquery(
            "scalar", one, tuple(closure.arguments), column.type, position=node.position, text=node.text
        )
        found.append(value)
    return found
