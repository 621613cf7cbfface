"""OVER and WINDOW: window definitions and their frames."""

from __future__ import annotations

from sql.errors import SqlError
from sql.parse.grammar import calls, sorting
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor
from sql.parse.syntax import Expression, FrameBound, WindowDefinition


def window_clause(cursor: Cursor) -> tuple[tuple[str, WindowDefinition], ...]:
    """Read WINDOW name AS (...), ..."""
    if not cursor.accept("window"):
        return ()
    found: dict[str, WindowDefinition] = {}

    def window(cursor: Cursor) -> tuple[str, WindowDefinition]:
        name = cursor.name()
        cursor.expect("as")
        if name in found:
            cursor.defer(SqlError("42P20", f'window "{name}" is already defined', cursor.position))
        found[name] = window_definition(cursor)
        return name, found[name]

    return cursor.several(window)


def over_clause(cursor: Cursor) -> WindowDefinition:
    """Read a window definition after OVER, or the name of one."""
    if cursor.at_operator("("):
        return window_definition(cursor)
    position = cursor.position
    return WindowDefinition(cursor.name(), (), (), None, position, exact=True)


def window_definition(cursor: Cursor) -> WindowDefinition:
    """Read ([base] [PARTITION BY ...] [ORDER BY ...] [frame])."""
    position = cursor.position
    cursor.enter()
    cursor.expect_operator("(")
    base = None
    if cursor.at_name() and not cursor.at("partition", "range", "rows", "groups"):
        base = cursor.name()
    partition: tuple[Expression, ...] = ()
    if cursor.accept("partition"):
        cursor.expect("by")
        partition = calls.expressions(cursor)
    order = sorting.order_by(cursor)
    frame = None
    unit = cursor.accept_any("range", "rows", "groups")
    if unit is not None:
        frame = window_frame(cursor, unit)
    cursor.expect_operator(")")
    cursor.leave()
    return WindowDefinition(base, partition, order, frame, position)


def window_frame(cursor: Cursor, unit: str) -> tuple[str, FrameBound, FrameBound, str]:
    """Read one bound or BETWEEN two, and EXCLUDE."""
    position = cursor.position
    if cursor.accept("between"):
        start = frame_bound(cursor)
        cursor.expect("and")
        end = frame_bound(cursor)
        check_bounds(start, end)
    else:
        start = frame_bound(cursor)
        end = FrameBound("current", None, position)
        if start.kind == "following":
            raise SqlError("42P20", "frame starting from following row cannot end with current row", position)
        check_bounds(start, end)
    exclusion = ""
    if cursor.accept("exclude") and not cursor.accept("no", "others"):
        exclusion = "current row" if cursor.accept("current", "row") else cursor.accept_any("group", "ties") or ""
        if not exclusion:
            cursor.accept_any("current", "no")
            cursor.fail()
    return unit, start, end, exclusion


def check_bounds(start: FrameBound, end: FrameBound) -> None:
    """Raise the error of PostgreSQL's grammar for a frame that ends before it starts."""
    if start.kind == "unbounded_following":
        raise SqlError("42P20", "frame start cannot be UNBOUNDED FOLLOWING", start.position)
    if end.kind == "unbounded_preceding":
        raise SqlError("42P20", "frame end cannot be UNBOUNDED PRECEDING", end.position)
    if start.kind == "current" and end.kind == "preceding":
        raise SqlError("42P20", "frame starting from current row cannot have preceding rows", end.position)
    if start.kind == "following" and end.kind in ("preceding", "current"):
        raise SqlError("42P20", "frame starting from following row cannot have preceding rows", end.position)


def frame_bound(cursor: Cursor) -> FrameBound:
    """Read UNBOUNDED PRECEDING | FOLLOWING, CURRENT ROW, or an offset with its side."""
    position = cursor.position
    # Before another word these words are the names of columns.
    for end in ("preceding", "following"):
        if cursor.accept("unbounded", end):
            return FrameBound(f"unbounded_{end}", None, position)
    if cursor.accept("current", "row"):
        return FrameBound("current", None, position)
    offset = grammar.expression(cursor)
    return FrameBound(cursor.one_of("preceding", "following"), offset, position)
