"""Functions and operators of intervals and times of day.

`SPAN_RULES` are alike in both engines: plain arithmetic on the three parts of an interval.
`TYPE_RULES` call functions of `engine/embedded/functions/type.py`, which only DuckDB has;
`SPARK_TYPE_RULES` are what Spark computes in their place.
"""

from __future__ import annotations

from collections.abc import Mapping

from sql.emit.rules.arguments import literal_text
from sql.functions.printing import Printer, Rule
from sql.times.civil import DAY_US, SECOND_US
from sql.times.span import YEARS
from sql.times.time_fields import FIELD_DIGITS
from sql.tree.expressions import Call
from sql.types.datatypes import scaled_numeric

PARTS = ("months", "days", "micros")
CLOCK_UNITS = {
    "hour": 3_600_000_000,
    "minute": 60_000_000,
    "second": 1_000_000,
    "milliseconds": 1000,
    "microseconds": 1,
}
# An interval's year has 365.25 days in EXTRACT(EPOCH): everything is counted in quarters of a day.
QUARTER_DAY_US = DAY_US // 4


def _add_interval(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return a timestamp moved by an interval that is not a constant."""
    micros = f"timestamp_shift({printer.micros(texts[0], node.type)}, {texts[1]}, {texts[2]})"
    return printer.moment(micros, node.type.family)


def _time_span(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"time_span({', '.join(_instants(printer, node, texts))})"


def _instants(printer: Printer, node: Call, texts: list[str]) -> list[str]:
    return [printer.micros(text, argument.type) for text, argument in zip(texts, node.arguments, strict=True)]


def _time_span_of_difference(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return a difference of times as whole days and the rest, both of one sign."""
    left, right = _instants(printer, node, texts)
    days = f"(({left} - {right}) {printer.division} {DAY_US})"
    finite = " AND ".join(
        printer.finite(text, argument.type) for text, argument in zip(texts, node.arguments, strict=True)
    )
    days = f"CASE WHEN {finite} THEN {days} ELSE infinite_span('timestamps', {left}, {right}) END"
    return printer.interval("0", days, f"({left} - {right}) % {DAY_US}", f"{texts[0]} IS NULL OR {texts[1]} IS NULL")


def _parts(sign: str) -> Rule:
    """Return the sum or the difference of the parts of two intervals."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        left, right = texts
        months, days, micros = (f"({left}).{part} {sign} ({right}).{part}" for part in PARTS)
        return printer.interval(months, days, micros, f"{left} IS NULL OR {right} IS NULL")

    return rule


def _negated(printer: Printer, node: Call, texts: list[str]) -> str:
    months, days, micros = (f"-({texts[0]}).{part}" for part in PARTS)
    return printer.interval(months, days, micros, f"{texts[0]} IS NULL")


def _date_at_time(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return a date at a time of day.

    With a time zone, the instant at which clocks there show that time.
    """
    date, clock = node.arguments[0].type, texts[1]
    if node.arguments[1].type.family == "timetz":
        clock = f"(({clock}).micros + CAST(({clock}).west AS BIGINT) * {SECOND_US})"
    micros = printer.micros(texts[0], date)
    moved = f"{micros} + CASE WHEN {printer.finite(texts[0], date)} THEN 1 ELSE 0 END * {clock}"
    return printer.moment(f"({moved})", node.type.family)


def _time_moved(sign: str) -> Rule:
    """Return a time of day moved around midnight."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        moved = f"({texts[0]} {sign} ({texts[1]}).micros % {DAY_US})"
        return f"(({moved} % {DAY_US} + {DAY_US}) % {DAY_US})"

    return rule


def _time_difference(printer: Printer, node: Call, texts: list[str]) -> str:
    return printer.interval("0", "0", f"{texts[0]} - {texts[1]}", f"{texts[0]} IS NULL OR {texts[1]} IS NULL")


def span_field(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return a field of an interval or a time of day as a whole number.

    The seconds are microseconds of the minute, the epoch all microseconds.
    """
    field, text = literal_text(node.arguments[0], "a field"), texts[1]
    if node.arguments[1].type.family == "time":
        return text if field == "epoch" else _clock_field(printer, field, text)
    months, days, micros = (f"({text}).{part}" for part in PARTS)
    divide = printer.division
    if field in YEARS:
        return f"({months} {divide} {12 * YEARS[field]})"
    match field:
        case "quarter":
            return f"(({months} % 12) {divide} 3 + 1)"
        case "month":
            return f"({months} % 12)"
        case "day":
            return days
        case "epoch":
            wide = printer.type_name(scaled_numeric(0))
            years = f"CAST({months} {divide} 12 AS {wide})"
            quarters = f"1461 * {years} + CAST(120 * ({months} % 12) AS {wide}) + 4 * CAST({days} AS {wide})"
            return f"(({quarters}) * {QUARTER_DAY_US} + {micros})"
    return _clock_field(printer, field, micros)


def _clock_field(printer: Printer, field: str, micros: str) -> str:
    if field == "hour":
        return f"({micros} {printer.division} {CLOCK_UNITS['hour']})"
    if field == "minute":
        return f"(({micros} % {CLOCK_UNITS['hour']}) {printer.division} {CLOCK_UNITS['minute']})"
    return f"({micros} % {CLOCK_UNITS['minute']})"


def span_extract(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return EXTRACT from an interval or a time of day."""
    digits = FIELD_DIGITS[literal_text(node.arguments[0], "a field")]
    value = span_field(printer, node, texts)
    if digits == 0:
        return printer.fit_text(f"CAST({value} AS DECIMAL(38,0))", scaled_numeric(0), node.type)
    unit = f"CAST('{10.0**-digits:.{digits}f}' AS DECIMAL({digits},{digits}))"
    text = f"CAST(CAST({value} AS DECIMAL({38 - digits},0)) * {unit} AS DECIMAL(38,{digits}))"
    return printer.fit_text(text, scaled_numeric(digits), node.type)


def span_date_part(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return date_part of an interval or a time of day, the epoch in PostgreSQL's steps of float
    arithmetic.
    """
    field, text = literal_text(node.arguments[0], "a field"), texts[1]
    value = span_field(printer, node, texts)
    if field == "epoch" and node.arguments[1].type.family == "interval":
        months, divide = f"({text}).months", printer.division
        parts = (("31557600", f"({months} {divide} 12)"), ("2592000", f"({months} % 12)"), ("86400", f"({text}).days"))
        added = " + ".join(f"CAST('{seconds}' AS DOUBLE) * CAST({part} AS DOUBLE)" for seconds, part in parts)
        return f"(CAST(({text}).micros AS DOUBLE) / CAST('1000000' AS DOUBLE) + {added})"
    return f"CAST({value} AS DOUBLE)" if FIELD_DIGITS[field] == 0 else f"time_part({printer.quoted(field)}, {value})"


def span_trunc(printer: Printer, unit: str, text: str) -> str:
    """Return date_trunc of an interval."""
    months, days, micros = (f"({text}).{part}" for part in PARTS)
    if unit in CLOCK_UNITS:
        size = CLOCK_UNITS[unit]
        return printer.interval(months, days, f"({micros} {printer.division} {size}) * {size}", f"{text} IS NULL")
    if unit == "day":
        return printer.interval(months, days, "0", f"{text} IS NULL")
    size = 12 * YEARS[unit] if unit in YEARS else 3 if unit == "quarter" else 1
    return printer.interval(f"({months} {printer.division} {size}) * {size}", "0", "0", f"{text} IS NULL")


SPAN_RULES: Mapping[str, Mapping[str, Rule]] = {
    "timetz_add": {"timetz": "timetz_moved({0}, {1}, 1)"},
    "timetz_subtract": {"timetz": "timetz_moved({0}, {1}, -1)"},
    "time_add": {"time": _time_moved("+")},
    "time_subtract": {"time": _time_moved("-")},
    "time_difference": {"time": _time_difference},
    "date_at_time": {"date": _date_at_time},
    "date_at_timetz": {"date": _date_at_time},
}

TYPE_RULES: Mapping[str, Mapping[str, Rule]] = {
    **SPAN_RULES,
    "interval_sum": {"interval": "interval_sum({0}, {1})"},
    "interval_difference": {"interval": "interval_difference({0}, {1})"},
    "interval_multiply": {"interval": "interval_multiply({0}, {1})"},
    "interval_divide": {"interval": "interval_divide({0}, {1})"},
    "interval_negate": {"interval": "interval_negate({0})"},
    "add_interval_value": {"timestamp timestamptz": _add_interval},
    "time_span": {"timestamp timestamptz": _time_span},
}

SPARK_TYPE_RULES: Mapping[str, Mapping[str, Rule]] = {
    **SPAN_RULES,
    "interval_sum": {"interval": _parts("+")},
    "interval_difference": {"interval": _parts("-")},
    "interval_negate": {"interval": _negated},
    "time_span": {"timestamp timestamptz": _time_span_of_difference},
}
