"""EXTRACT's fields under their canonical names, and the power of ten in which a field is counted.

Date_trunc's small units.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.errors import SqlError, not_supported

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

# Every spelling of a field to its canonical name (PostgreSQL's unit tables).
FIELD_SPELLINGS: dict[str, str] = {
    **dict.fromkeys("microseconds microsecond microsecon us usec usecs usecond useconds".split(), "microseconds"),
    **dict.fromkeys("milliseconds millisecond millisecon ms msec msecs msecond mseconds".split(), "milliseconds"),
    **dict.fromkeys("second seconds s sec secs".split(), "second"),
    **dict.fromkeys("minute minutes m min mins".split(), "minute"),
    **dict.fromkeys("hour hours h hr hrs".split(), "hour"),
    **dict.fromkeys("day days d".split(), "day"),
    **dict.fromkeys("week weeks w".split(), "week"),
    **dict.fromkeys("month months mon mons".split(), "month"),
    **dict.fromkeys(["quarter", "qtr"], "quarter"),
    **dict.fromkeys("year years y yr yrs".split(), "year"),
    **dict.fromkeys("decade decades dec decs".split(), "decade"),
    **dict.fromkeys("century centuries c cent".split(), "century"),
    **dict.fromkeys("millennium millennia mil mils millenia".split(), "millennium"),
    **{name: name for name in ("dow", "isodow", "doy", "isoyear", "epoch", "julian", "timezone", "timezone_hour", "timezone_minute")},
    "timezone_h": "timezone_hour",
    "timezone_m": "timezone_minute",
}  # fmt: skip
TRUNCATED = frozenset(
    "microseconds milliseconds second minute hour day week month quarter year decade century millennium".split()
)
DATE_FIELDS = frozenset(
    "day month quarter year decade century millennium isoyear week dow isodow doy epoch julian".split()
)
TIME_FIELDS = frozenset("microseconds milliseconds second minute hour epoch".split())
SPAN_FIELDS = TIME_FIELDS | frozenset("day month quarter year decade century millennium".split())
# The distance of a zone from UTC, and its hours and minutes.
OFFSETS = frozenset({"timezone", "timezone_hour", "timezone_minute"})


def known_field(written: str, function: str, family: str, kind: str, truncates: bool) -> str:
    """Return the canonical name of a field that a function takes of a type, or raise PostgreSQL's
    error.

    kind: the type's name in errors; truncates: the value is a time, and not a number.
    """
    field = FIELD_SPELLINGS.get(written.lower())
    if field is None or (truncates and field not in TRUNCATED | OFFSETS):
        raise SqlError("22023", f'unit "{written}" not recognized for type {kind}')
    if family in ("interval", "time", "timetz"):
        return _span_field(written, field, family, kind, truncates)
    if truncates:
        if field not in TRUNCATED:
            raise SqlError("0A000", f'unit "{written}" not supported for type {kind}')
        return field
    if family == "date" and field not in DATE_FIELDS:
        raise SqlError("0A000", f'unit "{written}" not supported for type date')
    if family == "timestamp" and field in OFFSETS:
        raise SqlError("0A000", f'unit "{written}" not supported for type {kind}')
    if field == "julian" and family != "date":
        raise not_supported(f"{function} of the field {field}")
    return field


def _span_field(written: str, field: str, family: str, kind: str, truncates: bool) -> str:
    fields = SPAN_FIELDS if family == "interval" else TIME_FIELDS
    if family == "timetz":
        fields = TIME_FIELDS | OFFSETS
    if truncates:
        fields = SPAN_FIELDS - {"epoch"}
    if field in fields:
        return field
    detail = "Months usually have fractional weeks." if truncates and field == "week" else None
    raise SqlError("0A000", f'unit "{written}" not supported for type {kind}', detail=detail)


def fields_of(family: str, truncates: bool) -> Sequence[str]:
    """Return the canonical names of all fields that a function takes of a type."""
    found = []
    for field in dict.fromkeys(FIELD_SPELLINGS.values()):
        try:
            found.append(known_field(field, "", family, "", truncates))
        except SqlError:
            continue
    return found
