"""Defaults of tables and streams, and checks, bound from the texts that the catalog keeps.

Enters: table entries with their texts. Leaves: the same with bound expressions. A default has no columns; a check's text uses the
columns' names of when it was written. Must not evaluate anything.
"""

from __future__ import annotations

from dataclasses import replace

from engine.catalog import CatalogImage, SourceText, TableEntry
from sql import syntax
from sql.bind.constraints import bind_check
from sql.bind.insert import bind_default
from sql.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.datatypes import BOOL, INT8
from sql.expressions import Column, Expression
from sql.parse import parse
from sql.statements.statement import Select, TableColumn
from sql.trees import map_expression

SEQUENCE_COLUMNS = (
    ColumnDescription("last_value", INT8, number=1),
    ColumnDescription("log_cnt", INT8, number=2),
    ColumnDescription("is_called", BOOL, number=3),
)


def bound_description(entry: TableEntry, image: CatalogImage) -> TableEntry:
    """Return the entry with defaults and checks bound. Raises SqlError when a text can't be bound any more."""
    description = entry.description
    columns = tuple(
        replace(column, default=bound_default(column, entry.defaults.get(column.number), image))
        for column in description.columns
    )
    description = replace(description, columns=columns)
    constraints = tuple(
        constraint
        if constraint.kind != "check"
        else replace(
            constraint,
            condition=bound_check(entry.checks[constraint.name], description, image),
            text=entry.checks[constraint.name].text,
        )
        for constraint in description.constraints
    )
    return replace(entry, description=replace(description, constraints=constraints))


def bound_check(source: SourceText, description: RelationDescription, image: CatalogImage) -> Expression:
    """Return a check over the table's row as it is now."""
    indexes = {column.number: index for index, column in enumerate(description.columns)}
    numbers = [number for _, number in source.names if number in indexes]
    then = tuple(
        replace(description.columns[indexes[number]], name=name) for name, number in source.names if number in indexes
    )
    settings = SessionSettings(time_zone=source.time_zone)
    condition = bind_check(parsed_expression(source.text), replace(description, columns=then), image, settings)

    def now(node: Expression) -> Expression | None:
        return replace(node, index=indexes[numbers[node.index]]) if isinstance(node, Column) else None

    return map_expression(condition, now)


def parsed_expression(text: str) -> syntax.Expression:
    """Return the syntax of an expression's text."""
    (statement,) = parse(f"SELECT {text}")
    assert isinstance(statement, Select), text
    body = statement.query.body
    assert isinstance(body, syntax.SelectBody), text
    expression = body.targets[0].expression
    assert not isinstance(expression, syntax.Star), text
    return expression


def sequence_description(name: str, oid: int) -> RelationDescription:
    """Return what a client sees of a sequence as a relation."""
    return RelationDescription(name, "sequence", oid, SEQUENCE_COLUMNS)


def bound_default(column: ColumnDescription, source: SourceText | None, image: CatalogImage) -> Expression | None:
    """Return a column's default. Raises SqlError when its text can't be bound any more."""
    if source is None:
        return None
    definition = TableColumn(column.name, column.type, default=parsed_expression(source.text), default_text=source.text)
    return bind_default(definition, image, SessionSettings(time_zone=source.time_zone))
