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
    return f"real_{call.function}" if call.type.family == "float4" else call.function


def duckdb_added_text(aggregate: AggregateText) -> str:
    """Return the call that adds a group's floats in the order of its rows, or of its own ORDER
    BY.
    """
    if aggregate.word:
        changed = aggregate.printer.mapped(duckdb_one_of_each(aggregate), lambda item: f"CAST({item} AS DOUBLE)")
        lists = [changed]
    else:
        lists = [aggregate.wrap(f"list(CAST({text} AS DOUBLE){aggregate.ordered()})") for text in aggregate.texts]
    name = aggregate.printer.quoted(added_name(aggregate.call))
    return f"float8_aggregate({lists[0]}, {lists[-1]}, {name}, {RUN})"


def duckdb_one_of_each(aggregate: AggregateText) -> str:
    """Return the list of a group's values in their order, one of those that are equal."""
    pairs = aggregate.wrap(f"list(DISTINCT {{'key': {aggregate.compared}, 'value': {aggregate.texts[0]}}})")
    # In HAVING, DuckDB takes pair.value for a column of a table.
    key, value, before = (
        f"struct_extract({pair}, '{part}')"
        for pair, part in (("pair", "key"), ("pair", "value"), ("pairs[place - 1]", "key"))
    )
    # DISTINCT is ordered by its argument alone.
    sort = "list_reverse_sort" if any(one.descending for one in aggregate.keys[:1]) else "list_sort"
    known = f"list_filter({sort}({pairs}), lambda pair: {value} IS NOT NULL)"
    first = f"list_filter(pairs, lambda pair, place: place = 1 OR {key} IS DISTINCT FROM {before})"
    return f"list_transform([{known}], lambda pairs: list_transform({first}, lambda pair: {value}))[1]"
