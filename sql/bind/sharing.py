"""Items of WITH and ordinary views that a statement reads more than once: written out at each place
while small, else shared.

Enters: bound trees with a `Shared` for each item. Leaves: trees whose size is in proportion to the
statement's text. An item that is read once, or is small, stands at its place, where every rule and
engine sees it. A chain of items that each read the one before twice doubles the tree with each
item, so an item beyond a size is computed once. So is an item that calls a volatile function, whose
value is one for all places. Must not know engines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count

from sql.errors import SqlError
from sql.functions.volatility import has_volatile
from sql.tree.relations import Relation, Shared
from sql.tree.walks import (
    all_relations,
    children,
    inputs,
    open_columns,
    rewrite_everywhere,
    subqueries_of,
    walk,
)

# Operators and expressions of a whole statement, with all shared items written out.
WRITTEN_OUT_NODES_MAX = 2_000
# The same for items that have to be written out, because they are maintained, or computed for each
# row outside.
EXPANDED_NODES_MAX = 20_000

_numbers = count(1)


def shared(name: str, relation: Relation) -> Relation:
    """Return a relation as one that a statement computes once."""
    return relation if isinstance(relation, Shared) else Shared(f"{name} {next(_numbers)}", relation)


def settled(root: Relation) -> Relation:
    """Return the tree with items that are small or read once at their places.

    Raises 54001 for an item that is neither, and depends on a row outside.
    """
    every = [node for node in all_relations(root) if isinstance(node, Shared)]
    if not every:
        return root
    uses = Counter(part.name for node in all_relations(root) for part in below(node) if isinstance(part, Shared))
    uses.update([root.name] if isinstance(root, Shared) else [])
    is_small = nodes_count(root) <= WRITTEN_OUT_NODES_MAX
    kept = {node.name for node in every if uses[node.name] > 1 and (not is_small or has_volatile(node.input))}
    for node in every:
        if node.name in kept and any(True for _ in open_columns(node.input)):
            raise too_complex()
    return _without(root, kept)


def written_out(root: Relation) -> Relation:
    """Return the tree with all items at their places. Raises 54001 when the tree is huge."""
    if not any(isinstance(node, Shared) for node in all_relations(root)):
        return root
    if nodes_count(root) > EXPANDED_NODES_MAX:
        raise too_complex()
    return _without(root, frozenset())


def is_shared(root: Relation) -> bool:
    """Tell whether any item of the tree is computed once for several places."""
    return any(isinstance(node, Shared) for node in all_relations(root))


def too_complex() -> SqlError:
    hint = "It names a WITH query or a view, which names another one, several times each."
    return SqlError("54001", "statement too complex", hint=hint)


def below(relation: Relation) -> Iterator[Relation]:
    """Yield the inputs of an operator, and the relations of its subqueries."""
    yield from inputs(relation)
    for item in children(relation):
        for subquery in subqueries_of(item):
            yield subquery.relation


def nodes_count(root: Relation) -> int:
    """Return the number of operators and expressions of the tree with all items written out."""
    known: dict[str, int] = {}

    def counted(relation: Relation) -> int:
        if isinstance(relation, Shared) and relation.name in known:
            return known[relation.name]
        own = (not isinstance(relation, Shared)) + sum(1 for item in children(relation) for _ in walk(item))
        found = own + sum(counted(part) for part in below(relation))
        if isinstance(relation, Shared):
            known[relation.name] = found
        return found

    return counted(root)


def _without(root: Relation, kept: set[str] | frozenset[str]) -> Relation:
    def step(relation: Relation) -> Relation:
        return relation.input if isinstance(relation, Shared) and relation.name not in kept else relation

    return rewrite_everywhere(root, step)
