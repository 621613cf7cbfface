"""LIMIT and OFFSET: bigint expressions without columns; constants are checked at once."""

from __future__ import annotations

from collections.abc import Callable

from sql.bind.coerce import coerce, fold
from sql.bind.context import BindContext
from sql.bind.expressions import Binder
from sql.bind.scope import Scope
from sql.casts import can_cast, plain_name
from sql.datatypes import INT8, SqlType
from sql.errors import SqlError
from sql.expressions import Cast, Expression, Literal
from sql.relations import Limit, Relation
from sql.syntax import Expression as Syntax
from sql.syntax import Name, Query


def bind_limits(query: Query, context: BindContext) -> Callable[[Relation], Relation]:
    """Return what puts the query's LIMIT and OFFSET on a relation."""
    offset = count(query.offset, "OFFSET", context)
    limit = count(query.limit, "LIMIT", context)

    def apply(relation: Relation) -> Relation:
        return relation if limit is None and offset is None else Limit(relation, limit, offset)

    return apply


def count(node: Syntax | None, clause: str, context: BindContext) -> Expression | None:
    """Return the bound count, None where it limits nothing."""
    if node is None:
        return None
    if isinstance(node, Name):
        raise SqlError("42P10", f"argument of {clause} must not contain variables", node.position)
    value = Binder(Scope(), context, clause).bind(node)
    family = value.type.family
    if not can_cast(family, "int8", "assignment") or family == "bool":
        message = f"argument of {clause} must be type bigint, not type {plain_name(value.type)}"
        raise SqlError("42804", message, node.position)
    found = coerce(value, INT8, context, position=node.position)
    if isinstance(found, Cast) and isinstance(found.operand, Literal):
        found = fold_count(found.operand, INT8) or found
    return checked_count(found, clause)


def fold_count(literal: Literal, kind: SqlType) -> Literal | None:
    """Return a decimal constant as a whole number, rounded half away from zero."""
    folded = fold(literal, kind)
    if folded is not None or literal.value is None or isinstance(literal.value, str | bool | float | int):
        return folded
    return Literal(int(literal.value.to_integral_value(rounding="ROUND_HALF_UP")), kind, literal.position)


def checked_count(value: Expression, clause: str) -> Expression | None:
    """Return the count, None for NULL; a negative constant is an error."""
    if not isinstance(value, Literal):
        return value
    if value.value is None:
        return None
    if isinstance(value.value, int) and value.value < 0:
        code = "2201W" if clause == "LIMIT" else "2201X"
        raise SqlError(code, f"{clause} must not be negative")
    return value
