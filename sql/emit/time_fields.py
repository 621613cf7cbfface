"""EXTRACT's fields and date_trunc's units under their full names, and the power of ten in which a field is counted."""

from __future__ import annotations

from sql.errors import SqlError

# field -> decimal digits of extract's value: seconds are counted in microseconds.
FIELD_DIGITS = {
    "microseconds": 0,
    "milliseconds": 3,
    "second": 6,
    "minute": 0,
    "hour": 0,
    "day": 0,
    "week": 0,
    "month": 0,
    "quarter": 0,
    "year": 0,
    "decade": 0,
    "century": 0,
    "millennium": 0,
    "isoyear": 0,
    "doy": 0,
    "dow": 0,
    "isodow": 0,
    "epoch": 6,
    "julian": 0,
    "timezone": 0,
    "timezone_hour": 0,
    "timezone_minute": 0,
}
TRUNCATION_UNITS = frozenset(
    "microseconds milliseconds second minute hour day week month quarter year decade century millennium".split()
)
SUB_DAY_UNITS = frozenset("microseconds milliseconds second minute hour".split())
ALIASES = {
    "microsecond": "microseconds",
    "us": "microseconds",
    "usec": "microseconds",
    "usecs": "microseconds",
    "millisecond": "milliseconds",
    "ms": "milliseconds",
    "msec": "milliseconds",
    "msecs": "milliseconds",
    "sec": "second",
    "secs": "second",
    "min": "minute",
    "mins": "minute",
    "centuries": "century",
    "millennia": "millennium",
    "mil": "millennium",
}


def full_name(word: str, known: frozenset[str] | dict[str, int], kind: str) -> str:
    """Return the full name of a field or unit, which may be abbreviated or in the plural."""
    lowered = word.lower()
    for candidate in (lowered, ALIASES.get(lowered, ""), lowered.removesuffix("s")):
        if candidate in known:
            return candidate
    raise SqlError("22023", f'unit "{word}" not recognized for type {kind}')
