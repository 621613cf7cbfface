"""Aggregates of floats as calls of a function of ours, which adds them in the order of the rows, by
PostgreSQL's steps.
"""

from __future__ import annotations

from sql.functions.aggregate_rows import AggregateText
from sql.functions.arguments import RUN
from sql.tree.expressions import AggregateCall, WindowCall


def added_name(call: AggregateCall | WindowCall) -> str:
    """Return the name under which `float8_aggregate` and `float8_window` know an aggregate that
    adds floats.
    """
    return "real_sum" if call.function == "sum" and call.type.family == "float4" else call.function


def duckdb_added_text(aggregate: AggregateText) -> str:
    """Return the call that adds a group's floats in the order of its rows, or of its own ORDER
    BY.
    """
    lists = [aggregate.wrap(f"list(CAST({text} AS DOUBLE){aggregate.ordered()})") for text in aggregate.texts]
    name = aggregate.printer.quoted(added_name(aggregate.call))
    return f"float8_aggregate({lists[0]}, {lists[-1]}, {name}, {RUN})"
