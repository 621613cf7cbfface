"""Aggregates beyond sum, avg, min, max and count: deviations, regression, bits.

Aggregates whose order matters have a file per engine. Deviations of integers and numerics are
exact: `numeric_variance` makes them of the count, the sum and the sum of squares. Deviations of
floats, and regressions, are made of the values in the order of the rows by PostgreSQL's own steps
(Youngs and Cramer), so that the same order has the same digits in every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sql.errors import SqlError, not_supported
from sql.functions.aggregates import DEVIATIONS, adds_floats
from sql.functions.arguments import literal_number, literal_text
from sql.functions.printing import Printer, form_of
from sql.tree.expressions import AggregateCall, SortKey, WindowCall
from sql.types.datatypes import SqlType, scaled_numeric


@dataclass(frozen=True)
class AggregateText:
    """One aggregate call that is being printed.

    Attributes:
        texts: the arguments, NULL for rows that the filter leaves out.
        condition: the filter.
        word: 'DISTINCT ' or ''.
        wrap: completes each of the engine's aggregates, with OVER.
    """

    printer: Printer
    call: AggregateCall | WindowCall
    texts: tuple[str, ...]
    condition: str | None
    word: str
    wrap: Callable[[str], str]

    @property
    def kind(self) -> SqlType:
        """The type of the first argument."""
        return self.call.arguments[0].type

    @property
    def keys(self) -> Sequence[SortKey]:
        """The order of the rows that the call itself asks for."""
        return self.call.order_by if isinstance(self.call, AggregateCall) else ()

    def ordered(self) -> str:
        """Return ' ORDER BY ...' for inside of the parentheses, or ''."""
        keys = ", ".join(self._key(key) for key in self.keys)
        return f" ORDER BY {keys}" if keys else ""

    def _key(self, key: SortKey) -> str:
        """Return a sort key; with DISTINCT the key has to be an argument as that is printed."""
        if self.word and self.condition is not None and key.expression == self.call.arguments[0]:
            return self.texts[0] + sort_way(key)
        return sort_key(self.printer, key)

    def filtered(self, text: str) -> str:
        """Complete an aggregate that counts NULLs as values: rows outside of the filter must not
        reach it at all.
        """
        return self.wrap(text if self.condition is None else f"{text} FILTER (WHERE {self.condition})")


AggregateRule = Callable[[AggregateText], str]


def sort_key(printer: Printer, key: SortKey) -> str:
    """Return one key of an ORDER BY."""
    return printer.comparable(key.expression) + sort_way(key)


def sort_way(key: SortKey) -> str:
    """Return the words after the expression of a key of an ORDER BY."""
    return (" DESC" if key.descending else "") + (" NULLS FIRST" if key.nulls_first else " NULLS LAST")


def bits(aggregate: AggregateText) -> str:
    return aggregate.wrap(f"{aggregate.call.function}({aggregate.word}{aggregate.texts[0]})")


def added_in_order(call: AggregateCall | WindowCall) -> bool:
    """Tell whether an aggregate adds floats, so that its last digits depend on the order of the
    rows.
    """
    return bool(call.arguments) and adds_floats(call.function, call.arguments[0].type.family)


def added_name(call: AggregateCall | WindowCall) -> str:
    """Return the name under which `float8_aggregate` and `float8_window` know an aggregate that
    adds floats.
    """
    return "real_sum" if call.function == "sum" and call.type.family == "float4" else call.function


def pair_count(aggregate: AggregateText) -> str:
    """Return regr_count: how many pairs have no NULL."""
    if aggregate.word:
        raise not_supported(f"{aggregate.call.function}(DISTINCT ...)", aggregate.call.position)
    y, x = aggregate.texts
    return aggregate.wrap(f"count(CASE WHEN {x} IS NOT NULL THEN {y} END)")


def deviation(aggregate: AggregateText) -> str:
    """Return a variance or a standard deviation of integers or numerics."""
    name, printer, kind, text = aggregate.call.function, aggregate.printer, aggregate.kind, aggregate.texts[0]
    if aggregate.word:
        raise not_supported(f"{name}(DISTINCT ...)", aggregate.call.position)
    count = aggregate.wrap(f"count({text})")
    if form_of(kind) == "variable":
        squares = f"numeric_multiply({text}, {text})"
        totals = [variable_total(printer, part, aggregate.wrap) for part in (text, squares)]
    else:
        scale = kind.display_scale or 0
        wide = f"CAST({text} AS {printer.type_name(scaled_numeric(scale))})"
        totals = [
            printer.pack(
                f"CAST({aggregate.wrap(f'sum({part})')} AS {printer.type_name(scaled_numeric(digits))})", digits
            )
            for part, digits in ((wide, scale), (f"({wide} * {wide})", 2 * scale))
        ]
    return f"numeric_variance({count}, {totals[0]}, {totals[1]}, {printer.quoted(name)})"


def variable_total(printer: Printer, text: str, wrap: Callable[[str], str]) -> str:
    """Return the exact sum of variable numerics."""
    wide = printer.type_name(scaled_numeric(0))
    parts = ", ".join(
        f"CAST({wrap(f'sum(numeric_part({text}).{part})')} AS {wide})" for part in ("whole", "high", "low")
    )
    return f"numeric_total({parts}, {wrap(f'bit_or(numeric_marks({text}))')})"


def fraction_of(aggregate: AggregateText) -> float | None:
    """Return the constant fraction of a percentile."""
    fraction = literal_number(aggregate.call.arguments[0], "a percentile's fraction")
    if fraction is not None and not 0 <= fraction <= 1:
        raise SqlError("22003", f"percentile value {fraction:g} is not between 0 and 1")
    return fraction


def separator_of(aggregate: AggregateText) -> str:
    """Return the constant separator of string_agg; NULL is none."""
    return literal_text(aggregate.call.arguments[1], "a separator", null="")


AGGREGATE_RULES: Mapping[str, AggregateRule] = {
    **dict.fromkeys(("bit_and", "bit_or", "bit_xor"), bits),
    "regr_count": pair_count,
    **dict.fromkeys(DEVIATIONS, deviation),
}
