"""Aggregates of floats as calls of a function of ours, which adds them in the order of the rows, by
PostgreSQL's steps.
"""

from __future__ import annotations

from sql.functions.aggregate_rows import AggregateText
from sql.functions.arguments import RUN
from sql.tree.expressions import AggregateCall, SortKey, WindowCall


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


def spark_added_text(aggregate: AggregateText) -> str:
    """Return the call that adds a group's or a frame's floats in the order of the rows, or of its
    own ORDER BY.

    NULLs are left out of lists.
    """
    texts, keys = aggregate.texts, aggregate.keys
    fields = [f"CAST({text} AS DOUBLE)" for text in (texts[0], texts[-1])]
    fields += [aggregate.printer.comparable(key.expression) for key in keys]
    known = " AND ".join(f"{text} IS NOT NULL" for text in texts)
    named = ", ".join(f"'f{index}', {text}" for index, text in enumerate(fields))
    rows = aggregate.wrap(f"collect_list(CASE WHEN {known} THEN named_struct({named}) END)")
    if keys:
        rows = (
            f"array_sort({rows}, (l, r) -> CASE {' '.join(map(_compared, keys, range(2, 2 + len(keys))))} ELSE 0 END)"
        )
    ys, xs = (f"transform({rows}, item -> item.f{index})" for index in (0, 1))
    return f"float8_aggregate({ys}, {xs}, {aggregate.printer.quoted(added_name(aggregate.call))})"


def _compared(key: SortKey, place: int) -> str:
    """Return the conditions of a CASE by which a key tells which of the rows l and r comes
    first.
    """
    left, right = f"l.f{place}", f"r.f{place}"
    first, last = ("-1", "1") if key.nulls_first else ("1", "-1")
    less, more = ("1", "-1") if key.descending else ("-1", "1")
    return (
        f"WHEN {left} IS NULL AND {right} IS NOT NULL THEN {first} WHEN {left} IS NOT NULL AND {right} IS NULL THEN {last}"
        f" WHEN {left} < {right} THEN {less} WHEN {left} > {right} THEN {more}"
    )
