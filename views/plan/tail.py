"""The work of our kernels on the rows that Spark returns: exact quotients of decimals.

Enters: the operators above the groups, bottom first. Leaves: the operators that stay in Spark, and
the tail step, if there is one. An average that Spark's last breaker would compute becomes a sum and
a count there and their quotient in the tail. An average below another breaker can't wait for the
tail: it stays in Spark.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.tree.expressions import AggregateCall, Column, Expression, Literal, Parameter, WindowCall
from sql.tree.relations import Aggregate, Relation, Schema, Values, Window
from sql.types.datatypes import INT8
from views.codegen.support import kernel_supports
from views.model.exact_sums import EXACT_FAMILIES, quotient, sum_type
from views.model.nodes import FinishStep
from views.model.steps import breaker_free_count, compose, stack
from views.model.trees import expressions, parts, uses_now, walk


def cut_tail(leaf: Schema, path: Sequence[Relation]) -> tuple[list[Relation], FinishStep | None]:
    """Return the operators that Spark runs, and the step on the rows that it returns, or None."""
    free = breaker_free_count(path[::-1])
    core, top = list(path[: len(path) - free]), list(path[len(path) - free :])
    if not core:
        return top, None
    breaker, values = _without_averages(stack(Values((), leaf), core))
    averaged = breaker is not None
    above = [part for operator in top for part in expressions(operator)]
    if any(uses_now(part) for part in above) or not (averaged or any(_is_exact_work(part) for part in above)):
        return list(path), None
    if breaker is not None:
        core[-1] = breaker
    schema = stack(Values((), leaf), core).schema
    step = compose(schema, top, values)
    if not all(kernel_supports(part, schema) for part in (*step.predicates, *(item for _, item in step.items))):
        return list(path), None
    return core, step


def _is_exact_work(expression: Expression) -> bool:
    """Return whether an expression computes with numerics of a scale that varies, as quotients
    do.
    """
    for part in walk(expression):
        if isinstance(part, Column | Literal | Parameter):
            continue
        if part.type.is_variable_numeric or any(operand.type.is_variable_numeric for operand in parts(part)):
            return True
    return False


def _without_averages(breaker: Relation) -> tuple[Relation | None, list[tuple[str, Expression]] | None]:
    """Return the breaker with sums and counts for its exact averages, and its old columns over the
    new ones.
    """
    if isinstance(breaker, Aggregate):
        calls: Sequence[tuple[str, AggregateCall | WindowCall]] = breaker.aggregates
        below: Schema = breaker.schema[: len(breaker.keys)]
    elif isinstance(breaker, Window):
        calls = breaker.calls
        below = breaker.input.schema
    else:
        return None, None
    if not any(_is_exact_average(call) for _, call in calls):
        return None, None
    values: list[tuple[str, Expression]] = [
        (column.name, Column(index, column.name, column.type)) for index, column in enumerate(below)
    ]
    new: list[tuple[str, AggregateCall | WindowCall]] = []
    for name, call in calls:
        index = len(below) + len(new)
        if not _is_exact_average(call):
            new.append((name, call))
            values.append((name, Column(index, name, call.type)))
            continue
        total = replace(call, function="sum", type=sum_type(call.arguments[0].type))
        count = replace(call, function="count", type=INT8)
        new += [(f"{name}_sum", total), (f"{name}_count", count)]
        values.append(
            (
                name,
                quotient(Column(index, f"{name}_sum", total.type), Column(index + 1, f"{name}_count", INT8), call.type),
            )
        )
    if isinstance(breaker, Aggregate):
        return replace(
            breaker, aggregates=tuple((name, call) for name, call in new if isinstance(call, AggregateCall))
        ), values
    return replace(breaker, calls=tuple((name, call) for name, call in new if isinstance(call, WindowCall))), values


def _is_exact_average(call: AggregateCall | WindowCall) -> bool:
    return call.function == "avg" and call.arguments[0].type.family in EXACT_FAMILIES
