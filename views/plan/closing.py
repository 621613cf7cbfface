"""Windows that close: a grouping by windows of time is given what tells when each has closed.

    count(*) by date_bin('1 min', t, ...)  ->  the same with max(t) and count(*), and `Closing`

Enters: a plan, and what the view says of late rows. Leaves: the plan with a closing. Must not know
groups.
"""

from __future__ import annotations

from dataclasses import replace

from sql.functions.arguments import literal_integer
from sql.times.civil import DAY_US
from sql.times.interval_values import interval_text
from sql.tree.expressions import AggregateCall, Call, Cast, Column, Expression, Literal
from sql.tree.relations import (
    SESSION_START,
    WINDOW_SHIFT,
    OutputColumn,
    Project,
    Relation,
    TableFunction,
    Values,
    Window,
)
from sql.tree.walks import all_relations
from sql.types.datatypes import INT8
from views.model.definition import Lateness
from views.model.nodes import Closing, StreamPipeline
from views.model.plan import Plan, chain
from views.model.refusals import refused
from views.model.steps import unique_names
from views.model.text import expression_text
from views.model.trees import meaning, uses_now

HOUR_US = 3_600_000_000
# How long a unit of date_trunc is at most. Clocks that are changed make days longer.
UNITS_US = {
    "microseconds": 1,
    "milliseconds": 1000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": HOUR_US,
    "day": DAY_US,
    "week": 7 * DAY_US,
    "month": 31 * DAY_US,
    "quarter": 92 * DAY_US,
    "year": 366 * DAY_US,
}
CHANGE_US = 2 * HOUR_US
TIMES = ("timestamp", "timestamptz")
NEWEST, ROWS = "newest time", "rows"


def with_closing(plan: Plan, lateness: Lateness, name: str) -> tuple[Plan, tuple[str, ...]]:
    """Return a plan whose groups close, and what people are told.

    name: of the view. Raises 0A000 where no key is a window of time.
    """
    stream = plan.stream
    found = next((one for _, key in stream.keys if (one := _window(key, stream)) is not None), None)
    if found is None:
        what = "emit, lateness or late in a view that does not group a stream by windows of time"
        hint = "Group by window_start and window_end of tumble or hop, or by date_bin or date_trunc of a time."
        raise refused(what, "; ".join(expression_text(key) for _, key in stream.keys), None, hint)
    key, ends_after_us, time = found
    closing = Closing(
        meaning(key), meaning(time), ends_after_us, lateness.lateness_us, lateness.drops, lateness.on_close
    )
    calls = (AggregateCall("max", (time,), time.type), AggregateCall("count_star", (), INT8))
    taken = [column.name for column in stream.groups]
    names = unique_names([*taken, NEWEST, ROWS])[-2:]
    kept = (*stream.groups, *(OutputColumn(one, call.type) for one, call in zip(names, calls, strict=True)))
    stream = replace(
        stream, aggregates=(*stream.aggregates, *zip(names, calls, strict=True)), groups=kept, closing=closing
    )
    plan = chain(stream, replace(plan.finish, input=kept), plan.upper, plan.tail)
    return plan, (_told(closing, expression_text(time), name),)


def keeps_rows(root: Relation) -> bool:
    """Tell whether a prepared query makes rows or sessions of the groups that it keeps, so that
    these are no windows.
    """
    return any(
        (isinstance(part, TableFunction) and part.calls[0][0] == "generate_series")
        or (isinstance(part, Window) and SESSION_START in [name for name, _ in part.calls])
        for part in all_relations(root)
    )


def _told(closing: Closing, time: str, name: str) -> str:
    """Return a sentence on the windows of a view. time: of a row."""
    shown = "are shown when they close" if closing.on_close else "close"
    after = f"{interval_text((0, 0, closing.lateness_us))} after their end" if closing.lateness_us else "at their end"
    late = "are left out" if closing.drops else "count"
    return (
        f'windows of view "{name}" {shown}, {after} by the latest {time}; '
        f"rows that come later {late}, and pg_stat_continuous_views.tuples_late counts them"
    )


def _window(key: Expression, stream: StreamPipeline) -> tuple[Expression, int, Expression] | None:
    """Return a key that is a window, how long after it the window ends at most, and the time of a
    row; None for any other key.
    """
    if uses_now(key):
        return None
    span = _span(key, stream)
    if span is None:
        return None
    time = _time(key)
    fits = time.type.family in TIMES or (time.type.family == "date" and key.type.family == "date")
    return (key, span, time) if fits else None


def _span(key: Expression, stream: StreamPipeline) -> int | None:
    match key:
        case Column() | Cast(operand=Column()) if key.type.family == "date":
            # Dates of time stamps with a zone begin at another time in each zone.
            return None if isinstance(key, Cast) and key.operand.type.family != "timestamp" else DAY_US
        case Call(function="date_bin", arguments=(Literal(value=(0, int(days), int(micros))), _, Literal())):
            return days * DAY_US + micros
        case Call(function="date_trunc", arguments=(Literal(value=str(unit)), time, *_)):
            whole = UNITS_US.get(unit.lower())
            change = CHANGE_US if whole is not None and whole >= HOUR_US and time.type.family == "timestamptz" else 0
            return None if whole is None else whole + change
        case Call(
            function="add_interval",
            arguments=(Call(function="date_bin") as start, Literal(value=0), Literal(value=0), shift, *_),
        ):
            match shift, _span(start, stream):
                case Column(index=place), _:
                    return _after_shift(place, stream)
                case Literal(value=int(moved)), int(width):
                    return width - moved
    return None


def _after_shift(place: int, stream: StreamPipeline) -> int | None:
    """Return how long after a bound of the windows of hop they end: the bound is a shift of the
    last start.
    """
    start = len(stream.input)
    for probe in stream.probes:
        match probe.build:
            case Project(input=Values(rows=rows, schema=(column, _)), items=items) if column == WINDOW_SHIFT:
                if start <= place < start + len(items) and isinstance(shift := items[place - start][1], Column):
                    (begins, ends), *_ = ((literal_integer(one, "a shift") for one in row) for row in rows)
                    return ends - begins if shift.index == 0 else 0
        start += len(probe.build.schema)
    return None


def _time(key: Expression) -> Expression:
    """Return the time of which a window is."""
    while True:
        match key:
            case Call(function="date_bin" | "date_trunc", arguments=(_, time, *_)):
                key = time
            case Call(function="add_interval", arguments=(time, *_)):
                key = time
            case Cast(operand=operand) if key.type.family == "date" and operand.type.family in TIMES:
                key = operand
            case _:
                return key
