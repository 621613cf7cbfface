"""UPDATE: the rows that change, each with its identity and its new values.

Enters: an `Update`. Leaves: a `BoundUpdate`, whose source is a relation like any other: the target
joined with FROM, cut by WHERE. Several FROM rows may match a row of the target; which of them
counts is left to the engine that runs it, as in PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.context import BindContext, ParameterTypes
from sql.bind.queries.common_tables import common_tables
from sql.bind.queries.query import QUERIES
from sql.bind.writes.assignments import bind_assignments
from sql.bind.writes.bound_write import BoundWrite, bound_write
from sql.bind.writes.write_target import (
    bind_returning,
    columns_beside,
    condition_of,
    filtered,
    identity_of,
    joined_target,
    reads_columns,
    stored,
    target_relation,
    without_identity,
)
from sql.catalog.catalog import Catalog, SessionSettings
from sql.parse.statements.update import Update
from sql.tree.expressions import Column
from sql.tree.relations import OutputColumn, Project
from sql.types.datatypes import SqlType


@dataclass(frozen=True, slots=True)
class BoundUpdate(BoundWrite):
    """A bound UPDATE.

    The source is the identity of each row to change, all its columns as they will be, then the
    columns of FROM. RETURNING is over the rows of the source without their identity.

    Attributes:
        changed: indexes of the columns that SET names.
    """

    changed: tuple[int, ...]


def bind_update(
    statement: Update,
    catalog: Catalog,
    settings: SessionSettings,
    parameter_types: Sequence[SqlType | None] | None = None,
) -> BoundUpdate:
    """Return the typed form of an UPDATE of a table."""
    context = BindContext(catalog, settings, ParameterTypes(parameter_types), QUERIES)
    with common_tables(statement.common_tables, context):
        relation = target_relation(statement.name, statement.name_position, catalog, settings, "update")
        joined, scope = joined_target(relation, statement.alias, statement.from_items, context)
        found = filtered(joined, scope, statement.where, context)
        beside = columns_beside(relation, found) if statement.returning else ()
        schema = tuple(OutputColumn(column.name, column.type) for column in relation.columns)
        rows = (*schema, *(OutputColumn(name, item.type) for name, item in beside))
        returning = bind_returning(statement.returning, without_identity(scope, relation), rows, context)
        changes = bind_assignments(statement.assignments, relation, Binder(scope, context, "UPDATE"))
    new = tuple(
        (column.name, stored(changes.get(index, Column(index, column.name, column.type)), column))
        for index, column in enumerate(relation.columns)
    )
    source = Project(found, (identity_of(relation), *new, *beside))
    reads = reads_columns(relation, *condition_of(found), *changes.values())
    changed = tuple(sorted(changes))
    return bound_write(BoundUpdate, context, relation, source, returning, "w", reads, changed=changed)
