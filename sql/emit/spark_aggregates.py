"""Spark's aggregates whose order matters."""

from __future__ import annotations

from collections.abc import Mapping

from sql.emit.rules.aggregate import AGGREGATE_RULES, AggregateRule, AggregateText, separator_of, sort_key
from sql.errors import not_supported
from sql.tree.expressions import WindowCall


def _string_agg(aggregate: AggregateText) -> str:
    if isinstance(aggregate.call, WindowCall):
        raise not_supported("string_agg with OVER in the upper part of a continuous view", aggregate.call.position)
    separator = aggregate.printer.quoted(separator_of(aggregate))
    keys = ", ".join(sort_key(aggregate.printer, key) for key in aggregate.keys)
    order = f" WITHIN GROUP (ORDER BY {keys})" if keys else ""
    return aggregate.wrap(f"listagg({aggregate.word}{aggregate.texts[0]}, {separator}){order}")


SPARK_AGGREGATES: Mapping[str, AggregateRule] = {**AGGREGATE_RULES, "string_agg": _string_agg}
