"""Sliding windows by time: a condition on the age of a stream's rows, over slices of their time.

    WHERE t > now() - interval '1 hour'   ->   WHERE date_bin('1 minute', t, ...) > now() - interval '1 hour'

The stream is grouped by slices, whose age is compared when the view is read. A slice goes as a
whole, so that the answer is that of a window between size - step and size; a step is 1/60 of the
size, or what the condition says by a `date_bin` of its own. A time without a zone is compared on
the reader's clock, and may be an hour off where clocks are changed. Days are slices of dates as
they are. Enters: the input of a grouping. Leaves: an equal one but for that. Must not know groups.
"""

from __future__ import annotations

from sql.functions.arguments import literal_integer
from sql.functions.comparisons import COMPARED_DAYS, TURNED
from sql.times.civil import DAY_US
from sql.times.interval_values import interval_text
from sql.tree.expressions import Call, Cast, Column, Expression, Literal
from sql.tree.relations import Filter, Project, Relation, SetOperation
from sql.tree.walks import inputs, subqueries_of
from sql.types.datatypes import INTERVAL, TEXT
from views.model.trees import columns_of, conjuncts, uses_now, with_inputs
from views.plan.joins.join_graph import conjunction
from views.plan.joins.stream_region import ungrouped_streams

STEPS = 60
MONTH_DAYS = 30
ORDERS = frozenset({"gt", "ge"})


def sliced(relation: Relation) -> tuple[Relation, list[str]]:
    """Return the input of a grouping with slices in conditions on the age of rows, and what people
    are told; the input itself without any.
    """
    if not ungrouped_streams(relation) or isinstance(relation, SetOperation):
        return relation, []
    below = [sliced(part) for part in inputs(relation)]
    told = [text for _, texts in below for text in texts]
    if told:
        relation = with_inputs(relation, [part for part, _ in below])
    if not isinstance(relation, Filter):
        return relation, told
    flags = are_of_stream(relation.input)
    conditions = list(conjuncts(relation.predicate))
    found = [_of_slices(condition, flags) for condition in conditions]
    moving = [uses_now(condition) and bool(columns_of(condition)) for condition in conditions]
    if not any(found) or any(moves and not one for moves, one in zip(moving, found, strict=True)):
        return relation, told
    kept = [one[0] if one else condition for one, condition in zip(found, conditions, strict=True)]
    return Filter(relation.input, conjunction(kept)), [*told, *(one[1] for one in found if one)]


def are_of_stream(relation: Relation) -> list[bool]:
    """Return for every column of a relation whether it follows from the stream's columns alone."""
    if not ungrouped_streams(relation):
        return [False] * len(relation.schema)
    below = [flag for one in inputs(relation) for flag in are_of_stream(one)]
    if isinstance(relation, Project):
        return [all(below[index] for index in columns_of(item)) for _, item in relation.items]
    if isinstance(relation, SetOperation):
        return [all(below)] * len(relation.schema)
    if not below:
        return [True] * len(relation.schema)
    # The result of a window follows from other rows, too.
    return [*below, *[False] * (len(relation.schema) - len(below))]


def _of_slices(condition: Expression, flags: list[bool]) -> tuple[Expression, str] | None:
    """Return a condition on a row's age over slices, and what people are told; None: it is none."""
    if not isinstance(condition, Call) or condition.function not in TURNED:
        return None
    time, bound = condition.arguments
    if columns_of(bound) and not columns_of(time):
        return _of_slices(Call(TURNED[condition.function], (bound, time), condition.type, condition.position), flags)
    days = _days(time)
    if days is not None:
        time = days
    start = days.arguments[0] if days is not None else time.operand if isinstance(time, Cast) else time
    own_step, column = (None, start) if isinstance(start, Column) else _binned(start)
    if condition.function not in ORDERS or not isinstance(column, Column) or not flags[column.index]:
        return None
    if not uses_now(bound) or columns_of(bound) or any(True for _ in subqueries_of(bound)):
        return None
    if column.type.family == "date" and (time is column or days is not None):
        whole = Call(condition.function, (time, bound), condition.type, condition.position, condition.text)
        return whole, f"days of {column.name} are kept, and those that are too old are not read"
    size = _size_us(bound)
    step = size // STEPS if own_step is None else own_step
    if not {column.type.family, time.type.family} <= {"timestamp", "timestamptz"} or not size or not step:
        return None
    shown = [interval_text((0, 0, part)) for part in (size, step)]
    told = "the window of {} moves in steps of {}".format(*shown)
    if own_step is None:
        step_of = Literal((0, 0, step), INTERVAL)
        start = Call("date_bin", (step_of, column, Literal(0, column.type)), column.type)
    elif step == 1:
        start, told = column, f"the window of {shown[0]} is exact: there is a group for each different {column.name}"
    start = Cast(start, time.type, time.explicit, time.zone, time.position) if isinstance(time, Cast) else start
    return Call(condition.function, (start, bound), condition.type, condition.position, condition.text), told


def _binned(start: Expression) -> tuple[int | None, Expression]:
    """Return the step in microseconds and the time of a slice that a query names itself."""
    match start:
        case Call(function="date_bin", arguments=(Literal(value=(0, 0, int(step))), time, _)):
            return step, time
    return None, start


def _days(time: Expression) -> Call | None:
    """Return dates as they are compared with a time, also where a step is asked for: a day is the
    smallest one.
    """
    match time:
        case Call(function=function) if function in COMPARED_DAYS.values():
            return time
        case Call(function="date_bin", arguments=(_, Cast(operand=Column() as day, zone=zone), _)):
            arguments = (day, Literal(zone, TEXT)) if time.type.family == "timestamptz" else (day,)
            is_date = day.type.family == "date"
            return Call(COMPARED_DAYS[time.type.family], arguments, time.type) if is_date else None
    return None


def _size_us(bound: Expression) -> int:
    """Return how long before now() a bound is, 0 if it is anything else."""
    match bound:
        case Call(function="add_interval", arguments=(_, *parts)):
            months, days, micros = (literal_integer(part, "an interval") for part in parts[:3])
            return max(-((months * MONTH_DAYS + days) * DAY_US + micros), 0)
    return 0
