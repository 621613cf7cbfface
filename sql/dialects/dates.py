"""Arithmetic of dates: units by their names, what begins a unit, what adds units, and the two ways
to count them: boundaries that are crossed, and whole units that have passed.

Enters: units and expressions that are rewritten already. Leaves: expressions of PostgreSQL's.
"""

from __future__ import annotations

import re

from sqlglot import exp

from sql.dialects.calls import Call, bare, cast, filled, integer_of, literal, number, operand, text_of
from sql.dialects.context import Context
from sql.dialects.kinds import kind_of

SYNONYMS = {
    "year": "yy yyyy y years yr yrs",
    "quarter": "qq q qtr quarters",
    "month": "mm mon mons months mth",
    "week": "wk ww w weeks",
    "day": "dd d days dayofmonth day_of_month",
    "hour": "hh h hr hrs hours",
    "minute": "mi min minutes mins n m",
    "second": "ss s sec seconds secs",
    "millisecond": "ms msec milliseconds",
    "microsecond": "us usec microseconds mcs",
    "dayofyear": "doy day_of_year dy",
    "dayofweek": "dow dw weekday day_of_week",
    "isoweek": "iso_week isowk isoww weekiso week_iso week(monday)",
    "isodow": "dayofweekiso dayofweek_iso dow_iso",
    "isoyear": "yearofweekiso yearofweek",
    "epoch": "epoch_second epoch_seconds",
}
UNITS = {name: unit for unit, names in SYNONYMS.items() for name in (unit, *names.split())}
# Abbreviations that mean something else in one dialect.
OWN_UNITS = {("tsql", "m"): "month", ("tsql", "y"): "dayofyear", ("tsql", "w"): "dayofweek", ("oracle", "w"): ""}
CALENDAR = ("year", "quarter", "month", "week", "day")
SECONDS = {"week": 604800, "day": 86400, "hour": 3600, "minute": 60, "second": 1}
# Those whose weeks begin on Sunday, unless the unit says Monday.
SUNDAYS = frozenset({"bigquery", "tsql"})
# Those whose functions of dates give dates for dates.
KEEPS_DATES = frozenset({"bigquery", "databricks", "duckdb", "mysql", "snowflake", "spark", "trino", "tsql"})
INTERVAL_TEXT = re.compile(r"-?\d+(\.\d+)?( [a-z]+(,? -?\d+(\.\d+)? [a-z]+)*)?", re.IGNORECASE)


def unit_of(node: exp.Expr | None, call: Call) -> str:
    """Return the unit that an argument names: year, quarter, month, isoweek, week, day, hour ..."""
    node = bare(node)
    if isinstance(node, exp.Anonymous) and len(node.expressions) == 1:
        written = f"{node.this}({node.expressions[0].name})".lower()
    else:
        written = node.name.lower() if isinstance(node, exp.Var | exp.Column | exp.Literal) else ""
    dialect = call.context.dialect
    unit = OWN_UNITS.get((dialect, written), UNITS.get(written, ""))
    if not unit:
        raise call.refuse(f"the unit {written or 'that is not a constant'}")
    return "sundays" if unit == "week" and dialect in SUNDAYS else "week" if unit == "isoweek" else unit


def as_timestamp(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a value as a timestamp without a zone."""
    return operand(node) if kind_of(node, context) == "timestamp" else cast(node, "TIMESTAMP")


def as_date(node: exp.Expr, context: Context) -> exp.Expr:
    """Return a value as a date."""
    return operand(node) if kind_of(node, context) == "date" else cast(node, "DATE")


def as_time(node: exp.Expr) -> exp.Expr:
    """Return a constant text as a timestamp, and any other value as it is."""
    return operand(node) if text_of(node) is None else cast(node, "TIMESTAMP")


def beginning(unit: str, node: exp.Expr, call: Call, as_dates: bool = False) -> exp.Expr:
    """Return the beginning of the unit in which a value lies."""
    context = call.context
    is_date = kind_of(node, context) == "date"
    value = as_time(node)
    if unit == "sundays":
        found = filled("DATE_TRUNC('week', $1 + INTERVAL '1 day') - INTERVAL '1 day'", [value])
    elif unit in (*CALENDAR, "hour", "minute", "second", "millisecond", "microsecond"):
        spelled = f"{unit}s" if unit.endswith("isecond") or unit == "microsecond" else unit
        found = filled("DATE_TRUNC($2, $1)", [value, literal(spelled)])
    else:
        raise call.refuse(f"the unit {unit}")
    return cast(found, "DATE") if as_dates or (is_date and context.dialect in KEEPS_DATES) else found


def units(count: exp.Expr, unit: str, call: Call) -> exp.Expr:
    """Return an interval of so many units; the parts of a negative count are negative."""
    factor, name = {"quarter": (3, "month"), "week": (7, "day"), "sundays": (7, "day")}.get(unit, (1, unit))
    if name not in ("year", "month", "day", "hour", "minute", "second", "millisecond", "microsecond"):
        raise call.refuse(f"the unit {unit}")
    value = integer_of(count)
    if value is not None:
        return exp.Interval(this=literal(f"{value * factor} {name}"))
    return filled(f"$1 * INTERVAL '{factor} {name}'", [count])


def added(unit: str, count: exp.Expr, node: exp.Expr, call: Call, sign: str = "+", as_dates: bool = False) -> exp.Expr:
    """Return a time so many units later, or earlier."""
    context = call.context
    is_date = as_dates or (kind_of(node, context) == "date" and context.dialect in KEEPS_DATES)
    whole = integer_of(count)
    if whole is not None and whole < 0:
        sign, count = ("-" if sign == "+" else "+"), number(-whole)
    if is_date and unit == "day":
        return filled(f"$1 {sign} $2", [as_date(node, context), count])
    found = filled(f"$1 {sign} $2", [as_time(node), units(count, unit, call)])
    return cast(found, "DATE") if is_date and unit in (*CALENDAR, "sundays") else found


def boundaries(unit: str, start: exp.Expr, end: exp.Expr, call: Call) -> exp.Expr:
    """Return how many boundaries of a unit lie between two times."""
    context = call.context
    if unit == "day":
        return filled("$2 - $1", [as_date(start, context), as_date(end, context)])
    times = [as_timestamp(start, context), as_timestamp(end, context)]
    if unit in ("week", "sundays"):
        shift = " + INTERVAL '1 day'" if unit == "sundays" else ""
        weeks = f"CAST(DATE_TRUNC('week', ${{}}{shift}) AS DATE)"
        return filled(f"({weeks.format(2)} - {weeks.format(1)}) / 7", times)
    years = "(EXTRACT(YEAR FROM $2) - EXTRACT(YEAR FROM $1))"
    if unit == "year":
        return filled(f"CAST({years} AS INTEGER)", times)
    if unit in ("quarter", "month"):
        count = {"quarter": 4, "month": 12}[unit]
        parts = f"(EXTRACT({unit.upper()} FROM $2) - EXTRACT({unit.upper()} FROM $1))"
        return filled(f"CAST({years} * {count} + {parts} AS INTEGER)", times)
    if unit in ("hour", "minute", "second"):
        spans = f"DATE_TRUNC('{unit}', $2) - DATE_TRUNC('{unit}', $1)"
        return filled(f"CAST(EXTRACT(EPOCH FROM {spans}) / {SECONDS[unit]} AS BIGINT)", times)
    if unit in ("millisecond", "microsecond"):
        per_second, spelled = {"millisecond": (1000, "milliseconds"), "microsecond": (1000000, "microseconds")}[unit]
        spans = f"DATE_TRUNC('{spelled}', $2) - DATE_TRUNC('{spelled}', $1)"
        return filled(f"CAST(EXTRACT(EPOCH FROM {spans}) * {per_second} AS BIGINT)", times)
    raise call.refuse(f"the unit {unit}")


def elapsed(unit: str, start: exp.Expr, end: exp.Expr, call: Call) -> exp.Expr:
    """Return how many whole units have passed between two times."""
    context = call.context
    if unit == "day" and kind_of(start, context) == kind_of(end, context) == "date":
        return filled("$2 - $1", [start, end])
    times = [as_timestamp(start, context), as_timestamp(end, context)]
    if unit in ("week", "sundays", *SECONDS):
        seconds = SECONDS["week" if unit == "sundays" else unit]
        return filled(f"CAST(TRUNC(EXTRACT(EPOCH FROM $2 - $1) / {seconds}) AS BIGINT)", times)
    if unit in ("millisecond", "microsecond"):
        per_second = {"millisecond": 1000, "microsecond": 1000000}[unit]
        return filled(f"CAST(TRUNC(EXTRACT(EPOCH FROM $2 - $1) * {per_second}) AS BIGINT)", times)
    if unit not in ("year", "quarter", "month") or context.dialect == "trino":
        raise call.refuse(f"whole units of a {unit}")
    # The later one first, so that months are counted from the earlier one on.
    months = "EXTRACT(YEAR FROM AGE($2, $1)) * 12 + EXTRACT(MONTH FROM AGE($2, $1))"
    backwards = months.replace("AGE($2, $1)", "AGE($1, $2)")
    count = {"year": 12, "quarter": 3, "month": 1}[unit]
    template = f"CASE WHEN $2 >= $1 THEN ({months}) ELSE -({backwards}) END"
    return filled(f"CAST(TRUNC(({template}) / {count}) AS BIGINT)", times)


def part(unit: str, node: exp.Expr, call: Call) -> exp.Expr:
    """Return a field of a time, as an integer."""
    context = call.context
    value = as_time(node)
    if unit == "dayofweek":
        # 0 or 1 is Sunday, or 1 is Monday.
        template = {
            **dict.fromkeys(("snowflake", "duckdb", "risingwave", "materialize"), "EXTRACT(DOW FROM $1)"),
            **dict.fromkeys(("clickhouse", "trino"), "EXTRACT(ISODOW FROM $1)"),
        }.get(context.dialect, "EXTRACT(DOW FROM $1) + 1")
        return filled(f"CAST({template} AS INTEGER)", [value])
    if unit == "sundays" or (unit == "week" and context.dialect in ("mysql", "clickhouse", "oracle")):
        raise call.refuse("weeks that do not begin as those of ISO 8601 do")
    field = {"dayofyear": "DOY"}.get(unit, unit.upper())
    if unit in ("millisecond", "microsecond"):
        raise call.refuse(f"the field {unit}")
    if unit == "second":
        return filled("CAST(FLOOR(EXTRACT(SECOND FROM $1)) AS INTEGER)", [value])
    kind = "BIGINT" if unit == "epoch" else "INTEGER"
    return filled(
        f"CAST({'FLOOR(' if unit == 'epoch' else ''}EXTRACT({field} FROM $1){')' if unit == 'epoch' else ''} AS {kind})",
        [value],
    )


def written_interval(node: exp.Interval, context: Context) -> exp.Expr:
    """Return INTERVAL as PostgreSQL writes it. Raises 0A000 for units that it does not have."""
    call = Call("INTERVAL", (), node, context)
    unit, value = node.args.get("unit"), node.this
    text = value.name if isinstance(value, exp.Literal) else None
    if unit is None:
        if text is None or not INTERVAL_TEXT.fullmatch(text.strip()):
            raise call.refuse(f"the interval {text!r}")
        return exp.Interval(this=literal(text.strip()))
    if not isinstance(unit, exp.Var | exp.Column):
        raise call.refuse("the unit of an interval")
    name = unit_of(unit, call)
    if text is None:
        return units(value, name, call)
    if not re.fullmatch(r"\s*-?\d+(\.\d+)?\s*", text):
        raise call.refuse(f"the interval {text!r}")
    if re.fullmatch(r"\s*-?\d{1,9}\s*", text):
        return units(number(int(text)), name, call)
    return units(exp.Literal.number(text.strip()), name, call)
