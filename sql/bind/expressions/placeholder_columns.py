"""Placeholder columns for aggregates, window calls and set-returning functions while expressions
are bound.

The row that expressions address is the FROM clause's; aggregate j is column FIRST_AGGREGATE + j,
window call k is column FIRST_WINDOW + k and set-returning function m is column FIRST_SET + m, until
`sql.bind.queries.query` knows where their values are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from sql.bind.expressions.correlation import Closure
from sql.errors import SqlError, not_supported
from sql.parse.syntax import FunctionCall
from sql.tree.expressions import AggregateCall, Column, Expression, Literal, WindowCall
from sql.tree.relations import Join, OutputColumn, Relation, TableFunction
from sql.tree.walks import map_expression
from sql.types.datatypes import SqlType

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder

FIRST_AGGREGATE = 1 << 20
FIRST_WINDOW = 1 << 21
FIRST_SET = 1 << 22
MOVE_HINT = "You might be able to move the set-returning function into a LATERAL FROM item."


@dataclass(frozen=True, slots=True)
class SetCall:
    """A bound call of a set-returning function; `type` is that of its values."""

    function: str
    arguments: tuple[Expression, ...]
    type: SqlType
    position: int | None = field(default=None, compare=False)


@dataclass
class PlaceholderColumns:
    """The aggregates, window calls and set-returning functions of one SELECT.

    Equal aggregates and windows are computed once.
    """

    aggregates: list[tuple[str, AggregateCall]] = field(default_factory=list)
    windows: list[tuple[str, WindowCall]] = field(default_factory=list)
    sets: list[tuple[str, SetCall]] = field(default_factory=list)

    def aggregate(self, name: str, call: AggregateCall) -> Column:
        """Return the column that stands for the aggregate."""
        return _column(self.aggregates, FIRST_AGGREGATE, name, call)

    def window(self, name: str, call: WindowCall) -> Column:
        """Return the column that stands for the window call."""
        return _column(self.windows, FIRST_WINDOW, name, call)

    def set_function(self, name: str, call: SetCall) -> Column:
        """Return the column that stands for the function's values."""
        self.sets.append((name, call))
        return Column(FIRST_SET + len(self.sets) - 1, name, call.type, call.position)


Of = TypeVar("Of", AggregateCall, WindowCall)


def _column(calls: list[tuple[str, Of]], first: int, name: str, call: Of) -> Column:
    """Return the column of a call among others, of which equal ones are one."""
    index = next((index for index, (_, known) in enumerate(calls) if known == call), len(calls))
    calls += [(name, call)] * (index == len(calls))
    return Column(first + index, name, call.type, call.position)


def refuse_sets(binder: Binder, known: int, what: str) -> None:
    """Raise when a set-returning function was bound since there were `known` ones: CASE and
    COALESCE may have none.
    """
    if binder.virtual is not None and len(binder.virtual.sets) > known:
        position = binder.virtual.sets[-1][1].position
        raise SqlError("0A000", f"set-returning functions are not allowed in {what}", position, hint=MOVE_HINT)


def refuse_inside(binder: Binder, known: int, node: FunctionCall) -> None:
    """Raise 0A000 when the arguments of a set-returning function have one, beside `known` ones."""
    if binder.sets_count > known:
        raise not_supported("a set-returning function inside another one", node.position)


def add_sets(relation: Relation, binder: Binder, expressions: list[Expression]) -> tuple[Relation, list[Expression]]:
    """Join the relation with its set-returning functions.

    Return the expressions over the joined row.
    """
    virtual = binder.virtual
    if virtual is None or not virtual.sets:
        return relation, expressions
    width = len(relation.schema)
    # The arguments of the functions are evaluated over the row to their left.
    closure = Closure(binder)

    def handed(argument: Expression) -> Expression:
        return argument if isinstance(argument, Literal) else closure.take(argument, "", None)

    calls = tuple((call.function, tuple(handed(item) for item in call.arguments)) for _, call in virtual.sets)
    schema = tuple(OutputColumn(name, call.type) for name, call in virtual.sets)
    rows = TableFunction(calls, False, schema)
    joined = Join(relation, rows, "cross", None, tuple(closure.arguments) or None)

    def value(node: Expression) -> Expression | None:
        if isinstance(node, Column) and node.index >= FIRST_SET:
            return Column(width + node.index - FIRST_SET, node.name, node.type, node.position)
        return None

    return joined, [map_expression(item, value) for item in expressions]
