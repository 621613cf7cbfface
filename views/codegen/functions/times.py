"""Functions of dates and timestamps.

A time zone is a pair of arrays that the module makes when it is imported, from the zone's number.
"""

from __future__ import annotations

from ringbuffer.scalar.calendars.time_zones import zone_number
from sql.tree.expressions import Call, Case, Cast
from views.codegen.expressions import ExpressionWriter, FunctionWriter
from views.codegen.values import ALWAYS, NEVER, Value
from views.codegen.writer import KernelWriter

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


FUNCTIONS: dict[str, FunctionWriter] = {"now": write_now}
