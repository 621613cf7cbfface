"""INSERT to rows whose columns are already of the target's types; DEFAULT expressions of columns.

PostgreSQL's assignment rules: implicit and assignment casts, varchar(n) and numeric(p,s) applied; everything else is 42804.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sql.bind.coerce import coerce
from sql.bind.context import BindContext
from sql.bind.expressions import Binder
from sql.bind.parameters import ParameterTypes
from sql.bind.places import start_of
from sql.bind.query import bind_relation
from sql.bind.scope import Scope
from sql.bind.wide_numbers import refuse_wide_numbers
from sql.casts import can_cast, plain_name
from sql.catalog import Catalog, ColumnDescription, RelationDescription, SessionSettings
from sql.datatypes import SqlType
from sql.errors import SqlError, not_supported
from sql.expressions import Column, Expression, Literal
from sql.names import did_you_mean
from sql.relations import OutputColumn, Project, Relation, Values
from sql.statements.statement import ColumnDefinition, Insert
from sql.syntax import Expression as Syntax


@dataclass(frozen=True, slots=True)
class BoundInsert:
    """A bound INSERT. targets: indexes of the relation's columns that `source` yields, in its order.

    source: rows of the targets' types, `Values` unless it is INSERT ... SELECT. stable: it uses now() or the like.
    """

    relation: RelationDescription
    targets: tuple[int, ...]
    source: Relation
    parameters: tuple[SqlType, ...]
    stable: bool


def bind_insert(
    statement: Insert,
    catalog: Catalog,
    settings: SessionSettings,
    parameter_types: Sequence[SqlType | None] | None = None,
) -> BoundInsert:
    """Return the typed rows of an INSERT into a stream."""
    parameters = ParameterTypes(parameter_types)
    context = BindContext(catalog, settings, parameters)
    relation = target_relation(statement, catalog)
    targets = target_columns(statement, relation)
    columns = [relation.columns[index] for index in targets]
    if statement.query is not None:
        source, columns = bind_source(statement, columns, context)
        refuse_wide_numbers(source, context)
        return BoundInsert(relation, targets[: len(columns)], source, parameters.finish(), context.stable)
    width = len(statement.rows[0])
    check_width(statement, width, columns)
    columns = columns[:width]
    binder = Binder(Scope(), context, "VALUES")
    rows = tuple(bind_row(binder, row, columns) for row in statement.rows)
    schema = tuple(OutputColumn(column.name, column.type) for column in columns)
    values = refuse_wide_numbers(Values(rows, schema), context)
    return BoundInsert(relation, targets[:width], values, parameters.finish(), context.stable)


def bind_default(definition: ColumnDefinition, catalog: Catalog, settings: SessionSettings) -> Expression:
    """Return a column's DEFAULT as an expression of the column's type."""
    assert definition.default is not None, definition.name
    context = BindContext(catalog, settings, ParameterTypes())
    column = ColumnDescription(definition.name, definition.type, definition.not_null)
    binder = Binder(Scope(), context, "DEFAULT expressions")
    bound = binder.bind(definition.default)
    if not can_cast(bound.type.family, column.type.family, "assignment"):
        source, target = plain_name(bound.type), plain_name(column.type)
        message = f'column "{column.name}" is of type {target} but default expression is of type {source}'
        raise SqlError("42804", message, hint="You will need to rewrite or cast the expression.")
    return assign(bound, column, context, definition.position)


def target_relation(statement: Insert, catalog: Catalog) -> RelationDescription:
    relation = catalog.relation(statement.name)
    if relation is None:
        hint = did_you_mean(statement.name, catalog.relation_names())
        raise SqlError("42P01", f'relation "{statement.name}" does not exist', statement.name_position, hint=hint)
    if relation.kind == "view":
        raise SqlError("55000", f'cannot insert into view "{statement.name}"', hint="Rows go into the stream below it.")
    return relation


def target_columns(statement: Insert, relation: RelationDescription) -> tuple[int, ...]:
    """Return the indexes of the columns that the statement names, or of all."""
    if statement.columns is None:
        return tuple(range(len(relation.columns))) if statement.query or statement.rows[0] else ()
    indexes = {column.name: index for index, column in enumerate(relation.columns)}
    found: list[int] = []
    for name, position in statement.columns:
        index = indexes.get(name)
        if index is None:
            hint = did_you_mean(name, indexes, "the column")
            raise SqlError(
                "42703", f'column "{name}" of relation "{relation.name}" does not exist', position, hint=hint
            )
        if index in found:
            raise SqlError("42701", f'column "{name}" specified more than once', position)
        found.append(index)
    return tuple(found)


def check_width(statement: Insert, width: int, columns: Sequence[ColumnDescription]) -> None:
    """Raise 42601 when values and columns do not fit; without a column list the last columns may be left out."""
    if width > len(columns):
        extra = statement.rows[0][len(columns)]
        position = None if extra is None else start_of(extra)
        raise SqlError("42601", "INSERT has more expressions than target columns", position)
    if statement.columns is not None and width < len(columns):
        raise SqlError("42601", "INSERT has more target columns than expressions", statement.columns[width][1])


def bind_row(
    binder: Binder, row: Sequence[Syntax | None], columns: Sequence[ColumnDescription]
) -> tuple[Expression, ...]:
    """Return one row as the columns' types."""
    values: list[Expression] = []
    for item, column in zip(row, columns, strict=True):
        if item is None:
            values.append(Literal(None, column.type) if column.default is None else column.default)
        else:
            values.append(assign(binder.bind(item), column, binder.context, start_of(item)))
    return tuple(values)


def assign(value: Expression, column: ColumnDescription, context: BindContext, position: int | None) -> Expression:
    """Return `value` as the column's type, by assignment."""
    family = value.type.family
    if family == "interval":
        raise not_supported("interval as a value", position)
    if not can_cast(family, column.type.family, "assignment"):
        source, target = plain_name(value.type), plain_name(column.type)
        message = f'column "{column.name}" is of type {target} but expression is of type {source}'
        raise SqlError("42804", message, position, hint="You will need to rewrite or cast the expression.")
    return coerce(value, column.type, context, position=position)


def bind_source(
    statement: Insert, columns: Sequence[ColumnDescription], context: BindContext
) -> tuple[Relation, list[ColumnDescription]]:
    """Return the query of INSERT ... SELECT with its columns converted."""
    assert statement.query is not None
    relation = bind_relation(statement.query, context)
    width = len(relation.schema)
    if width > len(columns):
        raise SqlError("42601", "INSERT has more expressions than target columns", statement.query.position)
    if statement.columns is not None and width < len(columns):
        raise SqlError("42601", "INSERT has more target columns than expressions", statement.columns[width][1])
    kept = list(columns[:width])
    items = tuple(
        (column.name, assign(Column(index, output.name, output.type), column, context, statement.query.position))
        for index, (column, output) in enumerate(zip(kept, relation.schema, strict=True))
    )
    return Project(relation, items), kept
