"""Function calls with DISTINCT, ORDER BY, FILTER and OVER.

Forms that SQL spells with words are in `spelled_calls`.
"""

from __future__ import annotations

from sql.errors import SqlError
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar import sorting, windows
from sql.parse.grammar.cursor import Cursor
from sql.parse.syntax import Expression, FunctionCall, NamedArgument, SortItem


def expressions(cursor: Cursor) -> tuple[Expression, ...]:
    """Read one or more expressions with commas between."""
    return cursor.several(grammar.expression)


def call(cursor: Cursor, name: tuple[str, ...], position: int, first: int, windowless: bool = False) -> FunctionCall:
    """Read the parentheses of a call of `name`, and what may follow them.

    windowless: the call stands in FROM, where no OVER may follow.
    """
    schema = name[-2] if len(name) > 1 and name[-2] not in ("pg_catalog", "information_schema") else None
    cursor.expect_operator("(")
    star = distinct = variadic = False
    found: tuple[Expression, ...] = ()
    order_by: tuple[SortItem, ...] = ()
    if cursor.accept_operator("*"):
        star = True
    elif not cursor.at_operator(")"):
        quantifier = cursor.accept_any("distinct", "all")
        distinct = quantifier == "distinct"
        found, variadic = arguments(cursor, variadic_allowed=quantifier is None)
        order_by = sorting.order_by(cursor)
    cursor.expect_operator(")")
    text = cursor.shown_since(first)
    if windowless:
        return FunctionCall(
            name[-1], found, position, text, name[-1],
            star=star, distinct=distinct, order_by=order_by, schema=schema, variadic=variadic,
        )  # fmt: skip
    keys = within_group(cursor, distinct, variadic, bool(order_by))
    condition = filter_clause(cursor)
    over = windows.over_clause(cursor) if cursor.accept("over") else None
    text = cursor.shown_since(first)
    return FunctionCall(
        name[-1], found, position, text, name[-1],
        star=star, distinct=distinct, order_by=order_by, filter=condition, over=over, within_group=keys, schema=schema,
        variadic=variadic,
    )  # fmt: skip


def arguments(cursor: Cursor, variadic_allowed: bool = True) -> tuple[tuple[Expression, ...], bool]:
    """Read arguments, some of which may be named, and whether VARIADIC stands before the last."""
    items: list[Expression] = []
    while True:
        position = cursor.position
        variadic = variadic_allowed and cursor.accept("variadic")
        named = cursor.ahead(1)
        if named.kind == "operator" and named.value in ("=>", ":=") and cursor.function_name():
            name = cursor.advance().value
            cursor.advance()
            items.append(NamedArgument(name, grammar.expression(cursor), position))
        else:
            items.append(grammar.expression(cursor))
        if variadic or not cursor.accept_operator(","):
            return tuple(items), variadic


def within_group(cursor: Cursor, distinct: bool, variadic: bool, ordered: bool) -> tuple[SortItem, ...]:
    """Read WITHIN GROUP (ORDER BY ...), if it is next.

    The call before may be neither DISTINCT nor ordered, nor have VARIADIC.
    """
    position = cursor.position
    if not cursor.accept("within"):
        return ()
    cursor.expect("group")
    keys = cursor.enclosed(sorting.required_order)
    if ordered:
        raise SqlError("42601", "cannot use multiple ORDER BY clauses with WITHIN GROUP", position)
    if distinct:
        raise SqlError("42601", "cannot use DISTINCT with WITHIN GROUP", position)
    if variadic:
        raise SqlError("42601", "cannot use VARIADIC with WITHIN GROUP", position)
    return keys


def filter_clause(cursor: Cursor) -> Expression | None:
    """Read FILTER (WHERE condition), if it is next."""
    if not cursor.accept("filter"):
        return None
    return cursor.enclosed(where)


def where(cursor: Cursor) -> Expression:
    """Read WHERE condition."""
    cursor.expect("where")
    return grammar.expression(cursor)
