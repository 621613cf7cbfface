"""The first groupings of a query over several streams, or over a stream and a view: the plan keeps
the state of each.

Enters: a bound tree. Leaves: these groupings, and the tree with scans of their rows in their
places. That is the paper's rule (c), both sides of a join grouped below it, for all that stands
above the groupings. Must not name or build anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sql.bind.readers import has_open_zone
from sql.errors import SqlError
from sql.tree.expressions import Column
from sql.tree.relations import Aggregate, Distinct, Join, OutputColumn, Project, Relation, Scan, Schema
from sql.tree.walks import children, map_parts, once_each, open_columns, subqueries_of, walk_relation
from sql.tree.walks import scans as leaves
from views.model.properties import properties, scans
from views.model.steps import unique_names
from views.model.trees import inputs, substitute_now, with_inputs
from views.plan.checks import check_heights
from views.plan.hand_over import hand_over
from views.plan.split import above_grouping, path_to_grouping

KINDS = ("stream", "view")


def first_groupings(root: Relation, always: bool = False) -> tuple[Relation, ...]:
    """Return the different first groupings from left to right.

    None when some stream is not grouped, or when a chain is enough and `always` is false.
    """
    sources = (*scans(root, "stream"), *scans(root, "view"))
    in_subqueries = len(sources) > sum(isinstance(part, Scan) and part.kind in KINDS for part in walk_relation(root))
    if not scans(root, "stream"):
        return ()
    if len(sources) < 2 and not (in_subqueries or always or _is_asked_laterally(root) or _is_beyond_spark(root)):
        return ()
    found = tuple(dict.fromkeys(_groupings(root)))
    rest = with_scans(root, found, [""] * len(found))
    return () if scans(rest, "stream") else found


def with_scans(root: Relation, relations: Sequence[Relation], names: Sequence[str]) -> Relation:
    """Return the tree with a scan of view `names[i]` in the place of `relations[i]`."""

    def cut(relation: Relation) -> Relation:
        if relation in relations:
            return Scan(names[relations.index(relation)], "view", scanned_schema(relation))
        rebuilt = with_inputs(relation, [below(part) for part in inputs(relation)])
        if any(True for item in children(rebuilt) for _ in subqueries_of(item)):
            return map_parts(rebuilt, lambda _: None, below)
        return rebuilt

    below = once_each(cut)
    return below(root)


def scanned_schema(relation: Relation) -> Schema:
    """Return the columns of the scan in the place of a relation, with names that differ."""
    names = unique_names([column.name for column in relation.schema])
    return tuple(OutputColumn(name, column.type) for name, column in zip(names, relation.schema, strict=True))


def scanned_rows(relation: Relation) -> Relation:
    """Return a relation with the columns of the scan in its place."""
    schema = scanned_schema(relation)
    if schema == relation.schema:
        return relation
    places = enumerate(zip(schema, relation.schema, strict=True))
    return Project(relation, tuple((new.name, Column(place, old.name, old.type)) for place, (new, old) in places))


def _groupings(relation: Relation) -> Iterator[Relation]:
    """Yield the first groupings above streams that can be views.

    Such a grouping is of one stream, and the same whatever stands around it.
    """
    if isinstance(relation, Aggregate | Distinct):
        below = properties(relation.input)
        if below.contains_stream and not below.grouped:
            sources = (*scans(relation, "stream"), *scans(relation, "view"))
            known = all(column.type.family != "unknown" for column in relation.schema)
            if len(sources) == 1 and known and not any(True for _ in open_columns(relation)):
                yield relation
            return
    for part in inputs(relation):
        yield from _groupings(part)
    for item in children(relation):
        for subquery in subqueries_of(item):
            yield from _groupings(subquery.relation)


def _is_asked_laterally(root: Relation) -> bool:
    """Return whether LATERAL looks at the groups of a stream for each row of another relation."""
    laterals = (part for part in walk_relation(root) if isinstance(part, Join) and part.lateral is not None)
    return any(scans(join.right, "stream") for join in laterals)


def _is_beyond_spark(root: Relation) -> bool:
    """Return whether the part above the grouping of one stream is one that Spark can't run.

    So is a part that each reader computes, in a TimeZone of its own.
    """
    first = next(_groupings(root), None)
    if first is None:
        return False
    rest = with_scans(root, (first,), ("groups",))
    try:
        check_heights(rest)
    except SqlError:
        return True
    if has_open_zone(rest):
        return True
    path, grouping = path_to_grouping(substitute_now(root, 0))
    _, upper, _ = above_grouping(scanned_schema(grouping), path, [scan.name for scan in leaves(root)])
    return upper is not None and hand_over(upper.relation) is None
