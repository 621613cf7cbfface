"""ORDER BY of queries, windows and aggregates."""

from __future__ import annotations

from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor
from sql.parse.syntax import SortItem


def order_by(cursor: Cursor) -> tuple[SortItem, ...]:
    """Read ORDER BY items, if they are next."""
    return required_order(cursor) if cursor.at("order") else ()


def required_order(cursor: Cursor) -> tuple[SortItem, ...]:
    """Read ORDER BY items."""
    cursor.expect("order", "by")
    return cursor.several(sort_item)


def sort_item(cursor: Cursor) -> SortItem:
    """Read expression [ASC | DESC | USING operator] [NULLS FIRST | LAST]."""
    position = cursor.position
    item = grammar.expression(cursor)
    descending = False
    if cursor.at("using"):
        cursor.refuse("ORDER BY ... USING", cursor.position)
        cursor.advance()
        grammar.operator_name(cursor)
    else:
        descending = cursor.accept_any("asc", "desc") == "desc"
    return SortItem(item, descending, nulls_order(cursor), position)


def nulls_order(cursor: Cursor) -> bool | None:
    """Read NULLS FIRST (True) or NULLS LAST (False); None when neither is written."""
    if cursor.accept("nulls", "first"):
        return True
    return False if cursor.accept("nulls", "last") else None
