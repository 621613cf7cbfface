"""Defaults of tables and streams, and checks, bound from the texts in the catalog.

Enters: table entries with their texts. Leaves: the same with bound expressions. A default has no
columns; the text of a check uses the columns' names of the time when it was written. A text is
bound when its definition is made, and when the catalog is restored; changes of the table and of
sequences change the bound expression. Must not evaluate anything.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import replace

from engine.catalog.as_then import ObjectsAsThen
from engine.catalog.image import CatalogImage, Entry, SourceText, StreamEntry, TableEntry, source_text
from engine.catalog.system import the_system
from engine.tables.sequence_functions import ANSWERED
from sql.bind.expressions.context import References
from sql.bind.queries.outputs import NAMELESS, output_name
from sql.bind.queries.recursion import parts
from sql.bind.writes.constraints import bind_check, bind_indexed
from sql.bind.writes.insert import bind_default
from sql.catalog.catalog import ColumnDescription, ConstraintDescription, RelationDescription, SessionSettings
from sql.catalog.schemas import found_key
from sql.errors import not_supported
from sql.names.relation_keys import quoted_key, relation_key, schema_of
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
    columns, defaults = bound_defaults(entry.description.columns, entry.defaults, image)
    description = replace(entry.description, columns=columns)
    constraints, checks = [], {}
    for constraint in description.constraints:
        if constraint.source_key in entry.checks:
            condition, source = bound_check(
                entry.checks[constraint.source_key], description, image, constraint.is_index
            )
            constraint = replace(constraint, condition=condition, text=source.text)
            checks[constraint.source_key] = source
        constraints.append(constraint)
    description = replace(description, constraints=tuple(constraints))
    return replace(entry, description=description, defaults=defaults, checks=checks)


def bound_defaults(
    columns: Iterable[ColumnDescription], sources: Mapping[int, SourceText], image: CatalogImage
) -> tuple[tuple[ColumnDescription, ...], dict[int, SourceText]]:
    """Return columns with their defaults bound, and the texts with the objects that they name.

    Raises SqlError when a text can't be bound any more.
    """
    found, named = [], {}
    for column in columns:
        default = None
        if column.number in sources:
            default, named[column.number] = bound_default(column, sources[column.number], image)
        found.append(replace(column, default=default))
    return tuple(found), named


def with_columns(entry: TableEntry, columns: tuple[ColumnDescription, ...]) -> TableEntry:
    """Return the entry with other columns, which its checks find by their numbers."""
    before = entry.description
    indexes = {column.number: index for index, column in enumerate(columns)}

    def now(node: Expression) -> Expression | None:
        if not isinstance(node, Column):
            return None
        index = indexes[before.columns[node.index].number]
        return replace(node, index=index, name=columns[index].name)

    constraints = tuple(
        one if one.condition is None else replace(one, condition=map_expression(one.condition, now))
        for one in before.constraints
    )
    return replace(entry, description=replace(before, columns=columns, constraints=constraints))


def with_each_column(
    entry: TableEntry | StreamEntry, change: Callable[[ColumnDescription], ColumnDescription]
) -> TableEntry | StreamEntry:
    """Return the entry with a change of each of its columns, dropped columns of a stream too."""
    if isinstance(entry, TableEntry):
        return replace(
            entry, description=replace(entry.description, columns=tuple(map(change, entry.description.columns)))
        )
    stream = replace(entry.stream, stored=tuple(map(change, entry.stream.stored)))
    return replace(entry, stream=stream, description=replace(entry.description, columns=stream.columns))


def bound_check(
    source: SourceText, description: RelationDescription, image: CatalogImage, is_index: bool = False
) -> tuple[Expression, SourceText]:
    """Return a check, or what an index computes, over a row of the table in its present form, and
    its text with the objects in it.
    """
    indexes = {column.number: index for index, column in enumerate(description.columns)}
    numbers = [number for _, number in source.names if number in indexes]
    then = tuple(
        replace(description.columns[indexes[number]], name=name) for name, number in source.names if number in indexes
    )
    catalog, references = ObjectsAsThen(image, source.objects), References()
    written = parsed_expression(source.text)
    source = replace(source, table=source.table or _table_in(written, dict(source.names), description.name))
    row = replace(description, name=source.table, columns=then)
    bind = bind_indexed if is_index else bind_check
    condition = bind(written, row, catalog, source.settings, references)

    def now(node: Expression) -> Expression | None:
        return replace(node, index=indexes[numbers[node.index]]) if isinstance(node, Column) else None

    return map_expression(condition, now), with_objects(source, references)


def index_columns(
    entry: TableEntry, index: ConstraintDescription, source: SourceText | None = None
) -> list[ColumnDescription]:
    """Return the columns of an index, those of INCLUDE too; an expression has the name of its
    function, or expr, and a number after it where that is taken.

    source: the text of an index that the table does not have yet.
    """
    by_number = {column.number: column for column in entry.description.columns}
    source = source or entry.checks.get(index.source_key)
    written = parsed_expression(source.text) if source is not None else None
    computed = zip(written.items, index.expressions, strict=True) if isinstance(written, syntax.Row) else iter(())
    found: list[ColumnDescription] = []
    for number in (*index.columns, *index.included):
        column = by_number.get(number)
        if column is None:
            item, expression = next(computed)
            column = ColumnDescription(output_name(item).replace(NAMELESS, "expr"), expression.type)
        taken, name, count = {one.name for one in found}, column.name, 0
        while column.name in taken:
            count += 1
            column = replace(column, name=f"{name}{count}")
        found.append(column)
    return found


def key_columns(entry: TableEntry, key: ConstraintDescription) -> list[ColumnDescription]:
    """Return the columns in which a table keeps the values of a key."""
    return entry.numbered(key.columns) if key.is_plain_key else [column for column, _ in computed_keys(entry, key)]


def computed_keys(entry: TableEntry, key: ConstraintDescription) -> list[tuple[ColumnDescription, Expression]]:
    """Return the columns of a key that computes values, without names, and the values over a row of
    the table.
    """
    return [
        (ColumnDescription("", value.type, number=number), value)
        for number, value in zip(key.stored, key.values(entry.description.columns), strict=True)
    ]


def hidden_keys(entry: TableEntry) -> list[tuple[ColumnDescription, Expression]]:
    """Return the columns of a table's keys that no client sees, and their values over a row."""
    known = {column.number for column in entry.description.columns}
    return [
        (column, value)
        for key in entry.description.constraints
        if key.is_key and not key.is_plain_key
        for column, value in computed_keys(entry, key)
        if column.number not in known
    ]


def _table_in(written: syntax.Expression, columns: Container[str], today: str) -> str:
    """Return the key of the table that stands before columns in the text of a check, or as its
    whole row: an older server has not stored by which it knows its table.
    """
    for name in _names_in(written):
        before = name.parts if _is_row(name, columns) else name.parts[:-1]
        if before:
            *schema, table = before
            return relation_key(schema[-1] if schema else schema_of(today), table)
    return today


def names_row(source: SourceText) -> bool:
    """Tell whether the text of a check has a whole row of its table as a value."""
    columns = dict(source.names)
    return any(_is_row(name, columns) for name in _names_in(parsed_expression(source.text)))


def _is_row(name: syntax.Name, columns: Container[str]) -> bool:
    return len(name.parts) == 1 and name.parts[0] not in columns


def _names_in(written: syntax.Expression) -> Iterator[syntax.Name]:
    """Yield the names of columns and rows in an expression."""
    below: list[object] = [written]
    while below:
        node = below.pop()
        if isinstance(node, syntax.Name):
            yield node
        elif isinstance(node, syntax.Star):
            yield syntax.Name((*node.qualifier, "*"), node.position)
        below += parts(node)


def with_objects(source: SourceText, references: References) -> SourceText:
    """Return a text with the functions and types that were found in it."""
    return replace(source, objects=tuple(sorted(references.objects)))


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


def bound_default(column: ColumnDescription, source: SourceText, image: CatalogImage) -> tuple[Expression, SourceText]:
    """Return a column's default, and its text with the objects that it names.

    Raises SqlError when the text can't be bound any more.
    """
    definition = TableColumn(column.name, column.type, default=parsed_expression(source.text), default_text=source.text)
    catalog, references = ObjectsAsThen(image, source.objects), References()
    bound = with_sequences(bind_default(definition, catalog, source.settings, references), source, image)

    def nowhere(node: Expression) -> Expression | None:
        return replace(node, position=None) if isinstance(node, Call) and node.function == "nextval" else None

    # It stands in no text: a role that inserts a row needs no privilege on the sequence.
    return map_expression(bound, nowhere) if column.identity else bound, with_objects(source, references)


def new_default(
    definition: TableColumn, image: CatalogImage, settings: SessionSettings
) -> tuple[Expression, SourceText]:
    """Return the default that a statement gives to a column, bound and as it is stored.

    Raises the errors of bind, with positions in the statement.
    """
    references = References()
    bound = bind_default(definition, image, settings, references)
    for written in _sequences_written(definition.default):
        the_system().oid(image, "regclass", written.value, settings, written.position)
    sequences = {}
    for name in sequences_in(bound):
        entry = named_sequence(name, settings, image)
        if entry is not None:
            sequences[str(name.value)] = entry.description.oid
    source = with_objects(source_text(definition.default_text, settings), references)
    source = replace(source, sequences=tuple(sequences.items()))
    return with_sequences(bound, source, image), source


def _sequences_written(default: syntax.Expression | None) -> Iterator[syntax.Constant]:
    """Yield the names of sequences in a default, without those that are texts, which are looked up
    when a value is taken.
    """
    below: list[object] = [default]
    while below:
        node = below.pop()
        below += parts(node)
        if isinstance(node, syntax.FunctionCall) and node.name == "nextval" and node.arguments:
            first = node.arguments[0]
            if isinstance(first, syntax.TypeCast) and first.type.name == "regclass":
                first = first.operand
            if isinstance(first, syntax.Constant) and first.kind == "string":
                yield first


def new_stream_default(
    definition: TableColumn, image: CatalogImage, settings: SessionSettings
) -> tuple[Expression, SourceText]:
    """Return the default of a column of a stream; see `new_default`.

    Raises 0A000, too, for a call that a session has to answer.
    """
    bound, source = new_default(definition, image, settings)
    for node in walk(bound):
        if isinstance(node, Call) and node.function in ANSWERED:
            hint = "Give the value in the INSERT."
            raise not_supported(f"{node.function} in a default of a stream", node.position, hint)
    return bound, source


def with_sequences(bound: Expression, source: SourceText, image: CatalogImage) -> Expression:
    """Return a default as it was bound with the present names and schemas of sequences."""
    oids = dict(source.sequences)
    names = {}
    for name in sequences_in(bound):
        entry = image.by_oid(oids.get(str(name.value), 0)) or named_sequence(name, source.settings, image)
        if entry is not None:
            names[str(name.value)] = quoted_key(entry.description.name)
    return called_anew(bound, names)


def called_anew(bound: Expression, names: Mapping[str, str]) -> Expression:
    """Return a default in which sequences are called by other names."""
    if not names:
        return bound

    def named(node: Expression) -> Expression | None:
        if not isinstance(node, Call) or node.function != "nextval" or not isinstance(node.arguments[0], Literal):
            return None
        name = node.arguments[0]
        return replace(node, arguments=(replace(name, value=names.get(str(name.value), name.value)),))

    return map_expression(bound, named)


def sequences_in(bound: Expression) -> list[Literal]:
    """Return the names of the sequences whose values a default takes."""
    return [
        node.arguments[0]
        for node in walk(bound)
        if isinstance(node, Call) and node.function == "nextval" and isinstance(node.arguments[0], Literal)
    ]


def named_sequence(name: Literal, settings: SessionSettings, image: CatalogImage) -> Entry | None:
    """Return the sequence that the argument of nextval names."""
    return image.entries.get(found_key(read_name(str(name.value)), settings, image.entries.get))
