"""Facts about a part of a tree for rules: a stream below it, a grouping between.

Enters: a bound tree. Leaves: facts, never a changed tree.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.functions.comparisons import COMPARED_DAYS, COMPARISONS
from sql.tree.expressions import Call, Column, Expression, Literal
from sql.tree.relations import Aggregate, Relation, Scan
from sql.tree.walks import all_relations
from views.model.trees import inputs, parts

CANNOT_FAIL = frozenset((*COMPARISONS, *COMPARED_DAYS.values())) | frozenset(
    """
    is_distinct is_not_distinct in_list is_null is_not_null and or not is_true is_not_true is_false is_not_false
    """.split()
)


@dataclass(frozen=True, slots=True)
class Properties:
    """The facts about one relation.

    Attributes:
        contains_stream: true if a stream is scanned below.
        grouped: true if every such stream has a grouping between its scan and here.
    """

    contains_stream: bool
    grouped: bool


def properties(relation: Relation) -> Properties:
    """Return the facts about the output of a relation, from one depth-first pass."""
    below = [properties(part) for part in inputs(relation)]
    contains_stream = any(part.contains_stream for part in below) or (
        isinstance(relation, Scan) and relation.kind == "stream"
    )
    grouped = isinstance(relation, Aggregate) or all(part.grouped for part in below if part.contains_stream)
    return Properties(contains_stream, contains_stream and grouped and not isinstance(relation, Scan))


def is_ungrouped(relation: Relation) -> bool:
    """Return whether `relation` yields tuples of a stream as they are, and not groups."""
    found = properties(relation)
    return found.contains_stream and not found.grouped


def is_first_grouping(relation: Relation) -> bool:
    """Return whether `relation` groups tuples of a stream that nothing below it groups."""
    if not isinstance(relation, Aggregate):
        return False
    below = properties(relation.input)
    return below.contains_stream and not below.grouped


def scans(relation: Relation, kind: str) -> tuple[str, ...]:
    """Return the names of the scanned relations of `kind`, once per scan, from left to right.

    Those in subqueries come last.
    """
    return tuple(part.name for part in all_relations(relation) if isinstance(part, Scan) and part.kind == kind)


def stream_path(relation: Relation) -> list[Relation]:
    """Return the operators from `relation` down to the scan of its stream.

    Where two inputs have streams the way goes left.
    """
    path = [relation]
    while below := [part for part in inputs(path[-1]) if properties(part).contains_stream]:
        path.append(below[0])
    return path


def stream_input(relation: Relation) -> int:
    """Return the input of an operator that has the stream below it; its only input if it has
    one.
    """
    below = inputs(relation)
    return 0 if len(below) < 2 else [properties(part).contains_stream for part in below].index(True)


def cannot_fail(expression: Expression) -> bool:
    """Return whether an expression has a value for every row."""
    if isinstance(expression, Column | Literal):
        return True
    known = isinstance(expression, Call) and expression.function in CANNOT_FAIL
    return known and all(cannot_fail(part) for part in parts(expression))
