"""The columns of its scans that a bound query needs: a reader of a wide relation may leave out the
others.

Enters: relations. Leaves: column indexes by the name of the scanned relation. Must not know what is
scanned, or how.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from sql.tree.relations import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    Project,
    Recursive,
    Relation,
    Scan,
    SetOperation,
    Shared,
    Sort,
    TableFunction,
    Values,
    Window,
)
from sql.tree.walks import children, columns_of, inputs, subqueries_of

Needed = dict[str, set[int]]


def needed_columns(root: Relation) -> dict[str, frozenset[int]]:
    """Return for each scanned relation the indexes of the columns that any of its scans needs, also
    inside subqueries.
    """
    found: Needed = defaultdict(set)
    _need(root, every(root), found, set())
    return {name: frozenset(columns) for name, columns in found.items()}


def every(relation: Relation) -> frozenset[int]:
    """Return the indexes of all columns of an operator."""
    return frozenset(range(len(relation.schema)))


def _need(relation: Relation, wanted: Iterable[int], found: Needed, known: set[str]) -> None:
    """Note the columns that are needed below `relation`, whose columns `wanted` are needed above.

    known: names of shared relations that have been done.
    """
    for item in children(relation):
        for subquery in subqueries_of(item):
            _need(subquery.relation, every(subquery.relation), found, known)
    looked_at = {column.index for item in children(relation) for column in columns_of(item)}
    match relation:
        case Scan():
            found[relation.name].update(wanted)
        case Values() | TableFunction():
            pass
        case Project() | Aggregate():
            _need(relation.input, looked_at, found, known)
        case Filter() | Sort():
            _need(relation.input, looked_at.union(wanted), found, known)
        case Window():
            width = len(relation.input.schema)
            _need(relation.input, looked_at.union(index for index in wanted if index < width), found, known)
        case Limit():
            _need(relation.input, wanted, found, known)
        case Join():
            width = len(relation.left.schema)
            both = looked_at.union(wanted)
            _need(relation.left, [index for index in both if index < width], found, known)
            _need(relation.right, [index - width for index in both if index >= width], found, known)
        case Shared():
            # Once, for all places: each of the places may need any column.
            if relation.name not in known:
                known.add(relation.name)
                _need(relation.input, every(relation.input), found, known)
        case Distinct() | SetOperation() | Recursive():
            for part in inputs(relation):
                _need(part, every(part), found, known)
