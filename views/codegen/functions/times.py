"""Functions of dates and timestamps.

A time zone is a pair of arrays that the module makes when it is imported, from the zone's number.
"""

from __future__ import annotations

from dataclasses import replace

from ringbuffer.scalar.calendars.calendar import FIELD_CODES, UNIT_CODES
from ringbuffer.scalar.calendars.time_zones import zone_number
from sql.functions.arguments import literal_bin_us
from sql.times.time_fields import GROWING_FIELDS
from sql.tree.expressions import Call, Case, Cast
from views.codegen.expressions import ExpressionWriter, FunctionWriter, literal_argument
from views.codegen.values import ALWAYS, NEVER, Value
from views.codegen.writer import KernelWriter
from views.model.refusals import not_in_kernels

MOMENTS = frozenset({"date", "timestamp", "timestamptz"})


def zone_arrays(writer: KernelWriter, zone: str) -> str:
    """Return source text of a zone's two arrays, as arguments."""
    name = writer.constant("zone", f"{writer.use('scalar.calendars.time_zones', 'numbered_zone')}({zone_number(zone)})")
    transitions = writer.constant("zone_transitions", f"{name}[0]")
    offsets = writer.constant("zone_offsets", f"{name}[1]")
    return f"{transitions}, {offsets}"


def write_now(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """now(): the statement's time is an argument of the kernel."""
    return Value(("now_us",))


def write_add_interval(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """timestamp + constant interval."""
    assert isinstance(node, Call)
    value = writer.evaluate(node.arguments[0])
    months, days, micros = (int(literal_argument(node, index)) for index in range(1, 4))
    out = writer.writer
    if node.type.family == "timestamptz":
        arrays = zone_arrays(out, str(literal_argument(node, 4)))
        call = f"{out.use('scalar.calendars.zoned_calendar', 'add_interval_zoned')}({value.word}, {months}, {days}, {micros}, {arrays})"
    else:
        call = f"{out.use('scalar.calendars.calendar', 'add_interval_us')}({value.word}, {months}, {days}, {micros})"
    return writer.strict(node, call, (value,), "later", fallible=True)


def write_date_trunc(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """date_trunc(unit, timestamp)."""
    assert isinstance(node, Call)
    unit = UNIT_CODES[str(literal_argument(node, 0))]
    value = evaluate_moment(writer, node, 1)
    out = writer.writer
    if node.type.family == "timestamptz":
        arrays = zone_arrays(out, str(literal_argument(node, 2)))
        call = f"{out.use('scalar.calendars.zoned_calendar', 'date_trunc_zoned')}({unit}, {value.word}, {arrays})"
    else:
        call = f"{out.use('scalar.calendars.calendar', 'date_trunc_us')}({unit}, {value.word})"
    return writer.strict(node, call, (value,), "unit_start", fallible=True)


def write_date_bin(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """date_bin(constant interval, timestamp, origin)."""
    assert isinstance(node, Call)
    source, origin = (writer.evaluate(moment) for moment in node.arguments[1:])
    function = writer.writer.use("scalar.calendars.calendar", "date_bin_us")
    call = f"{function}({literal_bin_us(node.arguments[0])}, {source.word}, {origin.word})"
    return writer.strict(node, call, (source, origin), "bin_start", fallible=True)


def write_extract(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """extract(field FROM date or timestamp), a numeric."""
    assert isinstance(node, Call)
    name, family = str(literal_argument(node, 0)), node.arguments[1].type.family
    field, out = FIELD_CODES[name], writer.writer
    value = evaluate_moment(writer, node, 1)
    if name in GROWING_FIELDS:
        call = f"{out.use('scalar.calendars.calendar', 'finite_date' if family == 'date' else 'finite_timestamp')}({value.word})"
        kind = node.arguments[1].type
        value = writer.strict(replace(node, type=kind), call, (value,), "finite", fallible=True)
    else:
        value = null_if_infinite(writer, value, family)
    if family == "timestamptz":
        arrays = zone_arrays(out, str(literal_argument(node, 2)))
        call = f"{out.use('scalar.calendars.zoned_calendar', 'extract_zoned')}({field}, {value.word}, {arrays})"
    else:
        function = "extract_date" if family == "date" else "extract_timestamp"
        call = f"{out.use('scalar.calendars.calendar', function)}({field}, {value.word})"
    return writer.strict(node, call, (value,), "field", fallible=False)


def null_if_infinite(writer: ExpressionWriter, value: Value, family: str) -> Value:
    """Return a date or timestamp that is NULL where it is infinite."""
    if value.null == ALWAYS:
        return value
    function = writer.writer.use(
        "scalar.calendars.calendar", "is_infinite_date" if family == "date" else "is_infinite_timestamp"
    )
    infinite = f"{function}({value.word})"
    null = infinite if value.null == NEVER else f"{value.null} or {infinite}"
    return Value(value.words, writer.writer.assign("field_null", null))


def evaluate_moment(writer: ExpressionWriter, node: Call, place: int) -> Value:
    """Return an operand that is a date or a timestamp.

    Raises 0A000 for an interval and a time of day.
    """
    kind = node.arguments[place].type
    if kind.family not in MOMENTS:
        raise not_in_kernels(f"{node.function} of {kind.sql_name}", node.position)
    return writer.evaluate(node.arguments[place])


def write_date_part(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """date_part(field, timestamp), a double."""
    assert isinstance(node, Call)
    name, family = str(literal_argument(node, 0)), node.arguments[1].type.family
    field, out = FIELD_CODES[name], writer.writer
    value = evaluate_moment(writer, node, 1)
    if name not in GROWING_FIELDS:
        value = null_if_infinite(writer, value, family)
    if node.arguments[1].type.family == "timestamptz":
        arrays = zone_arrays(out, str(literal_argument(node, 2)))
        call = f"{out.use('scalar.calendars.zoned_calendar', 'date_part_zoned')}({field}, {value.word}, {arrays})"
    else:
        call = f"{out.use('scalar.calendars.calendar', 'date_part_timestamp')}({field}, {value.word})"
    return writer.strict(node, call, (value,), "part", fallible=False)


FUNCTIONS: dict[str, FunctionWriter] = {
    "now": write_now,
    "add_interval": write_add_interval,
    "date_trunc": write_date_trunc,
    "date_bin": write_date_bin,
    "extract": write_extract,
    "date_part": write_date_part,
}
