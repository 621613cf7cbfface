"""Functions and operators of intervals and times of day, as DuckDB's SQL over the functions of `engine/type_functions.py`."""

from __future__ import annotations

from collections.abc import Mapping

from sql.datatypes import scaled_numeric
from sql.emit.expressions import ExpressionPrinter, Rule
from sql.emit.rule_arguments import literal_text
from sql.emit.time_fields import FIELD_DIGITS
from sql.expressions import Call


def _add_interval(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    """A timestamp moved by an interval that is not a constant."""
    micros = f"timestamp_shift({printer.micros(texts[0], node.type)}, {texts[1]}, {texts[2]})"
    return printer.moment(micros, node.type.family)


def _time_span(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    left, right = (printer.micros(text, argument.type) for text, argument in zip(texts, node.arguments, strict=True))
    return f"time_span({left}, {right})"


def _date_at_time(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    return printer.moment(f"({printer.micros(texts[0], node.arguments[0].type)} + {texts[1]})", "timestamp")


def span_field(printer: ExpressionPrinter, node: Call, texts: list[str]) -> tuple[str, int]:
    """Return EXTRACT's value of an interval or a time of day as a number counted in 10^-digits, and the digits."""
    field = literal_text(node.arguments[0], "a field")
    name = "interval_part" if node.arguments[1].type.family == "interval" else "time_field"
    return f"{name}('{field}', {texts[1]})", FIELD_DIGITS[field]


def span_extract(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    """EXTRACT from an interval or a time of day."""
    field = literal_text(node.arguments[0], "a field")
    if field == "epoch" and node.arguments[1].type.family == "interval":
        return printer.fit_text(f"interval_epoch({texts[1]})", scaled_numeric(6), node.type)
    value, digits = span_field(printer, node, texts)
    if digits == 0:
        return printer.fit_text(f"CAST({value} AS DECIMAL(38,0))", scaled_numeric(0), node.type)
    unit = f"CAST('{10.0**-digits:.{digits}f}' AS DECIMAL({digits},{digits}))"
    text = f"CAST(CAST({value} AS DECIMAL({38 - digits},0)) * {unit} AS DECIMAL(38,{digits}))"
    return printer.fit_text(text, scaled_numeric(digits), node.type)


def span_date_part(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    """date_part of an interval or a time of day."""
    field = literal_text(node.arguments[0], "a field")
    if field == "epoch" and node.arguments[1].type.family == "interval":
        return f"interval_epoch_float({texts[1]})"
    value, digits = span_field(printer, node, texts)
    return f"CAST({value} AS DOUBLE)" if digits == 0 else f"time_part('{field}', {value})"


TYPE_RULES: Mapping[str, Mapping[str, Rule]] = {
    "interval_sum": {"interval": "interval_sum({0}, {1})"},
    "interval_difference": {"interval": "interval_difference({0}, {1})"},
    "interval_multiply": {"interval": "interval_multiply({0}, {1})"},
    "interval_divide": {"interval": "interval_divide({0}, {1})"},
    "interval_negate": {"interval": "interval_negate({0})"},
    "add_interval_value": {"timestamp timestamptz": _add_interval},
    "time_span": {"timestamp timestamptz": _time_span},
    "time_add": {"time": "time_add({0}, {1})"},
    "time_subtract": {"time": "time_subtract({0}, {1})"},
    "time_difference": {"time": "interval_from_time({0} - {1})"},
    "date_at_time": {"date": _date_at_time},
}
