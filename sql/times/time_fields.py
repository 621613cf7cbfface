"""EXTRACT's fields under their canonical names, and the power of ten in which a field is counted.

Date_trunc's small units.
"""

from __future__ import annotations

# Of an infinite time these are infinite; all other fields are NULL.
GROWING_FIELDS = frozenset("year isoyear decade century millennium julian epoch".split())

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
