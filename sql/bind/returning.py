"""RETURNING: a projection over the rows that a statement has written, which arrive as the scan `ROWS`."""

from __future__ import annotations

from sql.bind.context import BindContext
from sql.bind.expressions import Binder
from sql.bind.scope import Scope
from sql.bind.select import bind_target
from sql.bind.write_target import ROWS
from sql.errors import SqlError
from sql.parse.syntax import Target
from sql.tree.relations import Project, Relation, Scan, Schema


def bind_returning(targets: tuple[Target, ...], scope: Scope, schema: Schema, context: BindContext) -> Relation | None:
    """Return what the client gets of the written rows, whose columns are `schema`; None without RETURNING."""
    if not targets:
        return None
    binder = Binder(scope, context, "RETURNING")
    outputs = [output for target in targets for output in bind_target(target, binder)]
    if not outputs:
        raise SqlError("42601", "RETURNING must have at least one column", targets[0].position)
    return Project(Scan(ROWS, "rows", schema), tuple((output.name, output.expression) for output in outputs))
