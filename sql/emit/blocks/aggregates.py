"""Aggregates and window calls as SQL, from templates that both engines understand.

A FILTER becomes a CASE around the argument: so an argument that raises is not evaluated for rows
that the FILTER leaves out. Sums of variable numerics are taken over `numeric_key`'s three integer
parts and put together by `numeric_total`, exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sql.emit.expressions import ExpressionPrinter
from sql.emit.rules.aggregate import AggregateText, sort_key, variable_total
from sql.errors import SqlError, not_supported
from sql.functions.printing import form_of
from sql.functions.signatures import FLOATS, INTEGERS
from sql.tree.expressions import AggregateCall, Cast, Expression, Literal, WindowCall, WindowFrame
from sql.types.datatypes import SqlType, scaled_numeric

RANKINGS = frozenset({"row_number", "rank", "dense_rank", "percent_rank", "cume_dist"})
# Arguments that must be whole numbers and come back as integer in PostgreSQL.
INTEGER_RANKINGS = {"ntile": "int4"}
NAVIGATION = frozenset({"lag", "lead", "first_value", "last_value", "nth_value"})

Wrap = Callable[[str], str]
"""Completes one engine aggregate, such as 'sum(x)', with its OVER clause."""


def aggregate_text(printer: ExpressionPrinter, call: AggregateCall, over: str = "") -> str:
    """Return an aggregate of a grouping, or of the window that an OVER clause describes."""
    return _aggregate(printer, call, call.distinct, lambda text: f"{text} {over}" if over else text)


def window_text(printer: ExpressionPrinter, call: WindowCall) -> str:
    """Return a window function or an aggregate with OVER."""
    over = over_clause(printer, call)
    name = call.function
    if name in RANKINGS:
        return f"{name}() {over}"
    arguments = [printer.text(argument) for argument in call.arguments]
    if name in INTEGER_RANKINGS:
        return f"CAST(ntile({arguments[0]}) {over} AS {printer.type_name(call.type)})"
    if name in NAVIGATION:
        if name in ("lag", "lead") and len(arguments) == 3:
            arguments[0] = printer.fit(call.arguments[0], call.type)
            arguments[2] = printer.fit(call.arguments[2], call.type)
        if name in ("lag", "lead", "nth_value") and len(arguments) > 1:
            arguments[1] = _whole_number(call.arguments[1], name)
            if name == "nth_value" and int(arguments[1]) <= 0:
                raise SqlError("22016", "argument of nth_value must be greater than zero")
        return f"{name}({', '.join(arguments)}) {over}"
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
    if call.frame is not None and call.function not in RANKINGS | {"lag", "lead", "ntile"}:
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


def _bound(printer: ExpressionPrinter, bound: tuple[str, int | Literal | None], side: str) -> str:
    kind, offset = bound
    if kind == "current":
        return "CURRENT ROW"
    if kind == "unbounded":
        return f"UNBOUNDED {side}"
    return f"{printer.frame_offset(offset) if isinstance(offset, Literal) else offset} {kind.upper()}"


def _whole_number(node: Expression, name: str) -> str:
    while not isinstance(node, Literal) and hasattr(node, "operand"):
        node = node.operand
    if not isinstance(node, Literal) or not isinstance(node.value, int):
        raise not_supported(f"an offset of {name} that is not a constant")
    return str(node.value)


def _aggregate(printer: ExpressionPrinter, call: AggregateCall | WindowCall, distinct: bool, wrap: Wrap) -> str:
    name = call.function
    if name in ("count_star", "count") and not call.arguments:
        return wrap("count(*)" if call.filter is None else f"count({_kept(printer, call, '1')})")
    word = "DISTINCT " if distinct and name not in ("min", "max", "bool_and", "bool_or") else ""
    rule = printer.aggregates.get(name)
    if rule is not None:
        return rule(prepared(printer, call, word, wrap))
    if len(call.arguments) != 1:
        raise not_supported(f"aggregate {name} with {len(call.arguments)} arguments", call.position)
    kind = call.arguments[0].type
    text = _kept(printer, call, printer.text(call.arguments[0]))
    form = form_of(kind)
    key = printer.comparable_text(text, kind)
    if name == "count":
        return wrap(f"count({word}{key})")
    if name in ("bool_and", "bool_or") and form == "bool":
        return wrap(f"{name}({text})")
    if name in ("min", "max"):
        return wrap(
            f"{'min_by' if name == 'min' else 'max_by'}({text}, {key})" if kind.has_own_order else f"{name}({text})"
        )
    if name in ("sum", "avg"):
        if word and form in ("variable", "float4", "float8"):
            raise not_supported(f"{name}(DISTINCT {kind.sql_name})", call.position)
        if kind.family in FLOATS and (has_order(call) or call.type.family == "float4"):
            # Floats of an average are added as they come where no order is asked for: no list is
            # made.
            added = printer.added_text(prepared(printer, call, word, wrap))
            return f"CAST({added} AS {printer.type_name(call.type)})"
        total = _total(printer, call, text, kind, word, wrap)
        return total if name == "sum" else _average(printer, call, text, kind, word, wrap, total)
    raise not_supported(f"aggregate {name}({kind.sql_name})", call.position)


def has_order(call: AggregateCall | WindowCall) -> bool:
    """Tell whether a call has an order of its own for its rows."""
    return isinstance(call, WindowCall) or bool(call.order_by)


def prepared(printer: ExpressionPrinter, call: AggregateCall | WindowCall, word: str, wrap: Wrap) -> AggregateText:
    """Return the texts of a call, with its FILTER in the first argument."""
    condition = None if call.filter is None else printer.text(call.filter)
    texts = [printer.text(argument) for argument in call.arguments]
    if word and condition is not None and "SELECT" in condition:
        # The argument is a sort key as well, and DuckDB does not see that two subqueries are one.
        return AggregateText(
            printer, call, tuple(texts), None, word, lambda text: wrap(f"{text} FILTER (WHERE {condition})")
        )
    if texts and condition is not None:
        texts[0] = f"CASE WHEN {condition} THEN {texts[0]} END"
    return AggregateText(printer, call, tuple(texts), condition, word, wrap)


def _kept(printer: ExpressionPrinter, call: AggregateCall | WindowCall, text: str) -> str:
    return text if call.filter is None else f"CASE WHEN {printer.text(call.filter)} THEN {text} END"


def _total(
    printer: ExpressionPrinter, call: AggregateCall | WindowCall, text: str, kind: SqlType, word: str, wrap: Wrap
) -> str:
    """Return the sum in the physical form of PostgreSQL's sum.

    The inner sum of avg is DECIMAL for whole numbers.
    """
    if kind.family in INTEGERS:
        target = scaled_numeric(0) if call.function == "avg" or kind.family == "int8" else call.type
        inner = text if kind.family != "int8" else f"CAST({text} AS {printer.type_name(scaled_numeric(0))})"
        return f"CAST({wrap(f'sum({word}{inner})')} AS {printer.type_name(target)})"
    if kind.family in FLOATS:
        total, infinite = wrap(f"sum({text})"), wrap(f"bool_or({_is_infinite(text)})")
        return f"float8_total({total}, {infinite})"
    if form_of(kind) == "numeric":
        return f"CAST({wrap(f'sum({word}{text})')} AS {printer.type_name(kind)})"
    if form_of(kind) == "variable":
        return variable_total(printer, text, wrap)
    if form_of(kind) == "interval":
        return printer.interval_total(_interval_sums(printer, text, word, wrap))
    raise not_supported(f"aggregate {call.function}({kind.sql_name})", call.position)


def _interval_sums(printer: ExpressionPrinter, text: str, word: str, wrap: Wrap) -> list[str]:
    """Return the sums of the three parts of intervals."""
    if word:
        raise not_supported("DISTINCT in a sum or an average of intervals")
    wide = printer.type_name(scaled_numeric(0))
    return [f"CAST({wrap(f'sum(({text}).{part})')} AS {wide})" for part in ("months", "days", "micros")]


def _is_infinite(text: str) -> str:
    return f"{text} IN (CAST('Infinity' AS DOUBLE), CAST('-Infinity' AS DOUBLE))"


def _average(
    printer: ExpressionPrinter,
    call: AggregateCall | WindowCall,
    text: str,
    kind: SqlType,
    word: str,
    wrap: Wrap,
    total: str,
) -> str:
    """Return sum / count, with PostgreSQL's scale of a quotient for numerics."""
    count = wrap(f"count({word}{printer.comparable_text(text, kind)})")
    if kind.family in FLOATS:
        return f"({total} / CAST({count} AS DOUBLE))"
    if form_of(kind) == "interval":
        return printer.interval_average(_interval_sums(printer, text, word, wrap), count)
    exact = printer.exact_average(wrap, text, kind, count) if kind.family == "numeric" and not word else None
    if exact is not None:
        return exact
    packed = total if form_of(kind) == "variable" else printer.pack(total, kind.display_scale or 0)
    return f"numeric_quotient({packed}, {count})"
