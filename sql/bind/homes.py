"""Which query an aggregate belongs to: the nearest one whose columns its arguments read, which may be one further out.

Enters: a bound aggregate over the row where it is written. Leaves: the column that stands for it there, passed in through the closures
in between when it is computed outside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sql.bind.closures import Closure, Mark, nearest_closure, pass_in, reads_outside, reads_row
from sql.bind.virtual import AGGREGATES, WINDOWS
from sql.errors import SqlError
from sql.parse.syntax import FunctionCall
from sql.tree.expressions import AggregateCall, Expression
from sql.tree.walks import aggregate_expressions, columns_of, map_aggregate
from sql.types.datatypes import INT4

if TYPE_CHECKING:
    from sql.bind.expressions import Binder

GROUPING_ARGUMENTS_MAX = 31


def at_home(binder: Binder, label: str, call: AggregateCall, mark: Mark) -> Expression:
    """Return the column that stands for an aggregate in the query that it belongs to: the nearest one whose columns it reads.

    mark: what the closures around had taken before the arguments were bound.
    """
    closures: list[Closure] = []
    home = binder
    while True:
        parts = aggregate_expressions(call)
        closure = nearest_closure(home.scope.outer)
        if closure is None or reads_row(parts) or not reads_outside(parts):
            break
        call = map_aggregate(call, closure.outside)
        closures.append(closure)
        home = closure.binder
    check_place(home, call)
    mark.release(len(closures))
    assert home.virtual is not None, "checked with the place"
    column = home.virtual.aggregate(label, call)
    return pass_in(column, tuple(closures), label, call.position)


def check_place(home: Binder, call: AggregateCall) -> None:
    """Raise 42803 where an aggregate of this query may not stand."""
    for part in aggregate_expressions(call):
        for column in columns_of(part):
            if AGGREGATES <= column.index < WINDOWS:
                raise SqlError("42803", "aggregate function calls cannot be nested", column.position)
    if home.inside_aggregate:
        raise SqlError("42803", "aggregate function calls cannot be nested", call.position)
    if not home.aggregates_allowed or home.virtual is None:
        what = "aggregate functions" if call.function != "grouping" else "grouping operations"
        raise SqlError("42803", f"{what} are not allowed in {home.clause}", call.position)


def grouping_call(binder: Binder, node: FunctionCall) -> Expression:
    """Return the column that stands for GROUPING(...)."""
    if len(node.arguments) > GROUPING_ARGUMENTS_MAX:
        raise SqlError("54023", "GROUPING must have fewer than 32 arguments", node.position)
    mark = Mark.of(binder.scope.outer)
    arguments = tuple(binder.bind(item) for item in node.arguments)
    call = AggregateCall("grouping", arguments, INT4, position=node.position, text=node.text)
    return at_home(binder, "grouping", call, mark)
