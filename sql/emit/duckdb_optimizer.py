"""Faults of DuckDB 2.0's optimizer, and the forms in which it leaves an expression as it is.

- Its statistics know the texts of `CASE WHEN a = 3 THEN 'e' END`. Where they show that the CASE is
  always NULL, or that a test of it is never false, the test is replaced by one that holds for other
  rows (`a IS NOT NULL`), or the statement ends with an error ("BindBuiltinScalarFunction did not
  return a BoundFunctionExpression"). The statistics don't see into a row.
- It compares the conditions of an AND, and those of an OR of ANDs, in pairs, and nothing ends that:
  5,000 rows in an IN took 99 seconds.
- It makes a BETWEEN of two bounds on one value, also for arrays and structures, which have no
  BETWEEN. It does not look into a COALESCE.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.functions.comparisons import TURNED
from sql.tree.expressions import Call, Column, Expression, OuterColumn
from sql.tree.walks import walk
from sql.types.datatypes import SqlType

# Types whose values have such statistics.
WITH_STATISTICS = frozenset({"VARCHAR", "BLOB"})
# The largest number of conditions beside each other.
CONDITIONS_MAX = 64


def chosen_value(text: str, kind: SqlType) -> str:
    """Return the value of a CASE, a COALESCE or the like in a form whose possible values DuckDB
    does not see.
    """
    return f"struct_extract(row({text}), 1)" if kind.row.duckdb in WITH_STATISTICS else text


def conjunct(text: str, node: Expression, columns: Sequence[str]) -> str:
    """Return a condition that is true where `text` is.

    columns: the texts of the columns that `node` reads, by index. A condition that joins FROM
    items, or a subquery with the row outside, stays as it is, or the join would not be found.
    """
    nodes = list(walk(node))
    if not any(isinstance(part, Call) and _is_composite_bound(part) for part in nodes):
        return text
    items = {columns[part.index].partition(".")[0] for part in nodes if isinstance(part, Column)}
    joins = len(items) > 1 or (items and any(isinstance(part, OuterColumn) for part in nodes))
    return text if joins else f"COALESCE({text}, FALSE)"


def few_conditions(texts: Sequence[str], word: str) -> Sequence[str]:
    """Return at most `CONDITIONS_MAX` conditions that together mean the same for every row.

    word: ' AND ' or ' OR '.
    """
    while len(texts) > CONDITIONS_MAX:
        pieces = (texts[at : at + CONDITIONS_MAX] for at in range(0, len(texts), CONDITIONS_MAX))
        texts = [f"COALESCE({word.join(piece)}, NULL)" for piece in pieces]
    return texts


def _is_composite_bound(node: Call) -> bool:
    """True for an ordering of values that DuckDB has as lists or structures."""
    kinds = (argument.type for argument in node.arguments)
    return node.function in TURNED and any(
        kind.is_array or kind.is_record or kind.is_variable_numeric or kind.family in ("interval", "timetz")
        for kind in kinds
    )
