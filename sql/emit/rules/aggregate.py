"""Aggregates beyond sum, avg, min, max and count: deviations, regression, bits. Those whose order matters have a file per engine.

Deviations of integers and numerics are exact: `numeric_variance` makes them of the count, the sum and the sum of squares. Those of
floats, and regressions, are made of the values in the order of the rows by PostgreSQL's own steps (Youngs and Cramer), so that the same
order has the same digits. With OVER, and in Spark, they are the engine's, which may differ in the last digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sql.emit.expressions import ExpressionPrinter, form_of
from sql.emit.rule_arguments import literal_number, literal_text
from sql.errors import SqlError, not_supported
from sql.tree.expressions import AggregateCall, SortKey, WindowCall
from sql.types.datatypes import SqlType, scaled_numeric

INTEGERS = ("int2", "int4", "int8")
DEVIATIONS = frozenset({"var_pop", "var_samp", "stddev_pop", "stddev_samp"})

# Of pairs (y, x); the parts are the engine's sums over the pairs without NULLs.
N, SXX, SYY, SXY = (f"regr_{part}({{0}}, {{1}})" for part in ("count", "sxx", "syy", "sxy"))
COUNTED = f"CAST({N} AS DOUBLE)"
REGRESSION = {
    "regr_count": N,
    "regr_sxx": SXX,
    "regr_syy": SYY,
    "regr_sxy": SXY,
    "regr_avgx": "regr_avgx({0}, {1})",
    "regr_avgy": "regr_avgy({0}, {1})",
    "covar_pop": f"CASE WHEN {N} > 0 THEN {SXY} / {COUNTED} END",
    "covar_samp": f"CASE WHEN {N} > 1 THEN {SXY} / ({COUNTED} - 1) END",
    "corr": f"CASE WHEN {SXX} <> 0 AND {SYY} <> 0 THEN {SXY} / sqrt({SXX} * {SYY}) END",
    "regr_r2": f"CASE WHEN {SXX} = 0 THEN NULL WHEN {SYY} = 0 THEN CAST(1 AS DOUBLE) ELSE ({SXY} * {SXY}) / ({SXX} * {SYY}) END",
    "regr_slope": f"CASE WHEN {SXX} <> 0 THEN {SXY} / {SXX} END",
    "regr_intercept": f"CASE WHEN {SXX} <> 0 THEN regr_avgy({{0}}, {{1}}) - regr_avgx({{0}}, {{1}}) * {SXY} / {SXX} END",
}


@dataclass(frozen=True)
class AggregateText:
    """One aggregate call on its way into SQL.

    texts: the arguments, NULL for rows that the filter leaves out. condition: the filter. word: 'DISTINCT ' or ''. wrap: completes
    each of the engine's aggregates, with OVER.
    """

    printer: ExpressionPrinter
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
        """Return a sort key; with DISTINCT it has to be an argument as that is printed."""
        if self.word and self.condition is not None and key.expression == self.call.arguments[0]:
            return self.texts[0] + sort_way(key)
        return sort_key(self.printer, key)

    def filtered(self, text: str) -> str:
        """Complete an aggregate that counts NULLs as values: it must not see the other rows at all."""
        return self.wrap(text if self.condition is None else f"{text} FILTER (WHERE {self.condition})")


AggregateRule = Callable[[AggregateText], str]


def sort_key(printer: ExpressionPrinter, key: SortKey) -> str:
    """Return one key of an ORDER BY."""
    return printer.comparable(key.expression) + sort_way(key)


def sort_way(key: SortKey) -> str:
    """Return what follows the expression of a key of an ORDER BY."""
    return (" DESC" if key.descending else "") + (" NULLS FIRST" if key.nulls_first else " NULLS LAST")


def bits(aggregate: AggregateText) -> str:
    return aggregate.wrap(f"{aggregate.call.function}({aggregate.word}{aggregate.texts[0]})")


def regression(aggregate: AggregateText) -> str:
    """An aggregate of pairs of floats."""
    if aggregate.word:
        raise not_supported(f"{aggregate.call.function}(DISTINCT ...)", aggregate.call.position)
    template = REGRESSION[aggregate.call.function]
    for part in ("count", "sxx", "syy", "sxy", "avgx", "avgy"):
        plain = f"regr_{part}({{0}}, {{1}})"
        template = template.replace(plain, f"<{part}>")
    for part in ("count", "sxx", "syy", "sxy", "avgx", "avgy"):
        template = template.replace(
            f"<{part}>", aggregate.wrap(f"regr_{part}({aggregate.texts[0]}, {aggregate.texts[1]})")
        )
    return f"CAST({template} AS {aggregate.printer.type_name(aggregate.call.type)})"


def deviation(aggregate: AggregateText) -> str:
    """A variance or a standard deviation."""
    name, printer, kind, text = aggregate.call.function, aggregate.printer, aggregate.kind, aggregate.texts[0]
    if aggregate.word:
        raise not_supported(f"{name}(DISTINCT ...)", aggregate.call.position)
    if kind.family == "float8":
        return aggregate.wrap(f"{name}({text})")
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


def variable_total(printer: ExpressionPrinter, text: str, wrap: Callable[[str], str]) -> str:
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
    **dict.fromkeys(REGRESSION, regression),
    **dict.fromkeys(DEVIATIONS, deviation),
}
