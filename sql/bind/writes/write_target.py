"""The relation that INSERT, UPDATE or DELETE writes to: what may be one, its rows with their
identities, its columns' names.

Enters: a name and the verb of the statement. Leaves: descriptions, scans and scopes; PostgreSQL's
errors for what can't be written to.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.context import BindContext
from sql.bind.expressions.correlation import Passage
from sql.bind.expressions.scope import Scope, ScopeColumn, ScopeTable
from sql.bind.queries.from_clause import bind_from, check_aliases, shifted, side_by_side
from sql.bind.queries.query import bind_target
from sql.catalog.catalog import Catalog, ColumnDescription, RelationDescription, SessionSettings
from sql.catalog.schemas import find_relation
from sql.errors import SqlError
from sql.names.relation_keys import dotted, name_of
from sql.names.suggestions import did_you_mean
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import FromItem, Target
from sql.tree.expressions import Cast, Column, Expression
from sql.tree.relations import ROW_ID, Filter, Join, OutputColumn, Project, Relation, Scan, Schema
from sql.tree.walks import columns_of

# The scan of the rows that a statement is about to write, or has written: what CHECK and RETURNING
# are evaluated over.
ROWS = "?rows?"
VIEW_HINT = "A view only shows rows: write to the relation below it."


def target_relation(
    written: str, position: int | None, catalog: Catalog, settings: SessionSettings, verb: str
) -> RelationDescription:
    """Return the relation that a name means, which can be written to. verb: 'insert into', 'update'
    or 'delete from'.
    """
    relation = find_relation(written, catalog, settings, position)
    if relation is None:
        hint = did_you_mean(written, catalog.relation_names())
        raise SqlError("42P01", f'relation "{dotted(written)}" does not exist', position, hint=hint)
    name = relation.name
    if relation.kind == "view":
        hint = (
            "Rows go into the stream below it." if verb == "insert into" else "Continuous views follow their streams."
        )
        raise SqlError("55000", f'cannot {verb} view "{name}"', hint=hint)
    if relation.kind == "query":
        raise SqlError("55000", f'cannot {verb} view "{name}"', hint=VIEW_HINT)
    if relation.kind == "statistics":
        raise SqlError("55000", f'cannot {verb} view "{name}"', hint="The server keeps its numbers.")
    if relation.kind == "catalog":
        raise SqlError("42501", f'permission denied: "{name_of(name)}" is a system catalog')
    if relation.kind == "sequence":
        raise SqlError("42809", f'cannot change sequence "{name}"')
    if relation.kind == "stream" and verb != "insert into":
        hint = "Streams are append-only: what was inserted stays as it is."
        raise SqlError("0A000", f'cannot {verb} stream "{name}"', hint=hint)
    return relation


def listed_columns(relation: RelationDescription, names: Sequence[tuple[str, int]] | None) -> tuple[int, ...]:
    """Return the indexes in `relation.row` of the columns in a list of (name, position), or of all
    that aren't hidden.

    position 0: the name is not in the text.
    """
    if names is None:
        return tuple(range(len(relation.columns)))
    indexes = {column.name: index for index, column in enumerate(relation.row)}
    found: list[int] = []
    for name, position in names:
        index = indexes.get(name)
        if index is None:
            hint = did_you_mean(name, indexes, "the column")
            message = f'column "{name}" of relation "{relation.name}" does not exist'
            raise SqlError("42703", message, position or None, hint=hint)
        if index in found:
            raise SqlError("42701", f'column "{name}" specified more than once', position or None)
        found.append(index)
    return tuple(found)


def columns_schema(relation: RelationDescription) -> Schema:
    """Return the columns of a relation as a schema."""
    return tuple(OutputColumn(column.name, column.type) for column in relation.columns)


def target_scan(relation: RelationDescription) -> Scan:
    """Return the rows of a table, each with its identity in the last column."""
    return Scan(relation.name, relation.kind, (*columns_schema(relation), ROW_ID))


def target_scope(relation: RelationDescription, alias: str | None, width: int) -> Scope:
    """Return the names of the target's columns, which come first in a row of `width` columns."""
    known_as = alias or name_of(relation.name)
    columns = [
        ScopeColumn(column.name, Column(index, column.name, column.type), known_as)
        for index, column in enumerate(relation.columns)
    ]
    table = ScopeTable(known_as, tuple(columns), relation.name, relation_oid=relation.oid)
    return Scope([table], columns, width)


def joined_target(
    relation: RelationDescription, alias: str | None, items: tuple[FromItem, ...], context: BindContext
) -> tuple[Relation, Scope]:
    """Return the target's rows joined with FROM or USING: the columns, the identity, then the
    columns of the other items.
    """
    scan = target_scan(relation)
    scope = target_scope(relation, alias, len(scan.schema))
    if not items:
        return scan, scope
    with context.inside(Passage(context.outer, hidden=scope)):
        beside, beside_scope = bind_from(items, context)
    check_aliases(scope, beside_scope, items[0].position)
    return Join(scan, beside, "cross", None), side_by_side(scope, beside_scope)


def filtered(relation: Relation, scope: Scope, where: Syntax | None, context: BindContext) -> Relation:
    """Return the rows for which WHERE is true."""
    return relation if where is None else Filter(relation, Binder(scope, context, "WHERE").bind_boolean(where))


def identity_of(relation: RelationDescription) -> tuple[str, Expression]:
    """Return the item that yields the identity of a row of `joined_target`."""
    return (ROW_ID.name, Column(len(relation.columns), ROW_ID.name, ROW_ID.type))


def columns_beside(relation: RelationDescription, joined: Relation) -> tuple[tuple[str, Expression], ...]:
    """Return the items that yield the columns of FROM or USING."""
    start = len(relation.columns) + 1
    return tuple(
        (column.name, Column(start + index, column.name, column.type))
        for index, column in enumerate(joined.schema[start:])
    )


def without_identity(scope: Scope, relation: RelationDescription) -> Scope:
    """Return the scope of the same rows without the identity between the target's columns and the
    others.
    """
    return shifted(scope, -1, len(relation.columns) + 1)


def stored(value: Expression, column: ColumnDescription) -> Expression:
    """Return a value of the column's type in the physical form that the column has: a plain numeric
    carries its own scale.
    """
    if column.type.is_variable_numeric and not value.type.is_variable_numeric:
        return Cast(value, column.type)
    return value


def reads_columns(relation: RelationDescription, *expressions: Expression) -> bool:
    """Tell whether expressions over rows that begin with the target's columns read one of these."""
    width = len(relation.columns)
    return any(column.index < width for expression in expressions for column in columns_of(expression))


def condition_of(found: Relation) -> tuple[Expression, ...]:
    """Return the condition of what `filtered` has made."""
    return (found.predicate,) if isinstance(found, Filter) else ()


def bind_returning(targets: tuple[Target, ...], scope: Scope, schema: Schema, context: BindContext) -> Relation | None:
    """Return what the client gets of the written rows, whose columns are `schema`.

    None without RETURNING.
    """
    if not targets:
        return None
    binder = Binder(scope, context, "RETURNING")
    outputs = [output for target in targets for output in bind_target(target, binder)]
    if not outputs:
        raise SqlError("42601", "RETURNING must have at least one column", targets[0].position)
    return Project(Scan(ROWS, "rows", schema), tuple((output.name, output.expression) for output in outputs))
