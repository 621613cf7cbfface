"""A view over several streams, or over a stream and a view: every first grouping of a stream is a part, a continuous view of its own.

Enters: a bound tree. Leaves: its parts, and the tree with scans of them in their places: an ordinary query over views. That is the
paper's rule (c), both sides of a join grouped below it, for whatever stands above the groupings. Must not name or build anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sql.relations import Aggregate, Distinct, OutputColumn, Relation, Scan, Schema
from sql.trees import open_columns
from views.plan.properties import properties, scans
from views.plan.steps import unique_names
from views.plan.trees import inputs, with_inputs


def cut_parts(root: Relation) -> tuple[Relation, ...]:
    """Return the different parts from left to right; none when one plan is enough, or some stream is not grouped."""
    if len(scans(root, "stream")) + len(scans(root, "view")) < 2:
        return ()
    parts = tuple(dict.fromkeys(_groupings(root)))
    rest = without_parts(root, parts, [""] * len(parts))
    return () if scans(rest, "stream") else parts


def without_parts(root: Relation, parts: Sequence[Relation], names: Sequence[str]) -> Relation:
    """Return the tree with a scan of view `names[i]` wherever `parts[i]` stands."""
    if root in parts:
        return Scan(names[parts.index(root)], "view", part_schema(root))
    return with_inputs(root, [without_parts(below, parts, names) for below in inputs(root)])


def part_schema(part: Relation) -> Schema:
    """Return the columns of a part's view: as they are, but with names that differ."""
    names = unique_names([column.name for column in part.schema])
    return tuple(OutputColumn(name, column.type) for name, column in zip(names, part.schema, strict=True))


def _groupings(relation: Relation) -> Iterator[Relation]:
    """Yield the first groupings above the streams that can be views: of one stream, and the same whatever stands around them."""
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
