"""INSERT to rows whose columns are already of the target's types; DEFAULT expressions of columns.

PostgreSQL's assignment rules: implicit and assignment casts, varchar(n) and numeric(p,s) applied;
everything else is 42804. A row for a stream has the columns that the statement gives (the stream
adds its defaults), a row for a table has all columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.context import DEFAULTS, BindContext, ParameterTypes, References
from sql.bind.expressions.correlation import Passage
from sql.bind.expressions.scope import Scope
from sql.bind.expressions.source_positions import start_of
from sql.bind.queries.common_tables import common_tables
from sql.bind.queries.query import QUERIES, bind_operand
from sql.bind.writes.assignments import assign, default_value, identity_detail
from sql.bind.writes.bound_write import BoundWrite, bound_write, settled_tree
from sql.bind.writes.on_conflict import BoundConflict, bind_conflict
from sql.bind.writes.write_target import (
    bind_returning,
    columns_schema,
    listed_columns,
    stored,
    target_relation,
    target_scope,
)
from sql.catalog.catalog import Catalog, ColumnDescription, RelationDescription, SessionSettings
from sql.errors import SqlError, not_supported
from sql.parse.statements.insert import Insert
from sql.parse.statements.parts import TableColumn
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import Query
from sql.tree.expressions import Column, Expression, Subquery
from sql.tree.relations import OutputColumn, Project, Relation, Values
from sql.tree.walks import walk
from sql.types.casts import can_cast, plain_name
from sql.types.datatypes import SqlType


@dataclass(frozen=True, slots=True)
class BoundInsert(BoundWrite):
    """A bound INSERT.

    The source is rows of the targets' types, `Values` where it was VALUES. RETURNING is over whole
    rows of the table.

    Attributes:
        targets: indexes of the relation's columns that the source yields, in its order; for a
            table: all.
        given: indexes of the columns that have a value in the statement.
    """

    targets: tuple[int, ...]
    conflict: BoundConflict | None
    given: tuple[int, ...]


def bind_insert(
    statement: Insert,
    catalog: Catalog,
    settings: SessionSettings,
    parameter_types: Sequence[SqlType | None] | None = None,
) -> BoundInsert:
    """Return the typed rows of an INSERT into a stream or a table."""
    context = BindContext(catalog, settings, ParameterTypes(parameter_types), QUERIES, versions=[])
    with common_tables(statement.common_tables, context):
        relation = target_relation(statement.name, statement.name_position, catalog, settings, "insert into")
        targets = target_columns(statement, relation)
        hidden = Passage(None, hidden=target_scope(relation, statement.alias, len(relation.columns)))
        with context.inside(hidden):
            source, targets = bind_source(statement, relation, targets, context)
        given = targets
        check_identities(statement, relation, targets)
        refuse_hidden_defaults(statement, relation, targets)
        if relation.kind == "table":
            source, targets = whole_rows(source, relation, targets, statement.overriding, context)
        conflict = None
        if statement.on_conflict is not None:
            conflict = bind_conflict(statement.on_conflict, relation, statement.alias, context)
            # A stream has no keys, so that no row is in conflict.
            conflict = conflict if relation.kind == "table" else None
        scope = target_scope(relation, statement.alias, len(relation.columns))
        if conflict is not None:
            scope.outer = Passage(None, hidden=target_scope(relation, "excluded", len(relation.columns)))
        returning = bind_returning(statement.returning, scope, columns_schema(relation), context)
    updates, needed = None, "a"
    if conflict is not None and conflict.updates is not None:
        updates, needed = settled_tree(conflict.updates, context), "aw"
        conflict = replace(conflict, updates=updates)
    reads = conflict is not None and conflict.reads
    if context.states:
        raise not_supported("states_of in INSERT", hint="Keep its rows with COPY (SELECT ...) TO a file.")
    return bound_write(
        BoundInsert, context, relation, source, returning, needed, reads, updates,
        targets=targets, conflict=conflict, given=given,
    )  # fmt: skip


def bind_default(
    definition: TableColumn,
    catalog: Catalog,
    settings: SessionSettings,
    references: References | None = None,
) -> Expression:
    """Return a column's DEFAULT as an expression of the column's type.

    references: notes what it names.
    """
    assert definition.default is not None, definition.name
    references = References() if references is None else references
    context = BindContext(catalog, settings.shared(), ParameterTypes(), QUERIES, references=references)
    column = ColumnDescription(definition.name, definition.type, definition.not_null)
    binder = Binder(Scope(), context, DEFAULTS)
    try:
        bound = binder.bind(definition.default)
    except SqlError as error:
        if error.sqlstate != "42703":
            raise
        raise SqlError("0A000", "cannot use column reference in DEFAULT expression", error.position) from None
    for node in walk(bound):
        if isinstance(node, Subquery):
            raise SqlError("0A000", "cannot use subquery in DEFAULT expression", node.position)
    if not can_cast(bound.type.family, column.type.family, "assignment"):
        source, target = plain_name(bound.type), plain_name(column.type)
        message = f'column "{column.name}" is of type {target} but default expression is of type {source}'
        raise SqlError("42804", message, hint="You will need to rewrite or cast the expression.")
    return assign(bound, column, context, definition.position)


def target_columns(statement: Insert, relation: RelationDescription) -> tuple[int, ...]:
    """Return the indexes of the columns that the statement names, or of all.

    None for DEFAULT VALUES.
    """
    if statement.columns is None and not statement.query and not statement.rows[0]:
        return ()
    return listed_columns(relation, statement.columns)


def bind_source(
    statement: Insert, relation: RelationDescription, targets: tuple[int, ...], context: BindContext
) -> tuple[Relation, tuple[int, ...]]:
    """Return the given rows in their columns' types, and the columns: without a column list the
    last ones may be left out.
    """
    columns = [relation.row[index] for index in targets]
    if statement.query is not None:
        return bind_query_source(statement, statement.query, targets, columns, context)
    width = len(statement.rows[0])
    extra = statement.rows[0][len(columns)] if width > len(columns) else None
    check_width(statement, width, len(columns), None if extra is None else start_of(extra))
    columns = columns[:width]
    if statement.overriding == "user":
        # DEFAULT takes no number here: the column's own one follows.
        columns = [column if column.identity is None else replace(column, default=None) for column in columns]
    binder = Binder(Scope(outer=context.outer), context, "VALUES")
    rows = tuple(bind_row(binder, row, columns) for row in statement.rows)
    schema = tuple(OutputColumn(column.name, column.type) for column in columns)
    return Values(rows, schema), targets[:width]


def bind_query_source(
    statement: Insert,
    query: Query,
    targets: tuple[int, ...],
    columns: Sequence[ColumnDescription],
    context: BindContext,
) -> tuple[Relation, tuple[int, ...]]:
    """Return the query of INSERT ... SELECT with its columns converted."""
    operand = bind_operand(query, context, untyped=True)
    relation, places = operand.relation, operand.places
    width = len(relation.schema)
    check_width(statement, width, len(columns), places[len(columns)] if width > len(columns) else None)
    items = tuple(
        (column.name, stored(assign(value, column, context, place), column))
        for column, value, place in zip(columns, operand.columns, places, strict=False)
    )
    return Project(relation, items), targets[:width]


def check_width(statement: Insert, width: int, columns_count: int, extra_position: int | None) -> None:
    """Raise 42601 when values and columns do not fit.

    Without a column list the last columns may be left out.
    """
    if width > columns_count:
        raise SqlError("42601", "INSERT has more expressions than target columns", extra_position)
    if statement.columns is not None and width < columns_count:
        raise SqlError("42601", "INSERT has more target columns than expressions", statement.columns[width][1])


def bind_row(
    binder: Binder, row: Sequence[Syntax | None], columns: Sequence[ColumnDescription]
) -> tuple[Expression, ...]:
    """Return one row as the columns' types.

    All values are bound first: until then a parameter has no type of a column.
    """
    values = [None if item is None else binder.bind(item) for item in row]
    return tuple(
        default_value(column, binder.context)
        if item is None or value is None
        else assign(value, column, binder.context, start_of(item))
        for item, value, column in zip(row, values, columns, strict=True)
    )


def check_identities(statement: Insert, relation: RelationDescription, targets: tuple[int, ...]) -> None:
    """Raise 428C9 for a value given to a column that is GENERATED ALWAYS."""
    if statement.overriding:
        return
    for place, index in enumerate(targets):
        column = relation.row[index]
        if column.identity != "always":
            continue
        if statement.query is not None or any(row[place] is not None for row in statement.rows):
            raise SqlError(
                "428C9",
                f'cannot insert a non-DEFAULT value into column "{column.name}"',
                detail=identity_detail(column),
                hint="Use OVERRIDING SYSTEM VALUE to override.",
            )


def refuse_hidden_defaults(statement: Insert, relation: RelationDescription, targets: tuple[int, ...]) -> None:
    """Raise 0A000 for DEFAULT in a hidden column: what it stands for is not known before COMMIT."""
    for place, index in enumerate(targets):
        if index >= len(relation.columns) and any(row[place] is None for row in statement.rows):
            assert statement.columns is not None, "no list that was left out has hidden columns"
            name, position = statement.columns[place]
            hint = "Leave the column out of the list: it is set at COMMIT then."
            raise not_supported(f"DEFAULT for column {name}", position, hint=hint)


def whole_rows(
    source: Relation, relation: RelationDescription, targets: tuple[int, ...], overriding: str, context: BindContext
) -> tuple[Relation, tuple[int, ...]]:
    """Return the rows with all columns of the table: defaults where nothing is given, or where
    OVERRIDING USER VALUE says so.
    """
    every = tuple(range(len(relation.columns)))
    place_of = {target: place for place, target in enumerate(targets)}
    if overriding == "user":
        place_of = {target: place for target, place in place_of.items() if relation.columns[target].identity is None}
    if isinstance(source, Values) and targets == every and len(place_of) == len(every):
        return source, every
    items: list[tuple[str, Expression]] = []
    for index, column in enumerate(relation.columns):
        place = place_of.get(index)
        if place is None:
            items.append((column.name, stored(default_value(column, context), column)))
        else:
            given = source.schema[place]
            items.append((column.name, stored(Column(place, given.name, given.type), column)))
    return Project(source, tuple(items)), every
