"""Known values for what a bound tree leaves open: arguments of EXECUTE, parameters at execution,
now() at the start of the transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.coerce import coerce
from sql.bind.expressions.context import BindContext, ParameterTypes
from sql.bind.expressions.scope import Scope
from sql.bind.expressions.source_positions import start_of
from sql.bind.expressions.time_functions import SETTLED, settled
from sql.bind.expressions.windows import known_frame
from sql.bind.queries.limits import checked_count
from sql.bind.queries.query import QUERIES
from sql.catalog.catalog import Catalog, SessionSettings
from sql.errors import SqlError
from sql.parse.statements.prepared import Execute
from sql.tree.expressions import Call, Expression, Literal, Parameter, Subquery
from sql.tree.relations import BoundQuery, Limit, OutputColumn, Relation, Values, Window
from sql.tree.walks import map_parts, map_relation, rewrite_everywhere, walk
from sql.types.casts import can_cast, plain_name
from sql.types.datatypes import TIMESTAMPTZ, SqlType


def substitute_parameters(root: Relation, values: Sequence[Literal]) -> Relation:
    """Return the tree with parameter n replaced by values[n - 1].

    Raises 2201W and 2201X for a negative LIMIT or OFFSET, 22004 and 22013 for offsets of frames,
    and the errors of fields and zones.
    """
    is_open = False

    def change(node: Expression) -> Expression | None:
        nonlocal is_open
        if isinstance(node, Parameter):
            return Literal(values[node.number - 1].value, node.type, node.position)
        is_open = is_open or _waits(node)
        return None

    found = map_relation(root, change)
    return rewrite_everywhere(map_relation(found, _settle) if is_open else found, checked_counts)


def _waits(node: Expression) -> bool:
    return isinstance(node, Call) and node.function in SETTLED and isinstance(node.arguments[0], Parameter)


def _settle(node: Expression) -> Expression | None:
    if isinstance(node, Call) and node.function in SETTLED:
        return settled(map_parts(node, _settle))
    return None


def substitute_now(root: Relation, now_us: int) -> Relation:
    """Return the tree with now() replaced by the instant `now_us`, microseconds since 1970 in
    UTC.
    """

    def change(node: Expression) -> Expression | None:
        if isinstance(node, Call) and node.function == "now":
            return Literal(now_us, TIMESTAMPTZ, node.position)
        return None

    return map_relation(root, change)


def checked_counts(relation: Relation) -> Relation:
    """Return the operator with NULL limits gone and offsets of frames known; a negative one is an
    error.
    """
    if isinstance(relation, Window):
        calls = tuple(
            (name, one if one.frame is None else replace(one, frame=known_frame(one.frame)))
            for name, one in relation.calls
        )
        return relation if calls == relation.calls else replace(relation, calls=calls)
    if not isinstance(relation, Limit):
        return relation
    limit = None if relation.limit is None else checked_count(relation.limit, "LIMIT")
    offset = None if relation.offset is None else checked_count(relation.offset, "OFFSET")
    return relation.input if limit is None and offset is None else Limit(relation.input, limit, offset)


CLAUSE = "EXECUTE parameters"


def bind_arguments(
    statement: Execute, kinds: Sequence[SqlType], catalog: Catalog, settings: SessionSettings
) -> BoundQuery:
    """Return one row with an expression per parameter.

    Raises 42601 when there are not as many, 42804 for one that can't become the type.
    """
    # A statement without parameters takes any arguments, as in PostgreSQL, which looks at none.
    given = statement.arguments if kinds else ()
    if len(given) != len(kinds):
        raise SqlError(
            "42601",
            f'wrong number of parameters for prepared statement "{statement.name}"',
            detail=f"Expected {len(kinds)} parameters but got {len(given)}.",
        )
    context = BindContext(catalog, settings, ParameterTypes(None), QUERIES)
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
    schema = tuple(OutputColumn(f"p{number}", value.type) for number, value in enumerate(found))
    functions = frozenset(context.references.used)
    return BoundQuery(Values((tuple(found),), schema), (), frozenset(), context.stable, functions=functions)
