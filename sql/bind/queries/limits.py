"""LIMIT, OFFSET and FETCH: bigint expressions without columns of their query.

Constants are checked at once.
"""

from __future__ import annotations

from decimal import Decimal

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.coerce import coerce, fold
from sql.bind.expressions.context import BindContext
from sql.bind.expressions.scope import Scope
from sql.bind.queries.finishing import Counts
from sql.errors import SqlError
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import Query
from sql.tree.expressions import Cast, Expression, Literal
from sql.tree.walks import columns_of
from sql.types.casts import can_cast, plain_name
from sql.types.datatypes import INT8, SqlType
from sql.values.special_numbers import not_an_integer


def bind_counts(query: Query, scope: Scope, context: BindContext) -> Counts:
    """Return the query's LIMIT and OFFSET.

    `scope` has the names of its FROM clause, which they may not use.
    """
    offset = count(query.offset, "OFFSET", scope, context)
    if not query.with_ties:
        return Counts(count(query.limit, "LIMIT", scope, context), offset)
    limit = count(query.limit, "LIMIT", scope, context)
    if not query.order_by:
        raise SqlError("42601", "WITH TIES cannot be specified without ORDER BY clause")
    if limit is None:
        raise SqlError("2201W", "row count cannot be null in FETCH FIRST ... WITH TIES clause")
    return Counts(limit, offset, with_ties=True)


def count(node: Syntax | None, clause: str, scope: Scope, context: BindContext) -> Expression | None:
    """Return the bound count, None where it limits nothing."""
    if node is None:
        return None
    value = Binder(scope, context, clause).bind(node)
    column = next(columns_of(value), None)
    family = value.type.family
    if not can_cast(family, "int8", "assignment") or family == "bool":
        message = f"argument of {clause} must be type bigint, not type {plain_name(value.type)}"
        raise SqlError("42804", message, node.position)
    if column is not None:
        raise SqlError("42P10", f"argument of {clause} must not contain variables", column.position)
    found = coerce(value, INT8, context, position=node.position)
    if isinstance(found, Cast) and isinstance(found.operand, Literal):
        found = fold_count(found.operand, INT8) or found
    return checked_count(found, clause)


def fold_count(literal: Literal, kind: SqlType) -> Literal | None:
    """Return a decimal constant as a whole number, rounded half away from zero."""
    folded = fold(literal, kind)
    if folded is not None or not isinstance(literal.value, Decimal):
        return folded
    if not literal.value.is_finite():
        raise not_an_integer(literal.value, kind.sql_name)
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
