"""Functions of dates and time stamps; the engines run with the session zone UTC.

A zone is a constant in the tree; its clock is reached through the functions zone_local and
zone_utc, never through an engine's session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sql.functions.arguments import literal_integer, literal_text
from sql.functions.intervals import date_at_time, span_date_part, span_extract, span_trunc
from sql.functions.printing import Printer, Rule, in_micros
from sql.functions.rows import STABLE, VOLATILE, Function, Kernel, Routine, routines
from sql.times.civil import DAY_US, TIMESTAMP_INFINITY, days_from_civil
from sql.times.interval_values import interval_text
from sql.times.time_fields import FIELD_DIGITS, GROWING_FIELDS
from sql.tree.expressions import Call, Expression, Literal
from sql.types.datatypes import BOOL, DATE, TIMESTAMP, TIMESTAMPTZ, SqlType, scaled_numeric

UTC_ZONES = frozenset({"", "UTC", "Etc/UTC", "GMT", "Etc/GMT", "UCT", "Zulu", "Universal"})


# Fields that the engines count otherwise than PostgreSQL.
OWN_FIELDS = frozenset({"decade", "century", "millennium", "julian"})


SPANS = frozenset({"interval", "time", "timetz"})


SECOND_FIELDS = frozenset({"second", "milliseconds", "microseconds"})


# Times with a year of few digits, of which all units begin at a time that there is, in every zone.
USUAL_DAYS = (days_from_civil(1, 1, 2), days_from_civil(9999, 1, 1))
# Units of which each begins with a timestamp that there is: the first one is a Monday.
SMALL_UNITS = frozenset("microseconds milliseconds second minute hour day week".split())


def local_time(printer: Printer, text: str, zone: str) -> str:
    """Return a timestamptz as the timestamp that clocks in `zone` show."""
    if zone in UTC_ZONES:
        return f"CAST({text} AS {printer.type_name(TIMESTAMP)})"
    return printer.moment(f"zone_local({printer.micros(text, TIMESTAMPTZ)}, {printer.quoted(zone)})", "timestamp")


def instant(printer: Printer, text: str, zone: str) -> str:
    """Return the timestamptz at which clocks in `zone` show a timestamp."""
    if zone in UTC_ZONES:
        return f"CAST({text} AS {printer.type_name(TIMESTAMPTZ)})"
    return printer.moment(f"zone_utc({printer.micros(text, TIMESTAMP)}, {printer.quoted(zone)})", "timestamptz")


def _zone(node: Call, index: int) -> str:
    return literal_text(node.arguments[index], "a time zone") if len(node.arguments) > index else ""


def _date_trunc(printer: Printer, node: Call, texts: list[str]) -> str:
    kind = node.arguments[1].type
    unit = literal_text(node.arguments[0], "a unit")
    if kind.family == "interval":
        return span_trunc(printer, unit, texts[1])
    zone = _zone(node, 2)
    if kind.family == "timestamptz" and zone not in UTC_ZONES:
        micros = printer.micros(texts[1], kind)
        return printer.moment(f"zone_trunc({printer.quoted(unit)}, {micros}, {printer.quoted(zone)})", "timestamptz")
    if unit not in SMALL_UNITS:
        return printer.moment(
            f"timestamp_trunc({printer.quoted(unit)}, {printer.micros(texts[1], kind)})", node.type.family
        )
    return printer.truncated(unit, texts[1], kind)


def _truncation_fails(node: Call) -> bool:
    """Tell whether the unit that holds a time may begin before the first one."""
    family = node.arguments[1].type.family
    if family == "interval":
        return False
    is_zoned = family == "timestamptz" and _zone(node, 2) not in UTC_ZONES
    return is_zoned or literal_text(node.arguments[0], "a unit") not in SMALL_UNITS


def _field_fails(node: Call) -> bool:
    """Tell whether a field may be infinite."""
    return node.arguments[1].type.family not in SPANS and literal_text(node.arguments[0], "a field") in GROWING_FIELDS


def _usual(node: Call) -> Expression | None:
    """Return the condition that a time is none at the ends of time."""
    time = node.arguments[1]
    size = 1 if time.type.family == "date" else DAY_US
    first, end = (Literal(days * size, time.type) for days in USUAL_DAYS)
    return Call("and", (Call("ge", (time, first), BOOL), Call("lt", (time, end), BOOL)), BOOL)


def _field(printer: Printer, node: Call, texts: list[str]) -> tuple[str, int]:
    """Return the value of EXTRACT as a BIGINT counted in 10^-digits, and the digits."""
    kind = node.arguments[1].type
    field = literal_text(node.arguments[0], "a field")
    text = texts[1]
    if field == "epoch":
        return (printer.date_epoch(text), 0) if kind.family == "date" else (printer.micros(text, kind), 6)
    if kind.family == "timestamptz":
        text, kind = local_time(printer, text, _zone(node, 2)), TIMESTAMP
    if field in SECOND_FIELDS:
        return printer.field("microseconds", text, kind), FIELD_DIGITS[field]
    if field in OWN_FIELDS:
        return f"timestamp_part({printer.quoted(field)}, {printer.micros(text, kind)})", 0
    value = printer.field(field, text, kind)
    if field in ("year", "isoyear"):
        # PostgreSQL has no year 0: 1 BC is -1.
        return f"CASE WHEN {value} > 0 THEN {value} ELSE {value} - 1 END", 0
    return value, 0


def _extract(printer: Printer, node: Call, texts: list[str]) -> str:
    if node.arguments[1].type.family in SPANS:
        return span_extract(printer, node, texts)
    value, digits = _field(printer, node, texts)
    field, kind = literal_text(node.arguments[0], "a field"), node.arguments[1].type
    if field in GROWING_FIELDS:
        refused = f"infinite_field({printer.quoted(field)}, {_infinite_us(printer, texts[1], kind)})"
        value = f"CASE WHEN {printer.finite(texts[1], kind)} THEN {value} ELSE {refused} END"
    if digits == 0:
        return printer.fit_text(f"CAST({value} AS DECIMAL(38,0))", scaled_numeric(0), node.type)
    unit = f"CAST('{10.0**-digits:.{digits}f}' AS DECIMAL({digits},{digits}))"
    text = f"CAST(CAST({value} AS DECIMAL({38 - digits},0)) * {unit} AS DECIMAL(38,{digits}))"
    return printer.fit_text(text, scaled_numeric(digits), node.type)


def _date_part(printer: Printer, node: Call, texts: list[str]) -> str:
    if node.arguments[1].type.family in SPANS:
        return span_date_part(printer, node, texts)
    value, digits = _field(printer, node, texts)
    field, kind = literal_text(node.arguments[0], "a field"), node.arguments[1].type
    part = f"CAST({value} AS DOUBLE)" if digits == 0 else f"time_part({printer.quoted(field)}, {value})"
    if field not in GROWING_FIELDS:
        return part
    infinite = f"infinite_part({_infinite_us(printer, texts[1], kind)})"
    return f"CASE WHEN {printer.finite(texts[1], kind)} THEN {part} ELSE {infinite} END"


def _add_interval(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return a time moved by an interval: months first, with the day clamped, then days, both on
    the zone's clock; then the time.
    """
    months, days, micros = (literal_integer(argument, "an interval") for argument in node.arguments[1:4])
    zone, text = _zone(node, 4), texts[0]
    zoned = node.type.family == "timestamptz"
    if months or days:
        civil = local_time(printer, text, zone) if zoned else text
        civil = printer.shifted(civil, "months", months) if months else civil
        civil = printer.shifted(civil, "days", days) if days else civil
        text = instant(printer, civil, zone) if zoned else civil
    text = printer.shifted(text, "microseconds", micros) if micros else text
    return printer.in_range(text, node.type) if min(months, days, micros) < 0 else text


def _infinite_us(printer: Printer, text: str, kind: SqlType) -> str:
    """Return a time as microseconds where it is infinite.

    Dates reach further than timestamps: the microseconds of other dates are 0.
    """
    if kind.family != "date":
        return printer.micros(text, kind)
    later, earlier = (
        f"{text} {sign} {printer.literal(Literal(0, DATE))} THEN {us}"
        for sign, us in ((">", TIMESTAMP_INFINITY), ("<", -TIMESTAMP_INFINITY))
    )
    return f"CASE WHEN {printer.finite(text, kind)} THEN 0 WHEN {later} WHEN {earlier} END"


def _date_difference(printer: Printer, node: Call, texts: list[str]) -> str:
    kinds = [argument.type for argument in node.arguments]
    finite = " AND ".join(map(printer.finite, texts, kinds))
    infinite = (_infinite_us(printer, text, kind) for text, kind in zip(texts, kinds, strict=True))
    refused = f"infinite_span('dates', {', '.join(infinite)})"
    return f"CAST(CASE WHEN {finite} THEN {texts[0]} - {texts[1]} ELSE {refused} END AS INTEGER)"


def _moment(template: str) -> Rule:
    """Return a function whose value is microseconds, as the time that they mean."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        micros = template.format(*in_micros(printer, node, texts))
        if node.type.family == "date":
            return f"CAST({printer.moment(micros, 'timestamp')} AS DATE)"
        return printer.moment(micros, node.type.family)

    return rule


def _formatted(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return to_char, NULL for an empty template and an infinite time."""
    moment, template = texts[0], node.arguments[1]
    operands = [printer.micros(moment, node.arguments[0].type), texts[1]]
    if node.arguments[0].type.family == "timestamptz":
        # What the zone's time is called is computed where a template may show it.
        is_shown = not isinstance(template, Literal) or "tz" in str(template.value).lower()
        operands += [f"zone_name({operands[0]}, {texts[2]})" if is_shown else "''", texts[2]]
    known = f"{printer.finite(moment, node.arguments[0].type)} AND {texts[1]} <> ''"
    return f"CASE WHEN {known} THEN {node.arguments[0].type.family}_format({', '.join(operands)}) END"


FIELD = {0: "field"}
LACKS = "calendars.fields.timestamp_lacks"


def _of_field(plain: str, zoned: str, fallible: bool = False, null_where: str = "") -> Mapping[str, Kernel]:
    """Return the kernels of a function of a field of a timestamp, without and with a zone."""
    return {
        "timestamp": Kernel(f"calendars.fields.{plain}", fallible, reads=FIELD, null_where=null_where),
        "timestamptz": Kernel(f"calendars.fields.{zoned}", fallible, reads={**FIELD, 2: "zone"}, null_where=null_where),
    }


def _age(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return age, on UTC's clock where there is no zone."""
    return "time_age({}, {}, {})".format(*[*in_micros(printer, node, texts), "''"][:3])


def _shown_extract(call: Call, text: Callable[[Expression], str]) -> str:
    field, *operands = call.arguments
    return f"EXTRACT({literal_text(field, 'a field')} FROM {', '.join(map(text, operands))})"


def _shown_format(call: Call, text: Callable[[Expression], str]) -> str:
    return f"to_char({', '.join(map(text, call.arguments[:2]))})"


def _shown_shift(call: Call, text: Callable[[Expression], str]) -> str:
    """Return what is added or taken away: months, days and microseconds, which are constants."""
    moved, *parts = call.arguments[:4]
    amounts = [literal_integer(part, "an interval") for part in parts]
    sign = "-" if max(amounts) <= 0 and any(amounts) else "+"
    months, days, micros = (-one if sign == "-" else one for one in amounts)
    return f"{text(moved)} {sign} interval '{interval_text((months, days, micros))}'"


# A date or a time stamp moved by an interval.
MOVED = "; ".join(
    f"{family} interval > {result} as {result} interval"
    for family, result in (("date", "timestamp"), ("timestamp", "timestamp"), ("timestamptz", "timestamptz"))
)
# Spans with an end or a length each. The last signature of a type has what is called in the end.
SPANS_OF_TIME = "timetz timetz timetz timetz > bool; " + "; ".join(
    f"{family} {first} {family} {second} > bool"
    for family in ("time", "timestamp", "timestamptz")
    for first, second in (("interval", "interval"), ("interval", family), (family, "interval"), (family, family))
)
FUNCTIONS = (
    Function(
        "date_trunc", "date_trunc",
        "text timestamp > timestamp; text timestamptz > timestamptz; text timestamptz text > timestamptz; text interval > interval",
        ("date_trunc('hour', timestamp '2001-02-16 20:38:40')", "2001-02-16 20:00:00"),
        can_fail=_truncation_fails, usual=_usual, duckdb=_date_trunc, bound="field",
        kernel=_of_field("date_trunc_us", "date_trunc_zoned", fallible=True), kernel_operand=1,
        constants={0: "'hour'", 2: "'Europe/Berlin'"},
    ),
    Function(
        "extract", "extract",
        "text date > numeric; text timestamp > numeric; text timestamptz > numeric; text interval > numeric; text time > numeric; "
        "text timetz > numeric",
        ("extract(hour from timestamp '2001-02-16 20:38:40')", "20"),
        can_fail=_field_fails, usual=_usual, duckdb=_extract,
        kernel={
            "date": Kernel("calendars.fields.field_of_date", True, reads=FIELD, null_where="calendars.fields.date_lacks"),
            **_of_field("field_of_timestamp", "field_of_timestamptz", fallible=True, null_where=LACKS),
        },
        kernel_operand=1, bound="field", shown=_shown_extract, constants={0: "'epoch'"},
    ),
    Function(
        "date_part", "date_part",
        "text date > float8 as text timestamp; text timestamp > float8; text timestamptz > float8; "
        "text interval > float8; text time > float8; text timetz > float8",
        ("date_part('month', interval '2 years 3 months')", "3"), can_fail=False, duckdb=_date_part,
        kernel=_of_field("date_part_timestamp", "date_part_zoned", null_where=LACKS), kernel_operand=1, bound="field",
        constants={0: "'epoch'"},
    ),
    Function(
        "to_zone", "timezone", "text timestamptz > timestamp",
        ("timezone('America/New_York', timestamptz '2001-02-16 19:38:40+00')", "2001-02-16 14:38:40"),
        bound="zone", constants={0: "'Europe/Berlin'"},
        missing="interval timestamp; interval timestamptz; text timetz; interval timetz",
    ),
    Function(
        "from_zone", "timezone", "text timestamp > timestamptz",
        ("timezone('America/New_York', timestamp '2001-02-16 19:38:40')", "2001-02-17 00:38:40+00"),
        bound="zone", constants={0: "'Europe/Berlin'"},
    ),
    Function(
        "age", "age", "timestamp timestamp > interval; timestamptz timestamptz > interval",
        ("age(timestamp '2001-04-10', timestamp '1957-06-13')", "43 years 9 mons 27 days"),
        duckdb=_age, zoned=2,
    ),
    Function(
        "age_today", "age", "timestamp > interval; timestamptz > interval",
        ("age(timestamp '1957-06-13') > interval '60 years'", "t"), zoned=1, bound="today",
    ),
    Function(
        "date_bin", "date_bin",
        "interval timestamp timestamp > timestamp; interval timestamptz timestamptz > timestamptz",
        ("date_bin('15 minutes', timestamp '2001-02-16 20:38:40', timestamp '2001-02-16 20:05:00')", "2001-02-16 20:35:00"),
        python="time.date_bin", kernel_operand=1,
        kernel={"timestamp timestamptz": Kernel("calendars.shifts.date_bin_us", fallible=True, reads={0: "width"})},
        constants={0: "'1 hour'", 2: "'2001-01-01'"},
    ),
    Function(
        "overlaps", "overlaps", SPANS_OF_TIME,
        ("(date '2001-02-16', interval '100 days') overlaps (date '2001-10-30', date '2002-10-30')", "f"),
        strict=False, bound="spans",
        python={**dict.fromkeys(("time", "timestamp", "timestamptz"), "time.overlaps"), "timetz": "time.zoned_overlaps"},
    ),
    Function(
        "isfinite", "isfinite", "date > bool; timestamp > bool; timestamptz > bool; interval > bool",
        ("isfinite(date 'infinity')", "f"),
        duckdb={
            "date timestamp timestamptz": "isfinite({0})",
            "interval": "CASE WHEN {0} IS NOT NULL THEN TRUE END",
        },
        kernel={
            "date": Kernel("calendars.calendar.is_finite_date"),
            "timestamp timestamptz": Kernel("calendars.calendar.is_finite_timestamp"),
        },
    ),
    Function(
        "make_date", "make_date", "int4 int4 int4 > date", ("make_date(2013, 7, 15)", "2013-07-15"),
        python="time.make_date",
    ),
    Function(
        "make_time", "make_time", "int4 int4 float8 > time", ("make_time(8, 15, 23.5)", "08:15:23.5"),
        python="time.make_time",
    ),
    Function(
        "make_timestamp", "make_timestamp", "int4 int4 int4 int4 int4 float8 > timestamp",
        ("make_timestamp(2013, 7, 15, 8, 15, 23.5)", "2013-07-15 08:15:23.5"), python="time.make_timestamp",
    ),
    Function(
        "make_timestamptz", "make_timestamptz",
        "int4 int4 int4 int4 int4 float8 > timestamptz; int4 int4 int4 int4 int4 float8 text > timestamptz",
        ("make_timestamptz(2013, 7, 15, 8, 15, 23.5, 'America/New_York')", "2013-07-15 12:15:23.5+00"),
        python="time.make_timestamptz", zoned=6,
    ),
    Function(
        "to_timestamp", "to_timestamp", "float8 > timestamptz", ("to_timestamp(1284352323)", "2010-09-13 04:32:03+00"),
        kernel=Kernel("calendars.calendar.timestamp_from_epoch", fallible=True),
    ),
    Function(
        "read_timestamp", "to_timestamp", "text text > timestamptz",
        ("to_timestamp('05 Dec 2000', 'DD Mon YYYY')", "2000-12-05 00:00:00+00"), volatility=STABLE,
        duckdb=_moment("timestamptz_read({0}, {1}, {2})"), zoned=2,
    ),
    Function(
        "read_date", "to_date", "text text > date", ("to_date('05 Dec 2000', 'DD Mon YYYY')", "2000-12-05"),
        volatility=STABLE, python="time_reading.read_date",
    ),
    Function(
        "format_time", "to_char", "timestamp text > text as timestamp text; timestamptz text > text",
        ("to_char(timestamp '2002-04-20 17:31:12.66', 'HH12:MI:SS')", "05:31:12"), volatility=STABLE,
        duckdb=_formatted, zoned=2, constants={1: "'99'"}, shown=_shown_format,
    ),
    Function(
        "clock_timestamp", "clock_timestamp", "> timestamptz", strict=False, volatility=VOLATILE,
        duckdb=_moment("clock_us(0)"),
    ),
    Function(
        "date_add_days", "+", "date int4 > date", ("date '2001-09-28' + 7", "2001-10-05"),
        duckdb="date_checked({0} + {1})", kernel=Kernel("calendars.calendar.date_add_days", fallible=True), infix="+",
    ),
    Function(
        "days_add_date", "+", "int4 date > date", ("7 + date '2001-09-28'", "2001-10-05"),
        swaps="date_add_days",
    ),
    Function(
        "add_interval", "+",
        MOVED,
        ("date '2001-01-31' + interval '1 month'", "2001-02-28 00:00:00"), duckdb=_add_interval,
        kernel={
            "timestamp": Kernel("calendars.shifts.add_interval_us", fallible=True),
            "timestamptz": Kernel("calendars.shifts.add_interval_zoned", fallible=True, reads={4: "zone"}),
        },
        bound="shift", infix="+", shown=_shown_shift, constants={1: "interval '1 month'"},
    ),
    Function(
        "date_at_timetz", "+", "date timetz > timestamptz",
        ("date '2001-09-28' + timetz '03:00+05'", "2001-09-27 22:00:00+00"), duckdb=date_at_time,
    ),
    Function(
        "date_at_time", "+", "date time > timestamp", ("date '2001-09-28' + time '03:00'", "2001-09-28 03:00:00"),
        duckdb=date_at_time,
    ),
    Function(
        "date_subtract_days", "-", "date int4 > date", ("date '2001-10-01' - 7", "2001-09-24"),
        duckdb="date_checked({0} - {1})", kernel=Kernel("calendars.calendar.date_subtract_days", fallible=True),
        infix="-",
    ),
    Function(
        "date_difference", "-", "date date > int4", ("date '2001-10-01' - date '2001-09-28'", "3"),
        duckdb=_date_difference, kernel=Kernel("calendars.calendar.date_difference", fallible=True), infix="-",
    ),
    Function(
        "subtract_interval", "-",
        MOVED,
        ("timestamp '2001-03-31 23:00' - interval '1 month 23 hours'", "2001-02-28 00:00:00"),
        bound="shift", constants={1: "interval '1 month'"},
    ),
)  # fmt: skip
ROUTINES = (
    *routines(
        time_age=("timestamp timestamp text > interval", "time.age"),
        interval_made=("int4 int4 int4 int4 int4 int4 float8 > interval", "time.make_interval"),
        zone_name=("timestamptz text > text", "time.zone_name"),
        infinite_span=("text int8 int8 > int8", "time.infinite_span"),
        infinite_field=("text int8 > int8", "time.infinite_field"),
        infinite_part=("int8 > float8", "time.infinite_part"),
        timestamptz_read=("text text text > timestamptz", "time_reading.read_timestamp"),
    ),
    Routine("clock_us", ("int4",), "int8", "time.clock_us", is_volatile=True),
)
