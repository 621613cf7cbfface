"""Items of WITH and ordinary views that a statement reads more than once: written out at each place while that is small, else shared.

Enters: bound trees with a `Shared` for each of them. Leaves: trees whose size is in proportion to the statement's text. What is read once,
or is small, stands at its place, where every rule and engine sees it; naming the one before twice doubles what is written out, so beyond a
size it is computed once, and so is what calls a volatile function, whose value is one for all places. Must not know engines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import count

from sql.errors import SqlError
from sql.tree.relations import Relation, Shared
from sql.tree.volatility import has_volatile
from sql.tree.walks import (
    all_relations,
    inputs,
    open_columns,
    operator_expressions,
    rewrite_everywhere,
    subqueries_of,
    walk,
)

# Operators and expressions of a whole statement with all that it shares written out.
WRITTEN_OUT_NODES_MAX = 2_000
# What has to be written out, because it is maintained, or computed for each row outside.
EXPANDED_NODES_MAX = 20_000

_numbers = count(1)


def shared(name: str, relation: Relation) -> Relation:
    """Return a relation as one that a statement computes once."""
    return relation if isinstance(relation, Shared) else Shared(f"{name} {next(_numbers)}", relation)


def settled(root: Relation) -> Relation:
    """Return the tree with what is small or read once at its places. Raises 54001 for what is neither, and depends on a row outside."""
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
    """Return the tree with everything at its places. Raises 54001 when that is huge."""
    if not any(isinstance(node, Shared) for node in all_relations(root)):
        return root
    if nodes_count(root) > EXPANDED_NODES_MAX:
        raise too_complex()
    return _without(root, frozenset())


def is_shared(root: Relation) -> bool:
    """Tell whether anything in the tree is computed once for several places."""
    return any(isinstance(node, Shared) for node in all_relations(root))


def too_complex() -> SqlError:
    hint = "It names a WITH query or a view, which names another one, several times each."
    return SqlError("54001", "statement too complex", hint=hint)


def below(relation: Relation) -> Iterator[Relation]:
    """Yield the inputs of an operator, and the relations of its subqueries."""
    yield from inputs(relation)
    for item in operator_expressions(relation):
        for subquery in subqueries_of(item):
            yield subquery.relation


def nodes_count(root: Relation) -> int:
    """Return how many operators and expressions the tree has with everything written out."""
    known: dict[str, int] = {}

    def counted(relation: Relation) -> int:
        if isinstance(relation, Shared) and relation.name in known:
            return known[relation.name]
        own = (not isinstance(relation, Shared)) + sum(1 for item in operator_expressions(relation) for _ in walk(item))
        found = own + sum(counted(part) for part in below(relation))
        if isinstance(relation, Shared):
            known[relation.name] = found
        return found

    return counted(root)


def _without(root: Relation, kept: set[str] | frozenset[str]) -> Relation:
    def step(relation: Relation) -> Relation:
        return relation.input if isinstance(relation, Shared) and relation.name not in kept else relation

    return rewrite_everywhere(root, step)
