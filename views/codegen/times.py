"""Functions of dates and timestamps. A time zone is a pair of arrays that the module makes when it is imported."""

from __future__ import annotations

from ringbuffer.calendar import FIELD_CODES, UNIT_CODES
from sql.expressions import Call, Case, Cast
from views.codegen.expressions import ExpressionWriter, FunctionWriter, literal_argument
from views.codegen.values import Value
from views.codegen.writer import KernelWriter


def zone_arrays(writer: KernelWriter, zone: str) -> str:
    """Return source text of a zone's two arrays, as arguments."""
    writer.use("time_zones", "zone_table")
    name = writer.constant("zone", f"zone_table({zone!r})")
    transitions = writer.constant("zone_transitions", f"{name}[0]")
    offsets = writer.constant("zone_offsets", f"{name}[1]")
    return f"{transitions}, {offsets}"


def write_now(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """now(): the statement's time is an argument of the kernel."""
    return Value(("now_us",))


def write_date_arithmetic(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """date + integer, date - integer, date - date."""
    assert isinstance(node, Call)
    left, right = (writer.evaluate(argument) for argument in node.arguments)
    if node.function == "date_difference":
        return writer.strict(node, f"{left.word} - {right.word}", (left, right), "days", fallible=False)
    call = f"{writer.writer.use('calendar', node.function)}({left.word}, {right.word})"
    return writer.strict(node, call, (left, right), "day", fallible=True)


def write_add_interval(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """timestamp + constant interval."""
    assert isinstance(node, Call)
    value = writer.evaluate(node.arguments[0])
    months, days, micros, zone = (literal_argument(node, index) for index in range(1, 5))
    out = writer.writer
    if node.type.family == "timestamptz":
        arrays = zone_arrays(out, str(zone))
        call = f"{out.use('zoned_calendar', 'add_interval_zoned')}({value.word}, {months}, {days}, {micros}, {arrays})"
    else:
        call = f"{out.use('calendar', 'add_interval_us')}({value.word}, {months}, {days}, {micros})"
    return writer.strict(node, call, (value,), "later", fallible=True)


def write_date_trunc(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """date_trunc(unit, timestamp)."""
    assert isinstance(node, Call)
    unit = UNIT_CODES[str(literal_argument(node, 0))]
    value = writer.evaluate(node.arguments[1])
    out = writer.writer
    if node.type.family == "timestamptz":
        arrays = zone_arrays(out, str(literal_argument(node, 2)))
        call = f"{out.use('zoned_calendar', 'date_trunc_zoned')}({unit}, {value.word}, {arrays})"
    else:
        call = f"{out.use('calendar', 'date_trunc_us')}({unit}, {value.word})"
    return writer.strict(node, call, (value,), "unit_start", fallible=True)


def write_extract(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """extract(field FROM date or timestamp), a numeric."""
    assert isinstance(node, Call)
    field = FIELD_CODES[str(literal_argument(node, 0))]
    value = writer.evaluate(node.arguments[1])
    out = writer.writer
    family = node.arguments[1].type.family
    if family == "timestamptz":
        arrays = zone_arrays(out, str(literal_argument(node, 2)))
        call = f"{out.use('zoned_calendar', 'extract_zoned')}({field}, {value.word}, {arrays})"
    else:
        function = "extract_date" if family == "date" else "extract_timestamp"
        call = f"{out.use('calendar', function)}({field}, {value.word})"
    return writer.strict(node, call, (value,), "field", fallible=False)


def write_date_part(writer: ExpressionWriter, node: Call | Cast | Case) -> Value:
    """date_part(field, timestamp), a double."""
    assert isinstance(node, Call)
    field = FIELD_CODES[str(literal_argument(node, 0))]
    value = writer.evaluate(node.arguments[1])
    out = writer.writer
    if node.arguments[1].type.family == "timestamptz":
        arrays = zone_arrays(out, str(literal_argument(node, 2)))
        call = f"{out.use('zoned_calendar', 'date_part_zoned')}({field}, {value.word}, {arrays})"
    else:
        call = f"{out.use('calendar', 'date_part_timestamp')}({field}, {value.word})"
    return writer.strict(node, call, (value,), "part", fallible=False)


FUNCTIONS: dict[str, FunctionWriter] = {
    "now": write_now,
    **dict.fromkeys(("date_add_days", "date_subtract_days", "date_difference"), write_date_arithmetic),
    "add_interval": write_add_interval,
    "date_trunc": write_date_trunc,
    "extract": write_extract,
    "date_part": write_date_part,
}
