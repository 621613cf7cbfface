"""Functions of date and time: now and its relatives, and those with a field or a zone as a
constant.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sql.bind.expressions.operators import binary
from sql.errors import SqlError, not_supported
from sql.functions.signatures import Signature
from sql.functions.volatility import NOW_FUNCTIONS
from sql.parse.syntax import FunctionCall
from sql.times.zone_names import zone_meant
from sql.tree.expressions import Call, Cast, Expression, Literal
from sql.types.casts import plain_name
from sql.types.datatypes import (
    DATE,
    FLOAT8,
    INT4,
    INT8,
    INTERVAL,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    SqlType,
    scaled_numeric,
)

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder

TIME_FUNCTIONS = NOW_FUNCTIONS | {"current_timestamp", "current_date", "current_time", "localtimestamp", "localtime"}

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
FIELD_SCALES = {"second": 6, "epoch": 6, "milliseconds": 3}


def time_function(binder: Binder, node: FunctionCall) -> Expression:
    """Bind now() and its relatives; only `now` itself stays a call."""
    name = node.name
    if name == "current_time":
        raise not_supported(f"the type of {name.upper()}", node.position)
    if name in NOW_FUNCTIONS and node.arguments:
        raise SqlError(
            "42883", f"function {name}({', '.join('unknown' for _ in node.arguments)}) does not exist", node.position
        )
    if node.arguments:
        digits = binder.bind(node.arguments[0])
        if not isinstance(digits, Literal) or not isinstance(digits.value, int) or digits.value < 6:
            raise not_supported(f"{name.upper()} with a precision", node.position)
    binder.context.stable = True
    now = Call("now", (), TIMESTAMPTZ, node.position, node.text)
    zone = binder.context.settings.clock_zone
    if name == "current_date":
        return Cast(now, DATE, False, zone, node.position)
    if name == "localtime":
        return Cast(now, TIME, False, zone, node.position)
    if name == "localtimestamp":
        return Cast(now, TIMESTAMP, False, zone, node.position)
    return now


def age_today(binder: Binder, then: Expression, node: FunctionCall) -> Expression:
    """Bind age(value): from then until the beginning of the current day."""
    binder.context.stable = True
    now = Call("now", (), TIMESTAMPTZ, node.position, node.text)
    name = binder.context.settings.clock_zone
    today: Expression = Cast(Cast(now, DATE, False, name), TIMESTAMP)
    zone: tuple[Expression, ...] = ()
    if then.type.family == "timestamptz":
        today, zone = Cast(today, TIMESTAMPTZ, False, name), (Literal(name, TEXT),)
    return Call("age", (today, then, *zone), INTERVAL, node.position, node.text)


def ends_of_spans(binder: Binder, values: Sequence[Expression], node: FunctionCall) -> list[Expression]:
    """Return the starts and ends of the two spans of OVERLAPS; a length is added to its start."""
    found: list[Expression] = []
    for start, end in (values[:2], values[2:]):
        if end.type.family == "interval":
            end = binary(binder, "+", start, end, node.position, node.text)
        found += (start, end)
    return found


def field_function(
    binder: Binder, signature: Signature, values: Sequence[Expression], node: FunctionCall
) -> Expression:
    """Bind a function of a field, which must be a constant, of a time."""
    named = constant_text(values[0], node, "first argument")
    in_zone = constant_text(values[2], node, "zone") if len(values) == 3 else None
    if named.value is None or (in_zone is not None and in_zone.value is None):
        return Literal(None, null_type(signature), node.position)
    name, source = signature.canonical, values[1]
    field = checked_field(node, signature, str(named.value), source.type)
    zone = binder.context.settings.clock_zone
    if in_zone is not None:
        meant = zone_meant(str(in_zone.value), node.position)
        if isinstance(meant, int):
            local = at_zone(source, meant, node)
            truncated = Call(name, (Literal(field, TEXT, named.position), local), TIMESTAMP, node.position, node.text)
            return at_zone(truncated, meant, node)
        zone = meant
    arguments: tuple[Expression, ...] = (Literal(field, TEXT, named.position), source)
    if source.type.family == "timestamptz":
        arguments = (*arguments, Literal(zone, TEXT))
    return Call(name, arguments, field_type(signature, field, source.type), node.position, node.text)


def zone_function(signature: Signature, values: Sequence[Expression], node: FunctionCall) -> Expression:
    """Bind AT TIME ZONE with a constant zone."""
    zone = constant_text(values[0], node, "first argument")
    if zone.value is None:
        return Literal(None, null_type(signature), node.position)
    return at_zone(values[1], zone_meant(str(zone.value), node.position), node)


def constant_text(value: Expression, node: FunctionCall, what: str) -> Literal:
    """Return an argument that must be a constant text, or a NULL. Raises 0A000."""
    if not isinstance(value, Literal) or not isinstance(value.value, str | None):
        raise not_supported(f"{node.name} with a {what} that is not a constant", node.position)
    return value


def at_zone(moment: Expression, zone: str | int, node: FunctionCall) -> Expression:
    """Return a timestamptz on the clock of a zone, or the instant at which that clock shows a
    timestamp. zone: seconds if it is fixed.
    """
    target = TIMESTAMP if moment.type.family == "timestamptz" else TIMESTAMPTZ
    if isinstance(zone, str):
        return Cast(moment, target, True, zone, node.position)
    turned = Cast(moment, target, True, "UTC", node.position)
    east_us = (zone if target == TIMESTAMP else -zone) * 1_000_000
    if east_us == 0:
        return turned
    clock = () if target == TIMESTAMP else (Literal("UTC", TEXT),)
    parts = (Literal(0, INT4), Literal(0, INT4), Literal(east_us, INT8), *clock)
    return Call("add_interval", (turned, *parts), target, node.position, node.text)


def null_type(signature: Signature) -> SqlType:
    return scaled_numeric(0) if signature.result == "numeric" else SqlType(signature.result)


def truncates(signature: Signature) -> bool:
    """Tell whether the value of a function of a field is a time, and not a number."""
    return signature.result not in ("numeric", "float8")


def field_type(signature: Signature, field: str, source: SqlType) -> SqlType:
    """Return the result's type; a field as a numeric has a fixed number of digits."""
    if truncates(signature):
        return source
    if signature.result == "float8":
        return FLOAT8
    if source.family == "date":
        return scaled_numeric(0)
    return scaled_numeric(FIELD_SCALES.get(field, 0))


def checked_field(node: FunctionCall, signature: Signature, written: str, source: SqlType) -> str:
    """Return the canonical name of a field, or raise PostgreSQL's error."""
    field = FIELD_SPELLINGS.get(written.strip().lower())
    kind = source.row.sql_name
    if field is None:
        raise SqlError("22023", f'unit "{written}" not recognized for type {kind}')
    if source.family in ("interval", "time", "timetz"):
        return checked_span_field(signature, written, field, source)
    if truncates(signature):
        if field not in TRUNCATED:
            raise SqlError("0A000", f'unit "{written}" not supported for type {kind}')
        return field
    if source.family == "date" and field not in DATE_FIELDS:
        raise SqlError("0A000", f'unit "{written}" not supported for type date')
    if source.family == "timestamp" and field.startswith("timezone"):
        raise SqlError("0A000", f'unit "{written}" not supported for type {kind}')
    if field.startswith("timezone") or (field == "julian" and source.family != "date"):
        raise not_supported(f"{signature.canonical} of the field {field}", node.position)
    return field


def checked_span_field(signature: Signature, written: str, field: str, source: SqlType) -> str:
    """Return a field of an interval or a time of day, or raise PostgreSQL's error."""
    fields = SPAN_FIELDS if source.family == "interval" else TIME_FIELDS
    if source.family == "timetz":
        fields = TIME_FIELDS | {"timezone", "timezone_hour", "timezone_minute"}
    if truncates(signature):
        fields = SPAN_FIELDS - {"epoch"}
    if field in fields:
        return field
    detail = "Months usually have fractional weeks." if truncates(signature) and field == "week" else None
    raise SqlError("0A000", f'unit "{written}" not supported for type {plain_name(source)}', detail=detail)
