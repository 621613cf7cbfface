"""Subqueries inside expressions: EXISTS, IN, ANY, ALL, a single value, an array.

The texts of a subquery's arguments are references to FROM items around it, whose aliases are unique
in the statement: an engine reads them as correlated columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sql.emit.blocks.block import Block
from sql.emit.expressions import ExpressionPrinter
from sql.emit.names import column_names
from sql.emit.single_rows import is_single_row
from sql.errors import not_supported
from sql.functions.comparisons import COMPARISONS, EQUAL, NEGATED, UNEQUAL
from sql.tree.expressions import Call, OuterColumn, Subquery
from sql.tree.relations import Relation
from sql.tree.walks import all_relations, children, walk
from sql.types.datatypes import SqlType, scaled_numeric

if TYPE_CHECKING:
    from sql.emit.blocks.select import SelectPrinter

# The functions that are no call in DuckDB's plan.
PLAIN = frozenset({*COMPARISONS, "and", "or", "not", "is_null", "is_not_null"})


def subquery_text(select: SelectPrinter, printer: ExpressionPrinter, node: Subquery) -> str:
    """Return the value of a subquery; `printer` prints the expressions around it."""
    if select.dialect.is_limited:
        refuse_deep(node)
    inner = select.inside(tuple(printer.text(argument) for argument in node.arguments))
    if node.kind in ("any", "all"):
        return _compared(inner, printer, node)
    text = f"\n{inner.statement(node.relation)}\n"
    match node.kind:
        case "exists":
            return f"EXISTS ({text})"
        case "array":
            return select.dialect.array_query(text)
    assert node.kind == "scalar", node.kind
    if printer.guarded and not is_single_row(node.relation):
        column = select.dialect.identifier(column_names(node.relation.schema)[0])
        return select.dialect.checked_scalar(text, column)
    return f"({text})"


def _compared(inner: SelectPrinter, printer: ExpressionPrinter, node: Subquery) -> str:
    """Return a comparison with ANY or ALL: ALL is true where no row contradicts."""
    comparison = node.comparison if node.kind == "any" else NEGATED[node.comparison]
    targets = [
        common_form(operand.type, column.type)
        for operand, column in zip(node.operands, node.relation.schema, strict=True)
    ]
    operands = [
        printer.comparable_text(printer.fit(operand, target), target)
        for operand, target in zip(node.operands, targets, strict=True)
    ]
    query = inner.render(keyed(inner, fitted(inner, inner.block(node.relation), targets), targets))
    left = operands[0] if len(operands) == 1 else f"({', '.join(operands)})"
    text = f"\n{query}\n"
    is_pair = len(operands) > 1 and comparison in (EQUAL, UNEQUAL)
    if not inner.dialect.is_limited and node.arguments and (is_pair or not _is_plain(node.relation)):
        found = _correlated_rows(inner, node, operands, comparison, text)
    else:
        found = inner.dialect.any_query(left, comparison, text)
    if inner.dialect.is_limited and not printer.is_condition:
        found = _with_unknown(inner, node, left, found, text)
    return found if node.kind == "any" else f"(NOT {found})"


def _is_plain(relation: Relation) -> bool:
    """Tell whether nothing is computed for a subquery but comparisons."""
    nodes = (node for one in all_relations(relation) for root in children(one) for node in walk(root))
    return all(not isinstance(node, Call) or node.function in PLAIN for node in nodes)


def _correlated_rows(inner: SelectPrinter, node: Subquery, operands: Sequence[str], comparison: str, query: str) -> str:
    """Return a comparison with rows that depend on the row outside.

    DuckDB's IN does not know rows of several columns, and is NULL where it should be false if a
    function in the query is volatile, as those are which bound the lengths of texts.
    """
    columns = [f"q.{inner.dialect.identifier(name)}" for name in column_names(node.relation.schema)]
    symbol = COMPARISONS[EQUAL if comparison == UNEQUAL else comparison]
    meets = " AND ".join(f"{left} {symbol} {right}" for left, right in zip(operands, columns, strict=True))
    meets = f"(NOT ({meets}))" if comparison == UNEQUAL else f"({meets})"
    known = f"CASE WHEN bool_or({meets}) THEN TRUE WHEN bool_or({meets} IS NULL) THEN NULL ELSE FALSE END"
    return f"(SELECT {known} FROM ({query}) AS q)"


def _with_unknown(inner: SelectPrinter, node: Subquery, left: str, found: str, query: str) -> str:
    """Return IN as a value: unknown where only a NULL keeps it from being false."""
    if len(node.operands) > 1:
        raise not_supported("IN of several columns as a value in the upper part of a continuous view", node.position)
    column = inner.dialect.identifier(column_names(node.relation.schema)[0])
    unknown = f"EXISTS (SELECT 1 FROM ({query}) AS q WHERE q.{column} IS NULL OR {left} IS NULL)"
    return f"CASE WHEN {found} THEN TRUE WHEN {unknown} THEN NULL ELSE FALSE END"


def refuse_deep(node: Subquery) -> None:
    """Raise 0A000 for a subquery that reads columns of more than the SELECT around it."""
    if any(isinstance(part, OuterColumn) for argument in node.arguments for part in walk(argument)):
        raise not_supported(
            "a subquery that reads beyond the next one in the upper part of a continuous view", node.position
        )


def common_form(one: SqlType, other: SqlType) -> SqlType:
    """Return the type in whose physical form two values of one family compare."""
    if one.family != "numeric" or other.family != "numeric":
        return other
    if one.display_scale is None or other.display_scale is None:
        return scaled_numeric(None)
    return scaled_numeric(max(one.display_scale, other.display_scale))


def fitted(select: SelectPrinter, block: Block, targets: list[SqlType]) -> Block:
    """Return `block` with its columns in the physical forms of `targets`."""
    kinds = [column.type for column in block.schema]
    if all(
        kind.family != "numeric" or kind.display_scale == target.display_scale
        for kind, target in zip(kinds, targets, strict=True)
    ):
        return block
    wrapped = select.wrap(block)
    printer = select.printer(())
    texts = tuple(
        printer.fit_text(text, kind, target) for text, kind, target in zip(wrapped.columns, kinds, targets, strict=True)
    )
    return select.retyped(wrapped, texts, targets)


def keyed(select: SelectPrinter, block: Block, targets: list[SqlType]) -> Block:
    """Return `block` with its columns as the keys that compare them."""
    if not any(target.has_own_order for target in targets):
        return block
    wrapped = select.wrap(block)
    printer = select.printer(())
    texts = tuple(printer.comparable_text(text, kind) for text, kind in zip(wrapped.columns, targets, strict=True))
    return select.retyped(wrapped, texts, targets)
