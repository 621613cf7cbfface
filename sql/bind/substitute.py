"""Known values for what a bound tree leaves open: parameters at execution, now() at the start of the transaction."""

from __future__ import annotations

from collections.abc import Sequence

from sql.bind.limits import checked_count
from sql.tree.expressions import Call, Expression, Literal, Parameter
from sql.tree.relations import Limit, Relation
from sql.tree.walks import map_relation, rewrite_everywhere
from sql.types.datatypes import TIMESTAMPTZ


def substitute_parameters(root: Relation, values: Sequence[Literal]) -> Relation:
    """Return the tree with parameter n replaced by values[n - 1]. Raises 2201W and 2201X for a negative LIMIT or OFFSET."""

    def change(node: Expression) -> Expression | None:
        if not isinstance(node, Parameter):
            return None
        return Literal(values[node.number - 1].value, node.type, node.position)

    return rewrite_everywhere(map_relation(root, change), check_limits)


def substitute_now(root: Relation, now_us: int) -> Relation:
    """Return the tree with now() replaced by the instant `now_us`, microseconds since 1970 in UTC."""

    def change(node: Expression) -> Expression | None:
        if isinstance(node, Call) and node.function == "now":
            return Literal(now_us, TIMESTAMPTZ, node.position)
        return None

    return map_relation(root, change)


def check_limits(relation: Relation) -> Relation:
    """Return the operator with NULL limits gone; a negative one is an error."""
    if not isinstance(relation, Limit):
        return relation
    limit = None if relation.limit is None else checked_count(relation.limit, "LIMIT")
    offset = None if relation.offset is None else checked_count(relation.offset, "OFFSET")
    return relation.input if limit is None and offset is None else Limit(relation.input, limit, offset)
