"""The aggregates of Spark whose order matters."""

from __future__ import annotations

from collections.abc import Mapping

from sql.emit.rules.aggregate import (
    AGGREGATE_RULES,
    AggregateRule,
    AggregateText,
    added_in_order,
    added_name,
    deviation,
    separator_of,
    sort_key,
)
from sql.errors import not_supported
from sql.functions.aggregates import DEVIATIONS, REGRESSION
from sql.tree.expressions import SortKey, WindowCall


def _string_agg(aggregate: AggregateText) -> str:
    if isinstance(aggregate.call, WindowCall):
        raise not_supported("string_agg with OVER in the upper part of a continuous view", aggregate.call.position)
    separator = aggregate.printer.quoted(separator_of(aggregate))
    keys = ", ".join(sort_key(aggregate.printer, key) for key in aggregate.keys)
    order = f" WITHIN GROUP (ORDER BY {keys})" if keys else ""
    return aggregate.wrap(f"listagg({aggregate.word}{aggregate.texts[0]}, {separator}){order}")


def _added(aggregate: AggregateText) -> str:
    """Return a regression, or a deviation of floats; other deviations are exact."""
    if not added_in_order(aggregate.call):
        return deviation(aggregate)
    if aggregate.word:
        raise not_supported(f"{aggregate.call.function}(DISTINCT ...)", aggregate.call.position)
    return added_text(aggregate)


def added_text(aggregate: AggregateText) -> str:
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


SPARK_AGGREGATES: Mapping[str, AggregateRule] = {
    **AGGREGATE_RULES,
    **dict.fromkeys(DEVIATIONS | REGRESSION, _added),
    "string_agg": _string_agg,
}
