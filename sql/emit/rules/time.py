"""Rules of date_trunc, extract, date_part, intervals and zones: alike in both engines, which run
with the session zone UTC.

A zone is a constant in the tree; its clock is reached through the functions zone_local and
zone_utc, never through an engine's session.
"""

from __future__ import annotations

from collections.abc import Mapping

from sql.emit.rules.arguments import literal_integer, literal_text
from sql.emit.rules.type import span_date_part, span_extract, span_trunc
from sql.errors import not_supported
from sql.functions.printing import Printer, Rule
from sql.times.civil import TIMESTAMP_INFINITY
from sql.times.time_fields import FIELD_DIGITS, GROWING_FIELDS
from sql.tree.expressions import Call, Literal
from sql.types.datatypes import DATE, TIMESTAMP, TIMESTAMPTZ, SqlType, scaled_numeric

UTC_ZONES = frozenset({"", "UTC", "Etc/UTC", "GMT", "Etc/GMT", "UCT", "Zulu", "Universal"})
# Fields that the engines count otherwise than PostgreSQL.
OWN_FIELDS = frozenset({"decade", "century", "millennium", "julian"})
OWN_UNITS = frozenset({"decade", "century", "millennium"})
SPANS = frozenset({"interval", "time"})
SECOND_FIELDS = frozenset({"second", "milliseconds", "microseconds"})


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
    if unit in OWN_UNITS:
        return printer.moment(
            f"timestamp_trunc({printer.quoted(unit)}, {printer.micros(texts[1], kind)})", node.type.family
        )
    return printer.truncated(unit, texts[1], kind)


def _field(printer: Printer, node: Call, texts: list[str]) -> tuple[str, int]:
    """Return the value of EXTRACT as a BIGINT counted in 10^-digits, and the digits."""
    kind = node.arguments[1].type
    field = literal_text(node.arguments[0], "a field")
    text = texts[1]
    if field == "epoch":
        return (printer.date_epoch(text), 0) if kind.family == "date" else (printer.micros(text, kind), 6)
    if field.startswith("timezone"):
        if kind.family != "timestamptz":
            raise not_supported(f"field {field} of {kind.sql_name}", node.position)
        return (
            f"zone_part({printer.quoted(field)}, {printer.micros(text, kind)}, {printer.quoted(_zone(node, 2) or 'UTC')})",
            0,
        )
    if field == "julian" and kind.family != "date":
        raise not_supported(f"field julian of {kind.sql_name}", node.position)
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


def date_difference(template: str) -> Rule:
    """Return the rule of date - date for an engine's own difference."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        kinds = [argument.type for argument in node.arguments]
        finite = " AND ".join(map(printer.finite, texts, kinds))
        infinite = (_infinite_us(printer, text, kind) for text, kind in zip(texts, kinds, strict=True))
        refused = f"infinite_span('dates', {', '.join(infinite)})"
        return f"CAST(CASE WHEN {finite} THEN {template.format(*texts)} ELSE {refused} END AS INTEGER)"

    return rule


TIME_RULES: Mapping[str, Mapping[str, Rule]] = {
    "add_interval": {"timestamp timestamptz": _add_interval},
    "date_trunc": {"text": _date_trunc},
    "extract": {"text": _extract, "numeric": _extract},
    "date_part": {"text": _date_part},
}


def _moment(template: str) -> Rule:
    """Return a function whose value is microseconds, as the time that they mean."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        micros = template.format(*in_micros(printer, node, texts))
        if node.type.family == "date":
            return f"CAST({printer.moment(micros, 'timestamp')} AS DATE)"
        return printer.moment(micros, node.type.family)

    return rule


def in_micros(printer: Printer, node: Call, texts: list[str]) -> list[str]:
    """Return the operands with dates and time stamps as microseconds."""
    return [
        printer.micros(text, argument.type) if argument.type.family in ("date", "timestamp", "timestamptz") else text
        for text, argument in zip(texts, node.arguments, strict=True)
    ]


def _span(template: str) -> Rule:
    """Return a function of times whose value is no time."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        return template.format(*in_micros(printer, node, texts))

    return rule


def _make_interval(printer: Printer, node: Call, texts: list[str]) -> str:
    missing = ["0"] * (6 - min(len(texts), 6))
    seconds = [texts[6]] if len(texts) > 6 else ["CAST(0 AS DOUBLE)"]
    return f"interval_made({', '.join([*texts[:6], *missing, *seconds])})"


DUCKDB_DATE_RULES: Mapping[str, Mapping[str, Rule]] = {
    "age": {"timestamp timestamptz": _span("time_age({0}, {1}, {2})")},
    "date_bin": {"interval": _moment("time_bin({0}, {1}, {2})")},
    "isfinite": {"date timestamp timestamptz": "isfinite({0})", "interval": "CASE WHEN {0} IS NOT NULL THEN TRUE END"},
    "justify_days": {"interval": "interval_justify_days({0})"},
    "justify_hours": {"interval": "interval_justify_hours({0})"},
    "justify_interval": {"interval": "interval_justify_interval({0})"},
    "make_date": {"int4": _moment("date_made({0}, {1}, {2})")},
    "make_time": {"int4": "time_made({0}, {1}, {2})"},
    "make_timestamp": {"int4": _moment("timestamp_made({0}, {1}, {2}, {3}, {4}, {5})")},
    "make_timestamptz": {"int4": _moment("timestamptz_made({0}, {1}, {2}, {3}, {4}, {5}, {6})")},
    "make_interval": {"int4": _make_interval},
    "to_timestamp": {"float8": _moment("timestamp_from_epoch({0})")},
    "format_time": {
        "timestamp": _span("timestamp_format({0}, {1})"),
        "timestamptz": _span("timestamptz_format({0}, {1}, {2})"),
    },
    "read_date": {"text": _moment("date_read({0}, {1})")},
    "read_timestamp": {"text": _moment("timestamptz_read({0}, {1}, {2})")},
    "clock_timestamp": {"any": _moment("clock_us(0)")},
}
