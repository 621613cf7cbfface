"""FROM of catalog queries: catalog relations, views of the catalog, subqueries, functions that
return rows, joins.

Every item is printed under an alias of its own. A view of the catalog is printed as its query.
"""

from __future__ import annotations

from dataclasses import replace

from engine.system_catalog.printed import DOMAINS, ENGINE_TYPES, Column, Printed, engine_type, quoted
from engine.system_catalog.queries import calls, expressions, queries
from engine.system_catalog.queries.printing import Printing
from engine.system_catalog.queries.scopes import Scope, Source, output_columns
from sql.errors import SqlError, not_supported
from sql.parse.syntax import Derived, FromItem, FunctionTable, JoinClause, Table

RELATION_PREFIX = "catalog "


def print_from(printing: Printing, items: tuple[FromItem, ...], outer: Scope) -> tuple[str, Scope]:
    """Return the text after FROM, and the scope of its names."""
    scope = Scope(outer=outer)
    parts = [_item(printing, item, scope) for item in items]
    return ", ".join(parts), scope


def _item(printing: Printing, item: FromItem, scope: Scope) -> str:
    match item:
        case Table():
            return _table(printing, item, scope)
        case Derived():
            inner = scope if item.lateral else scope.outer
            printed = queries.print_query(printing, item.query, inner)
            alias = item.alias or "subquery"
            text = _add(printing, scope, alias, printed.columns, item.column_aliases)
            return f"{'LATERAL ' if item.lateral else ''}({printed.text}) AS {text}"
        case FunctionTable():
            return _functions(printing, item, scope)
        case JoinClause():
            return _join(printing, item, scope)


def _table(printing: Printing, item: Table, scope: Scope) -> str:
    if len(item.name) == 1:
        common = scope.common_table(item.name[0])
        if common is not None:
            common.uses_count += 1
            text = _add(printing, scope, item.alias or item.name[0], common.columns, item.column_aliases)
            return f"{common.text} AS {text}"
    schema, relation = printing.context.catalog_relation(item.name, item.position)
    alias = item.alias or relation.name
    if printing.depth == 0:
        printing.named[relation.key] = relation
    view = printing.context.view_query(relation)
    if view is not None:
        printing.depth += 1
        printed = queries.print_query(printing, view, None)
        printing.depth -= 1
        # The declared columns: a query's own names and types come from its expressions.
        columns = tuple(
            replace(column, name=declared.name, type=DOMAINS.get(declared.type, declared.type))
            for column, declared in zip(printed.columns, relation.columns, strict=True)
        )
        text = _add(printing, scope, alias, columns, item.column_aliases, schema)
        return f"({printed.text}) AS {text}"
    printing.used.add(relation.key)
    columns = tuple(Column(column.name, column.type, quoted(column.name)) for column in relation.columns)
    text = _add(printing, scope, alias, columns, item.column_aliases, schema, relation.oid)
    return f"{quoted(RELATION_PREFIX + relation.key)} AS {text}"


def _add(
    printing: Printing,
    scope: Scope,
    alias: str,
    columns: tuple[Column, ...],
    names: tuple[str, ...],
    schema: str = "",
    oid: int | None = None,
) -> str:
    """Add an item to the scope; return its printed alias."""
    text = printing.name(alias)
    renamed = [
        replace(column, name=names[index]) if index < len(names) else column for index, column in enumerate(columns)
    ]
    scope.sources.append(Source(alias, tuple(renamed), text, schema, oid))
    return text


def _functions(printing: Printing, item: FunctionTable, scope: Scope) -> str:
    """Print functions side by side as a subquery whose select list unnests the list that each
    returns.
    """
    series = None if item.ordinality or len(item.calls) > 1 else calls.constant_series(printing, item.calls[0])
    if series is not None:
        columns = output_columns([item.alias or item.calls[0].name], [series.type])
        text = (
            f"SELECT CAST(value AS {engine_type(series.type)}) AS {columns[0].text} FROM {series.text} AS series(value)"
        )
        return f"({text}) AS {_add(printing, scope, item.alias or item.calls[0].name, columns, item.column_aliases)}"
    names: list[str] = []
    values: list[Printed] = []
    lists: list[str] = []
    structs: list[tuple[str, str]] = []
    for call in item.calls:
        rows = calls.row_function(printing, call, scope)
        for one in rows:
            lists.append(one.text)
            if one.fields:
                inner = printing.name("row")
                structs.append((one.text, inner))
                for name, kind in one.fields:
                    names.append(name)
                    field = f"{inner}.{quoted(name)}"
                    values.append(_duration(field) if kind == "seconds" else Printed(field, kind))
            else:
                single = item.alias if item.alias and len(item.calls) == 1 and len(rows) == 1 else call.name
                names.append(single)
                values.append(Printed(f"unnest({one.text})", one.type))
    if item.ordinality:
        names.append("ordinality")
        length = f"greatest({', '.join(f'coalesce(len({text}), 0)' for text in lists)})"
        values.append(Printed(f"unnest(range(1, {length} + 1))", "int8"))
    columns = output_columns(names, [value.type for value in values])
    targets = ", ".join(f"{value.text} AS {column.text}" for value, column in zip(values, columns, strict=True))
    text = f"SELECT {targets}"
    if structs:
        if len(structs) > 1 or item.ordinality or len(lists) > 1:
            raise not_supported("several functions of rows side by side in a query on the catalog", item.position)
        text += f" FROM (SELECT unnest({structs[0][0]}) AS {structs[0][1]})"
    alias = _add(printing, scope, item.alias or item.calls[0].name, columns, item.column_aliases)
    return f"LATERAL ({text}) AS {alias}"


def _duration(seconds: str) -> Printed:
    """Return a number of seconds as an interval."""
    parts = f"{{'months': 0, 'days': 0, 'micros': {seconds} * 1000000}}"
    return Printed(f"CASE WHEN {seconds} IS NOT NULL THEN CAST({parts} AS {ENGINE_TYPES['interval']}) END", "interval")


def _join(printing: Printing, item: JoinClause, scope: Scope) -> str:
    before = len(scope.sources)
    left = _item(printing, item.left, scope)
    middle = len(scope.sources)
    right = _item(printing, item.right, scope)
    word = {"inner": "JOIN", "left": "LEFT JOIN", "right": "RIGHT JOIN", "full": "FULL JOIN", "cross": "CROSS JOIN"}[
        item.kind
    ]
    if item.kind == "cross":
        return f"({left} CROSS JOIN {right})"
    names = [(name, position) for name, position in item.using]
    if item.natural:
        known = {column.name for source in scope.sources[before:middle] for column in source.columns}
        names = [
            (column.name, item.position)
            for source in scope.sources[middle:]
            for column in source.columns
            if column.name in known
        ]
    if names:
        conditions = []
        for name, position in names:
            one = _side(scope.sources[before:middle], name, "left", position)
            two = _side(scope.sources[middle:], name, "right", position)
            owner = two if item.kind == "right" else one
            scope.merged[name] = owner[0]
            conditions.append(f"{one[0]}.{one[1]} = {two[0]}.{two[1]}")
        if item.kind == "full":
            raise not_supported("FULL JOIN ... USING in a query on the catalog", item.position)
        return f"({left} {word} {right} ON {' AND '.join(conditions)})"
    if item.condition is None:
        return f"({left} CROSS JOIN {right})"
    # ON sees the two sides and the query outside, not the items before them.
    inner = Scope(scope.sources[before:], scope.outer, scope.merged)
    return f"({left} {word} {right} ON {expressions.print_condition(printing, item.condition, inner)})"


def _side(sources: list[Source], name: str, side: str, position: int) -> tuple[str, str]:
    for source in sources:
        for column in source.columns:
            if column.name == name:
                return source.text, column.text
    raise SqlError("42703", f'column "{name}" specified in USING clause does not exist in {side} table', position)
