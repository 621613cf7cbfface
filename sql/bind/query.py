"""Queries to relations: the public `bind_query`, WITH, VALUES, and queries in parentheses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.bind.common_type import unify
from sql.bind.context import BindContext
from sql.bind.expressions import Binder
from sql.bind.limits import bind_limits
from sql.bind.parameters import ParameterTypes
from sql.bind.places import start_of
from sql.bind.scope import Scope
from sql.bind.wide_numbers import refuse_wide_numbers
from sql.catalog import Catalog, SessionSettings
from sql.datatypes import SqlType
from sql.errors import SqlError, not_supported
from sql.expressions import Column, Expression, SortKey
from sql.relations import BoundQuery, OutputColumn, Relation, Sort, Values
from sql.syntax import Constant, Name, Query, SelectBody, SortItem, ValuesBody


def bind_query(
    query: Query, catalog: Catalog, settings: SessionSettings, parameter_types: Sequence[SqlType | None] | None = None
) -> BoundQuery:
    """Return the typed tree of a query; `parameter_types` are those that the client gave (an item None or unknown: to be
    found; None instead of all: the statement came by the simple protocol and can have no parameters).
    """
    parameters = ParameterTypes(parameter_types)
    context = BindContext(catalog, settings, parameters)
    root = refuse_wide_numbers(bind_relation(query, context), context)
    return BoundQuery(root, parameters.finish(), frozenset(context.relations), context.stable)


def bind_relation(query: Query, context: BindContext) -> Relation:
    """Return the relation of a query inside a statement."""
    from sql.bind.select import bind_select

    outer = context.common_tables
    if query.common_tables:
        context.common_tables = dict(outer)
        for common in query.common_tables:
            context.common_tables[common.name] = (common, dict(context.common_tables))
        for common in query.common_tables:
            check_common_table(common.name, context)
    try:
        match query.body:
            case SelectBody():
                return bind_select(query, query.body, context)
            case ValuesBody():
                return bind_values_query(query, query.body, context)
            case Query():
                return bind_nested(query, query.body, context)
    finally:
        context.common_tables = outer


def check_common_table(name: str, context: BindContext) -> None:
    """Bind a WITH item for its errors, whether it is used or not."""
    from sql.bind.from_clause import bind_table
    from sql.syntax import Table

    bind_table(Table((name,), None, (), context.common_tables[name][0].position), context)


def bind_nested(query: Query, inner: Query, context: BindContext) -> Relation:
    """Bind (query) ORDER BY ... LIMIT ...: the outer clauses may not be there twice."""
    if inner.order_by and query.order_by:
        raise SqlError("42601", "multiple ORDER BY clauses not allowed", query.order_by[0].position)
    if (inner.limit and query.limit) or (inner.offset and query.offset):
        raise SqlError("42601", "multiple LIMIT clauses not allowed", query.position)
    merged = replace(
        inner,
        order_by=query.order_by or inner.order_by,
        limit=query.limit or inner.limit,
        offset=query.offset or inner.offset,
        common_tables=(*query.common_tables, *inner.common_tables),
    )
    return bind_relation(replace(merged, common_tables=inner.common_tables), context)


def bind_values_query(query: Query, body: ValuesBody, context: BindContext) -> Relation:
    relation: Relation = bind_values(body, context)
    keys = tuple(values_sort_key(item, relation) for item in query.order_by)
    if keys:
        relation = Sort(relation, keys)
    return bind_limits(query, context)(relation)


def bind_values(body: ValuesBody, context: BindContext) -> Values:
    """Return VALUES with one type per column; the columns are called column1, column2, ..."""
    binder = Binder(Scope(), context, "VALUES")
    columns: list[list[Expression]] = [[] for _ in body.rows[0]]
    for row in body.rows:
        for column, item in zip(columns, row, strict=True):
            if item is None:
                raise SqlError("42601", "DEFAULT is not allowed in this context", body.position)
            column.append(binder.bind(item))
    schema = []
    converted = []
    for index, column in enumerate(columns):
        if any(item.type.family == "interval" for item in column):
            raise not_supported("interval as a value", body.position)
        places = [start_of(item) for row in body.rows if (item := row[index]) is not None]
        kind, values = unify(column, "VALUES", context, places)
        schema.append(OutputColumn(f"column{index + 1}", kind))
        converted.append(values)
    return Values(tuple(zip(*converted, strict=True)), tuple(schema))


def values_sort_key(item: SortItem, relation: Relation) -> SortKey:
    """Return a sort key of VALUES: a column by number or name."""
    node = item.expression
    index: int | None = None
    if isinstance(node, Constant) and node.kind == "integer":
        index = int(node.value) - 1
        if not 0 <= index < len(relation.schema):
            raise SqlError("42P10", f"ORDER BY position {node.value} is not in select list", item.position)
    elif isinstance(node, Name) and len(node.parts) == 1:
        index = next((place for place, column in enumerate(relation.schema) if column.name == node.parts[0]), None)
        if index is None:
            raise SqlError("42703", f'column "{node.parts[0]}" does not exist', item.position)
    if index is None:
        raise not_supported("ORDER BY of an expression over VALUES", item.position)
    column = relation.schema[index]
    nulls_first = item.descending if item.nulls_first is None else item.nulls_first
    return SortKey(Column(index, column.name, column.type), item.descending, nulls_first)
