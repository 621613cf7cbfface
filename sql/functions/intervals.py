"""Functions and operators of intervals and times of day."""

from __future__ import annotations

from sql.functions.arguments import literal_text
from sql.functions.printing import Printer, Rule, micros, moment
from sql.functions.rows import STABLE, Function, Kernel
from sql.times.civil import DAY_US, SECOND_US
from sql.times.interval_templates import format_interval
from sql.times.span import YEARS
from sql.times.time_fields import FIELD_DIGITS
from sql.tree.expressions import Call
from sql.types.datatypes import scaled_numeric

MADE_OF = "; ".join((*("int4 " * count + "> interval" for count in range(1, 7)), "int4 " * 6 + "float8 > interval"))


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
    if node.type.family == "timestamp":
        return f"timestamp_shift({texts[0]}, {texts[1]})"
    return f"timestamptz_shift({texts[0]}, {texts[1]}, {texts[2]})"


def date_at_time(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return a date at a time of day.

    With a time zone, the instant at which clocks there show that time.
    """
    date, clock = node.arguments[0].type, texts[1]
    if node.arguments[1].type.family == "timetz":
        clock = f"(({clock}).micros + CAST(({clock}).west AS BIGINT) * {SECOND_US})"
    moved = f"{micros(texts[0], date)} + CASE WHEN {printer.finite(texts[0], date)} THEN 1 ELSE 0 END * {clock}"
    return moment(f"({moved})", node.type.family)


def _time_moved(sign: str) -> Rule:
    """Return a time of day moved around midnight."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        moved = f"({texts[0]} {sign} ({texts[1]}).micros % {DAY_US})"
        return f"(({moved} % {DAY_US} + {DAY_US}) % {DAY_US})"

    return rule


def _time_difference(printer: Printer, node: Call, texts: list[str]) -> str:
    return printer.interval("0", "0", f"{texts[0]} - {texts[1]}", f"{texts[0]} IS NULL OR {texts[1]} IS NULL")


# Fields of the zone of a time of day, from its seconds east.
EAST = {"timezone": "{0}", "timezone_hour": "({0} // 3600)", "timezone_minute": "({0} // 60 % 60)"}


def span_field(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return a field of an interval or a time of day as a whole number.

    The seconds are microseconds of the minute, the epoch all microseconds.
    """
    field, text = literal_text(node.arguments[0], "a field"), texts[1]
    family = node.arguments[1].type.family
    if field in EAST:
        return EAST[field].format(f"(-({text}).west)")
    if family == "time":
        return text if field == "epoch" else _clock_field(printer, field, text)
    if family == "timetz":
        micros, west = f"({text}).micros", f"CAST(({text}).west AS BIGINT)"
        return f"({micros} + {west} * {SECOND_US})" if field == "epoch" else _clock_field(printer, field, micros)
    months, days, micros = (f"({text}).{part}" for part in PARTS)
    if field in YEARS:
        return f"({months} // {12 * YEARS[field]})"
    match field:
        case "quarter":
            return f"(({months} % 12) // 3 + 1)"
        case "month":
            return f"({months} % 12)"
        case "day":
            return days
        case "epoch":
            wide = printer.type_name(scaled_numeric(0))
            years = f"CAST({months} // 12 AS {wide})"
            quarters = f"1461 * {years} + CAST(120 * ({months} % 12) AS {wide}) + 4 * CAST({days} AS {wide})"
            return f"(({quarters}) * {QUARTER_DAY_US} + {micros})"
    return _clock_field(printer, field, micros)


def _clock_field(printer: Printer, field: str, micros: str) -> str:
    if field == "hour":
        return f"({micros} // {CLOCK_UNITS['hour']})"
    if field == "minute":
        return f"(({micros} % {CLOCK_UNITS['hour']}) // {CLOCK_UNITS['minute']})"
    return f"({micros} % {CLOCK_UNITS['minute']})"


def span_extract(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return EXTRACT from an interval or a time of day."""
    digits = FIELD_DIGITS.get(literal_text(node.arguments[0], "a field"), 0)
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
        months = f"({text}).months"
        parts = (("31557600", f"({months} // 12)"), ("2592000", f"({months} % 12)"), ("86400", f"({text}).days"))
        added = " + ".join(f"CAST('{seconds}' AS DOUBLE) * CAST({part} AS DOUBLE)" for seconds, part in parts)
        return f"(CAST(({text}).micros AS DOUBLE) / CAST('1000000' AS DOUBLE) + {added})"
    if field == "epoch" and node.arguments[1].type.family == "timetz":
        return f"(CAST(({text}).micros AS DOUBLE) / CAST('1000000' AS DOUBLE) + CAST(({text}).west AS DOUBLE))"
    return (
        f"CAST({value} AS DOUBLE)"
        if FIELD_DIGITS.get(field, 0) == 0
        else f"time_part({printer.quoted(field)}, {value})"
    )


def span_trunc(printer: Printer, unit: str, text: str) -> str:
    """Return date_trunc of an interval."""
    months, days, micros = (f"({text}).{part}" for part in PARTS)
    if unit in CLOCK_UNITS:
        size = CLOCK_UNITS[unit]
        return printer.interval(months, days, f"({micros} // {size}) * {size}", f"{text} IS NULL")
    if unit == "day":
        return printer.interval(months, days, "0", f"{text} IS NULL")
    size = 12 * YEARS[unit] if unit in YEARS else 3 if unit == "quarter" else 1
    return printer.interval(f"({months} // {size}) * {size}", "0", "0", f"{text} IS NULL")


FUNCTIONS = (
    Function(
        "format_interval", "to_char", "interval text > text",
        ("to_char(interval '1 day 15:02:12', 'DD HH24:MI')", "01 15:02"), volatility=STABLE,
        python=format_interval,
    ),
    Function(
        "justify_days", "justify_days", "interval > interval", ("justify_days(interval '35 days')", "1 mon 5 days"),
        embedded=Kernel("calendars.spans.days_justified"),
    ),
    Function(
        "justify_hours", "justify_hours", "interval > interval",
        ("justify_hours(interval '50 hours 10 minutes')", "2 days 02:10:00"), embedded=Kernel("calendars.spans.hours_justified"),
    ),
    Function(
        "justify_interval", "justify_interval", "interval > interval",
        ("justify_interval(interval '1 mon -1 hour')", "29 days 23:00:00"), embedded=Kernel("calendars.spans.justified"),
    ),
    Function(
        "make_interval", "make_interval", MADE_OF, ("make_interval(1, 2, 0, 10)", "1 year 2 mons 10 days"),
        duckdb="interval_made({0}, {1}, {2}, {3}, {4}, {5}, {6})", parameters="years months weeks days hours mins secs",
        defaults={**dict.fromkeys(range(6), 0), 6: 0.0},
    ),
    Function(
        "interval_add", "+",
        "interval date > timestamp; interval timestamp > timestamp; interval timestamptz > timestamptz",
        ("interval '1 hour' + timestamp '2001-09-28 01:00'", "2001-09-28 02:00:00"),
        bound="shift", constants={0: "interval '1 month'"},
    ),
    Function(
        "interval_sum", "+", "interval interval > interval", ("interval '1 day' + interval '1 hour'", "1 day 01:00:00"),
        embedded=Kernel("calendars.spans.interval_sum"),
    ),
    Function(
        "time_add", "+", "time interval > time", ("time '01:00' + interval '3 hours'", "04:00:00"),
        duckdb=_time_moved("+"),
    ),
    Function(
        "timetz_add", "+", "timetz interval > timetz", ("timetz '01:00+02' + interval '3 hours'", "04:00:00+02"),
        duckdb="timetz_moved({0}, {1}, 1)",
    ),
    Function(
        "interval_add_timetz", "+", "interval timetz > timetz",
        ("interval '3 hours' + timetz '01:00+02'", "04:00:00+02"), swaps="timetz_add",
    ),
    Function(
        "timetz_at_date", "+", "timetz date > timestamptz",
        ("timetz '03:00+05' + date '2001-09-28'", "2001-09-27 22:00:00+00"), swaps="date_at_timetz",
    ),
    Function(
        "interval_add_time", "+", "interval time > time", ("interval '3 hours' + time '01:00'", "04:00:00"),
        swaps="time_add",
    ),
    Function(
        "time_at_date", "+", "time date > timestamp", ("time '03:00' + date '2001-09-28'", "2001-09-28 03:00:00"),
        swaps="date_at_time",
    ),
    Function(
        "time_span", "-", "timestamp timestamp > interval; timestamptz timestamptz > interval",
        ("timestamp '2001-09-29 03:00' - timestamp '2001-07-27 12:00'", "63 days 15:00:00"),
        duckdb={family: f"{family}_span({{0}}, {{1}})" for family in ("timestamp", "timestamptz")},
    ),
    Function(
        "interval_difference", "-", "interval interval > interval",
        ("interval '1 day' - interval '1 hour'", "1 day -01:00:00"), embedded=Kernel("calendars.spans.interval_difference"),
    ),
    Function(
        "time_subtract", "-", "time interval > time", ("time '05:00' - interval '2 hours'", "03:00:00"),
        duckdb=_time_moved("-"),
    ),
    Function(
        "timetz_subtract", "-", "timetz interval > timetz", ("timetz '05:00+02' - interval '2 hours'", "03:00:00+02"),
        duckdb="timetz_moved({0}, {1}, -1)",
    ),
    Function(
        "time_difference", "-", "time time > interval", ("time '05:00' - time '03:00'", "02:00:00"),
        duckdb=_time_difference,
    ),
    Function(
        "interval_negate", "-", "interval > interval", ("- interval '23 hours'", "-23:00:00"),
        embedded=Kernel("calendars.spans.negated"),
    ),
    Function(
        "interval_multiply", "*", "interval float8 > interval", ("interval '1 hour' * 3.5", "03:30:00"),
        embedded=Kernel("calendars.spans.multiplied"),
    ),
    Function(
        "times_interval", "*", "float8 interval > interval", ("21 * interval '1 day'", "21 days"),
        swaps="interval_multiply",
    ),
    Function(
        "interval_divide", "/", "interval float8 > interval", ("interval '1 hour' / 1.5", "00:40:00"),
        embedded=Kernel("calendars.spans.divided"),
    ),
    Function("add_interval_value", duckdb=_add_interval),
    *(
        Function(
            f"interval_{part}", duckdb=f"({{0}}).{part}",
            kernel={"interval": Kernel(f"texts.intervals.interval_{part}")},
        )
        for part in PARTS
    ),
    Function(
        "interval_total", duckdb="interval_total({0}, {1}, {2})",
        kernel={"int8": Kernel("texts.intervals.interval_total", fallible=True, scratch=True)},
    ),
    Function(
        "interval_average", duckdb="interval_average({0}, {1}, {2}, {3})",
        kernel={"int8": Kernel("texts.intervals.interval_average", fallible=True, scratch=True)},
    ),
)  # fmt: skip
