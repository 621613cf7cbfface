"""Scalar expressions of the first breaker above the groups move into the finish step, so that Spark
sees plain columns.

Enters: the finish step and the operators above it, bottom first; the first is a breaker. Leaves:
both, changed. An argument with a FILTER keeps its guard: it becomes CASE WHEN filter THEN argument
END, so that nothing is computed for a row that the filter drops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.functions.table import AGGREGATE_ROWS
from sql.tree.expressions import AggregateCall, Case, Column, Expression, Literal, WindowCall
from sql.tree.relations import Aggregate, Limit, Project, Relation, Schema, Sort, Values, Window
from sql.types.datatypes import BOOL
from views.codegen.support import kernel_supports
from views.model.nodes import FinishStep
from views.model.steps import make_step, unique_names
from views.model.trees import columns_of, meaning, rewrite, substitute

COUNT_STAR = "count_star"
SKIP_NULLS = frozenset(name for name, row in AGGREGATE_ROWS.items() if row.states and not row.ordered)


class Columns:
    """The items of the finish step as they grow; each value is computed once."""

    def __init__(self, finish: FinishStep, kept: Sequence[tuple[str, Expression]]) -> None:
        self.schema = finish.input
        self.below = [item for _, item in finish.items]
        self.items = list(kept)
        self.places: dict[Expression, int] = {}
        for index, (_, item) in enumerate(self.items):
            self.places.setdefault(meaning(item), index)

    def place(self, expression: Expression, name: str) -> Expression:
        """Return the column that holds `expression`, which is over the old output of the finish
        step.

        A constant stays as it is, and an expression that no kernel can evaluate stays one over the
        columns that it reads.
        """
        if not columns_of(expression):
            return expression
        value = substitute(expression, self.below)
        if not isinstance(expression, Column) and not kernel_supports(value, self.schema):
            return rewrite(expression, lambda part: self.place(part, part.name) if isinstance(part, Column) else None)
        key = meaning(value)
        if key not in self.places:
            self.places[key] = len(self.items)
            wanted = value.name if isinstance(value, Column) else name
            unique = unique_names([*(taken for taken, _ in self.items), wanted])[-1]
            self.items.append((unique, value))
        index = self.places[key]
        return Column(index, self.items[index][0], value.type)


def push_above_spark(finish: FinishStep, path: Sequence[Relation]) -> tuple[FinishStep, list[Relation]]:
    """Return the finish step with other columns, and the operators above it over those columns."""
    breaker = path[0]
    if isinstance(breaker, Aggregate):
        return _below_aggregate(finish, breaker, path[1:])
    if isinstance(breaker, Window):
        return _below_window(finish, breaker, path[1:])
    if isinstance(breaker, Sort):
        return _below_sort(finish, breaker, path[1:])
    return finish, list(path)


def _below_aggregate(
    finish: FinishStep, grouping: Aggregate, above: Sequence[Relation]
) -> tuple[FinishStep, list[Relation]]:
    columns = Columns(finish, ())
    names = unique_names([column.name for column in grouping.schema])
    keys = tuple((name, columns.place(key, name)) for name, (_, key) in zip(names, grouping.keys, strict=False))
    calls = zip(names[len(keys) :], grouping.aggregates, strict=True)
    aggregates = tuple((name, _plain_aggregate(call, columns, name)) for name, (_, call) in calls)
    # A table without columns would not know how many rows it has.
    items = columns.items or [finish.items[0]]
    step = make_step(finish.input, finish.predicates, items)
    return step, [replace(grouping, keys=keys, aggregates=aggregates), *above]


def _plain_aggregate(call: AggregateCall, columns: Columns, name: str) -> AggregateCall:
    function, arguments, condition = guarded(call)
    return replace(
        call,
        function=function,
        arguments=tuple(columns.place(part, name) for part in arguments),
        filter=None if condition is None else columns.place(condition, name),
        order_by=tuple(replace(key, expression=columns.place(key.expression, name)) for key in call.order_by),
    )


def guarded(call: AggregateCall | WindowCall) -> tuple[str, tuple[Expression, ...], Expression | None]:
    """Return function, arguments and filter of an aggregate, with the filter around the argument.

    The filter moves if the aggregate skips NULLs.
    """
    if call.filter is None or call.function not in SKIP_NULLS:
        return call.function, call.arguments, call.filter
    if call.function == COUNT_STAR:
        return "count", (Case(((call.filter, Literal(True, BOOL)),), Literal(None, BOOL), BOOL),), None
    values = (Case(((call.filter, part),), Literal(None, part.type), part.type) for part in call.arguments)
    return call.function, tuple(values), None


def _below_window(finish: FinishStep, window: Window, above: Sequence[Relation]) -> tuple[FinishStep, list[Relation]]:
    columns = Columns(finish, finish.items)
    calls = []
    for name, call in window.calls:
        function, arguments, condition = guarded(call)
        calls.append(
            (
                name,
                replace(
                    call,
                    function=function,
                    arguments=tuple(columns.place(part, name) for part in arguments),
                    partition_by=tuple(columns.place(part, name) for part in call.partition_by),
                    order_by=tuple(
                        replace(key, expression=columns.place(key.expression, name)) for key in call.order_by
                    ),
                    filter=None if condition is None else columns.place(condition, name),
                ),
            )
        )
    wider = make_step(finish.input, finish.predicates, columns.items)
    operators: list[Relation] = [replace(window, calls=tuple(calls))]
    added = len(columns.items) - len(finish.items)
    if added:
        kept = [*range(len(finish.items)), *range(len(columns.items), len(columns.items) + len(calls))]
        schema = (*wider.output, *window.schema[len(finish.items) :])
        operators.append(_project(schema, kept))
    return wider, [*operators, *above]


def _below_sort(finish: FinishStep, sort: Sort, above: Sequence[Relation]) -> tuple[FinishStep, list[Relation]]:
    columns = Columns(finish, finish.items)
    keys = tuple(replace(key, expression=columns.place(key.expression, "key")) for key in sort.keys)
    wider = make_step(finish.input, finish.predicates, columns.items)
    # The LIMIT stays directly on its ORDER BY; the columns that only the order needs go above both.
    limits = [operator for operator in above[:1] if isinstance(operator, Limit)]
    operators: list[Relation] = [replace(sort, keys=keys), *limits]
    if len(columns.items) > len(finish.items):
        operators.append(_project(wider.output, range(len(finish.items))))
    return wider, [*operators, *above[len(limits) :]]


def _project(schema: Schema, kept: Sequence[int]) -> Project:
    """Return a projection to some columns; its input is set when the operators are stacked."""
    items = tuple((schema[index].name, Column(index, schema[index].name, schema[index].type)) for index in kept)
    return Project(Values((), schema), items)
