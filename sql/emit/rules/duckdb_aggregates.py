"""DuckDB's aggregates whose order matters: they take an ORDER BY inside their parentheses."""

from __future__ import annotations

from collections.abc import Mapping

from sql.emit.rules.aggregate import (
    AGGREGATE_RULES,
    AggregateRule,
    AggregateText,
    added_in_order,
    added_name,
    deviation,
    fraction_of,
    separator_of,
    sort_key,
)
from sql.errors import not_supported
from sql.functions.aggregates import DEVIATIONS, REGRESSION
from sql.functions.arguments import RUN
from sql.types.datatypes import scaled_numeric


def _string_agg(aggregate: AggregateText) -> str:
    separator = aggregate.printer.quoted(separator_of(aggregate))
    return aggregate.wrap(f"string_agg({aggregate.word}{aggregate.texts[0]}, {separator}{aggregate.ordered()})")


def _array_agg(aggregate: AggregateText) -> str:
    kind, text = aggregate.kind, aggregate.texts[0]
    if kind.is_array:
        raise not_supported("array_agg of arrays", aggregate.call.position)
    if aggregate.word and kind.has_own_order:
        raise not_supported(f"array_agg(DISTINCT {kind.sql_name})", aggregate.call.position)
    if kind.family == "numeric" and aggregate.word:
        # The order is that of the listed values, before they are changed.
        listed = aggregate.filtered(f"list({aggregate.word}{text}{aggregate.ordered()})")
        return f"list_transform({listed}, lambda x: {aggregate.printer.fit_text('x', kind, scaled_numeric(None))})"
    if kind.family == "numeric":
        text = aggregate.printer.fit_text(text, kind, scaled_numeric(None))
    return aggregate.filtered(f"list({aggregate.word}{text}{aggregate.ordered()})")


def _sorted_list(aggregate: AggregateText) -> tuple[str, str]:
    """Return the values of WITHIN GROUP as a list, and their number; NULLs don't count."""
    (key,) = aggregate.keys
    text = aggregate.printer.text(key.expression)
    condition = f"{text} IS NOT NULL" + ("" if aggregate.condition is None else f" AND {aggregate.condition}")
    order = sort_key(aggregate.printer, key)
    return f"list({text} ORDER BY {order}) FILTER (WHERE {condition})", f"count(*) FILTER (WHERE {condition})"


def _percentile_disc(aggregate: AggregateText) -> str:
    fraction = fraction_of(aggregate)
    values, count = _sorted_list(aggregate)
    return f"({values})[CAST(greatest(1, ceil({_double(fraction)} * {count})) AS BIGINT)]"


def _percentile_cont(aggregate: AggregateText) -> str:
    fraction = fraction_of(aggregate)
    values, count = _sorted_list(aggregate)
    place = f"({_double(fraction)} * ({count} - 1))"
    first, second = (f"({values})[CAST({word}({place}) AS BIGINT) + 1]" for word in ("floor", "ceil"))
    inside = f"float8_add({first}, float8_multiply({place} - floor({place}), float8_subtract({second}, {first})))"
    return f"CASE WHEN floor({place}) = ceil({place}) THEN {first} ELSE {inside} END"


def _double(value: float | None) -> str:
    return "CAST(NULL AS DOUBLE)" if value is None else f"CAST('{value!r}' AS DOUBLE)"


def _mode(aggregate: AggregateText) -> str:
    (key,) = aggregate.keys
    if key.expression.type.has_own_order:
        raise not_supported(f"mode of {key.expression.type.sql_name}", aggregate.call.position)
    text = aggregate.printer.text(key.expression)
    return aggregate.filtered(f"mode({text} ORDER BY {sort_key(aggregate.printer, key)})")


def _added(aggregate: AggregateText) -> str:
    """Return a regression, or a deviation of floats; other deviations are exact."""
    call = aggregate.call
    if not added_in_order(call):
        return deviation(aggregate)
    if aggregate.word:
        raise not_supported(f"{call.function}(DISTINCT ...)", call.position)
    return added_text(aggregate)


def added_text(aggregate: AggregateText) -> str:
    """Return the call that adds a group's floats in the order of its rows, or of its own ORDER
    BY.
    """
    lists = [aggregate.wrap(f"list(CAST({text} AS DOUBLE){aggregate.ordered()})") for text in aggregate.texts]
    name = aggregate.printer.quoted(added_name(aggregate.call))
    return f"float8_aggregate({lists[0]}, {lists[-1]}, {name}, {RUN})"


DUCKDB_AGGREGATES: Mapping[str, AggregateRule] = {
    **AGGREGATE_RULES,
    **dict.fromkeys(DEVIATIONS | REGRESSION, _added),
    "string_agg": _string_agg,
    "array_agg": _array_agg,
    "percentile_disc": _percentile_disc,
    "percentile_cont": _percentile_cont,
    "mode": _mode,
}
