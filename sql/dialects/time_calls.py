"""Functions of dates and times that take a unit or a format, by their names in each dialect."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial

from sqlglot import exp

from sql.dialects import formats
from sql.dialects.calls import Call, Handler, cast, filled, function, integer_of, literal, number, text_of
from sql.dialects.context import POSTGRES_LIKE, SPARKS
from sql.dialects.dates import added, as_date, as_time, beginning, boundaries, elapsed, part, unit_of
from sql.dialects.kinds import kind_of

# Whole units that have passed; the others count boundaries.
ELAPSED = {"trino", "databricks", "spark"}
FIELDS = {
    "YEAR": "year",
    "QUARTER": "quarter",
    "MONTH": "month",
    "DAY": "day",
    "HOUR": "hour",
    "MINUTE": "minute",
    "SECOND": "second",
    "DAYOFMONTH": "day",
    "DAYOFYEAR": "dayofyear",
    "DAYOFWEEK": "dayofweek",
    "WEEKOFYEAR": "week",
    "WEEK": "week",
    "WEEKISO": "week",
    "DAYOFWEEKISO": "isodow",
    "DAY_OF_WEEK": "dayofweek",
    "DAY_OF_YEAR": "dayofyear",
    "WEEK_OF_YEAR": "week",
    "DAY_OF_MONTH": "day",
}
ONE_OF = "a bad number of arguments"


def at_least(call: Call, *counts: int) -> None:
    """Raise 0A000 for another number of arguments."""
    if len(call.arguments) not in counts:
        raise call.refuse(ONE_OF)


def field(call: Call) -> exp.Expr:
    """YEAR(d) and the like."""
    at_least(call, 1)
    return part(FIELDS[call.name], call.arguments[0], call)


def extract(unit: exp.Expr, value: exp.Expr, call: Call) -> exp.Expr:
    """EXTRACT(unit FROM value)."""
    name = unit_of(unit, call)
    if call.context.dialect in ("oracle", "duckdb", "trino", *POSTGRES_LIKE) and name in ("second", "epoch"):
        # With its fraction.
        field_name = name.upper()
        return filled(f"EXTRACT({field_name} FROM $1)", [as_time(value)])
    return part(name, value, call)


def date_part(call: Call) -> exp.Expr:
    """DATE_PART(unit, value), DATEPART(unit, value)."""
    at_least(call, 2)
    return extract(call.arguments[0], call.arguments[1], call)


def date_trunc(call: Call) -> exp.Expr:
    """DATE_TRUNC(unit, value), in BigQuery (value, unit), as a date where its name says so."""
    at_least(call, 2)
    first, second = call.arguments
    backwards = call.context.dialect == "bigquery" or (call.name == "TRUNC" and call.context.dialect != "duckdb")
    value, unit = (first, second) if backwards else (second, first)
    as_dates = (call.name == "DATE_TRUNC" and call.context.dialect == "bigquery") or (
        call.name == "TRUNC" and call.context.dialect in SPARKS
    )
    return beginning(unit_of(unit, call), value, call, as_dates)


def date_add(call: Call) -> exp.Expr:
    """DATEADD(unit, n, value)."""
    at_least(call, 3)
    unit, count, value = call.arguments
    return added(unit_of(unit, call), count, value, call)


def date_add_interval(call: Call) -> exp.Expr:
    """DATE_ADD(value, interval), DATE_SUB, and in Spark DATE_ADD(value, days)."""
    if len(call.arguments) == 3:
        return date_add(call)
    at_least(call, 2)
    value, interval = call.arguments
    sign = "-" if call.name.endswith("SUB") or call.name == "SUBDATE" else "+"
    context = call.context
    if kind_of(interval, context) != "interval":
        if context.dialect in SPARKS or call.name in ("ADDDATE", "SUBDATE"):
            return filled(f"$1 {sign} $2", [as_date(value, context), interval])
        raise call.refuse("what is added is not an interval")
    found = filled(f"$1 {sign} $2", [as_time(value), interval])
    is_date = call.name.startswith("DATE_") and context.dialect == "bigquery"
    keeps = kind_of(value, context) == "date" and context.dialect == "mysql" and is_whole_days(interval)
    return cast(found, "DATE") if is_date or keeps else found


def is_whole_days(interval: exp.Expr) -> bool:
    """Tell whether an interval has no hours, minutes or seconds."""
    return not re.search("hour|minute|second", str(interval.sql()), re.IGNORECASE)


def date_diff(call: Call) -> exp.Expr:
    """DATEDIFF(unit, start, end), in BigQuery (end, start, unit)."""
    at_least(call, 3)
    dialect = call.context.dialect
    if dialect == "bigquery":
        end, start, unit = call.arguments
    else:
        unit, start, end = call.arguments
    counted = elapsed if dialect in ELAPSED or call.name.startswith(("TIMESTAMP", "AGE")) else boundaries
    if dialect in ("snowflake", "tsql"):
        counted = boundaries
    return counted(unit_of(unit, call), start, end, call)


def last_day(call: Call) -> exp.Expr:
    """LAST_DAY(value [, unit])."""
    at_least(call, 1, 2)
    unit = unit_of(call.arguments[1], call) if len(call.arguments) == 2 else "month"
    step = {"month": "1 month", "quarter": "3 months", "year": "1 year", "week": "7 days"}.get(unit)
    if step is None:
        raise call.refuse(f"the unit {unit}")
    begin = beginning(unit, call.arguments[0], call)
    return filled(f"CAST($1 + INTERVAL '{step}' - INTERVAL '1 day' AS DATE)", [begin])


def add_months(call: Call) -> exp.Expr:
    """ADD_MONTHS(value, n), which keeps the last day of a month the last but in Spark."""
    at_least(call, 2)
    value, count = call.arguments
    context = call.context
    if context.dialect in SPARKS:
        return added("month", count, value, call, as_dates=True)
    later = added("month", count, value, call)
    if isinstance(value, exp.Anonymous) and str(value.this).upper() == "DATE_TRUNC":
        return later
    last = filled(
        "CASE WHEN EXTRACT(DAY FROM $1 + INTERVAL '1 day') = 1 "
        "THEN DATE_TRUNC('month', $2) + INTERVAL '1 month' - INTERVAL '1 day' + ($1 - DATE_TRUNC('day', $1)) ELSE $2 END",
        [cast(as_time(value), "TIMESTAMP"), later],
    )
    return cast(last, "DATE") if kind_of(value, context) == "date" else last


def oracle_trunc(call: Call) -> exp.Expr:
    """TRUNC of a date or of a number: by its format, or by what the argument is."""
    at_least(call, 1, 2)
    value = call.arguments[0]
    kind = kind_of(value, call.context)
    if len(call.arguments) == 1:
        if kind in ("date", "timestamp", "timestamptz"):
            return beginning("day", value, call)
        if kind is None:
            raise call.refuse(
                "it is not known whether this is a number or a date", "Write TRUNC(x, 'DD') or TRUNC(x, 0)."
            )
        return filled("TRUNC($1)", [value])
    text = text_of(call.arguments[1])
    if text is None:
        return filled("TRUNC(CAST($1 AS NUMERIC), $2)", [value, call.arguments[1]])
    unit = {
        **dict.fromkeys(("YYYY", "YEAR", "YY", "SYYYY", "Y"), "year"),
        **dict.fromkeys(("MM", "MONTH", "MON", "RM"), "month"),
        **dict.fromkeys(("DD", "DDD", "J"), "day"),
        "Q": "quarter",
        "IW": "week",
        "HH": "hour",
        "HH24": "hour",
        "MI": "minute",
    }.get(text.upper())
    if unit is None:
        raise call.refuse(f"the format '{text}'")
    return beginning(unit, value, call)


def to_format(patterns: Mapping[str, str], letters: bool, template: str, call: Call) -> exp.Expr:
    """DATE_FORMAT(value, format) and others, whose patterns are those of a table."""
    at_least(call, 2)
    value, text = call.arguments
    if call.context.dialect == "bigquery" and call.name.startswith(("FORMAT_", "PARSE_")):
        value, text = text, value
    written = text_of(text)
    if written is None:
        raise call.refuse("a format that is not a constant")
    reading = formats.letter_format if letters else formats.percent_format
    found = reading(written, dict(patterns), call)
    return filled(template, [as_time(value) if "TO_CHAR" in template else value, literal(found)])


def same_format(template: str, call: Call) -> exp.Expr:
    """TO_CHAR(value, format), whose patterns are PostgreSQL's."""
    at_least(call, 2)
    value, text = call.arguments
    written = text_of(text)
    if written is None:
        raise call.refuse("a format that is not a constant")
    if call.name in ("TO_CHAR", "TO_VARCHAR") and re.search("[90]", written):
        raise call.refuse("a format of numbers")
    found = formats.same_format(written, call)
    return filled(template, [as_time(value) if "TO_CHAR" in template else value, literal(found)])


def date_name(call: Call) -> exp.Expr:
    """DATENAME(unit, value)."""
    at_least(call, 2)
    unit = unit_of(call.arguments[0], call)
    pattern = {"month": "FMMonth", "dayofweek": "FMDay"}.get(unit)
    if pattern is None:
        return cast(part(unit, call.arguments[1], call), "TEXT")
    return filled("TO_CHAR($1, $2)", [as_time(call.arguments[1]), literal(pattern)])


def end_of_month(call: Call) -> exp.Expr:
    """EOMONTH(value, months)."""
    at_least(call, 2)
    later = added("month", call.arguments[1], cast(call.arguments[0], "TIMESTAMP"), call)
    return filled("CAST(DATE_TRUNC('month', $1) + INTERVAL '1 month' - INTERVAL '1 day' AS DATE)", [later])


def begin_of_interval(call: Call) -> exp.Expr:
    """toStartOfInterval(value, INTERVAL n unit)."""
    at_least(call, 2)
    value, interval = call.arguments
    matched = re.fullmatch(r"(\d+) (\w+)", interval.this.name) if isinstance(interval, exp.Interval) else None
    if matched is None:
        raise call.refuse("an interval that is not a constant")
    count, unit = int(matched[1]), matched[2].lower().rstrip("s")
    if unit in ("second", "minute", "hour") and count:
        origin = literal("1970-01-01")
        return function("DATE_BIN", interval, as_time(value), origin)
    if count == 1 and unit in ("day", "month", "year"):
        return beginning(unit, value, call)
    raise call.refuse(f"an interval of {count} {unit}s")


def clickhouse_add(unit: str, sign: str, call: Call) -> exp.Expr:
    """addDays(value, n), subtractHours(value, n) and the like."""
    at_least(call, 2)
    return added(unit, call.arguments[1], call.arguments[0], call, sign)


def from_unix(call: Call) -> exp.Expr:
    """FROM_UNIXTIME(n)."""
    at_least(call, 1)
    found = filled("TO_TIMESTAMP($1)", [call.arguments[0]])
    return filled("$1 AT TIME ZONE 'UTC'", [found])


def months_between_refused(call: Call) -> exp.Expr:
    """MONTHS_BETWEEN counts parts of months of 31 days."""
    raise call.refuse("it counts the days of a month as 31")


def bare_time(call: Call) -> exp.Expr:
    """SECOND-precision forms of NOW(6) and the like, whose argument is dropped."""
    at_least(call, 0, 1)
    if call.arguments and integer_of(call.arguments[0]) is None:
        raise call.refuse(ONE_OF)
    digits = number(integer_of(call.arguments[0]) or 0) if call.arguments else None
    return filled("LOCALTIMESTAMP" if digits is None else f"CAST(LOCALTIMESTAMP AS TIMESTAMP({digits.name}))", [])


TO_CHAR = "TO_CHAR($1, $2)"
TO_DATE = "TO_DATE($1, $2)"
TO_TIMESTAMP = "CAST(TO_TIMESTAMP($1, $2) AS TIMESTAMP)"
DIFFERENCES: dict[str, Handler] = dict.fromkeys(("DATEDIFF", "DATE_DIFF", "TIMESTAMPDIFF", "TIMESTAMP_DIFF"), date_diff)
ADDITIONS: dict[str, Handler] = dict.fromkeys(("DATEADD", "DATE_ADD", "TIMESTAMPADD", "TIMEADD"), date_add)
BY_INTERVAL: dict[str, Handler] = dict.fromkeys(("DATE_ADD", "DATE_SUB", "ADDDATE", "SUBDATE"), date_add_interval)
PARTS: dict[str, Handler] = {"DATE_PART": date_part, "DATEPART": date_part}
STRFTIME = partial(to_format, formats.STRFTIME, False)
MYSQL_FORMAT = partial(to_format, formats.MYSQL, False)
JAVA = partial(to_format, formats.JAVA, True)
SPARK_TIMES: dict[str, Handler] = {
    **{name: DIFFERENCES[name] for name in ("DATE_DIFF", "TIMESTAMPDIFF", "DATEDIFF")},
    "DATEADD": date_add_interval,
    "DATE_ADD": date_add_interval,
    "DATE_SUB": date_add_interval,
    "TRUNC": date_trunc,
    "TIMESTAMPADD": date_add,
    "DATE_TRUNC": date_trunc,
    "ADD_MONTHS": add_months,
    **PARTS,
    "DATE_FORMAT": partial(JAVA, TO_CHAR),
    "TO_DATE": partial(JAVA, TO_DATE),
    "TO_TIMESTAMP": partial(JAVA, TO_TIMESTAMP),
    "MONTHS_BETWEEN": months_between_refused,
}
MAPS = {
    "Years": "year",
    "Quarters": "quarter",
    "Months": "month",
    "Weeks": "week",
    "Days": "day",
    "Hours": "hour",
    "Minutes": "minute",
}
COMMON: dict[str, Handler] = dict.fromkeys(FIELDS, field)
TIMES: dict[str, dict[str, Handler]] = {
    "snowflake": {
        **DIFFERENCES,
        **ADDITIONS,
        **PARTS,
        "DATE_TRUNC": date_trunc,
        "LAST_DAY": last_day,
        "ADD_MONTHS": add_months,
        "TRUNC": date_trunc,
        "TO_CHAR": partial(same_format, TO_CHAR),
        "TO_VARCHAR": partial(same_format, TO_CHAR),
        "TO_DATE": partial(same_format, TO_DATE),
        "TO_TIMESTAMP": partial(same_format, TO_TIMESTAMP),
        "MONTHS_BETWEEN": months_between_refused,
    },
    "bigquery": {
        **dict.fromkeys(("DATE_DIFF", "DATETIME_DIFF", "TIMESTAMP_DIFF"), date_diff),
        **dict.fromkeys(
            ("DATE_ADD", "DATETIME_ADD", "TIMESTAMP_ADD", "DATE_SUB", "DATETIME_SUB", "TIMESTAMP_SUB"),
            date_add_interval,
        ),
        **dict.fromkeys(("DATE_TRUNC", "DATETIME_TRUNC", "TIMESTAMP_TRUNC"), date_trunc),
        **dict.fromkeys(("FORMAT_DATE", "FORMAT_TIMESTAMP", "FORMAT_DATETIME"), partial(STRFTIME, TO_CHAR)),
        "PARSE_DATE": partial(STRFTIME, TO_DATE),
        "PARSE_DATETIME": partial(STRFTIME, TO_TIMESTAMP),
        "LAST_DAY": last_day,
    },
    "spark": SPARK_TIMES,
    "databricks": SPARK_TIMES,
    "mysql": {
        **BY_INTERVAL,
        "TIMESTAMPDIFF": date_diff,
        "TIMESTAMPADD": date_add,
        "FROM_UNIXTIME": from_unix,
        "NOW": bare_time,
        "DATE_FORMAT": partial(MYSQL_FORMAT, TO_CHAR),
        "STR_TO_DATE": partial(MYSQL_FORMAT, TO_TIMESTAMP),
    },
    "clickhouse": {
        **dict.fromkeys(("DATEDIFF", "DATE_DIFF"), date_diff),
        "AGE": date_diff,
        "DATETRUNC": date_trunc,
        "DATE_TRUNC": date_trunc,
        "TOSTARTOFINTERVAL": begin_of_interval,
        **{f"ADD{name.upper()}": partial(clickhouse_add, unit, "+") for name, unit in MAPS.items()},
        **{f"SUBTRACT{name.upper()}": partial(clickhouse_add, unit, "-") for name, unit in MAPS.items()},
        "FORMATDATETIME": partial(to_format, formats.CLICKHOUSE, False, TO_CHAR),
    },
    "tsql": {
        **DIFFERENCES,
        **ADDITIONS,
        **PARTS,
        "DATETRUNC": date_trunc,
        "DATENAME": date_name,
        "EOMONTH": end_of_month,
        "FORMAT": partial(to_format, formats.NET, True, TO_CHAR),
    },
    "trino": {
        "DATE_DIFF": date_diff,
        "DATE_ADD": date_add,
        "DATE_TRUNC": date_trunc,
        "DATE_FORMAT": partial(MYSQL_FORMAT, TO_CHAR),
        "DATE_PARSE": partial(MYSQL_FORMAT, TO_TIMESTAMP),
    },
    "oracle": {
        "ADD_MONTHS": add_months,
        "TRUNC": oracle_trunc,
        "TO_CHAR": partial(same_format, TO_CHAR),
        "TO_DATE": partial(same_format, TO_TIMESTAMP),
        "TO_TIMESTAMP": partial(same_format, TO_TIMESTAMP),
    },
    "duckdb": {
        **dict.fromkeys(("DATEDIFF", "DATE_DIFF"), date_diff),
        **dict.fromkeys(("DATETRUNC", "DATE_TRUNC"), date_trunc),
        "DATE_ADD": date_add_interval,
        "STRFTIME": partial(STRFTIME, TO_CHAR),
        "STRPTIME": partial(STRFTIME, TO_TIMESTAMP),
        **PARTS,
    },
}
