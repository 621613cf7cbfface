"""Functions that need OVER: ranks and rows beside the current one. An aggregate with OVER is
printed by the aggregate's own row.
"""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.functions.aggregate_rows import WindowFunction, Wrap
from sql.functions.printing import Printer
from sql.tree.expressions import Expression, Literal, WindowCall

ROWS = "FROM (VALUES (10), (20), (20), (30)) t(x) ORDER BY x DESC LIMIT 1"


def _ranking(printer: Printer, call: WindowCall, wrap: Wrap) -> str:
    return wrap(f"{call.function}()")


def _tile(printer: Printer, call: WindowCall, wrap: Wrap) -> str:
    return f"CAST({wrap(f'ntile({printer.text(call.arguments[0])})')} AS {printer.type_name(call.type)})"


def _beside(printer: Printer, call: WindowCall, wrap: Wrap) -> str:
    """Return lag or lead; the default has the type of the value."""
    value, *rest = call.arguments
    if not rest:
        return wrap(f"{call.function}({printer.text(value)})")
    number = _constant(rest[0])
    offset = printer.computed_offset(rest[0]) if number is None else str(number)
    if len(rest) == 1:
        return wrap(f"{call.function}({printer.text(value)}, {offset})")
    return wrap(f"{call.function}({printer.fit(value, call.type)}, {offset}, {printer.fit(rest[1], call.type)})")


def _of_frame(printer: Printer, call: WindowCall, wrap: Wrap) -> str:
    return wrap(f"{call.function}({printer.text(call.arguments[0])})")


def _nth(printer: Printer, call: WindowCall, wrap: Wrap) -> str:
    number = _constant(call.arguments[1])
    if number is None:
        raise not_supported("an offset of nth_value that is not a constant")
    if number <= 0:
        raise SqlError("22016", "argument of nth_value must be greater than zero")
    return wrap(f"nth_value({printer.text(call.arguments[0])}, {number})")


def _constant(node: Expression) -> int | None:
    """Return the number that an argument always is, None for any other argument."""
    while not isinstance(node, Literal) and hasattr(node, "operand"):
        node = node.operand
    return node.value if isinstance(node, Literal) and isinstance(node.value, int) else None


def _rank(name: str, result: str, answer: str, hypothetical: bool = True) -> WindowFunction:
    """Return the row of a rank."""
    example = (f"{name}() OVER (ORDER BY x) {ROWS}", answer)
    return WindowFunction(name, name, f"> {result}", example, _ranking, hypothetical=hypothetical)


BESIDE = "element > element; element int4 > element; element int4 element > element"
WINDOW_FUNCTIONS = (
    _rank("row_number", "int8", "4", hypothetical=False),
    _rank("rank", "int8", "4"),
    _rank("dense_rank", "int8", "3"),
    _rank("percent_rank", "float8", "1"),
    _rank("cume_dist", "float8", "1"),
    WindowFunction(
        "ntile", "ntile", "int4 > int4", (f"ntile(2) OVER (ORDER BY x) {ROWS}", "2"), _tile, constants={0: "4"},
    ),
    WindowFunction(
        "lag", "lag", BESIDE, (f"lag(x, 3, 0) OVER (ORDER BY x) {ROWS}", "10"), _beside, constants={1: "1"},
    ),
    WindowFunction(
        "lead", "lead", BESIDE, (f"lead(x, 1, 0) OVER (ORDER BY x) {ROWS}", "0"), _beside, constants={1: "1"},
    ),
    WindowFunction(
        "first_value", "first_value", "element > element", (f"first_value(x) OVER (ORDER BY x) {ROWS}", "10"),
        _of_frame, takes_frame=True,
    ),
    WindowFunction(
        "last_value", "last_value", "element > element", (f"last_value(x) OVER (ORDER BY x) {ROWS}", "30"),
        _of_frame, takes_frame=True,
    ),
    WindowFunction(
        "nth_value", "nth_value", "element int4 > element", (f"nth_value(x, 2) OVER (ORDER BY x) {ROWS}", "20"),
        _nth, takes_frame=True, constants={1: "1"},
    ),
)  # fmt: skip
