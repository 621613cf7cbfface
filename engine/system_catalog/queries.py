"""Catalog queries printed for the embedded engine: SELECT, VALUES, set operations and WITH, with the columns that they yield.

Enters: `sql.syntax` trees. Leaves: DuckDB's SQL. Columns are named by us, so that ORDER BY and set operations go by places. What has no
meaning here is 0A000, never another meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.system_catalog import expressions, from_items
from engine.system_catalog.printed import UNKNOWN, Column, Printed
from engine.system_catalog.printing import Printing, common_type
from engine.system_catalog.scopes import CommonTable, Scope, output_columns, star_columns
from sql.bind.naming import output_name
from sql.errors import SqlError, not_supported
from sql.syntax import (
    Body,
    Constant,
    Expression,
    GroupingSets,
    GroupItem,
    Name,
    Query,
    SelectBody,
    SetOperation,
    SortItem,
    Star,
    ValuesBody,
)


@dataclass(frozen=True, slots=True)
class PrintedQuery:
    """A query's text and its columns."""

    text: str
    columns: tuple[Column, ...]


def print_query(printing: Printing, query: Query, outer: Scope | None) -> PrintedQuery:
    """Return a query with its WITH, ORDER BY and LIMIT."""
    scope = Scope(outer=outer)
    common = _common_tables(printing, query, scope)
    body, columns, inner = _body(printing, query.body, scope)
    text = body
    if query.order_by:
        items = [_sort_item(printing, item, columns, inner, query.body) for item in query.order_by]
        text += " ORDER BY " + ", ".join(items)
    if query.with_ties:
        raise not_supported("WITH TIES in a query on the catalog", query.position)
    for word, value in (("LIMIT", query.limit), ("OFFSET", query.offset)):
        if value is not None:
            number = printing.coerced(expressions.print_expression(printing, value, scope), "int8", value.position)
            text += f" {word} {number.text}"
    return PrintedQuery(common + text, columns)


def _common_tables(printing: Printing, query: Query, scope: Scope) -> str:
    parts = []
    recursive = False
    for item in query.common_tables:
        text = printing.name(item.name)
        recursive = recursive or item.recursive
        if item.recursive and isinstance(item.query.body, SetOperation):
            start = print_query(printing, Query((), item.query.body.left, (), None, None, item.position), scope)
            columns = _renamed(start.columns, item.column_aliases)
            scope.common[item.name] = CommonTable(text, columns)
            printed = print_query(printing, item.query, scope)
        else:
            printed = print_query(printing, item.query, scope)
            columns = _renamed(printed.columns, item.column_aliases)
        scope.common[item.name] = CommonTable(text, columns)
        names = ", ".join(column.text for column in columns)
        parts.append(f"{text} ({names}) AS ({printed.text})")
    if not parts:
        return ""
    return f"WITH {'RECURSIVE ' if recursive else ''}{', '.join(parts)} "


def _renamed(columns: tuple[Column, ...], names: tuple[str, ...]) -> tuple[Column, ...]:
    found = [*names, *(column.name for column in columns[len(names) :])]
    return output_columns(found, [column.type for column in columns])


def _body(printing: Printing, body: Body, outer: Scope) -> tuple[str, tuple[Column, ...], Scope | None]:
    """Return the text, the columns, and the scope that ORDER BY sees, if there is one."""
    match body:
        case SelectBody():
            return _select(printing, body, outer)
        case ValuesBody():
            return (*_values(printing, body, outer), None)
        case SetOperation():
            return (*_set_operation(printing, body, outer), None)
        case Query():
            printed = print_query(printing, body, outer)
            return f"({printed.text})", printed.columns, None


def _set_operation(printing: Printing, body: SetOperation, outer: Scope) -> tuple[str, tuple[Column, ...]]:
    left, columns, _ = _body(printing, body.left, outer)
    right, others, _ = _body(printing, body.right, outer)
    if len(columns) != len(others):
        word = body.operator.upper()
        raise SqlError("42601", f"each {word} query must have the same number of columns", body.position)
    types = [
        common_type([Printed("", one.type), Printed("", other.type)])
        for one, other in zip(columns, others, strict=True)
    ]
    word = body.operator.upper() + (" ALL" if body.all else "")
    return f"({left}) {word} ({right})", output_columns([column.name for column in columns], types)


def _values(printing: Printing, body: ValuesBody, outer: Scope) -> tuple[str, tuple[Column, ...]]:
    rows = [
        [
            Printed("NULL", UNKNOWN) if item is None else expressions.print_expression(printing, item, outer)
            for item in row
        ]
        for row in body.rows
    ]
    types = [common_type(list(values)) for values in zip(*rows, strict=True)]
    types = ["text" if kind == UNKNOWN else kind for kind in types]
    columns = output_columns([f"column{index + 1}" for index in range(len(types))], types)
    lines = []
    for values in rows:
        items = [printing.coerced(value, kind, body.position) for value, kind in zip(values, types, strict=True)]
        lines.append(
            "SELECT " + ", ".join(f"{item.text} AS {column.text}" for item, column in zip(items, columns, strict=True))
        )
    return " UNION ALL ".join(lines), columns


def _select(printing: Printing, body: SelectBody, outer: Scope) -> tuple[str, tuple[Column, ...], Scope]:
    text, scope = from_items.print_from(printing, body.from_items, outer)
    names, items = _targets(printing, body, scope)
    items = [printing.coerced(item, "text", body.position) for item in items]
    columns = output_columns(names, [item.type for item in items])
    if not items:
        # EXISTS (SELECT FROM ...).
        head = "SELECT 1"
    else:
        head = "SELECT "
        if body.distinct_on:
            keys = [expressions.print_expression(printing, item, scope).text for item in body.distinct_on]
            head += f"DISTINCT ON ({', '.join(keys)}) "
        elif body.distinct:
            head += "DISTINCT "
        head += ", ".join(f"{item.text} AS {column.text}" for item, column in zip(items, columns, strict=True))
    parts = [head]
    if text:
        parts.append(f"FROM {text}")
    if body.where is not None:
        parts.append(f"WHERE {expressions.print_condition(printing, body.where, scope)}")
    if body.group_by:
        groups = ", ".join(_group_item(printing, item, scope, body) for item in body.group_by)
        parts.append(f"GROUP BY {groups}")
    if body.having is not None:
        parts.append(f"HAVING {expressions.print_condition(printing, body.having, scope)}")
    if body.windows:
        windows = [f'"{name}" AS ({expressions.print_window(printing, item, scope)})' for name, item in body.windows]
        parts.append("WINDOW " + ", ".join(windows))
    return " ".join(parts), columns, scope


def _targets(printing: Printing, body: SelectBody, scope: Scope) -> tuple[list[str], list[Printed]]:
    names: list[str] = []
    items: list[Printed] = []
    for target in body.targets:
        if isinstance(target.expression, Star):
            for name, item in star_columns(scope, target.expression):
                names.append(name)
                items.append(item)
            continue
        items.append(expressions.print_target(printing, target.expression, scope))
        names.append(target.alias or output_name(target.expression))
    return names, items


def _group_item(printing: Printing, item: GroupItem, scope: Scope, body: SelectBody) -> str:
    if isinstance(item, GroupingSets):
        inner = ", ".join(_group_item(printing, part, scope, body) for part in item.items)
        word = {"sets": "GROUPING SETS ", "rollup": "ROLLUP ", "cube": "CUBE "}.get(item.kind, "")
        return f"{word}({inner})"
    return expressions.print_expression(printing, _grouped(item, scope, body), scope).text


def _grouped(item: Expression, scope: Scope, body: SelectBody) -> Expression:
    """Return the expression that an item of GROUP BY means: a place in the list, an input column, or the name of an output."""
    if isinstance(item, Constant) and item.kind == "integer":
        place = int(item.value)
        if not 1 <= place <= len(body.targets):
            raise SqlError("42P10", f"GROUP BY position {place} is not in select list", item.position)
        return body.targets[place - 1].expression
    if isinstance(item, Name) and len(item.parts) == 1:
        known = any(column.name == item.parts[0] for source in scope.sources for column in source.columns)
        for target in body.targets:
            if not known and target.alias == item.parts[0]:
                return target.expression
    return item


def _sort_item(printing: Printing, item: SortItem, columns: tuple[Column, ...], scope: Scope | None, body: Body) -> str:
    nulls_first = item.descending if item.nulls_first is None else item.nulls_first
    end = f" {'DESC' if item.descending else 'ASC'} NULLS {'FIRST' if nulls_first else 'LAST'}"
    node = item.expression
    if isinstance(node, Constant) and node.kind == "integer":
        place = int(node.value)
        if not 1 <= place <= len(columns):
            raise SqlError("42P10", f"ORDER BY position {place} is not in select list", node.position)
        return f"{place}{end}"
    if isinstance(node, Name) and len(node.parts) == 1:
        for index, column in enumerate(columns, 1):
            if column.name == node.parts[0]:
                return f"{index}{end}"
    if scope is None:
        raise not_supported("ORDER BY an expression over a set operation", item.position)
    if isinstance(body, SelectBody):
        for index, target in enumerate(body.targets, 1):
            if target.expression == node and not any(isinstance(one.expression, Star) for one in body.targets):
                return f"{index}{end}"
    return f"{expressions.print_expression(printing, node, scope).text}{end}"
