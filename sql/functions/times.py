"""Functions of dates and time stamps; the engines run with the session zone UTC.

A zone is a constant in the tree; its clock is reached through the functions zone_local and
zone_utc, never through an engine's session.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sql.functions.arguments import literal_integer, literal_text
from sql.functions.comparisons import COMPARED_DAYS
from sql.functions.intervals import date_at_time, span_date_part, span_extract, span_trunc
from sql.functions.printing import Printer, micros
from sql.functions.rows import STABLE, VOLATILE, Function, Kernel, Routine, routines
from sql.times.civil import DATE_DAYS_MIN, DAY_US, days_from_civil
from sql.times.interval_values import interval_text, zone_of_interval
from sql.times.time_fields import FIELD_DIGITS, GROWING_FIELDS, known_field
from sql.times.zone_names import meant_zone
from sql.tree.expressions import Call, Expression, Literal
from sql.types.datatypes import BOOL, TIMESTAMP, TIMESTAMPTZ, scaled_numeric

UTC_ZONES = frozenset({"", "UTC", "Etc/UTC", "GMT", "Etc/GMT", "UCT", "Zulu", "Universal"})


INFINITIES = "WHEN {} THEN CAST('Infinity' AS DOUBLE) WHEN {} THEN CAST('-Infinity' AS DOUBLE) END"


# Fields that the engines count otherwise than PostgreSQL.
OWN_FIELDS = frozenset({"decade", "century", "millennium", "julian"})


SPANS = frozenset({"interval", "time", "timetz"})


SECOND_FIELDS = frozenset({"second", "milliseconds", "microseconds"})


# Times with a year of few digits, of which all units begin at a time that there is, in every zone.
USUAL_DAYS = (days_from_civil(1, 1, 2), days_from_civil(9999, 1, 1))
# Bins of constant widths are told about up to so many days, a thousand years.
BIN_DAYS_MAX = 365_000
# Units of which each begins with a timestamp that there is: the first one is a Monday.
SMALL_UNITS = frozenset("microseconds milliseconds second minute hour day week".split())


def local_time(printer: Printer, text: str, zone: str) -> str:
    """Return a timestamptz as the timestamp that clocks in `zone` show."""
    if zone in UTC_ZONES:
        return f"CAST({text} AS {printer.type_name(TIMESTAMP)})"
    return f"zone_local({text}, {printer.quoted(zone)})"


def instant(printer: Printer, text: str, zone: str) -> str:
    """Return the timestamptz at which clocks in `zone` show a timestamp."""
    if zone in UTC_ZONES:
        return f"CAST({text} AS {printer.type_name(TIMESTAMPTZ)})"
    return f"zone_utc({text}, {printer.quoted(zone)})"


def _zone(node: Call, index: int) -> str:
    return literal_text(node.arguments[index], "a time zone") if len(node.arguments) > index else ""


def _date_trunc(printer: Printer, node: Call, texts: list[str]) -> str:
    kind = node.arguments[1].type
    unit = literal_text(node.arguments[0], "a unit")
    if kind.family == "interval":
        return span_trunc(printer, unit, texts[1])
    zone = _zone(node, 2)
    if kind.family == "timestamptz" and zone not in UTC_ZONES:
        return f"zone_trunc({printer.quoted(unit)}, {texts[1]}, {printer.quoted(zone)})"
    if unit not in SMALL_UNITS:
        return f"{kind.family}_trunc({printer.quoted(unit)}, {texts[1]})"
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
    return usual_time(node.arguments[1])


def usual_time(time: Expression) -> Expression:
    """Return the condition that a time is none at the ends of time."""
    size = 1 if time.type.family == "date" else DAY_US
    first, end = (Literal(days * size, time.type) for days in USUAL_DAYS)
    return Call("and", (Call("ge", (time, first), BOOL), Call("lt", (time, end), BOOL)), BOOL)


def _field(printer: Printer, node: Call, texts: list[str]) -> tuple[str, int]:
    """Return the value of EXTRACT as a BIGINT counted in 10^-digits, and the digits."""
    kind = node.arguments[1].type
    field = literal_text(node.arguments[0], "a field")
    text = texts[1]
    if field == "epoch":
        return (printer.date_epoch(text), 0) if kind.family == "date" else (micros(text, kind), 6)
    if kind.family == "timestamptz":
        text, kind = local_time(printer, text, _zone(node, 2)), TIMESTAMP
    if field in SECOND_FIELDS:
        return printer.field("microseconds", text, kind), FIELD_DIGITS[field]
    if field in OWN_FIELDS:
        return f"{kind.family}_field({printer.quoted(field)}, {text})", 0
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
        refused = f"infinite_field({printer.quoted(field)}, {texts[1]} IS NOT NULL OR NULL)"
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
    later, earlier = (f"{texts[1]} {sign} {printer.literal(Literal(0, kind))}" for sign in "><")
    return f"CASE WHEN {printer.finite(texts[1], kind)} THEN {part} {INFINITIES.format(later, earlier)}"


def _add_interval(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return a time moved by an interval: months first, with the day clamped, then days, both on
    the zone's clock; then the time.
    """
    if not isinstance(node.arguments[3], Literal):
        # The times of windows around a slice differ by a column of microseconds alone.
        return printer.in_range(f"({texts[0]} + to_microseconds({texts[3]}))", node.type)
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


def _bin_fails(node: Call) -> bool:
    """Tell whether a time may be in a bin that begins before the first one."""
    match node.arguments:
        case Literal(value=(0, int(days), int(micros))), _, Literal(value=int(origin)) if days * DAY_US + micros > 0:
            begins_then = (DATE_DAYS_MIN * DAY_US - origin) % (days * DAY_US + micros) == 0
            return not (begins_then and 0 <= origin < DAY_US * BIN_DAYS_MAX)
    return True


def _usual_bin(node: Call) -> Expression | None:
    """Return the condition under which bins of a constant width of some years begin with a time."""
    match node.arguments:
        case Literal(value=(0, int(days), int(micros))), time, Literal(value=int(origin)):
            is_usual = 0 < days * DAY_US + micros < DAY_US * BIN_DAYS_MAX and 0 <= origin < DAY_US * BIN_DAYS_MAX
            return usual_time(time) if is_usual else None
    return None


def _formatted(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return to_char, NULL for an empty template and an infinite time."""
    moment, template = texts[0], node.arguments[1]
    operands = [moment, texts[1]]
    if node.arguments[0].type.family == "timestamptz":
        # What the zone's time is called is computed where a template may show it.
        is_shown = not isinstance(template, Literal) or "tz" in str(template.value).lower()
        operands += [f"zone_name({operands[0]}, {texts[2]})" if is_shown else "''", texts[2]]
    known = f"{printer.finite(moment, node.arguments[0].type)} AND {texts[1]} <> ''"
    return f"CASE WHEN {known} THEN {node.arguments[0].type.family}_format({', '.join(operands)}) END"


FIELD = {0: "field"}
FORMAT, SHOWS_NOTHING = "texts.format_time.format_", "texts.format_time.shows_nothing"
LACKS = "calendars.fields.timestamp_lacks"


def _of_field(plain: str, zoned: str, fallible: bool = False, null_where: str = "") -> Mapping[str, Kernel]:
    """Return the kernels of a function of a field of a timestamp, without and with a zone."""
    return {
        "timestamp": Kernel(f"calendars.fields.{plain}", fallible, reads=FIELD, null_where=null_where),
        "timestamptz": Kernel(f"calendars.fields.{zoned}", fallible, reads={**FIELD, 2: "zone"}, null_where=null_where),
    }


def _zoned_made(printer: Printer, node: Call, texts: list[str]) -> str:
    return f"zone_utc(int4_make_timestamp({', '.join(texts[:6])}), clock_zone({texts[6]}))"


def _shown_extract(call: Call, text: Callable[[Expression], str]) -> str:
    field, *operands = call.arguments
    return f"EXTRACT({literal_text(field, 'a field')} FROM {', '.join(map(text, operands))})"


def _shown_format(call: Call, text: Callable[[Expression], str]) -> str:
    return f"to_char({', '.join(map(text, call.arguments[:2]))})"


def _shown_shift(call: Call, text: Callable[[Expression], str]) -> str:
    """Return what is added or taken away: months, days and microseconds, which are constants."""
    moved, *parts = call.arguments[:4]
    if not isinstance(parts[2], Literal):
        return f"{text(moved)} + interval '1 microsecond' * {text(parts[2])}"
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
        "to_zone", "timezone", "text timestamptz > timestamp; interval timestamptz > timestamp",
        ("timezone('America/New_York', timestamptz '2001-02-16 19:38:40+00')", "2001-02-16 14:38:40"),
        bound="zone", constants={0: "'Europe/Berlin'"}, missing="text timetz; interval timetz",
    ),
    Function(
        "from_zone", "timezone", "text timestamp > timestamptz; interval timestamp > timestamptz",
        ("timezone('America/New_York', timestamp '2001-02-16 19:38:40')", "2001-02-17 00:38:40+00"),
        bound="zone", constants={0: "'Europe/Berlin'"},
    ),
    # Zones and fields that differ from row to row (bind).
    Function("meant_zone", "", "text > text", python=meant_zone),
    Function("zone_of_interval", "", "interval > text", python=zone_of_interval),
    Function("to_named_zone", "", "text timestamptz > timestamp", duckdb="zone_local({1}, {0})"),
    Function("from_named_zone", "", "text timestamp > timestamptz", duckdb="zone_utc({1}, {0})"),
    Function("trunc_in_zone", "", "text timestamptz text > timestamptz", duckdb="zone_trunc({0}, {1}, {2})"),
    Function("time_field", "", "text text text text bool > text", python=known_field),
    Function(
        "age", "age", "timestamp timestamp > interval; timestamptz timestamptz > interval",
        ("age(timestamp '2001-04-10', timestamp '1957-06-13')", "43 years 9 mons 27 days"),
        duckdb={"timestamp": "clock_age({0}, {1})", "timestamptz": "zone_age({0}, {1}, {2})"}, zoned=2,
    ),
    Function(
        "age_today", "age", "timestamp > interval; timestamptz > interval",
        ("age(timestamp '1957-06-13') > interval '60 years'", "t"), zoned=1, bound="today",
    ),
    Function(
        "date_bin", "date_bin",
        "interval timestamp timestamp > timestamp; interval timestamptz timestamptz > timestamptz",
        ("date_bin('15 minutes', timestamp '2001-02-16 20:38:40', timestamp '2001-02-16 20:05:00')", "2001-02-16 20:35:00"),
        can_fail=_bin_fails, usual=_usual_bin, kernel_operand=1,
        duckdb=lambda printer, node, texts: f"{node.type.family}_bin({', '.join(texts)})",
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
        embedded=Kernel("calendars.made_times.make_date"), parameters="year month day",
    ),
    Function(
        "make_time", "make_time", "int4 int4 float8 > time", ("make_time(8, 15, 23.5)", "08:15:23.5"),
        embedded=Kernel("calendars.made_times.make_time"), parameters="hour min sec",
    ),
    Function(
        "make_timestamp", "make_timestamp", "int4 int4 int4 int4 int4 float8 > timestamp",
        ("make_timestamp(2013, 7, 15, 8, 15, 23.5)", "2013-07-15 08:15:23.5"), embedded=Kernel("calendars.made_times.make_timestamp"),
        parameters="year month mday hour min sec",
    ),
    Function(
        "make_timestamptz", "make_timestamptz",
        "int4 int4 int4 int4 int4 float8 > timestamptz; int4 int4 int4 int4 int4 float8 text > timestamptz",
        ("make_timestamptz(2013, 7, 15, 8, 15, 23.5, 'America/New_York')", "2013-07-15 12:15:23.5+00"),
        duckdb=_zoned_made, zoned=6, parameters="year month mday hour min sec timezone",
    ),
    Function(
        "to_timestamp", "to_timestamp", "float8 > timestamptz", ("to_timestamp(1284352323)", "2010-09-13 04:32:03+00"),
        kernel=Kernel("calendars.calendar.timestamp_from_epoch", fallible=True),
    ),
    Function(
        "read_timestamp", "to_timestamp", "text text > timestamptz",
        ("to_timestamp('05 Dec 2000', 'DD Mon YYYY')", "2000-12-05 00:00:00+00"), volatility=STABLE,
        duckdb="timestamptz_read({0}, {1}, {2})", zoned=2,
    ),
    Function(
        "read_date", "to_date", "text text > date", ("to_date('05 Dec 2000', 'DD Mon YYYY')", "2000-12-05"),
        volatility=STABLE, python="time_reading.read_date",
    ),
    Function(
        "format_time", "to_char", "timestamp text > text as timestamp text; timestamptz text > text",
        ("to_char(timestamp '2002-04-20 17:31:12.66', 'HH12:MI:SS')", "05:31:12"), volatility=STABLE,
        duckdb=_formatted, zoned=2, constants={1: "'99'"}, shown=_shown_format,
        kernel={
            "timestamp": Kernel(f"{FORMAT}timestamp", True, True, reads={1: "template"}, null_where=SHOWS_NOTHING),
            "timestamptz": Kernel(f"{FORMAT}zoned", True, True, reads={1: "template", 2: "zone"}, null_where=SHOWS_NOTHING),
        },
    ),
    Function(
        "clock_timestamp", "clock_timestamp", "> timestamptz", strict=False, volatility=VOLATILE,
        duckdb="timestamptz_moment(clock_us(0))",
    ),
    Function(
        "date_add_days", "+", "date int4 > date", ("date '2001-09-28' + 7", "2001-10-05"),
        kernel=Kernel("calendars.calendar.date_add_days", fallible=True), infix="+",
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
        kernel=Kernel("calendars.calendar.date_subtract_days", fallible=True),
        infix="-",
    ),
    Function(
        "date_difference", "-", "date date > int4", ("date '2001-10-01' - date '2001-09-28'", "3"),
        kernel=Kernel("calendars.calendar.date_difference", fallible=True), infix="-",
    ),
    Function(
        "subtract_interval", "-",
        MOVED,
        ("timestamp '2001-03-31 23:00' - interval '1 month 23 hours'", "2001-02-28 00:00:00"),
        bound="shift", constants={1: "interval '1 month'"},
    ),
    # A date beside a time stamp (bind).
    Function(
        COMPARED_DAYS["timestamp"], "", "date > timestamp", can_fail=False, duckdb="compared_midnight({0})",
        spark=lambda printer, node, texts: printer.civil(texts[0], "date", "timestamp"),
        kernel=Kernel("calendars.calendar.compared_midnight"), shown="{0}::timestamp without time zone",
    ),
    Function(
        COMPARED_DAYS["timestamptz"], "", "date text > timestamptz", can_fail=False,
        duckdb="compared_zoned_midnight({0}, {1})",
        spark=lambda printer, node, texts: instant(printer, printer.civil(texts[0], "date", "timestamp"), _zone(node, 1)),
        kernel=Kernel("calendars.zoned_calendar.compared_zoned_midnight", reads={1: "zone"}),
        shown="{0}::timestamp with time zone AT TIME ZONE {1}",
    ),
)  # fmt: skip
ROUTINES = (
    *routines(
        clock_age=("timestamp timestamp > interval", Kernel("calendars.spans.age")),
        zone_age=("timestamptz timestamptz zone > interval", Kernel("calendars.spans.age_zoned")),
        timestamp_bin=("interval timestamp timestamp > timestamp", Kernel("calendars.spans.interval_bin")),
        timestamptz_bin=("interval timestamptz timestamptz > timestamptz", Kernel("calendars.spans.interval_bin")),
        interval_made=("int4 int4 int4 int4 int4 int4 float8 > interval", Kernel("calendars.spans.interval_made")),
        timestamp_span=("timestamp timestamp > interval", Kernel("calendars.spans.time_span")),
        timestamptz_span=("timestamptz timestamptz > interval", Kernel("calendars.spans.time_span")),
        timestamp_shift=("timestamp interval > timestamp", Kernel("calendars.shifts.add_interval_us")),
        timestamptz_shift=("timestamptz interval zone > timestamptz", Kernel("calendars.shifts.add_interval_zoned")),
        compared_midnight=("date > timestamp", Kernel("calendars.calendar.compared_midnight")),
        compared_zoned_midnight=("date zone > timestamptz", Kernel("calendars.zoned_calendar.compared_zoned_midnight")),
        clock_zone=("text > text", "time.clock_zone"),
        zone_name=("timestamptz text > text", "time.zone_name"),
        infinite_field=("text bool > int8", "time.infinite_field"),
        timestamptz_read=("text text text > timestamptz", "time_reading.read_timestamp"),
    ),
    Routine("clock_us", ("int4",), "int8", "time.clock_us", is_volatile=True),
)
