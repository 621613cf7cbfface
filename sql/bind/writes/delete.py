"""DELETE: the identities of the rows that go, and what RETURNING shows of them.

Enters: a `Delete`. Leaves: a `BoundDelete`, whose source is the target joined with USING and cut by
WHERE.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sql.bind.expressions.context import BindContext, ParameterTypes
from sql.bind.queries.common_tables import common_tables
from sql.bind.queries.query import QUERIES
from sql.bind.writes.bound_write import BoundWrite, bound_write
from sql.bind.writes.write_target import (
    bind_returning,
    columns_beside,
    columns_schema,
    condition_of,
    filtered,
    identity_of,
    joined_target,
    reads_columns,
    target_relation,
    without_identity,
)
from sql.catalog.catalog import Catalog, SessionSettings
from sql.parse.statements.delete import Delete
from sql.tree.expressions import Column, Expression
from sql.tree.relations import OutputColumn, Project
from sql.types.datatypes import SqlType


@dataclass(frozen=True, slots=True)
class BoundDelete(BoundWrite):
    """A bound DELETE.

    The source is the identity of each deleted row; with RETURNING also all its columns, then the
    columns of USING. RETURNING is over the rows of the source without their identity.
    """


def bind_delete(
    statement: Delete,
    catalog: Catalog,
    settings: SessionSettings,
    parameter_types: Sequence[SqlType | None] | None = None,
) -> BoundDelete:
    """Return the typed form of a DELETE from a table."""
    context = BindContext(catalog, settings, ParameterTypes(parameter_types), QUERIES)
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
    source = Project(found, (identity_of(relation), *shown))
    reads = reads_columns(relation, *condition_of(found))
    return bound_write(BoundDelete, context, relation, source, returning, "d", reads)
