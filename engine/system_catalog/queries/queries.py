"""Catalog queries printed for the embedded engine: SELECT, VALUES, set operations and WITH, with
their columns.

Enters: `sql.parse.syntax` trees. Leaves: DuckDB's SQL. Columns have names of ours, so that ORDER BY
and set operations go by places. A construct that has no meaning here is 0A000, and never gets
another meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.system_catalog.printed import UNKNOWN, Column, Printed, is_text
from engine.system_catalog.queries import casts, expressions, from_items, ordinary
from engine.system_catalog.queries.printing import Printing
from engine.system_catalog.queries.scopes import CommonTable, Scope, output_columns, star_columns
from sql.bind.queries.outputs import output_name
from sql.emit.duckdb import checked_count
from sql.errors import SqlError, not_supported
from sql.parse.syntax import (
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
    TypeName,
    ValuesBody,
)
from sql.types.casts import plain_name
from sql.types.datatypes import FAMILIES, SqlType

# Types that LIMIT takes besides integers.
COUNTS = frozenset({"numeric", "float4", "float8", "oid", "regclass"})
# The number of rows of VALUES from which on they are not printed as a SELECT each.
LONG_VALUES = 100


@dataclass(frozen=True, slots=True)
class PrintedQuery:
    """A query's text and its columns."""

    text: str
    columns: tuple[Column, ...]


def print_query(printing: Printing, query: Query, outer: Scope | None) -> PrintedQuery:
    """Return a query with its WITH, ORDER BY and LIMIT."""
    with printing.perhaps():
        return _printed_query(printing, query, outer)


def _printed_query(printing: Printing, query: Query, outer: Scope | None) -> PrintedQuery:
    scope = Scope(outer=outer)
    common = _common_tables(printing, query, scope)
    body, columns, inner = _body(printing, query.body, scope)
    body, columns = _settled(printing, body, columns)
    text = ""
    if query.order_by:
        items = [_sort_item(printing, item, columns, inner, query.body) for item in query.order_by]
        text += " ORDER BY " + ", ".join(items)
    if query.with_ties:
        raise not_supported("WITH TIES in a query on the catalog", query.position)
    for word, value in (("LIMIT", query.limit), ("OFFSET", query.offset)):
        if value is not None:
            count = _count(printing, word, value, scope)
            # DuckDB has no computed counts in correlated subqueries and operands of UNION.
            is_plain = isinstance(value, Constant) and not value.value.lstrip().startswith("-")
            text += f" {word} {count if is_plain else checked_count(count, word)}"
    return PrintedQuery(_with(common) + body + text, columns)


def _count(printing: Printing, word: str, value: Expression, scope: Scope) -> str:
    """Return the number of LIMIT or OFFSET. Raises 42804."""
    number = printing.coerced(expressions.print_expression(printing, value, scope), "int8", value.position)
    if number.type in ("int2", "int4", "int8"):
        return number.text
    if number.type not in COUNTS:
        kind = FAMILIES.get(number.type)
        name = number.type if kind is None else plain_name(SqlType(number.type))
        raise SqlError("42804", f"argument of {word} must be type bigint, not type {name}", value.position)
    return ordinary.converted(printing, number, "int8", value.position).text


def _with(common: list[tuple[CommonTable, str, bool]]) -> str:
    """Return the WITH clause.

    An item that is named more than once is computed once, so that a volatile function has one
    value.
    """
    if not common:
        return ""
    parts = []
    for item, text, recursive in common:
        names = ", ".join(column.text for column in item.columns)
        once = "MATERIALIZED " if item.uses_count > 1 and not recursive else ""
        parts.append(f"{item.text} ({names}) AS {once}({text})")
    return f"WITH {'RECURSIVE ' if any(recursive for _, _, recursive in common) else ''}{', '.join(parts)} "


def _common_tables(printing: Printing, query: Query, scope: Scope) -> list[tuple[CommonTable, str, bool]]:
    """Put the items of a WITH into the scope.

    Return each with its query's text, and whether it may name itself.
    """
    found = []
    for item in query.common_tables:
        text = printing.name(item.name)
        if item.recursive and isinstance(item.query.body, SetOperation):
            start = print_query(printing, Query((), item.query.body.left, (), None, None, item.position), scope)
            columns = _renamed(start.columns, item.column_aliases)
            scope.common[item.name] = CommonTable(text, columns)
            printed = print_query(printing, item.query, scope)
        else:
            printed = print_query(printing, item.query, scope)
            columns = _renamed(printed.columns, item.column_aliases)
        common = scope.common[item.name] = CommonTable(text, columns)
        found.append((common, printed.text, item.recursive))
    return found


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
    what, types = body.operator.upper(), []
    for one, other in zip(columns, others, strict=True):
        values = [Printed("NULL", one.type), Printed("NULL", other.type)]
        kind = UNKNOWN if one.type == other.type == UNKNOWN else casts.unified(printing, values, what, body.position)[0]
        if not (body.all and body.operator == "union"):
            ordinary.require_plain_equality(Printed("", kind), what, body.position)
        types.append(kind)
    left, right = _as_types(printing, left, columns, types), _as_types(printing, right, others, types)
    word = what + (" ALL" if body.all else "")
    return f"({left}) {word} ({right})", output_columns([column.name for column in columns], types)


def _settled(printing: Printing, text: str, columns: tuple[Column, ...]) -> tuple[str, tuple[Column, ...]]:
    """Return a query whose columns that nothing has given a type are texts."""
    types = ["text" if column.type == UNKNOWN else column.type for column in columns]
    return text, output_columns([column.name for column in columns], types)


def _as_types(printing: Printing, text: str, columns: tuple[Column, ...], types: list[str]) -> str:
    """Return a query with its columns as values of these types."""
    if all(
        column.type in (kind, UNKNOWN) and (column.type == kind or is_text(kind))
        for column, kind in zip(columns, types, strict=True)
    ):
        return text
    source = printing.name("side")
    items = []
    for column, kind in zip(columns, types, strict=True):
        value = Printed(f"{source}.{column.text}", "text" if column.type == UNKNOWN else column.type)
        if column.type == UNKNOWN and kind != UNKNOWN and not is_text(kind):
            value = casts.print_cast(printing, value, type_written(kind), 0)
        elif value.type != kind and kind != UNKNOWN:
            value = casts.as_common(printing, value, kind, 0)
        items.append(f"{value.text} AS {column.text}")
    return f"SELECT {', '.join(items)} FROM ({text}) AS {source}"


def type_written(kind: str) -> TypeName:
    """Return a type as a cast names it."""
    return TypeName(kind.removesuffix("[]"), (), 0, kind, array=kind.endswith("[]"))


def _values(printing: Printing, body: ValuesBody, outer: Scope) -> tuple[str, tuple[Column, ...]]:
    rows = [
        [
            Printed("NULL", UNKNOWN) if item is None else expressions.print_expression(printing, item, outer)
            for item in row
        ]
        for row in body.rows
    ]
    found = [casts.unified(printing, values, "VALUES", body.position) for values in zip(*rows, strict=True)]
    columns = output_columns([f"column{index + 1}" for index in range(len(found))], [kind for kind, _ in found])
    lines = list(zip(*(values for _, values in found), strict=True))
    if len(lines) >= LONG_VALUES:
        # Thousands of members of UNION ALL are planned for minutes, and nothing ends the planning.
        texts = ", ".join(f"({', '.join(item.text for item in items)})" for items in lines)
        return f"SELECT * FROM (VALUES {texts}) AS listed({', '.join(column.text for column in columns)})", columns
    selects = (
        "SELECT " + ", ".join(f"{item.text} AS {column.text}" for item, column in zip(items, columns, strict=True))
        for items in lines
    )
    return " UNION ALL ".join(selects), columns


def _select(printing: Printing, body: SelectBody, outer: Scope) -> tuple[str, tuple[Column, ...], Scope]:
    text, scope = from_items.print_from(printing, body.from_items, outer)
    names, items = _targets(printing, body, scope)
    # An untyped constant has the type of a set operation around it, if there is one.
    columns = output_columns(names, [item.type for item in items])
    scope.outputs = items
    if not items:
        # EXISTS (SELECT FROM ...).
        head = "SELECT 1"
    else:
        head = "SELECT "
        if body.distinct_on:
            keys = [expressions.print_expression(printing, item, scope) for item in body.distinct_on]
            for key in keys:
                ordinary.require_plain_equality(key, "DISTINCT", body.position)
            head += f"DISTINCT ON ({', '.join(key.text for key in keys)}) "
        elif body.distinct:
            for item in items:
                ordinary.require_plain_equality(item, "DISTINCT", body.position)
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
    key = expressions.print_expression(printing, _grouped(item, scope, body), scope)
    ordinary.require_plain_equality(key, "GROUP BY", body.position)
    return key.text


def _grouped(item: Expression, scope: Scope, body: SelectBody) -> Expression:
    """Return the expression that an item of GROUP BY means: a place in the list, an input column,
    or the name of an output.
    """
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
        return f"{_output(place, columns, scope, item.position)}{end}"
    if isinstance(node, Name) and len(node.parts) == 1:
        for index, column in enumerate(columns, 1):
            if column.name == node.parts[0]:
                return f"{_output(index, columns, scope, item.position)}{end}"
    if scope is None:
        raise not_supported("ORDER BY an expression over a set operation", item.position)
    if isinstance(body, SelectBody):
        for index, target in enumerate(body.targets, 1):
            if target.expression == node and not any(isinstance(one.expression, Star) for one in body.targets):
                return f"{_output(index, columns, scope, item.position)}{end}"
    return f"{ordinary.sort_text(expressions.print_expression(printing, node, scope))}{end}"


def _output(place: int, columns: tuple[Column, ...], scope: Scope | None, position: int) -> str:
    """Return the text that orders the rows by an output column: its place, or the key of its values
    where they need one.
    """
    column = columns[place - 1]
    if ordinary.sort_text(Printed("", column.type)) == "":
        return str(place)
    if scope is None:
        raise not_supported(f"ORDER BY values of type {column.type} over a set operation on the catalog", position)
    return ordinary.sort_text(scope.outputs[place - 1])
