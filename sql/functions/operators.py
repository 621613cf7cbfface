"""The operators that a client can write: symbol -> signatures."""

from __future__ import annotations

from sql.functions import table
from sql.functions.missing import with_missing
from sql.functions.signatures import (
    INTEGERS,
    NUMBERS,
    TIMES,
    Signature,
    arithmetic,
    comparison,
    one,
    text_function,
    unary,
)
from sql.functions.table import with_rows

# The comparisons that order values, as engines write them.
COMPARISONS = {"eq": "=", "ne": "<>", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
NEGATED = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}


def times_with_interval(sign: str) -> list[Signature]:
    """Return the overloads that move a date or a time stamp."""
    results = {"date": "timestamp", "timestamp": "timestamp", "timestamptz": "timestamptz"}
    return [
        Signature(f"{sign}_interval", (family, "interval"), result, (result, "interval"))
        for family, result in results.items()
    ]


PLUS = [
    *arithmetic("add", NUMBERS),
    Signature("date_add_days", ("date", "int4"), "date"),
    Signature("days_add_date", ("int4", "date"), "date"),
    *times_with_interval("add"),
    *(Signature("interval_add", ("interval", family), "timestamp" if family == "date" else family) for family in TIMES),
    Signature("interval_sum", ("interval", "interval"), "interval"),
    Signature("time_add", ("time", "interval"), "time"),
    Signature("timetz_add", ("timetz", "interval"), "timetz"),
    Signature("interval_add_timetz", ("interval", "timetz"), "timetz"),
    Signature("date_at_timetz", ("date", "timetz"), "timestamptz"),
    Signature("timetz_at_date", ("timetz", "date"), "timestamptz"),
    Signature("interval_add_time", ("interval", "time"), "time"),
    Signature("date_at_time", ("date", "time"), "timestamp"),
    Signature("time_at_date", ("time", "date"), "timestamp"),
]
MINUS = [
    *arithmetic("subtract", NUMBERS),
    Signature("date_subtract_days", ("date", "int4"), "date"),
    Signature("date_difference", ("date", "date"), "int4"),
    *times_with_interval("subtract"),
    Signature("time_span", ("timestamp", "timestamp"), "interval"),
    Signature("time_span", ("timestamptz", "timestamptz"), "interval"),
    Signature("interval_difference", ("interval", "interval"), "interval"),
    Signature("time_subtract", ("time", "interval"), "time"),
    Signature("timetz_subtract", ("timetz", "interval"), "timetz"),
    Signature("time_difference", ("time", "time"), "interval"),
]


def bits(canonical: str) -> tuple[Signature, ...]:
    """Return &, | or # of integers."""
    return tuple(Signature(canonical, (family, family), family) for family in INTEGERS)


def shift(canonical: str) -> tuple[Signature, ...]:
    """Return << or >> of integers."""
    return tuple(Signature(canonical, (family, "int4"), family) for family in INTEGERS)


def matching(canonical: str) -> tuple[Signature, ...]:
    """Return a comparison of a text with a pattern."""
    return text_function(canonical, "text", result="bool")


OPERATORS: dict[str, tuple[Signature, ...]] = {
    "+": tuple(PLUS),
    "-": (*MINUS,),
    "*": (
        *arithmetic("multiply", NUMBERS),
        Signature("interval_multiply", ("interval", "float8"), "interval"),
        Signature("times_interval", ("float8", "interval"), "interval"),
    ),
    "/": (*arithmetic("divide", NUMBERS), Signature("interval_divide", ("interval", "float8"), "interval")),
    "%": tuple(arithmetic("modulo", (*INTEGERS, "numeric"))),
    "^": (Signature("power", ("float8", "float8"), "float8"), Signature("power", ("numeric", "numeric"), "numeric")),
    "=": comparison("eq"),
    "<>": comparison("ne"),
    "<": comparison("lt"),
    "<=": comparison("le"),
    ">": comparison("gt"),
    ">=": comparison("ge"),
    "||": (
        Signature("concat_op", ("text", "text"), "text"),
        Signature("concat_op", ("bytea", "bytea"), "bytea"),
        Signature("array_cat", ("array", "array"), "array"),
        Signature("array_append", ("array", "element"), "array"),
        Signature("array_prepend", ("element", "array"), "array"),
    ),
    "~~": matching("like"),
    "!~~": matching("not_like"),
    "~~*": matching("ilike"),
    "!~~*": matching("not_ilike"),
    "~": matching("matches"),
    "~*": matching("imatches"),
    "!~": matching("not_matches"),
    "!~*": matching("not_imatches"),
    "^@": matching("starts_with"),
    "&": bits("bit_and"),
    "|": bits("bit_or"),
    "#": bits("bit_xor"),
    "<<": shift("shift_left"),
    ">>": shift("shift_right"),
    "@>": (Signature("array_contains", ("array", "array"), "bool"),),
    "<@": (Signature("array_contained", ("array", "array"), "bool"),),
    "&&": one("array_overlaps", "array", "array", result="bool"),
}

BINARY_OPERATORS = with_missing(with_rows(OPERATORS, table.BINARY_OPERATORS))

PREFIX_OPERATORS: dict[str, tuple[Signature, ...]] = {
    "-": (*unary("negate", NUMBERS), Signature("interval_negate", ("interval",), "interval")),
    "+": tuple(unary("plus", NUMBERS)),
    "@": tuple(unary("abs", NUMBERS)),
    "|/": one("sqrt", "float8", result="float8"),
    "||/": one("cbrt", "float8", result="float8"),
    "~": tuple(unary("bit_not", INTEGERS)),
}
