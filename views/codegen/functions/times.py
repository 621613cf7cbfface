"""Functions of dates and timestamps.

A time zone is a pair of arrays that the module makes when it is imported, from the zone's number.
"""

from __future__ import annotations

from ringbuffer.scalar.calendars.time_zones import zone_number
from sql.tree.expressions import Call, Case, Cast
from views.codegen.expressions import ExpressionWriter, FunctionWriter
from views.codegen.values import Value
from views.codegen.writer import KernelWriter


def zone_arrays(writer: KernelWriter, zone: str) -> str:
    """Return source text of a zone's two arrays, as arguments."""
    name = writer.constant("zone", f"{writer.use('scalar.calendars.time_zones', 'numbered_zone')}({zone_number(zone)})")
    transitions = writer.constant("zone_transitions", f"{name}[0]")
    offsets = writer.constant("zone_offsets", f"{name}[1]")
    return f"{transitions}, {offsets}"


def write_now(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """now(): the statement's time is an argument of the kernel."""
    return Value(("now_us",))


FUNCTIONS: dict[str, FunctionWriter] = {"now": write_now}
