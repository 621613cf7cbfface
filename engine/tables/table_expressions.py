"""Defaults of tables and streams, and checks, bound from the texts in the catalog.

Enters: table entries with their texts. Leaves: the same with bound expressions. A default has no
columns; the text of a check uses the columns' names of the time when it was written. Must not
evaluate anything.
"""

from __future__ import annotations

from dataclasses import replace

from engine.catalog.functions import FunctionsAsThen
from engine.catalog.image import CatalogImage, Entry, SourceText, TableEntry, source_text
from sql.bind.expressions.context import FunctionCalls
from sql.bind.writes.constraints import bind_check
from sql.bind.writes.insert import bind_default
from sql.catalog.catalog import ColumnDescription, RelationDescription, SessionSettings
from sql.catalog.schemas import found_key
from sql.names.relation_keys import quoted_key
from sql.parse import syntax
from sql.parse.grammar.cursor import read_name
from sql.parse.parse import parse
from sql.parse.statements.parts import TableColumn
from sql.parse.statements.select import Select
from sql.tree.expressions import Call, Column, Expression, Literal
from sql.tree.walks import map_expression, walk
from sql.types.datatypes import BOOL, INT8

SEQUENCE_COLUMNS = (
    ColumnDescription("last_value", INT8, number=1),
    ColumnDescription("log_cnt", INT8, number=2),
    ColumnDescription("is_called", BOOL, number=3),
)


def bound_description(entry: TableEntry, image: CatalogImage) -> TableEntry:
    """Return the entry with defaults and checks bound.

    Raises SqlError when a text can't be bound any more.
    """
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
    """Return a check over a row of the table in its present form."""
    indexes = {column.number: index for index, column in enumerate(description.columns)}
    numbers = [number for _, number in source.names if number in indexes]
    then = tuple(
        replace(description.columns[indexes[number]], name=name) for name, number in source.names if number in indexes
    )
    catalog = FunctionsAsThen(image, source.functions)
    condition = bind_check(parsed_expression(source.text), replace(description, columns=then), catalog, source.settings)

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
    """Return a sequence as the relation that clients see."""
    return RelationDescription(name, "sequence", oid, SEQUENCE_COLUMNS)


def bound_default(column: ColumnDescription, source: SourceText | None, image: CatalogImage) -> Expression | None:
    """Return a column's default. Raises SqlError when its text can't be bound any more."""
    if source is None:
        return None
    definition = TableColumn(column.name, column.type, default=parsed_expression(source.text), default_text=source.text)
    catalog = FunctionsAsThen(image, source.functions)
    bound = of_today(bind_default(definition, catalog, source.settings), source, image)

    def nowhere(node: Expression) -> Expression | None:
        return replace(node, position=None) if isinstance(node, Call) and node.function == "nextval" else None

    # It stands in no text: a role that inserts a row needs no privilege on the sequence.
    return map_expression(bound, nowhere) if column.identity else bound


def of_today(bound: Expression, source: SourceText, image: CatalogImage) -> Expression:
    """Return a bound default in which sequences have their present names and schemas."""

    def named(node: Expression) -> Expression | None:
        if not isinstance(node, Call) or node.function != "nextval" or not isinstance(node.arguments[0], Literal):
            return None
        name = node.arguments[0]
        oid = dict(source.sequences).get(str(name.value), 0)
        entry = image.by_oid(oid) or named_sequence(name, source.settings, image)
        if entry is None:
            return None
        return replace(node, arguments=(replace(name, value=quoted_key(entry.description.name)),))

    return map_expression(bound, named)


def named_sequence(name: Literal, settings: SessionSettings, image: CatalogImage) -> Entry | None:
    """Return the sequence that the argument of nextval names."""
    return image.entries.get(found_key(read_name(str(name.value)), settings, image.entries.get))


def default_source(bound: Expression, text: str, settings: SessionSettings, image: CatalogImage) -> SourceText:
    """Return the text of a default that was bound in a session, with its sequences."""
    sequences = {}
    for node in walk(bound):
        if isinstance(node, Call) and node.function == "nextval" and isinstance(node.arguments[0], Literal):
            entry = named_sequence(node.arguments[0], settings, image)
            if entry is not None:
                sequences[str(node.arguments[0].value)] = entry.description.oid
    called = FunctionCalls()
    if image.functions:
        column = TableColumn("", bound.type, default=parsed_expression(text), default_text=text)
        bind_default(column, image, settings, called)
    source = source_text(text, settings)
    return replace(source, sequences=tuple(sequences.items()), functions=tuple(sorted(called.used)))
