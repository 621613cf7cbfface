"""Windows by time in FROM: the rows of a relation with the start and the end of a window that holds
their time.

    tumble(TABLE t, time, size [, offset])       each row once
    hop(TABLE t, time, slide, size [, offset])   each row once for each window, which begin every `slide`

Enters: the relation and its scope. Leaves: plain operators over it. Windows begin at 1970-01-01
UTC, or on the clock of times without a zone, plus the offset and whole numbers of `slide`. A row is
in no window if its time is NULL or infinite, or nearer to the ends of time than a window is wide.
The rows of `hop` are joined with constants, so that groups by slices, as wide as the greatest
common divisor of `slide` and `size`, can stand below.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from sql.bind.expressions.binder import Binder
from sql.bind.expressions.coerce import coerce
from sql.bind.expressions.context import BindContext
from sql.bind.expressions.scope import Scope, ScopeColumn
from sql.bind.expressions.source_positions import start_of
from sql.errors import SqlError, not_supported
from sql.parse.syntax import Expression as Syntax
from sql.parse.syntax import WindowedTable
from sql.times.civil import DATE_DAYS_MIN, DAY_US, days_from_civil
from sql.tree.expressions import Call, Cast, Column, Expression, Literal
from sql.tree.relations import WINDOW_SHIFT, Filter, Join, Project, Relation, Values
from sql.types.datatypes import BOOL, INT4, INT8, INTERVAL, TEXT, TIMESTAMP

ADDED = ("window_start", "window_end")
SPANS = {"tumble": ("size", "offset"), "hop": ("slide", "size", "offset")}
WINDOWS_MAX = 10_000
TIMESTAMP_DAYS_END = days_from_civil(294_247, 1, 1)
SPAN_US_MAX = 365_000 * DAY_US


def windowed(item: WindowedTable, relation: Relation, scope: Scope, context: BindContext) -> tuple[Relation, Scope]:
    """Return the rows of a relation with their windows, and their names.

    Raises 0A000 for months and for more than WINDOWS_MAX windows of a row, 22023 for sizes of
    nothing.
    """
    binder = Binder(scope, context, "functions in FROM")
    column, time = time_of(item, binder)
    names = SPANS[item.kind]
    if not len(names) - 1 <= len(item.spans) <= len(names):
        usage = f"{item.kind}(TABLE name, time, {', '.join(names[:-1])} [, offset])"
        raise SqlError("42883", f"{item.kind} takes other arguments", item.position, hint=f"Write {usage}.")
    spans = {name: span_us(binder, item.kind, name, span) for name, span in zip(names, item.spans, strict=False)}
    slide, size = spans.get("slide", spans["size"]), spans["size"]
    count = -(-size // slide)
    if max(size, slide) > SPAN_US_MAX:
        raise SqlError("22023", f"windows of {item.kind} are at most 1000 years apart and wide", item.position)
    if count > WINDOWS_MAX:
        raise not_supported(f"hop with more than {WINDOWS_MAX} windows for each row", item.position)
    rows: Relation = Filter(relation, has_windows(column, max(size, slide)))
    width = len(relation.schema)
    origin = spans.get("offset", 0) % slide
    slice_start = time if size % slide == 0 else bin_start(time, gcd(slide, size), origin)
    last = bin_start(slice_start, slide, origin)
    start, end = last, shifted(last, Literal(size, INT8))
    if size != slide:
        shifts = tuple((Literal(-n * slide, INT8), Literal(size - n * slide, INT8)) for n in range(count))
        rows = Join(rows, Values(shifts, (WINDOW_SHIFT, WINDOW_SHIFT)), "cross", None)
        start, end = (shifted(last, Column(width + place, WINDOW_SHIFT.name, INT8)) for place in (0, 1))
    if size % slide:
        rows = Filter(rows, Call("gt", (end, slice_start), BOOL))
    kept = ((one.name, Column(place, one.name, one.type)) for place, one in enumerate(relation.schema))
    return Project(rows, (*kept, *zip(ADDED, (start, end), strict=True))), named(item, scope, width, time)


def time_of(item: WindowedTable, binder: Binder) -> tuple[Expression, Expression]:
    """Return the column of the times, and it as times. Raises 42804 for anything else."""
    column = binder.bind(item.time)
    time = Cast(column, TIMESTAMP) if column.type.family == "date" else column
    if time.type.family not in ("timestamp", "timestamptz"):
        message = (
            f"{item.kind} takes a column of type timestamp, timestamp with time zone or date, not {time.type.sql_name}"
        )
        raise SqlError("42804", message, item.time.position)
    return column, time


def span_us(binder: Binder, kind: str, name: str, span: Syntax) -> int:
    """Return an interval of the call in microseconds, a day as 24 hours."""
    value = coerce(binder.bind(span), INTERVAL, binder.context)
    match value:
        case Literal(value=(int(months), int(days), int(micros))):
            found = days * DAY_US + micros
        case _:
            raise not_supported(f"the {name} of {kind} as anything but a constant interval", start_of(span))
    if months:
        hint = None if name == "gap" else f"Group by date_trunc('month', ...) instead of {kind}(...)."
        raise not_supported(f"the {name} of {kind} in months or years", start_of(span), hint=hint)
    if found <= 0 and name != "offset":
        raise SqlError("22023", f"the {name} of {kind} must be greater than zero", start_of(span))
    return found


def has_windows(column: Expression, span: int) -> Expression:
    """Return the condition that all times up to `span` microseconds around a time are times."""
    days = span // DAY_US + 1
    unit = 1 if column.type.family == "date" else DAY_US
    first, end = ((DATE_DAYS_MIN + days) * unit, (TIMESTAMP_DAYS_END - days) * unit)
    bounds = (
        Call("ge", (column, Literal(first, column.type)), BOOL),
        Call("lt", (column, Literal(end, column.type)), BOOL),
    )
    return Call("and", bounds, BOOL)


def bin_start(time: Expression, width: int, origin: int) -> Expression:
    """Return the start of the bin of a time. width, origin: microseconds, the latter since 1970."""
    return Call("date_bin", (Literal((0, 0, width), INTERVAL), time, Literal(origin, time.type)), time.type)


def shifted(time: Expression, micros: Expression) -> Expression:
    """Return a time some microseconds later."""
    zone = (Literal("UTC", TEXT),) if time.type.family == "timestamptz" else ()
    return Call("add_interval", (time, Literal(0, INT4), Literal(0, INT4), micros, *zone), time.type)


def named(item: WindowedTable, scope: Scope, width: int, time: Expression) -> Scope:
    """Return the names of the rows: the relation's columns, then those of the window.

    width: of the relation's rows.
    """
    (table,) = scope.tables
    alias = item.alias or table.alias
    added = [ScopeColumn(name, Column(width + place, name, time.type), alias) for place, name in enumerate(ADDED)]
    columns = [replace(column, table=alias) for column in (*table.columns, *added)]
    visible = [place for place, column in enumerate(columns) if not column.hidden]
    if len(item.column_aliases) > len(visible):
        given = len(item.column_aliases)
        message = f'table "{alias}" has {len(visible)} columns available but {given} columns specified'
        raise SqlError("42P10", message)
    for place, name in zip(visible, item.column_aliases, strict=False):
        columns[place] = replace(columns[place], name=name)
    shown = replace(
        table,
        alias=alias,
        columns=tuple(columns),
        relation="",
        key=(),
        has_alias=item.alias is not None,
        relation_oid=0,
    )
    return replace(scope, tables=[shown], visible=[columns[place] for place in visible], width=width + len(ADDED))
