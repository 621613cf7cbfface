"""Functions of dates, times and intervals beyond fields and truncation, as DuckDB's SQL over `engine/embedded/functions/time.py`."""

from __future__ import annotations

from collections.abc import Mapping

from sql.emit.expressions import ExpressionPrinter, Rule
from sql.tree.expressions import Call


def _moment(template: str) -> Rule:
    """Return a function whose value is microseconds, as the time that they are."""

    def rule(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
        micros = template.format(*in_micros(printer, node, texts))
        if node.type.family == "date":
            return f"CAST({printer.moment(micros, 'timestamp')} AS DATE)"
        return printer.moment(micros, node.type.family)

    return rule


def in_micros(printer: ExpressionPrinter, node: Call, texts: list[str]) -> list[str]:
    """Return the operands with dates and time stamps as microseconds."""
    return [
        printer.micros(text, argument.type) if argument.type.family in ("date", "timestamp", "timestamptz") else text
        for text, argument in zip(texts, node.arguments, strict=True)
    ]


def _span(template: str) -> Rule:
    """Return a function of times whose value is no time."""

    def rule(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
        return template.format(*in_micros(printer, node, texts))

    return rule


def _make_interval(printer: ExpressionPrinter, node: Call, texts: list[str]) -> str:
    missing = ["0"] * (6 - min(len(texts), 6))
    seconds = [texts[6]] if len(texts) > 6 else ["CAST(0 AS DOUBLE)"]
    return f"interval_made({', '.join([*texts[:6], *missing, *seconds])})"


DUCKDB_DATE_RULES: Mapping[str, Mapping[str, Rule]] = {
    "age": {"timestamp timestamptz": _span("time_age({0}, {1}, {2})")},
    "date_bin": {"interval": _moment("time_bin({0}, {1}, {2})")},
    "isfinite": {"date timestamp timestamptz": "isfinite({0})", "interval": "CASE WHEN {0} IS NOT NULL THEN TRUE END"},
    "justify_days": {"interval": "interval_justify_days({0})"},
    "justify_hours": {"interval": "interval_justify_hours({0})"},
    "justify_interval": {"interval": "interval_justify_interval({0})"},
    "make_date": {"int4": _moment("date_made({0}, {1}, {2})")},
    "make_time": {"int4": "time_made({0}, {1}, {2})"},
    "make_timestamp": {"int4": _moment("timestamp_made({0}, {1}, {2}, {3}, {4}, {5})")},
    "make_timestamptz": {"int4": _moment("timestamptz_made({0}, {1}, {2}, {3}, {4}, {5}, {6})")},
    "make_interval": {"int4": _make_interval},
    "to_timestamp": {"float8": _moment("timestamp_from_epoch({0})")},
    "format_time": {
        "timestamp": _span("timestamp_format({0}, {1})"),
        "timestamptz": _span("timestamptz_format({0}, {1}, {2})"),
    },
    "read_date": {"text": _moment("date_read({0}, {1})")},
    "read_timestamp": {"text": _moment("timestamptz_read({0}, {1}, {2})")},
    "clock_timestamp": {"any": _moment("clock_us(0)")},
}
