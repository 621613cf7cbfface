"""The arguments of EXECUTE in the types of the statement's parameters. Raises PostgreSQL's errors."""

from __future__ import annotations

from collections.abc import Sequence

from sql.bind.coerce import coerce
from sql.bind.context import BindContext
from sql.bind.expressions import Binder
from sql.bind.parameters import ParameterTypes
from sql.bind.places import start_of
from sql.bind.scope import Scope
from sql.catalog.catalog import Catalog, SessionSettings
from sql.errors import SqlError
from sql.parse.statements.prepared import Execute
from sql.tree.expressions import Expression, Subquery
from sql.tree.walks import walk
from sql.types.casts import can_cast, plain_name
from sql.types.datatypes import SqlType

CLAUSE = "EXECUTE parameters"


def bind_arguments(
    statement: Execute, kinds: Sequence[SqlType], catalog: Catalog, settings: SessionSettings
) -> tuple[Expression, ...]:
    """Return one expression per parameter. Raises 42601 when there are not as many, 42804 for one that can't become the type."""
    given = statement.arguments
    if len(given) != len(kinds):
        raise SqlError(
            "42601",
            f'wrong number of parameters for prepared statement "{statement.name}"',
            statement.position if given else None,
            detail=f"Expected {len(kinds)} parameters but got {len(given)}.",
        )
    context = BindContext(catalog, settings, ParameterTypes(None))
    binder = Binder(Scope(), context, CLAUSE)
    found = []
    for number, (node, kind) in enumerate(zip(given, kinds, strict=True), 1):
        value = binder.bind(node)
        for part in walk(value):
            if isinstance(part, Subquery):
                raise SqlError("0A000", "cannot use subquery in EXECUTE parameter", part.position)
        if not can_cast(value.type.family, kind.family, "assignment"):
            raise SqlError(
                "42804",
                f"parameter ${number} of type {plain_name(value.type)} cannot be coerced to the expected type {plain_name(kind)}",
                start_of(node),
                hint="You will need to rewrite or cast the expression.",
            )
        found.append(coerce(value, kind, context, position=start_of(node)))
    return tuple(found)
