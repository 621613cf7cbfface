"""GROUP BY [DISTINCT]: expressions, (a, b) lists, ROLLUP, CUBE and GROUPING SETS."""

from __future__ import annotations

from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor
from sql.parse.syntax import Expression, GroupingSets, GroupItem, Row


def group_by(cursor: Cursor) -> tuple[tuple[GroupItem, ...], bool]:
    """Return the items of GROUP BY, and whether it is GROUP BY DISTINCT."""
    if not cursor.accept("group"):
        return (), False
    cursor.expect("by")
    distinct = cursor.accept_any("distinct", "all") == "distinct"
    return group_items(cursor), distinct


def group_items(cursor: Cursor) -> tuple[GroupItem, ...]:
    return cursor.several(group_item)


def group_item(cursor: Cursor) -> GroupItem:
    """Read an expression, (), (a, b), or a grouping set."""
    position = cursor.position
    if cursor.at("rollup", "cube") and cursor.ahead(1).value == "(" and cursor.ahead(1).kind == "operator":
        return GroupingSets(cursor.advance().value, cursor.listed(key), position)
    if cursor.at_words("grouping", "sets"):
        cursor.expect("grouping", "sets")
        cursor.enter()
        sets = cursor.enclosed(group_items)
        cursor.leave()
        return GroupingSets("sets", sets, position)
    if cursor.at_operator("(") and cursor.ahead(1).kind == "operator" and cursor.ahead(1).value == ")":
        cursor.advance()
        cursor.advance()
        return GroupingSets("list", (), position)
    return key(cursor)


def key(cursor: Cursor) -> GroupItem:
    """Read an expression; a row written without ROW is a list of keys."""
    position = cursor.position
    is_row = cursor.at_operator("(")
    found = grammar.expression(cursor)
    if not (is_row and isinstance(found, Row) and found.text.startswith("(")):
        return found
    return GroupingSets("list", tuple(flattened(found)), position)


def flattened(row: Row) -> list[Expression | GroupingSets]:
    items: list[Expression | GroupingSets] = []
    for item in row.items:
        if isinstance(item, Row) and item.text.startswith("("):
            items += flattened(item)
        else:
            items.append(item)
    return items
