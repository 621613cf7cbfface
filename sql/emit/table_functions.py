"""Set-returning functions in FROM: generate_series with PostgreSQL's bounds and steps, unnest,
several side by side, ORDINALITY.

Each call is an array; the engine spreads the arrays into rows. A series of constant integers is not
made as an array.
"""

from __future__ import annotations

from sql.emit.expressions import ExpressionPrinter
from sql.emit.names import column_names
from sql.errors import not_supported
from sql.functions.arguments import RUN
from sql.functions.catalog import OF_CATALOG, catalog_text
from sql.functions.json import json_set
from sql.functions.signatures import INTEGERS
from sql.functions.volatility import is_constant
from sql.times.civil import DAY_US, is_infinite
from sql.tree.expressions import Expression, Literal
from sql.tree.relations import TableFunction
from sql.types.datatypes import TEXT, SqlType, scaled_numeric

TIMES = ("timestamp", "timestamptz")
ZERO_STEP = "antumbra error 22023: step size cannot equal zero (end)"


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
        bounds = [printer.micros(printer.text(argument), argument.type) for argument in arguments[:2]]
        source = f"generate_series({', '.join(bounds)}, {even_step_us(arguments)}) AS {alias}({names[0]})"
        return source, (printer.moment(columns[0], kinds[0].family),)
    arrays = [duckdb_array(printer, name, arguments) for name, arguments in node.calls]
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
    return name == "generate_series" and arguments[0].type.family in INTEGERS


def is_time_series(name: str, arguments: tuple[Expression, ...]) -> bool:
    """True for a generate_series between constant times, finite ones, in even steps."""
    return (
        name == "generate_series"
        and arguments[0].type.family in TIMES
        and all(map(is_finite, arguments[:2]))
        and even_step_us(arguments) != 0
    )


def is_finite(bound: Expression) -> bool:
    """True for a constant time other than an infinity."""
    return isinstance(bound, Literal) and isinstance(bound.value, int) and not is_infinite(bound.value)


def duckdb_array(printer: ExpressionPrinter, name: str, arguments: tuple[Expression, ...]) -> str:
    """Return the values of one call as a DuckDB list."""
    if name == "unnest":
        return printer.text(arguments[0])
    if name in OF_CATALOG:
        return catalog_text(printer, name, arguments, [printer.text(argument) for argument in arguments])
    if name != "generate_series":
        return other_array(printer, name, [printer.text(argument) for argument in arguments])
    family = arguments[0].type.family
    if family == "numeric":
        plain = scaled_numeric(None)
        one = [] if len(arguments) > 2 else [printer.fit(Literal(1, scaled_numeric(0)), plain)]
        return f"numeric_series({', '.join([*(printer.fit(argument, plain) for argument in arguments), *one])})"
    texts = [printer.text(argument) for argument in arguments[:3]]
    if family in TIMES:
        micros = [printer.micros(text, arguments[0].type) for text in texts[:2]]
        step_us = even_step_us(arguments)
        if step_us:
            return bounded_series([*micros, str(step_us)])
        zone = printer.text(arguments[3]) if len(arguments) > 3 else printer.text(Literal("UTC", TEXT))
        return f"time_series({', '.join([*micros, texts[2], zone])})"
    if family not in INTEGERS:
        raise not_supported(f"generate_series of {arguments[0].type.sql_name}")
    series = bounded_series(texts)
    if len(arguments) < 3 or is_nonzero(arguments[2]):
        return series
    return f"CASE WHEN {texts[2]} = 0 THEN error({printer.quoted(ZERO_STEP)}) ELSE {series} END"


def other_array(printer: ExpressionPrinter, name: str, texts: list[str]) -> str:
    """Return the values of a function that is no series."""
    no_options = printer.quoted("")
    match name:
        case "_pg_expandarray":
            pairs = f"list_transform({texts[0]}, lambda item, place: {{'f1': item, 'f2': CAST(place AS INTEGER)}})"
            return f"CASE WHEN {texts[0]} IS NOT NULL THEN {pairs} END"
        case "vector_subscripts":
            return f"CASE WHEN {texts[1]} = 1 THEN range(0, len({texts[0]})) END"
        case "generate_subscripts":
            return f"CASE WHEN {texts[1]} = 1 THEN generate_series(1, CAST(len({texts[0]}) AS INTEGER)) END"
        case "string_to_table":
            null = texts[2] if len(texts) > 2 else "CAST(NULL AS VARCHAR)"
            return f"text_to_array({texts[0]}, {texts[1]}, {null})"
        case "regexp_split_to_table":
            return f"regexp_split({texts[0]}, {texts[1]}, {texts[2] if len(texts) > 2 else no_options}, {RUN})"
        case "regexp_matches":
            return f"regexp_every_match({texts[0]}, {texts[1]}, {texts[2] if len(texts) > 2 else no_options}, {RUN})"
    json = json_set(printer, name, texts[0])
    if json is None:
        raise not_supported(f"the function {name} in FROM")
    return json


def is_nonzero(node: Expression) -> bool:
    """True for a constant step other than zero."""
    return isinstance(node, Literal) and node.value not in (0, None)


def bounded_series(texts: list[str]) -> str:
    """Return a series of integers as a list, which is made whole, and so is bounded."""
    start = f"series_start({', '.join([*texts, '1'][:3])})"
    return f"generate_series({', '.join([start, *texts[1:]])})"


def even_step_us(arguments: tuple[Expression, ...]) -> int:
    """Return a constant step between times in microseconds, 0 where its length depends on the
    calendar.
    """
    match arguments[2]:
        case Literal(value=(0, int(days), int(micros))) if not days or arguments[0].type.family == "timestamp":
            return days * DAY_US + micros
    return 0


def series_value(
    printer: ExpressionPrinter, call: tuple[str, tuple[Expression, ...]], column: str, kind: SqlType
) -> str:
    """Return one value of a series in the physical form of its type."""
    if call[0] not in ("generate_series", "generate_subscripts", "vector_subscripts"):
        return column
    if kind.family in TIMES:
        return printer.moment(column, kind.family)
    if kind.family == "numeric":
        return column if kind.display_scale is None else printer.unpack(column, kind.display_scale)
    return f"CAST({column} AS {printer.type_name(kind)})"


def spark_table_function(printer: ExpressionPrinter, node: TableFunction, alias: str) -> tuple[str, tuple[str, ...]]:
    """Return Spark's FROM item and the texts of its columns."""
    names = [f"`{name.replace('`', '``')}`" for name in column_names(node.schema)]
    if len(node.calls) != 1:
        raise not_supported("several functions in FROM in the upper part of a continuous view")
    name, arguments = node.calls[0]
    array = spark_array(printer, name, arguments)
    word = "posexplode" if node.ordinality else "explode"
    listed = ", ".join(reversed(names)) if node.ordinality else names[0]
    source = f"(SELECT {word}({array}) AS {f'({listed})' if node.ordinality else listed}) AS {alias}"
    columns = [f"{alias}.{column}" for column in names]
    if node.ordinality:
        columns[-1] = f"CAST({columns[-1]} + 1 AS BIGINT)"
    return source, tuple(columns)


def spark_array(printer: ExpressionPrinter, name: str, arguments: tuple[Expression, ...]) -> str:
    """Return the values of one call as a Spark array."""
    if name == "unnest":
        return printer.text(arguments[0])
    if not is_integer_series(name, arguments):
        of_type = f" of {arguments[0].type.sql_name}" if arguments else ""
        raise not_supported(f"{name}{of_type} in the upper part of a continuous view")
    start, stop, *rest = (printer.text(argument) for argument in arguments)
    step = rest[0] if rest else printer.fit(Literal(1, arguments[0].type), arguments[0].type)
    empty = f"CAST(array() AS ARRAY<{printer.type_name(arguments[0].type)}>)"
    zero = (
        f"WHEN {step} = 0 THEN raise_error({printer.quoted(ZERO_STEP)}) "
        if rest and not is_nonzero(arguments[2])
        else ""
    )
    series = f"sequence({start}, {stop}, {step})"
    return f"CASE {zero}WHEN ({step} > 0 AND {start} > {stop}) OR ({step} < 0 AND {start} < {stop}) THEN {empty} ELSE {series} END"
