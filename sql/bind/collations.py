"""The rules of COLLATE clauses: their operands have an order of texts, and one collation.

All collations that there are mean the order of bytes, so that nothing else comes of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.errors import SqlError
from sql.parse.syntax import (
    ArrayItems,
    Between,
    CaseWhen,
    Collation,
    Distinctness,
    Expression,
    FunctionCall,
    InList,
    Like,
    Operation,
)

COLLATABLE = frozenset({"text", "varchar", "bpchar", "name", "unknown"})
# How many operands of a chain of || are looked at for a COLLATE clause.
JOINED_LOOKED_AT = 8


def require_text(family: str, shown: str, clause: Collation) -> None:
    """Raise 42804 where a type has no collations. family: the type's, or that of an array's
    elements; shown: the type as people write it.
    """
    if family not in COLLATABLE:
        raise SqlError("42804", f"collations are not supported by type {shown}", clause.position)


def require_one_collation(node: Expression) -> None:
    """Raise 42P21 where the COLLATE clauses of a node's operands name different collations."""
    match node:
        case Operation():
            _require_one(node.operands)
        case FunctionCall():
            _require_one(node.arguments)
        case Distinctness():
            _require_one((node.left, node.right))
        case Between():
            _require_one((node.operand, node.low))
            _require_one((node.operand, node.high))
        case InList():
            _require_one((node.operand, *node.items))
        case Like():
            _require_one((node.operand, node.pattern))
        case CaseWhen():
            results = [result for _, result in node.branches]
            _require_one(results if node.default is None else [*results, node.default])
        case ArrayItems():
            _require_one(node.items)


def _require_one(operands: Sequence[Expression]) -> None:
    named = [clause for clause in map(_collation_of, operands) if clause is not None]
    for clause in named[1:]:
        if clause.name != named[0].name:
            names = f'"{named[0].name}" and "{clause.name}"'
            raise SqlError("42P21", f"collation mismatch between explicit collations {names}", clause.position)


def _collation_of(node: Expression) -> Collation | None:
    """Return the COLLATE clause by which the value of an expression is compared: its own, or one of
    the last operands of ||.
    """
    for _ in range(JOINED_LOOKED_AT):
        if not isinstance(node, Operation) or node.operator != "||" or len(node.operands) != 2:
            break
        left, right = node.operands
        if isinstance(right, Collation):
            return right
        node = left
    return node if isinstance(node, Collation) else None
