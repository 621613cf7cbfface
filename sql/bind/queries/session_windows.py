"""Sessions in FROM: the rows of a relation with the start and the end of their session.

    session(TABLE t [PARTITION BY k, ...], time, gap)

Rows with equal keys are in one session as long as none is more than `gap` later than the one
before. A session begins with its first row and ends `gap` after its last one, as Flink merges
windows (`TimeWindow.intersects`: those that touch are one). Enters: the relation and its scope.
Leaves: plain operators over it, two steps of window functions. Rows without a time, or with one
that is infinite or nearer to the ends of time than the gap, are in no session. The start is the
last time up to a row's at which a session has begun, the end the first one from there at which one
ends, so that rows of equal times are alike whatever their order is.
"""

from __future__ import annotations

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.context import BindContext
from sql.bind.expressions.scope import Scope
from sql.bind.queries.time_windows import ADDED, SPAN_US_MAX, has_windows, named, shifted, span_us, time_of
from sql.errors import SqlError
from sql.parse.syntax import WindowedTable
from sql.tree.expressions import Call, Case, Column, Expression, Literal, SortKey, WindowCall
from sql.tree.relations import SESSION_END, SESSION_START, Filter, Project, Relation, Window
from sql.types.datatypes import BOOL, INT8


def in_sessions(item: WindowedTable, relation: Relation, scope: Scope, context: BindContext) -> tuple[Relation, Scope]:
    """Return the rows of a relation with their sessions, and their names.

    Raises 22023 for a gap of nothing, 0A000 for months, 42804 for a column that is no time.
    """
    binder = Binder(scope, context, "functions in FROM")
    keys = tuple(map(binder.bind, item.partition_by))
    column, time = time_of(item, binder)
    if len(item.spans) != 1:
        usage = "session(TABLE name [PARTITION BY column, ...], time, gap)"
        raise SqlError("42883", "session takes other arguments", item.position, hint=f"Write {usage}.")
    micros = span_us(binder, item.kind, "gap", item.spans[0])
    if micros > SPAN_US_MAX:
        raise SqlError("22023", "the gap of session is at most 1000 years", item.position)
    gap, width = Literal(micros, INT8), len(relation.schema)
    rows: Relation = Filter(relation, has_windows(column, micros))
    order, back = (SortKey(time),), (SortKey(time, True, True),)
    beside = [(name, WindowCall(name, (time,), time.type, keys, order)) for name in ("lag", "lead")]
    before, after = (Column(width + place, name, time.type) for place, (name, _) in enumerate(beside))
    begins = _where(_is_apart(before, time, before, gap), time)
    ends = _where(_is_apart(after, after, time, gap), time)
    bounds = (
        (SESSION_START, WindowCall("max", (begins,), time.type, keys, order)),
        (SESSION_END, WindowCall("min", (ends,), time.type, keys, back)),
    )
    rows = Window(Window(rows, tuple(beside)), bounds)
    start, last = (Column(width + 2 + place, name, time.type) for place, (name, _) in enumerate(bounds))
    kept = ((one.name, Column(place, one.name, one.type)) for place, one in enumerate(relation.schema))
    items = (*kept, *zip(ADDED, (start, shifted(last, gap)), strict=True))
    return Project(rows, items), named(item, scope, width, time)


def _is_apart(neighbour: Expression, later: Expression, earlier: Expression, gap: Expression) -> Expression:
    """Return the condition that there is no neighbour, or that it is more than the gap away."""
    is_far = Call("gt", (later, shifted(earlier, gap)), BOOL)
    return Call("or", (Call("is_null", (neighbour,), BOOL), is_far), BOOL)


def _where(condition: Expression, time: Expression) -> Expression:
    return Case(((condition, time),), Literal(None, time.type), time.type)
