"""Functions of date and time: now and its relatives, those with a field or a zone, and buckets of
time as TimescaleDB has them.

    time_bucket(width, time [, origin | offset])         date_bin from Monday, 2000-01-03
    time_bucket_gapfill(width, time [, start, finish])   the same as a key, `sql.bind.queries.gap_filling`
    locf(value [, before [, treat_null_as_missing]])     the call, until its SELECT is grouped
    interpolate(value)                                   the same

A field that differs from row to row is a choice among calls with constant ones; a zone that does is
the argument of functions of its own. A call whose field or zone is a parameter stands in the tree
as it is written, until the parameter is known: `settled`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from sql.bind.expressions.coerce import coerce
from sql.bind.expressions.operators import binary
from sql.bind.expressions.source_positions import start_of
from sql.errors import SqlError, not_supported
from sql.functions.signatures import Signature
from sql.functions.table import ROWS
from sql.functions.volatility import NOW_FUNCTIONS
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import FunctionCall
from sql.times.civil import DAY_US
from sql.times.interval_values import zone_seconds
from sql.times.time_fields import FIELD_SPELLINGS, OFFSETS, fields_of, known_field
from sql.times.zone_names import zone_meant
from sql.tree.expressions import Call, Case, Cast, Expression, Literal, Parameter
from sql.tree.walks import walk
from sql.types.casts import plain_name
from sql.types.datatypes import (
    BOOL,
    DATE,
    FLOAT8,
    INT4,
    INT8,
    INTERVAL,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    VARCHAR,
    SqlType,
    scaled_numeric,
)

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder

FIELD_SCALES = {"second": 6, "epoch": 6, "milliseconds": 3}
TIME_FUNCTIONS = NOW_FUNCTIONS | {"current_timestamp", "current_date", "current_time", "localtimestamp", "localtime"}

GAPFILL, CARRIED, INTERPOLATED = "time_bucket_gapfill", "locf", "interpolate"
# The arguments of each, at least and at most.
USAGES = {
    "time_bucket": (2, 3, "time_bucket(width, time [, origin])"),
    GAPFILL: (2, 4, "time_bucket_gapfill(width, time [, start, finish])"),
    CARRIED: (1, 3, "locf(value [, before [, treat_null_as_missing]])"),
    INTERPOLATED: (1, 1, "interpolate(value)"),
}
BUCKET_CALLS = frozenset(USAGES)
# Where gaps may be filled.
CLAUSES = frozenset({"SELECT", "GROUP BY", "ORDER BY"})
# A Monday: 2000-01-03 in microseconds since 1970.
ORIGIN_US = 946_857_600_000_000
NUMBERS = frozenset({"int2", "int4", "int8", "float4", "float8", "numeric"})
FIELD_SCALES = {"second": 6, "epoch": 6, "milliseconds": 3}
TIME_FUNCTIONS = NOW_FUNCTIONS | {"current_timestamp", "current_date", "current_time", "localtimestamp", "localtime"}


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
    """Bind a function of a field of a time, and of a zone."""
    values = [value if number == 1 else bare_parameter(value) for number, value in enumerate(values)]
    name, source = signature.canonical, values[1]
    if not is_known(values[0]):
        return each_field(binder, signature, values, node)
    arguments: tuple[Expression, ...] = (values[0], source)
    if len(values) == 3:
        if not is_known(values[2]) and not isinstance(values[0], Parameter):
            return trunc_in_zone(name, values, node)
        require_known(values[2], node, "zone")
        if isinstance(values[2], Parameter):
            local = Call("to_zone", (values[2], source), TIMESTAMP, node.position, node.text)
            written = Call(name, (values[0], local), TIMESTAMP, node.position, node.text)
            truncated = written if isinstance(values[0], Parameter) else settled(written)
            return Call("from_zone", (values[2], truncated), TIMESTAMPTZ, node.position, node.text)
        arguments = (*arguments, values[2])
    elif source.type.family == "timestamptz":
        arguments = (*arguments, Literal(binder.context.settings.clock_zone, TEXT))
    result = source.type if truncates(name) else null_type(signature)
    call = Call(name, arguments, result, node.position, node.text)
    if isinstance(values[0], Parameter):
        return call
    field = values[0].value if isinstance(values[0], Literal) else None
    offset = FIELD_SPELLINGS.get(field.lower(), "") if isinstance(field, str) else ""
    if offset in OFFSETS and source.type.family == "timestamptz" and not truncates(name):
        return offset_field(binder, offset, call, node.position)
    return settled(call, has_zone=len(values) == 3)


def trunc_in_zone(name: str, values: Sequence[Expression], node: FunctionCall) -> Expression:
    """Return date_trunc of a constant field in a zone that differs from row to row."""
    field, source, zone = values
    known = settled(Call(name, (field, source), TIMESTAMPTZ, node.position, node.text))
    if not isinstance(known, Call):
        return known
    named = Call("meant_zone", (zone,), TEXT, node.position)
    found = Call("trunc_in_zone", (*known.arguments, named), TIMESTAMPTZ, node.position, node.text)
    return unless_null((source, zone), found)


def each_field(binder: Binder, signature: Signature, values: Sequence[Expression], node: FunctionCall) -> Expression:
    """Return a function whose field differs from row to row: the value for each field there is,
    chosen by the field's canonical name.

    Raises 0A000 where the type of the value depends on the field, and where the time is such a
    choice itself: it would be written for each field.
    """
    name, source = signature.canonical, values[1]
    if name == "extract" or any(isinstance(one, Call) and one.function == "time_field" for one in walk(source)):
        raise not_supported(f"{node.name} with a first argument that is not a constant", node.position)
    family, kind = source.type.family, plain_name(source.type)
    told = (Literal(name, TEXT), Literal(family, TEXT), Literal(kind, TEXT), Literal(truncates(name), BOOL))
    chosen = Call("time_field", (values[0], *told), TEXT, node.position, node.text)
    branches = []
    for field in fields_of(family, truncates(name)):
        value = field_function(binder, signature, (Literal(field, TEXT), *values[1:]), node)
        branches.append((Call("eq", (chosen, Literal(field, TEXT)), BOOL), value))
    kind_of_value = branches[0][1].type
    return unless_null((*values[1:], values[0]), Case(tuple(branches), Literal(None, kind_of_value), kind_of_value))


def unless_null(operands: Sequence[Expression], value: Expression) -> Expression:
    """Return NULL where an operand is, before the value is computed, and may fail."""
    absent = tuple((Call("is_null", (one,), BOOL), Literal(None, value.type)) for one in operands)
    return Case(absent, value, value.type)


def zone_function(signature: Signature, values: Sequence[Expression], node: FunctionCall) -> Expression:
    """Bind AT TIME ZONE with a zone or an interval."""
    zone, moment, kind = bare_parameter(values[0]), values[1], null_type(signature)
    if zone.type.family != "interval" and is_known(zone):
        call = Call(signature.canonical, (zone, moment), kind, node.position, node.text)
        return call if isinstance(zone, Parameter) else settled(call)
    match zone:
        case Literal(value=(int(months), int(days), int(micros))):
            return at_zone(moment, zone_seconds((months, days, micros)), node)
    meant = "zone_of_interval" if zone.type.family == "interval" else "meant_zone"
    named = (Call(meant, (zone,), TEXT, node.position), moment)
    function = "to_named_zone" if moment.type.family == "timestamptz" else "from_named_zone"
    return unless_null((moment, zone), Call(function, named, kind, node.position, node.text))


def bare_parameter(value: Expression) -> Expression:
    """Return the parameter below casts from one kind of text to another, as in `$1::varchar`."""
    found = value
    while isinstance(found, Cast) and found.type in (TEXT, VARCHAR) and found.operand.type in (TEXT, VARCHAR):
        found = found.operand
    return found if isinstance(found, Parameter) else value


def is_known(value: Expression) -> bool:
    """Tell whether a text is a constant or a parameter."""
    return isinstance(value, Parameter) or (isinstance(value, Literal) and isinstance(value.value, str | None))


def require_known(value: Expression, node: FunctionCall, what: str) -> None:
    """Raise 0A000 for a text that is neither a constant nor a parameter."""
    if not is_known(value):
        raise not_supported(f"{node.name} with a {what} that is not a constant", node.position)


# The calls that must be settled once their parameters are known.
SETTLED = frozenset(name for name, row in ROWS.items() if row.bound in ("field", "zone"))


def settled(call: Call, has_zone: bool = False) -> Expression:
    """Return a call of a function of a field or a zone whose field and zone are constants, as
    engines take it.

    Raises 22023 and 0A000.

    has_zone: the third argument is one that was written.
    """
    named, source = call.arguments[0], call.arguments[1]
    in_zone = call.arguments[2] if len(call.arguments) == 3 else None
    for given in (named, in_zone):
        if isinstance(given, Literal) and given.value is None:
            return Literal(None, call.type, call.position)
    if not isinstance(named, Literal):
        return call
    if ROWS[call.function].bound == "zone":
        return at_zone(source, zone_meant(str(named.value), call.position), call)
    field = known_field(
        str(named.value), call.function, source.type.family, plain_name(source.type), truncates(call.function)
    )
    if field in OFFSETS and source.type.family == "timestamptz":
        raise not_supported(f"{call.function} of the field {field}", call.position)
    arguments: tuple[Expression, ...] = (Literal(field, TEXT, named.position), source)
    if isinstance(in_zone, Literal):
        meant = zone_meant(str(in_zone.value), call.position) if has_zone else str(in_zone.value)
        if isinstance(meant, int):
            local = at_zone(source, meant, call)
            truncated = Call(call.function, (arguments[0], local), TIMESTAMP, call.position, call.text)
            return at_zone(truncated, meant, call)
        arguments = (*arguments, Literal(meant, TEXT))
    return replace(call, arguments=arguments, type=field_type(call, field, source.type))


def offset_field(binder: Binder, field: str, call: Call, position: int) -> Expression:
    """Return how far the session's clock is before UTC at an instant: seconds, or the hours or
    minutes of it.
    """
    instant, zone = call.arguments[1], binder.context.settings.clock_zone
    local, utc = (Cast(instant, TIMESTAMP, False, name, position) for name in (zone, "UTC"))
    apart = binary(binder, "-", local, utc, position, call.text)
    found: Expression = Cast(Call("date_part", (Literal("epoch", TEXT), apart), FLOAT8, position), INT4)
    if field != "timezone":
        unit_s = 3600 if field == "timezone_hour" else 60
        found = binary(binder, "/", found, Literal(unit_s, INT4), position, call.text)
    if field == "timezone_minute":
        found = binary(binder, "%", found, Literal(60, INT4), position, call.text)
    shown = Cast(found, call.type, position=position)
    is_finite = Call("isfinite", (instant,), BOOL, position)
    return Case(((is_finite, shown),), Literal(None, call.type), call.type)


def at_zone(moment: Expression, zone: str | int, node: FunctionCall | Call) -> Expression:
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


def truncates(function: str) -> bool:
    """Tell whether the value of a function of a field is a time, and not a number."""
    return ROWS[function].overloads[0].result == "timestamp"


def field_type(call: Call, field: str, source: SqlType) -> SqlType:
    """Return the result's type; a field as a numeric has a fixed number of digits."""
    if call.type.family != "numeric":
        return call.type
    if source.family == "date":
        return scaled_numeric(0)
    return scaled_numeric(FIELD_SCALES.get(field, 0))


def bucket_call(binder: Binder, node: FunctionCall) -> Expression:
    """Bind one of the calls. Raises 42883, 42803, 0A000."""
    fewest, most, usage = USAGES[node.name]
    decorated = node.star or node.distinct or node.filter is not None or node.over is not None or node.order_by
    if not fewest <= len(node.arguments) <= most or decorated:
        raise SqlError("42883", f"{node.name} takes other arguments", node.position, hint=f"Write {usage}.")
    if node.name in (GAPFILL, CARRIED, INTERPOLATED) and binder.clause not in CLAUSES:
        raise SqlError("42803", f"{node.name} is not allowed in {binder.clause}", node.position)
    if node.name == CARRIED:
        return _carried(binder, node)
    if node.name == INTERPOLATED:
        value = binder.bind(node.arguments[0])
        if value.type.family not in NUMBERS:
            raise not_supported(f"interpolate of {value.type.sql_name}", node.position)
        if value.type.family == "numeric":
            # A quotient has more digits.
            value = Cast(value, SqlType("numeric"))
        return Call(INTERPOLATED, (value,), value.type, node.position, node.text)
    width, time = _width(binder, node.arguments[0], node.name), binder.bind(node.arguments[1])
    if time.type.family not in ("date", "timestamp", "timestamptz"):
        if time.type.family != "unknown":
            raise SqlError("42883", f"{node.name} of {time.type.sql_name} does not exist", node.position)
        time = coerce(time, TIMESTAMPTZ, binder.context)
    is_date = time.type.family == "date"
    moment = Cast(time, TIMESTAMP) if is_date else time
    others = node.arguments[2:]
    origin = _origin(binder, others[0], moment.type) if others and node.name == "time_bucket" else ORIGIN_US
    start: Expression = Call(
        "date_bin", (width, moment, Literal(origin, moment.type)), moment.type, node.position, node.text
    )
    if node.name == "time_bucket":
        return Cast(start, DATE) if is_date else start
    ends = [coerce(binder.bind(one), moment.type, binder.context) for one in others]
    ends += [Literal(None, moment.type)] * (2 - len(ends))
    return Call(GAPFILL, (start, *ends), moment.type, node.position, node.text)


def _carried(binder: Binder, node: FunctionCall) -> Expression:
    value = binder.bind(node.arguments[0])
    before = binder.bind(node.arguments[1]) if len(node.arguments) > 1 else Literal(None, value.type)
    skips: Expression = Literal(False, BOOL)
    if len(node.arguments) > 2:
        skips = coerce(binder.bind(node.arguments[2]), BOOL, binder.context)
        if not isinstance(skips, Literal):
            raise not_supported("treat_null_as_missing as anything but a constant", start_of(node.arguments[2]))
    return Call(
        CARRIED, (value, coerce(before, value.type, binder.context), skips), value.type, node.position, node.text
    )


def _width(binder: Binder, written: Syntax, name: str) -> Expression:
    """Return the width of buckets in microseconds."""
    match coerce(binder.bind(written), INTERVAL, binder.context):
        case Literal(value=(0, int(days), int(micros))) if days * DAY_US + micros > 0:
            return Literal((0, 0, days * DAY_US + micros), INTERVAL)
        case Literal(value=(0, _, _)):
            raise SqlError("22023", f"the width of {name} must be greater than zero", start_of(written))
        case Literal():
            hint = "Group by date_trunc('month', ...)."
            raise not_supported(f"{name} by months or years", start_of(written), hint=hint)
    raise not_supported(f"the width of {name} as anything but a constant interval", start_of(written))


def _origin(binder: Binder, written: Syntax, kind: SqlType) -> int:
    """Return the origin of buckets in microseconds, which an interval moves."""
    found = binder.bind(written)
    if found.type.family != "interval":
        found = coerce(found, kind, binder.context)
    match found:
        case Literal(value=(0, int(days), int(micros))):
            return ORIGIN_US + days * DAY_US + micros
        case Literal(value=int(micros)):
            return micros
    raise not_supported("the origin of time_bucket as anything but a constant", start_of(written))
