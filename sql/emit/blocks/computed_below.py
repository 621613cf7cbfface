"""Keys of windows, and what ordered aggregates take, as columns of the rows below.

DuckDB refuses volatile keys of a window (those which bound the lengths of texts, too), and where a
value is an argument and a sort key it has to be one value. Enters and leaves: bound operators.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from sql.emit.blocks.set_operations import every_column
from sql.functions.volatility import is_constant, is_volatile
from sql.tree.expressions import AggregateCall, Case, Column, Expression, Literal, SortKey, WindowCall
from sql.tree.relations import Aggregate, Project, Relation, Window


class _Below:
    """The rows below an operator, and the columns that are added to them."""

    def __init__(self, rows: Relation) -> None:
        self._rows = rows
        self._added: dict[Expression, Column] = {}

    def column(self, node: Expression) -> Expression:
        """Return an expression as a column; constants stay."""
        if isinstance(node, Column) or is_constant(node, True):
            return node
        return self._added.setdefault(node, Column(len(self._rows.schema) + len(self._added), "", node.type))

    def keys(self, keys: Iterable[SortKey]) -> tuple[SortKey, ...]:
        """Return sort keys as columns."""
        return tuple(replace(key, expression=self.column(key.expression)) for key in keys)

    def relation(self) -> Relation:
        """Return the rows with the columns that were asked for."""
        added = ((f"?below {number}?", node) for number, node in enumerate(self._added))
        return Project(self._rows, (*every_column(self._rows.schema), *added)) if self._added else self._rows


def keys_below(node: Window) -> tuple[Relation, Window]:
    """Return the rows of a window with its keys, and the window whose keys are their columns."""
    below = _Below(node.input)

    def over_columns(call: WindowCall) -> WindowCall:
        return replace(
            call, partition_by=tuple(map(below.column, call.partition_by)), order_by=below.keys(call.order_by)
        )

    calls = tuple((name, over_columns(call)) for name, call in node.calls)
    return below.relation(), replace(node, calls=calls)


def arguments_below(node: Aggregate) -> Aggregate:
    """Return a grouping over rows that have the arguments and keys of its ordered aggregates."""
    below = _Below(node.input)

    def over_columns(call: AggregateCall) -> AggregateCall:
        taken = (*call.arguments, *(key.expression for key in call.order_by))
        if not call.order_by or not (call.distinct or any(map(is_volatile, taken))):
            return call
        condition = call.filter

        def column(item: Expression) -> Expression:
            if condition is None or isinstance(item, Column) or is_constant(item, True) or is_volatile(condition):
                return below.column(item)
            # What may fail is not computed for rows that the filter leaves out.
            return below.column(Case(((condition, item),), Literal(None, item.type), item.type))

        keys = tuple(replace(key, expression=column(key.expression)) for key in call.order_by)
        kept = None if condition is None else below.column(condition)
        return replace(call, arguments=tuple(map(column, call.arguments)), order_by=keys, filter=kept)

    calls = tuple((name, over_columns(call)) for name, call in node.aggregates)
    return replace(node, input=below.relation(), aggregates=calls)
