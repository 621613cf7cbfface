"""Aggregates that count and add: counts, sums, averages, deviations, regressions.

Sums of variable numerics are taken over `numeric_key`'s three integer parts and put together by
`numeric_total`, exactly. Deviations and regressions are DuckDB's alone. Deviations of integers and
numerics are exact: `numeric_variance` makes them of the count, the sum and the sum of squares, and
`numeric_deviation` of the values, where their squares are too long to be added by the engine.
Deviations of floats, and regressions, are made of the values in the order of the rows by
PostgreSQL's own steps (Youngs and Cramer), so that the same order has the same digits.
"""

from __future__ import annotations

from collections.abc import Callable

from sql.functions.aggregate_rows import Aggregate, AggregateText
from sql.functions.arguments import RUN
from sql.functions.printing import form_of
from sql.functions.rows import Kernel, Routine
from sql.functions.signatures import FLOATS, INTEGERS
from sql.tree.numeric_scale import first
from sql.types.datatypes import NUMERIC_DIGITS_MAX, scaled_numeric

EXACT_SUM = {"int2 int4 int8 numeric": "SUM_INTEGER", "variable": "SUM_NUMERIC"}
# Of variances; a numeric has few digits enough, which `views.codegen.grouping` looks at.
SQUARES = {"int2 int4 int8 numeric": "SUM_SQUARES", "float4 float8": "AVERAGE_FLOAT"}
# 10^12 rows of their squares have 38 digits.
SQUARED_DIGITS_MAX = 13
HALF_OF_WHOLE = "CAST(10000000000000000000 AS HUGEINT)"
STATISTIC = (
    "int2 > numeric; int4 > numeric; int8 > numeric; numeric > numeric; float4 > float8 as float8; float8 > float8"
)
PAIRS = "FROM (VALUES (1, 2), (2, 4), (4, 5)) t(y, x)"
SOME = "FROM (VALUES (1), (2), (4), (NULL)) t(x)"


def _count_star(aggregate: AggregateText) -> str:
    condition = aggregate.condition
    return aggregate.wrap("count(*)" if condition is None else f"count(CASE WHEN {condition} THEN 1 END)")


def _count(aggregate: AggregateText) -> str:
    return aggregate.wrap(f"count({aggregate.word}{aggregate.compared})")


def _sum(signed: str) -> Callable[[AggregateText], str]:
    """Return the rule of a sum. The engines' sums begin with 0, so they ask whether all values have
    a sign, -0 among them, by `signed`.
    """

    def rule(aggregate: AggregateText) -> str:
        if aggregate.kind.family in FLOATS:
            return _added_floats(aggregate) or _float_total(aggregate, signed)
        return _total(aggregate)

    return rule


def _average(aggregate: AggregateText) -> str:
    """Return sum / count, with PostgreSQL's scale of a quotient for numerics."""
    kind, text, printer = aggregate.kind, aggregate.texts[0], aggregate.printer
    count = _count(aggregate)
    if kind.family in FLOATS:
        return _added_floats(aggregate) or f"({_float_total(aggregate)} / CAST({count} AS DOUBLE))"
    if form_of(kind) == "interval":
        return printer.interval_average(_interval_sums(aggregate), count)
    exact = (
        printer.exact_average(aggregate.wrap, text, kind, count)
        if kind.family == "numeric" and not aggregate.word
        else None
    )
    if exact is not None:
        return exact
    total = _total(aggregate)
    packed = total if form_of(kind) == "variable" else printer.pack(total, kind.display_scale or 0)
    return f"numeric_quotient({packed}, {count})"


def _added_floats(aggregate: AggregateText) -> str | None:
    """Return a sum or an average of floats that are added in order.

    None where no order is asked for, so that no list is made.
    """
    if not aggregate.has_order and not aggregate.word and aggregate.call.type.family != "float4":
        return None
    printer = aggregate.printer
    return f"CAST({printer.added_text(aggregate)} AS {printer.type_name(aggregate.call.type)})"


def _float_total(aggregate: AggregateText, signed: str = "FALSE") -> str:
    """Return a sum of floats, 22003 where finite values summed to infinity."""
    text, wrap = aggregate.texts[0], aggregate.wrap
    # Spark's is real where the values are.
    largest, all_signed = f"CAST({wrap(f'max(abs({text}))')} AS DOUBLE)", wrap(f"bool_and({signed.format(text)})")
    return f"float8_total({wrap(f'sum({text})')}, {largest}, {all_signed})"


def _total(aggregate: AggregateText) -> str:
    """Return the sum of what is no float in the physical form of PostgreSQL's sum.

    The inner sum of avg is DECIMAL for whole numbers.
    """
    printer, kind, text, wrap = aggregate.printer, aggregate.kind, aggregate.texts[0], aggregate.wrap
    if kind.family in INTEGERS:
        whole = scaled_numeric(0)
        target = whole if aggregate.call.function == "avg" or kind.family == "int8" else aggregate.call.type
        word = aggregate.word
        total = printer.bigint_sum(wrap, text, word) if kind.family == "int8" else wrap(f"sum({word}{text})")
        return f"CAST({total} AS {printer.type_name(target)})"
    match form_of(kind):
        case "numeric":
            return f"CAST({wrap(f'sum({aggregate.word}{text})')} AS {printer.type_name(kind)})"
        case "variable":
            return _variable_total(aggregate)
        case "interval":
            return printer.interval_total(_interval_sums(aggregate))
    raise aggregate.refused()


def _interval_sums(aggregate: AggregateText) -> list[str]:
    """Return the sums of the three parts of intervals."""
    wide = aggregate.printer.type_name(scaled_numeric(0))
    sums = (aggregate.taken("sum", part_of("({0}).", part)) for part in ("months", "days", "micros"))
    return [f"CAST({total} AS {wide})" for total in sums]


def part_of(whole: str, part: str) -> Callable[[str], str]:
    """Return the change of a value to a part of it."""
    return lambda text: whole.format(text) + part


def _variable_total(aggregate: AggregateText) -> str:
    """Return the exact sum of variable numerics."""
    wide = aggregate.printer.type_name(scaled_numeric(0))
    sums = (aggregate.taken("sum", part_of("numeric_part({0}).", part)) for part in ("whole", "high", "low"))
    parts = ", ".join(f"CAST({total} AS {wide})" for total in sums)
    return f"numeric_total({parts}, {aggregate.taken('bit_or', part_of('numeric_marks({0})', ''))})"


def _deviation(aggregate: AggregateText) -> str:
    """Return a variance or a standard deviation; that of floats is added in order."""
    if aggregate.kind.family in FLOATS:
        return _regression(aggregate)
    printer, kind = aggregate.printer, aggregate.kind
    name, scale = printer.quoted(aggregate.call.function), kind.display_scale or 0
    if kind.family == "numeric" and (kind.precision or NUMERIC_DIGITS_MAX) > SQUARED_DIGITS_MAX:
        is_packed = form_of(kind) == "variable"
        values = aggregate.taken("list", lambda text: text if is_packed else printer.pack(text, scale))
        return f"numeric_deviation({values}, {name}, {RUN})"
    wide = f"CAST({{0}} AS {printer.type_name(scaled_numeric(scale))})"
    square, upper = f"({wide} * {wide})", "0"
    if kind.family == "int8":
        square = "(CAST({0} AS HUGEINT) * {0})"
        upper = aggregate.taken("sum", part_of(square, f" // {HALF_OF_WHOLE}"))
        upper, square = f"CAST({upper} AS {printer.type_name(scaled_numeric(0))})", f"{square} % {HALF_OF_WHOLE}"
    totals = [
        printer.pack(
            f"CAST({aggregate.taken('sum', part_of(whole, ''))} AS {printer.type_name(scaled_numeric(digits))})", digits
        )
        for whole, digits in ((wide, scale), (square, 2 * scale))
    ]
    count = aggregate.taken("count", part_of("{0}", ""))
    return f"numeric_variance({count}, {totals[0]}, {upper}, {totals[1]}, {name})"


def _regression(aggregate: AggregateText) -> str:
    """Return an aggregate of floats that are added in the order of the rows."""
    if len(aggregate.texts) > 1:
        aggregate.refuse_distinct()
    return aggregate.printer.added_text(aggregate)


def _pairs_count(aggregate: AggregateText) -> str:
    """Return regr_count: how many pairs have no NULL."""
    aggregate.refuse_distinct()
    y, x = aggregate.texts
    return aggregate.wrap(f"count(CASE WHEN {x} IS NOT NULL THEN {y} END)")


def _statistic(names: str, answer: str) -> Aggregate:
    """Return the row of a variance or a deviation; the last of its names is the canonical one."""
    canonical = names.split()[-1]
    return Aggregate(
        canonical, names, STATISTIC, (f"{canonical}(x) {SOME}", answer), duckdb=_deviation, states=SQUARES,
        final="variance", adds_floats=True,
    )  # fmt: skip


def _of_pairs(name: str, answer: str) -> Aggregate:
    """Return the row of an aggregate of pairs of floats."""
    return Aggregate(
        name, name, "float8 float8 > float8", (f"{name}(y, x) {PAIRS}", answer), duckdb=_regression,
        states={"float8": "PAIRS"}, final="floats", adds_floats=True,
    )  # fmt: skip


AGGREGATES = (
    # The name stands with a star.
    Aggregate(
        "count_star", "count", "> int8", (f"count(*) {SOME}", "4"), both=_count_star, states={"any": "COUNT"}, final="count",
        can_fail=False,
    ),
    Aggregate(
        "count", "count", "any > int8", (f"count(x) {SOME}", "3"), both=_count, states={"any": "COUNT"},
        final="count", can_fail=False,
    ),
    Aggregate(
        "sum", "sum",
        "int2 > int8; int4 > int8; int8 > numeric; numeric > numeric; float4 > float4; float8 > float8;"
        "interval > interval",
        (f"sum(x) {SOME}", "7"), duckdb=_sum("signbit({0})"), spark=_sum("{0} < 0 OR ({0} = 0 AND CAST({0} AS STRING) = '-0.0')"),
        states={**EXACT_SUM, "float4": "SUM_FLOAT32", "float8": "SUM_FLOAT64"}, final="total", adds_floats=True,
        scale=first,
    ),
    Aggregate(
        "avg", "avg",
        "int2 > numeric; int4 > numeric; int8 > numeric; numeric > numeric; float4 > float8; float8 > float8;"
        "interval > interval",
        (f"avg(x) {SOME}", "2.3333333333333333"), both=_average,
        states={**EXACT_SUM, "float4 float8": "AVERAGE_FLOAT"}, final="average", adds_floats=True,
    ),
    _statistic("var_pop", "1.5555555555555556"),
    _statistic("variance var_samp", "2.3333333333333333"),
    _statistic("stddev_pop", "1.2472191289246471"),
    _statistic("stddev stddev_samp", "1.5275252316519467"),
    _of_pairs("corr", "0.9285714285714286"),
    _of_pairs("covar_pop", "1.4444444444444444"),
    _of_pairs("covar_samp", "2.1666666666666665"),
    _of_pairs("regr_avgx", "3.6666666666666665"),
    _of_pairs("regr_avgy", "2.3333333333333335"),
    _of_pairs("regr_intercept", "-1.0714285714285718"),
    _of_pairs("regr_r2", "0.8622448979591838"),
    _of_pairs("regr_slope", "0.9285714285714286"),
    _of_pairs("regr_sxx", "4.666666666666666"),
    _of_pairs("regr_sxy", "4.333333333333333"),
    _of_pairs("regr_syy", "4.666666666666666"),
    Aggregate(
        "regr_count", "regr_count", "float8 float8 > int8", (f"regr_count(y, x) {PAIRS}", "3"), both=_pairs_count,
        states={"any": "COUNT"}, final="count",
    ),
)  # fmt: skip
ROUTINES = (
    Routine("float8_total", ("float8", "float8", "bool"), "float8", Kernel("numbers.floats.total"), in_spark=True),
    Routine("numeric_key", ("numeric",), "key", "sums.key", special="key", in_spark=True),
    Routine("numeric_part", ("numeric",), "key", "sums.key", special="no_key", in_spark=True),
    Routine("numeric_marks", ("numeric",), "int8", "sums.mark", special="mark", in_spark=True),
    Routine("numeric_total", (*["wide"] * 3, "int8"), "numeric", "sums.total", in_spark=True),
    Routine("numeric_quotient", ("numeric", "int8"), "numeric", "sums.quotient", special="quotient", in_spark=True),
    Routine("numeric_average", ("wide", "wide", "numeric", "int8"), "numeric", "sums.average", special="third"),
    Routine("numeric_variable_average", (*["wide"] * 4, *["int8"] * 2), "numeric", "sums.variable_average"),
    Routine("interval_total", ("int8", "int8", "wide"), "interval", Kernel("calendars.spans.interval_total")),
    Routine(
        "interval_average", ("int8", "int8", "wide", "int8"), "interval", Kernel("calendars.spans.interval_average")
    ),
)
