"""Conditions that DuckDB's optimizer gets wrong where it sees what they are made of, and how they are hidden from it.

Its statistics take a test of a conditional text, `CASE WHEN a = 3 THEN 'e' END LIKE 'e%'`, for "true or NULL", and put `a IS NOT NULL` in
its place, though `a` is not what makes it NULL. Two bounds on an array or a structure, as most numerics are, become a BETWEEN that it has
not got for these types. Neither happens inside `COALESCE(condition, FALSE)`, which is true for the same rows.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sql.datatypes import SqlType
from sql.emit.expressions import TEXT_FAMILIES
from sql.expressions import Call, Cast, Column, Expression, Literal, OuterColumn, Parameter
from sql.trees import walk

BOUNDS = frozenset({"lt", "le", "gt", "ge"})
# The families whose values DuckDB has as texts or bytes, alone or inside a list.
TEXT_LIKE = TEXT_FAMILIES | {"bpchar", "uuid", "bytea", "json", "jsonb", "inet", "cidr", "char", "void"}


def needs_hiding(conjunct: Expression, columns: Sequence[str], stored: Collection[str]) -> bool:
    """True if a conjunct's text must stand in `hidden`; what joins FROM items, or a subquery with the row outside, is left to be seen.

    columns: the texts of the columns it reads, by index. stored: those of them that are columns of tables.
    """
    nodes = list(walk(conjunct))
    items = {columns[node.index].partition(".")[0] for node in nodes if isinstance(node, Column)}
    if len(items) > 1 or (items and any(isinstance(node, OuterColumn) for node in nodes)):
        return False
    return any(_bounds_composite(node) or _computes_text(node, columns, stored) for node in nodes)


def hidden(text: str) -> str:
    """Return a condition that is true where `text` is, and whose parts DuckDB does not look at."""
    return f"COALESCE({text}, FALSE)"


def _bounds_composite(node: Expression) -> bool:
    return (
        isinstance(node, Call) and node.function in BOUNDS and any(_is_composite(item.type) for item in node.arguments)
    )


def _is_composite(kind: SqlType) -> bool:
    """True for what DuckDB has as a list or a structure."""
    return kind.is_array or kind.is_record or kind.is_variable_numeric or kind.family in ("interval", "timetz")


def _computes_text(node: Expression, columns: Sequence[str], stored: Collection[str]) -> bool:
    """True for a value with texts in it that is not simply what a table's row or the query says."""
    if not (node.type.is_array or node.type.is_record) and node.type.family not in TEXT_LIKE:
        return False
    match node:
        case Literal() | Parameter():
            return False
        case Column():
            return columns[node.index] not in stored
        case Cast():
            # Its operand is looked at by itself.
            return node.operand.type.family not in TEXT_LIKE
    return True
