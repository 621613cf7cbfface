"""LIMIT, OFFSET and FETCH: bigint expressions without columns of their query.

Constants are checked at once.
"""

from __future__ import annotations

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.context import BindContext
from sql.bind.expressions.scope import Scope
from sql.bind.expressions.windows import count_argument, folded
from sql.bind.queries.finishing import Counts
from sql.errors import SqlError
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import Query
from sql.tree.expressions import Expression, Literal


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
    return checked_count(count_argument(Binder(scope, context, clause), node, clause), clause)


def checked_count(value: Expression, clause: str) -> Expression | None:
    """Return the count, None for NULL; a negative constant is an error."""
    value = folded(value)
    if not isinstance(value, Literal):
        return value
    if value.value is None:
        return None
    if isinstance(value.value, int) and value.value < 0:
        code = "2201W" if clause == "LIMIT" else "2201X"
        raise SqlError(code, f"{clause} must not be negative")
    return value
