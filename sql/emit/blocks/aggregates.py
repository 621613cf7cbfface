"""Aggregates and window calls as SQL, by the rules of their rows.

A FILTER becomes a CASE around the argument: so an argument that raises is not evaluated for rows
that the FILTER leaves out.
"""

from __future__ import annotations

from dataclasses import replace

from sql.emit.expressions import ExpressionPrinter
from sql.errors import not_supported
from sql.functions.aggregate_rows import AggregateText, Wrap, sort_key
from sql.functions.signatures import INTEGERS
from sql.functions.table import WINDOW_ROWS
from sql.tree.expressions import AggregateCall, Cast, Expression, Literal, WindowCall, WindowFrame
from sql.types.datatypes import scaled_numeric


def aggregate_text(printer: ExpressionPrinter, call: AggregateCall, over: str = "") -> str:
    """Return an aggregate of a grouping, or of the window that an OVER clause describes."""
    return _aggregate(printer, call, call.distinct, lambda text: f"{text} {over}" if over else text)


def window_text(printer: ExpressionPrinter, call: WindowCall) -> str:
    """Return a window function or an aggregate with OVER."""
    over = over_clause(printer, call)
    row = WINDOW_ROWS.get(call.function)
    if row is not None and row.rule is not None:
        return row.rule(printer, call, lambda text: f"{text} {over}")
    return _aggregate(printer, call, False, lambda text: f"{text} {over}")


def over_clause(printer: ExpressionPrinter, call: WindowCall) -> str:
    """Return OVER (...) with the places of NULLs spelled out."""
    parts = []
    if call.partition_by:
        parts.append("PARTITION BY " + ", ".join(printer.comparable(key) for key in call.partition_by))
    if call.order_by:
        keys = call.order_by
        if call.frame is not None and call.frame.unit == "range" and _has_offset(call.frame):
            keys = tuple(replace(key, expression=_widened(key.expression)) for key in keys)
        parts.append("ORDER BY " + ", ".join(sort_key(printer, key) for key in keys))
    if call.frame is not None and (call.function not in WINDOW_ROWS or WINDOW_ROWS[call.function].takes_frame):
        parts.append(_frame(printer, call.frame, call))
    return f"OVER ({' '.join(parts)})"


def _has_offset(frame: WindowFrame) -> bool:
    return any(isinstance(bound[1], Literal) for bound in (frame.start, frame.end))


def _widened(node: Expression) -> Expression:
    """Return a sort key to which an offset can be added without overflow."""
    return Cast(node, scaled_numeric(0)) if node.type.family in INTEGERS else node


def _frame(printer: ExpressionPrinter, frame: WindowFrame, call: WindowCall) -> str:
    printer.check_frame(frame, call)
    start, end = _bound(printer, frame.start, "PRECEDING"), _bound(printer, frame.end, "FOLLOWING")
    exclusion = f" EXCLUDE {frame.exclusion.upper()}" if frame.exclusion else ""
    return f"{frame.unit.upper()} BETWEEN {start} AND {end}{exclusion}"


def _bound(printer: ExpressionPrinter, bound: tuple[str, int | Expression | None], side: str) -> str:
    kind, offset = bound
    if kind == "current":
        return "CURRENT ROW"
    if kind == "unbounded":
        return f"UNBOUNDED {side}"
    return f"{printer.frame_offset(offset) if isinstance(offset, Literal) else offset} {kind.upper()}"


def _aggregate(printer: ExpressionPrinter, call: AggregateCall | WindowCall, distinct: bool, wrap: Wrap) -> str:
    name = "count_star" if call.function == "count" and not call.arguments else call.function
    rule = printer.aggregates.get(name)
    if rule is None:
        kinds = ", ".join(argument.type.sql_name for argument in call.arguments)
        raise not_supported(f"aggregate {call.function}({kinds})", call.position)
    return rule(prepared(printer, call, "DISTINCT " if distinct else "", wrap))


def prepared(printer: ExpressionPrinter, call: AggregateCall | WindowCall, word: str, wrap: Wrap) -> AggregateText:
    """Return the texts of a call, with its FILTER in the first argument."""
    condition = None if call.filter is None else printer.text(call.filter)
    texts = [printer.text(argument) for argument in call.arguments]
    if texts and condition is not None:
        texts[0] = f"CASE WHEN {condition} THEN {texts[0]} END"
    return AggregateText(printer, call, tuple(texts), condition, word, wrap)
