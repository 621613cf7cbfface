"""DELETE: the identities of the rows that go, and what RETURNING shows of them.

Enters: a `Delete`. Leaves: a `BoundDelete`, whose source is the target joined with USING and cut by
WHERE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sql.bind.expressions.coerce import refuse_wide_numbers
from sql.bind.expressions.context import BindContext, ParameterTypes
from sql.bind.queries.common_tables import common_tables
from sql.bind.queries.locking import locked_reads
from sql.bind.queries.query import QUERIES
from sql.bind.sharing import settled
from sql.bind.writes.write_target import (
    bind_returning,
    columns_beside,
    columns_schema,
    condition_of,
    filtered,
    identity_of,
    items_of,
    joined_target,
    read_relations,
    reads_columns,
    target_relation,
    without_identity,
)
from sql.catalog.catalog import Catalog, RelationDescription, SessionSettings
from sql.parse.statements.delete import Delete
from sql.tree.expressions import Column, Expression
from sql.tree.relations import LockedRead, OutputColumn, Project, Relation
from sql.types.datatypes import SqlType


@dataclass(frozen=True, slots=True)
class BoundDelete:
    """A bound DELETE.

    Attributes:
        source: the identity of each deleted row; with RETURNING also all its columns, then the
            columns of USING.
        returning: over the rows of `source` without their identity.
        relations: names of all scanned relations.
        named, needed, functions: see BoundInsert.
    """

    relation: RelationDescription
    source: Relation
    returning: Relation | None
    parameters: tuple[SqlType, ...]
    relations: frozenset[str]
    stable: bool
    locked: tuple[LockedRead, ...] = ()
    named: frozenset[str] = frozenset()
    needed: str = "d"
    functions: frozenset[tuple[str, int]] = frozenset()


def bind_delete(
    statement: Delete,
    catalog: Catalog,
    settings: SessionSettings,
    parameter_types: Sequence[SqlType | None] | None = None,
) -> BoundDelete:
    """Return the typed form of a DELETE from a table."""
    parameters = ParameterTypes(parameter_types)
    context = BindContext(catalog, settings, parameters, QUERIES)
    with common_tables(statement.common_tables, context):
        relation = target_relation(statement.name, statement.name_position, catalog, settings, "delete from")
        joined, scope = joined_target(relation, statement.alias, statement.using, context)
        found = filtered(joined, scope, statement.where, context)
        shown: tuple[tuple[str, Expression], ...] = ()
        if statement.returning:
            own = tuple(
                (column.name, Column(index, column.name, column.type))
                for index, column in enumerate(columns_schema(relation))
            )
            shown = (*own, *columns_beside(relation, joined))
        rows = tuple(OutputColumn(name, item.type) for name, item in shown)
        returning = bind_returning(statement.returning, without_identity(scope, relation), rows, context)
    source = settled(refuse_wide_numbers(Project(found, (identity_of(relation), *shown)), context))
    if returning is not None:
        returning = settled(refuse_wide_numbers(returning, context))
    locked = locked_reads(context, source, returning)
    names = read_relations(source, returning, *(one.root for one in locked))
    needed = "dr" if reads_columns(relation, *condition_of(found), *items_of(returning)) else "d"
    types, named = parameters.finish(), frozenset(context.named)
    return BoundDelete(
        relation, source, returning, types, names, context.stable, locked, named, needed, context.references.every
    )
