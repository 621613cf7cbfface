"""Set-returning functions in FROM: several side by side, ORDINALITY.

Each call is an array, made by the rule of the function's row; the engine spreads the arrays into
rows. A series of constant integers, or between constant times, is not made as an array.
"""

from __future__ import annotations

from sql.emit.expressions import ExpressionPrinter
from sql.emit.names import column_names
from sql.functions.printing import micros, moment
from sql.functions.sets import TIMES, even_step_us, is_nonzero
from sql.functions.signatures import INTEGERS
from sql.functions.table import SET_ROWS
from sql.functions.volatility import is_constant
from sql.times.civil import is_infinite
from sql.tree.expressions import Expression, Literal
from sql.tree.relations import TableFunction
from sql.types.datatypes import SqlType


def duckdb_table_function(printer: ExpressionPrinter, node: TableFunction, alias: str) -> tuple[str, tuple[str, ...]]:
    """Return DuckDB's FROM item and the texts of its columns."""
    names = ['"' + name.replace('"', '""') + '"' for name in column_names(node.schema)]
    columns = [f"{alias}.{name}" for name in names]
    name, arguments = node.calls[0]
    kinds = [column.type for column in node.schema]
    if (
        len(node.calls) == 1
        and not node.ordinality
        and is_integer_series(name, arguments)
        and all(map(is_constant, arguments))
        and (len(arguments) < 3 or is_nonzero(arguments[2]))
    ):
        texts = [printer.text(argument) for argument in arguments]
        source = f"generate_series({', '.join(texts)}) AS {alias}({names[0]})"
        return source, (f"CAST({columns[0]} AS {printer.type_name(kinds[0])})",)
    if len(node.calls) == 1 and not node.ordinality and is_time_series(name, arguments):
        bounds = [micros(printer.text(argument), argument.type) for argument in arguments[:2]]
        source = f"generate_series({', '.join(bounds)}, {even_step_us(arguments)}) AS {alias}({names[0]})"
        return source, (moment(columns[0], kinds[0].family),)
    arrays = [SET_ROWS[name].listed(printer, arguments) for name, arguments in node.calls]
    items = [f"unnest({text}) AS {name}" for text, name in zip(arrays, names, strict=False)]
    if node.ordinality:
        longest = ", ".join(f"coalesce(len({text}), 0)" for text in arrays)
        longest = longest if len(arrays) == 1 else f"greatest({longest})"
        items.append(f"unnest(generate_series(1, CAST({longest} AS BIGINT))) AS {names[-1]}")
    values = tuple(
        series_value(printer, call, column, kind)
        for call, column, kind in zip(node.calls, columns, kinds, strict=False)
    )
    return f"(SELECT {', '.join(items)}) AS {alias}", (*values, *columns[len(values) :])


def is_integer_series(name: str, arguments: tuple[Expression, ...]) -> bool:
    """True for a generate_series of integers."""
    return SET_ROWS[name].spreads and arguments[0].type.family in INTEGERS


def is_time_series(name: str, arguments: tuple[Expression, ...]) -> bool:
    """True for a generate_series between constant times, finite ones, in even steps."""
    return (
        SET_ROWS[name].spreads
        and arguments[0].type.family in TIMES
        and all(map(is_finite, arguments[:2]))
        and even_step_us(arguments) != 0
    )


def is_finite(bound: Expression) -> bool:
    """True for a constant time other than an infinity."""
    return isinstance(bound, Literal) and isinstance(bound.value, int) and not is_infinite(bound.value)


def series_value(
    printer: ExpressionPrinter, call: tuple[str, tuple[Expression, ...]], column: str, kind: SqlType
) -> str:
    """Return one value of a series in the physical form of its type."""
    if not SET_ROWS[call[0]].is_series:
        return column
    if kind.family in TIMES:
        return moment(column, kind.family)
    if kind.family == "numeric":
        return column if kind.display_scale is None else printer.unpack(column, kind.display_scale)
    return f"CAST({column} AS {printer.type_name(kind)})"
