"""The columns of a relation by which each of its rows is told from all others.

Enters: bound trees. Leaves: places of columns whose values together no two rows share, compared as
GROUP BY compares them. Must not know what a scan reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from sql.tree.expressions import Call, Column, Expression, Literal
from sql.tree.relations import (
    Aggregate,
    Distinct,
    Filter,
    Join,
    Limit,
    Project,
    Relation,
    Scan,
    SetOperation,
    Shared,
    Sort,
    Window,
)
from sql.tree.walks import conjuncts

Keys = tuple[int, ...] | None
OfScan = Callable[[Scan], Keys]


def row_keys(relation: Relation, of_scan: OfScan) -> Keys:
    """Return the places of a relation's key, () for one row at most, None where none is known.

    of_scan: tells the keys of leaves.
    """
    match relation:
        case Scan():
            return of_scan(relation)
        case Shared() | Sort() | Limit() | Window() | Filter():
            keys = row_keys(relation.input, of_scan)
            return keys if keys is None else tuple(key for key in keys if key not in constant_columns(relation))
        case Project():
            return _projected(relation, of_scan)
        case Aggregate():
            return None if relation.sets is not None else tuple(range(len(relation.keys)))
        case Distinct():
            below = row_keys(relation.input, of_scan)
            return tuple(range(len(relation.schema))) if below is None else below
        case SetOperation():
            return None if relation.all else tuple(range(len(relation.schema)))
        case Join():
            left, right = row_keys(relation.left, of_scan), row_keys(relation.right, of_scan)
            if left is None or right is None:
                return None
            width = len(relation.left.schema)
            moved = tuple(width + key for key in right)
            on = equalities(() if relation.condition is None else conjuncts(relation.condition))
            if relation.kind == "left" and {other for one, other in on if one < width}.issuperset(moved):
                return left
            return (*left, *moved)
    return None


def _projected(relation: Project, of_scan: OfScan) -> Keys:
    """Return the key of a projection, which may show an equal column in the place of one of the
    key, and does not show those that follow from the others.
    """
    keys = row_keys(relation.input, of_scan)
    if keys is None:
        return None
    places: dict[int, int] = {}
    for place, (_, item) in enumerate(relation.items):
        if isinstance(item, Column):
            places.setdefault(item.index, place)
    pairs = equalities(conditions(relation.input))
    found: list[int] = []
    for key in keys:
        alike = closure(key, pairs)
        shown = [places[one] for one in (key, *sorted(alike)) if one in places]
        if not shown:
            return None
        if not any(place in found for place in shown):
            found.append(shown[0])
    return tuple(found)


def closure(column: int, pairs: list[tuple[int, int]]) -> set[int]:
    """Return a column and all that equal it by way of pairs."""
    found, waiting = {column}, [column]
    while waiting:
        at = waiting.pop()
        new = {other for one, other in pairs if one == at} - found
        found |= new
        waiting.extend(new)
    return found


def equalities(demanded: Iterable[Expression]) -> list[tuple[int, int]]:
    """Return pairs of columns that conditions demand to be equal, each both ways."""
    found = []
    for part in demanded:
        match part:
            case Call(function="eq", arguments=(Column(index=one), Column(index=other))):
                found += [(one, other), (other, one)]
    return found


def constant_columns(relation: Relation) -> set[int]:
    """Return the columns that have one value in all rows."""
    found = set()
    for part in conditions(relation):
        match part:
            case Call(function="eq", arguments=(Column(index=one), Literal()) | (Literal(), Column(index=one))):
                found.add(one)
    return found


def conditions(relation: Relation) -> Iterator[Expression]:
    """Yield what all rows of filters and inner joins fulfil."""
    while isinstance(relation, Filter):
        yield from conjuncts(relation.predicate)
        relation = relation.input
    if isinstance(relation, Join) and relation.kind in ("inner", "cross") and relation.condition is not None:
        yield from conjuncts(relation.condition)
