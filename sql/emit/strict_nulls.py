"""Strict functions with a constant NULL among their arguments: they are NULL, and their other
arguments are not computed.

PostgreSQL folds such calls when it plans, so that `lpad(NULL, 1 / i)` does not divide. Enters: a
tree whose constants have been computed, since constants that fail do so first. Leaves: the tree,
with NULL in place of such calls. Must not change an expression that can be other than NULL.
"""

from __future__ import annotations

from sql.functions.table import is_strict
from sql.tree.expressions import Call, Cast, Expression, Literal
from sql.tree.relations import Project, Relation, Values
from sql.tree.walks import all_relations, children, inputs, map_relation, walk


def without_strict_nulls(root: Relation) -> Relation:
    """Return the tree with NULL for every strict call of a constant NULL.

    The same tree where there is none.
    """
    is_null: dict[int, bool] = {}
    for relation in all_relations(root):
        if any(map(_is_one_row, inputs(relation))):
            # PostgreSQL puts the values of a single row in first, so that their failures remain.
            continue
        for item in children(relation):
            if not isinstance(item, Literal):
                _note(item, is_null)
    if not any(is_null.values()):
        return root

    def folded(node: Expression) -> Expression | None:
        return Literal(None, node.type) if isinstance(node, Call | Cast) and is_null.get(id(node)) else None

    return map_relation(root, folded)


def _is_one_row(relation: Relation) -> bool:
    while isinstance(relation, Project):
        relation = relation.input
    return isinstance(relation, Values) and len(relation.rows) == 1 and bool(relation.schema)


def _note(expression: Expression, is_null: dict[int, bool]) -> None:
    """Note by their ids which calls in an expression are NULL for sure."""
    for node in reversed(list(walk(expression))):
        match node:
            case Call() if is_strict(node.function):
                is_null[id(node)] = any(_is_null(part, is_null) for part in children(node))
            case Cast():
                is_null[id(node)] = _is_null(node.operand, is_null)


def _is_null(node: Expression, is_null: dict[int, bool]) -> bool:
    return node.value is None if isinstance(node, Literal) else is_null.get(id(node), False)
