"""Aggregates that choose, collect or combine values: extremes, conditions, bits, texts, arrays and
percentiles. Those that count and add are in `sql.functions.sums`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sql.errors import SqlError, not_supported
from sql.functions.aggregate_rows import Aggregate, AggregateText, sort_key, sort_way
from sql.functions.arguments import literal_bytes, literal_number, literal_text
from sql.functions.signatures import INTEGERS, NUMBERS, TIMES, unary
from sql.tree.expressions import Literal, WindowCall
from sql.tree.numeric_scale import first
from sql.types.datatypes import scaled_numeric

COMPARED = (*NUMBERS, "text", "bpchar", *TIMES, "time", "timetz", "interval", "inet", "oid", "array", "enum")
# Forms whose values groups keep and compare as one word.
WORDS = "int2 int4 int8 date timestamp timestamptz time oid enum"
# Forms whose values groups keep as strings, and compare by a function of the type.
STORED = "bpchar timetz interval inet array"


def _extreme(name: str, answer: str) -> Aggregate:
    """Return the row of min or max."""

    def rule(aggregate: AggregateText) -> str:
        text, kind = aggregate.texts[0], aggregate.kind
        if not kind.has_own_order:
            return aggregate.wrap(f"{name}({text})")
        key = aggregate.compared
        return aggregate.printer.picked(text, kind, lambda one: aggregate.wrap(f"{name}_by({one}, {key})"))

    kept = {WORDS: "INTEGER", "float4 float8": "FLOAT", "numeric variable": "NUMERIC", "text": "TEXT", STORED: "STORED"}
    return Aggregate(
        name, name, unary(COMPARED), (f"{name}(x) FROM (VALUES ('b'), ('a'), (NULL)) t(x)", answer), both=rule,
        states={forms: f"{name.upper()}_{state}" for forms, state in kept.items()}, distinct_free=True,
        can_fail=False, scale=first,
    )  # fmt: skip


def _called(aggregate: AggregateText) -> str:
    """Return the engine's aggregate of the same name."""
    return aggregate.wrap(f"{aggregate.call.function}({aggregate.word}{aggregate.texts[0]})")


def _bits(name: str, answer: str, distinct_free: bool) -> Aggregate:
    """Return the row of an aggregate of bits."""
    return Aggregate(
        name, name, unary(INTEGERS), (f"{name}(x) FROM (VALUES (6), (3), (NULL)) t(x)", answer), both=_called,
        states={"int2 int4 int8": name.upper()}, distinct_free=distinct_free,
    )  # fmt: skip


def _separator(aggregate: AggregateText) -> str:
    """Return the constant separator of string_agg; NULL is none."""
    return aggregate.printer.quoted(literal_text(aggregate.call.arguments[1], "a separator", null=""))


def _string_agg(aggregate: AggregateText) -> str:
    if aggregate.kind.family == "bytea":
        # DuckDB's takes texts; digits are in the order of their bytes.
        digits = replace(aggregate, texts=tuple(f"hex({text})" for text in aggregate.texts))
        return f"unhex({_bytes_agg(digits)})"
    if not isinstance(aggregate.call.arguments[1], Literal):
        return _separated(aggregate)
    separator = _separator(aggregate)
    return aggregate.wrap(f"string_agg({aggregate.word}{aggregate.texts[0]}, {separator}{aggregate.ordered()})")


def _bytes_agg(aggregate: AggregateText) -> str:
    """Return string_agg of bytes in digits."""
    if not aggregate.word:
        return _separated(aggregate)
    separator, (text, _) = literal_bytes(aggregate.call.arguments[1], "a separator", null=b""), aggregate.texts
    # DISTINCT is ordered by its argument alone.
    order = "".join(f" ORDER BY {text}{sort_way(key)}" for key in aggregate.keys[:1])
    return aggregate.wrap(f"string_agg(DISTINCT {text}, '{separator.hex()}'{order})")


def _separated(aggregate: AggregateText) -> str:
    """Return string_agg with the separator of each row before its text; that of the first one does
    not count.
    """
    aggregate.refuse_distinct()
    (text, separator), known = aggregate.texts, aggregate.condition
    pairs = f"list({{'text': {text}, 'before': {separator}}}{aggregate.ordered()})"
    pairs = aggregate.wrap(f"{pairs} FILTER (WHERE {text} IS NOT NULL{'' if known is None else f' AND {known}'})")
    one = "CASE WHEN place = 1 THEN pair.text ELSE concat(pair.before, pair.text) END"
    return f"array_to_string(list_transform({pairs}, lambda pair, place: {one}), '')"


def _listagg(aggregate: AggregateText) -> str:
    if isinstance(aggregate.call, WindowCall):
        raise not_supported("string_agg with OVER in the upper part of a continuous view", aggregate.call.position)
    if aggregate.kind.family == "bytea":
        raise not_supported("string_agg of bytea in the upper part of a continuous view", aggregate.call.position)
    separator = _separator(aggregate)
    keys = ", ".join(sort_key(aggregate.printer, key) for key in aggregate.keys)
    order = f" WITHIN GROUP (ORDER BY {keys})" if keys else ""
    return aggregate.wrap(f"listagg({aggregate.word}{aggregate.texts[0]}, {separator}){order}")


def _array_agg(aggregate: AggregateText) -> str:
    kind, text = aggregate.kind, aggregate.texts[0]
    if kind.is_array:
        raise not_supported("array_agg of arrays", aggregate.call.position)
    if aggregate.word and kind.has_own_order:
        rows, values = aggregate.filtered("count(*)"), aggregate.printer.one_of_each(aggregate)
        parts = [values, f"CASE WHEN {rows} > {aggregate.wrap(f'count({text})')} THEN [NULL] ELSE [] END"]
        # DISTINCT is ordered by its argument alone.
        if any(key.nulls_first for key in aggregate.keys[:1]):
            parts.reverse()
        return f"CASE WHEN {rows} > 0 THEN list_concat({', '.join(parts)}) END"
    if kind.family == "numeric" and aggregate.word:
        # The order is that of the listed values, before they are changed.
        listed = aggregate.filtered(f"list({aggregate.word}{text}{aggregate.ordered()})")
        return f"list_transform({listed}, lambda x: {aggregate.printer.fit_text('x', kind, scaled_numeric(None))})"
    if kind.family == "numeric":
        text = aggregate.printer.fit_text(text, kind, scaled_numeric(None))
    return aggregate.filtered(f"list({aggregate.word}{text}{aggregate.ordered()})")


def _fraction(aggregate: AggregateText) -> str:
    """Return the constant fraction of a percentile."""
    fraction = literal_number(aggregate.call.arguments[0], "a percentile's fraction")
    if fraction is None:
        return "CAST(NULL AS DOUBLE)"
    if not 0 <= fraction <= 1:
        raise SqlError("22003", f"percentile value {fraction:g} is not between 0 and 1")
    return f"CAST('{fraction!r}' AS DOUBLE)"


def _sorted_list(aggregate: AggregateText, shown: str = "") -> tuple[str, str]:
    """Return the values of WITHIN GROUP as a list, and their number; NULLs don't count.

    shown: what is listed in their place.
    """
    (key,) = aggregate.keys
    text = aggregate.printer.text(key.expression)
    condition = f"{text} IS NOT NULL" + ("" if aggregate.condition is None else f" AND {aggregate.condition}")
    order = sort_key(aggregate.printer, key)
    return f"list({shown or text} ORDER BY {order}) FILTER (WHERE {condition})", f"count(*) FILTER (WHERE {condition})"


def _percentile_disc(aggregate: AggregateText) -> str:
    fraction = _fraction(aggregate)
    values, count = _sorted_list(aggregate)
    return f"({values})[CAST(ceil({fraction} * {count}) AS BIGINT) + CAST({fraction} = 0 AS BIGINT)]"


def _percentile_cont(aggregate: AggregateText) -> str:
    fraction = _fraction(aggregate)
    values, count = _sorted_list(aggregate)
    place = f"({fraction} * ({count} - 1))"
    first, second = (f"({values})[CAST({whole.format(place)} AS BIGINT) + 1]" for whole in ("floor({})", "ceil({})"))
    share = f"({place} - floor({place}))"
    if aggregate.keys[0].expression.type.family == "interval":
        inside = f"interval_sum(interval_multiply(interval_difference({second}, {first}), {share}), {first})"
    else:
        inside = f"float8_add({first}, float8_multiply({share}, float8_subtract({second}, {first})))"
    return f"CASE WHEN floor({place}) = ceil({place}) THEN {first} ELSE {inside} END"


def _mode(aggregate: AggregateText) -> str:
    """Return the most frequent value, of several the first one in the order."""
    (key,) = aggregate.keys
    order = sort_key(aggregate.printer, key)
    if not key.expression.type.has_own_order:
        return aggregate.filtered(f"mode({aggregate.printer.text(key.expression)} ORDER BY {order})")
    compared = aggregate.printer.comparable(key.expression)
    (values, _), (keys, _) = _sorted_list(aggregate), _sorted_list(aggregate, compared)
    return f"({values})[list_position({keys}, {aggregate.filtered(f'mode({compared} ORDER BY {order})')})]"


def _end(name: str, answer: str, place: int) -> Aggregate:
    """Return the row of first or last."""

    def rule(aggregate: AggregateText) -> str:
        aggregate.refuse_distinct()
        if isinstance(aggregate.call, WindowCall) and aggregate.condition is not None:
            # DuckDB's first is a window function there, which takes no FILTER.
            return f"({aggregate.filtered(f'list({aggregate.texts[0]})')})[{place}]"
        return aggregate.filtered(f"{name}({aggregate.texts[0]}{aggregate.ordered()})")

    return Aggregate(
        name, name, "element > element", (f"{name}(x ORDER BY y) {TWO}", answer), duckdb=rule, ordered=True,
        states={"any": "FIRST"}, can_fail=False, scale=first, is_own=True,
    )  # fmt: skip


def _chosen(name: str) -> Callable[[AggregateText], str]:
    """Return the rule of arg_min or arg_max with OVER; bind makes others of those without."""

    def rule(aggregate: AggregateText) -> str:
        value, key = aggregate.call.arguments
        printer, known = aggregate.printer, aggregate.condition
        compared = printer.comparable(key)
        condition = f"{aggregate.texts[1]} IS NOT NULL" + ("" if known is None else f" AND {known}")
        return printer.picked(
            printer.text(value),
            value.type,
            lambda one: aggregate.wrap(f"{name}_null({one}, {compared}) FILTER (WHERE {condition})"),
        )

    return rule


def _made(canonical: str, names: str, signatures: str, example: str, answer: str, **more: Any) -> Aggregate:
    """Return the row of an aggregate of ours that bind makes of others."""
    return Aggregate(canonical, names, signatures, (f"{example} {TWO}", answer), is_made=True, is_own=True, **more)


TWO = "FROM (VALUES ('a', 1), ('b', 2)) t(x, y)"
AGGREGATES = (
    _extreme("min", "a"),
    _extreme("max", "b"),
    Aggregate(
        "bool_and", "bool_and every", "bool > bool", ("bool_and(x) FROM (VALUES (true), (false)) t(x)", "f"),
        both=_called, states={"bool": "ANY_FALSE"}, distinct_free=True, can_fail=False,
    ),
    Aggregate(
        "bool_or", "bool_or", "bool > bool", ("bool_or(x) FROM (VALUES (true), (false)) t(x)", "t"), both=_called,
        states={"bool": "ANY_TRUE"}, distinct_free=True, can_fail=False,
    ),
    _bits("bit_and", "2", True),
    _bits("bit_or", "7", True),
    _bits("bit_xor", "5", False),
    Aggregate(
        "string_agg", "string_agg", "text text > text; bytea bytea > bytea", (f"string_agg(x, '-' ORDER BY x DESC) {TWO}", "b-a"),
        duckdb=_string_agg, spark=_listagg, ordered=True, constants={1: "','"},
    ),
    Aggregate(
        "array_agg", "array_agg", "element > array", (f"array_agg(x ORDER BY x DESC) {TWO}", "{b,a}"),
        duckdb=_array_agg, ordered=True, states={"any": "LIST"}, can_fail=False,
    ),
    # Bind makes calls of array_agg of these four (`sql.bind.expressions.calls`).
    Aggregate("json_agg", "json_agg", "element > json", (f"json_agg(x) {TWO}", '["a", "b"]'), as_json=True),
    Aggregate("jsonb_agg", "jsonb_agg", "element > jsonb", (f"jsonb_agg(x) {TWO}", '["a", "b"]'), as_json=True),
    Aggregate(
        "json_object_agg", "json_object_agg", "any any > json",
        (f"json_object_agg(x, y) {TWO}", '{ "a" : 1, "b" : 2 }'), as_json=True,
    ),
    Aggregate(
        "jsonb_object_agg", "jsonb_object_agg", "any any > jsonb",
        (f"jsonb_object_agg(x, y) {TWO}", '{"a": 1, "b": 2}'), as_json=True,
    ),
    _end("first", "a", 1),
    _end("last", "b", -1),
    _made("arg_min", "arg_min min_by", "element any > element", "arg_min(x, y)", "a", states={"any": "FIRST"}, duckdb=_chosen("arg_min")),
    _made("arg_max", "arg_max max_by", "element any > element", "arg_max(x, y)", "b", states={"any": "FIRST"}, duckdb=_chosen("arg_max")),
    _made("keyed_min", "keyed_min", "any element > element", "keyed_min(y, x)", "a", states={"any": "FIRST"}),
    _made("keyed_max", "keyed_max", "any element > element", "keyed_max(y, x)", "b", states={"any": "FIRST"}),
    _made("set_agg", "set_agg", "element > array", "set_agg(x)", "{a,b}"),
    _made(
        "first_values", "first_values", "int4 element > array", "first_values(1) WITHIN GROUP (ORDER BY x DESC)", "{b}",
        within_group=True, constants={0: "2"},
    ),
    Aggregate(
        "percentile_cont", "percentile_cont", "float8 float8 > float8; float8 interval > interval",
        (f"percentile_cont(0.25) WITHIN GROUP (ORDER BY y) {TWO}", "1.25"), duckdb=_percentile_cont,
        within_group=True, constants={0: "0.5"},
    ),
    Aggregate(
        "percentile_disc", "percentile_disc", "float8 element > element",
        (f"percentile_disc(0.75) WITHIN GROUP (ORDER BY x) {TWO}", "b"), duckdb=_percentile_disc, within_group=True,
        constants={0: "0.5"},
    ),
    Aggregate(
        "mode", "mode", "element > element", (f"mode() WITHIN GROUP (ORDER BY x DESC) {TWO}", "b"), duckdb=_mode,
        within_group=True,
    ),
)  # fmt: skip
