"""What a rule needs to know of a part of a tree: whether a stream is below it, and whether a grouping lies between.

Enters: a bound tree. Leaves: facts, never a changed tree.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.relations import Aggregate, Join, Relation, Scan
from views.plan.trees import inputs, walk_relation


@dataclass(frozen=True, slots=True)
class Properties:
    """contains_stream: a stream is scanned below. grouped: every such stream has a grouping between its scan and here."""

    contains_stream: bool
    grouped: bool


def properties(relation: Relation) -> Properties:
    """Return the facts of `relation`'s output, from one depth-first pass."""
    below = [properties(part) for part in inputs(relation)]
    contains_stream = any(part.contains_stream for part in below) or (
        isinstance(relation, Scan) and relation.kind == "stream"
    )
    grouped = isinstance(relation, Aggregate) or all(part.grouped for part in below if part.contains_stream)
    return Properties(contains_stream, contains_stream and grouped and not isinstance(relation, Scan))


def is_first_grouping(relation: Relation) -> bool:
    """Return whether `relation` groups tuples of a stream that nothing has grouped before."""
    if not isinstance(relation, Aggregate):
        return False
    below = properties(relation.input)
    return below.contains_stream and not below.grouped


def scans(relation: Relation, kind: str) -> tuple[str, ...]:
    """Return the names of the relations of `kind` that are scanned, once per scan, from left to right."""
    return tuple(part.name for part in walk_relation(relation) if isinstance(part, Scan) and part.kind == kind)


def joins(relation: Relation) -> tuple[Join, ...]:
    """Return all joins of a tree."""
    return tuple(part for part in walk_relation(relation) if isinstance(part, Join))
