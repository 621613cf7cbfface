"""A plain-Python model of groupings: groups in the order in which they appear, each aggregate over
the group's rows in order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from sql.tree.expressions import AggregateCall, Expression
from sql.types.datatypes import SqlType
from tests.views.reference import (
    EXACT,
    FLOATS,
    Row,
    SqlFailureError,
    Value,
    digits,
    divide_numeric,
    evaluate,
    in_digits,
    in_range,
    order,
)


def group_key(value: Value) -> Value:
    """Return something that is equal for equal keys."""
    if isinstance(value, float | np.floating):
        return "NaN" if math.isnan(value) else float(value) + 0.0
    return EXACT.normalize(value) + 0 if isinstance(value, Decimal) else value


def aggregate(call: AggregateCall, rows: Sequence[Row], now_us: int = 0) -> Value:
    """Return the result of an aggregate over the rows of a group, in their order."""
    kept = [row for row in rows if call.filter is None or evaluate(call.filter, row, now_us) is True]
    if call.function == "count_star":
        return len(kept)
    (argument,) = call.arguments
    values = [value for row in kept if (value := evaluate(argument, row, now_us)) is not None]
    if call.function == "count":
        return len(values)
    if not values:
        return None
    if call.function in ("bool_and", "bool_or"):
        return all(values) if call.function == "bool_and" else any(values)
    if call.function in ("min", "max"):
        wanted = -1 if call.function == "min" else 1
        best = values[0]
        for value in values[1:]:
            # Of equal ones the later is kept.
            best = best if order(argument.type, best, value) == wanted else value
        return best
    return total(call, argument.type, values)


def total(call: AggregateCall, kind: SqlType, values: list[Value]) -> Value:
    """Return a sum or an average."""
    if kind.family in FLOATS:
        start = np.float32(0) if (kind.family, call.function) == ("float4", "sum") else np.float64(0)
        with np.errstate(all="ignore"):
            result = start
            for value in values:
                result = type(start)(result + type(start)(value))
            if np.isinf(result) and not any(np.isinf(value) for value in values):
                raise SqlFailureError("22003")
            return result if call.function == "sum" else result / len(values)
    exact = add_all(values)
    if call.function == "sum":
        if call.type.family == "int8":
            return in_range(int(exact), "int8")
        return in_digits(exact)
    return divide_numeric(exact, Decimal(len(values)))


def add_all(values: list[Value]) -> Decimal:
    scale = max(digits(Decimal(value)) for value in values)
    result = Decimal(0)
    for value in values:
        result = EXACT.add(result, Decimal(value))
    return result.quantize(Decimal(1).scaleb(-scale), context=EXACT)


def group(
    keys: Sequence[Expression],
    aggregates: Sequence[AggregateCall],
    filters: Sequence[Expression],
    rows: Sequence[Row],
    skip_errors: bool = False,
) -> list[tuple[Value, ...]]:
    """Return the rows of a grouping: keys as first seen, then aggregates. The first bad row fails,
    or is left out.
    """
    groups: dict[tuple[Value, ...], tuple[tuple[Value, ...], list[Row]]] = {}
    if not keys:
        groups[()] = ((), [])
    for row in rows:
        try:
            if not all(evaluate(condition, row) is True for condition in filters):
                continue
            shown = tuple(evaluate(key, row) for key in keys)
            for call in aggregates:
                if call.filter is None or evaluate(call.filter, row) is True:
                    for argument in call.arguments:
                        evaluate(argument, row)
        except SqlFailureError:
            if skip_errors:
                continue
            raise
        groups.setdefault(tuple(group_key(key) for key in shown), (shown, []))[1].append(row)
    return [(*shown, *(aggregate(call, members) for call in aggregates)) for shown, members in groups.values()]
