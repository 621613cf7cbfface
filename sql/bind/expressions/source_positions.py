"""The place where an expression begins: PostgreSQL points errors about its type there (an
operator's own place is elsewhere).
"""

from __future__ import annotations

from sql.parse.syntax import (
    ArrayComparison,
    Between,
    Collation,
    Constant,
    Distinctness,
    FieldSelection,
    InList,
    Like,
    Logic,
    Operation,
    Subquery,
    Subscript,
    Test,
    TypeCast,
)
from sql.parse.syntax import Expression as Syntax


def start_of(node: Syntax) -> int:
    """Return the place where an expression begins, which for an operator is its left operand."""
    match node:
        case Operation() if len(node.operands) == 2:
            return min(node.position, start_of(node.operands[0]))
        case Logic() if len(node.operands) > 1:
            return min(node.position, start_of(node.operands[0]))
        case Collation() | Test() | Between() | InList() | Like():
            return min(node.position, start_of(node.operand))
        case Subquery() if node.operand is not None:
            return min(node.position, start_of(node.operand))
        case ArrayComparison() | Subscript() | FieldSelection():
            return min(node.position, start_of(node.operand))
        case Distinctness():
            return min(node.position, start_of(node.left))
        case TypeCast():
            # A typed literal is where its text is, whatever type stands before it.
            literal = isinstance(node.operand, Constant) and node.operand.kind == "string"
            return node.operand.position if literal else min(node.position, start_of(node.operand))
    return node.position
