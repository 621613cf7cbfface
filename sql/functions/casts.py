"""Casts to and from numerics, text with varchar's length, and the zoned times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sql.errors import not_supported
from sql.functions.printing import CastRule, Printer, form_of, micros, moment, unpacked
from sql.functions.times import instant, local_time
from sql.times.civil import EPOCH_2000_US
from sql.times.interval_values import UNITS_US
from sql.tree.expressions import Cast
from sql.types.datatypes import SqlType, scaled_numeric


def plain(printer: Printer, node: Cast, text: str) -> str:
    """Return the engine's own cast."""
    return f"CAST({text} AS {printer.type_name(node.type)})"


def to_text(template: str) -> CastRule:
    """Return a rule for a text form, cut or checked at the length of a varchar(n)."""

    def rule(printer: Printer, node: Cast, text: str) -> str:
        return limited(template.format(text), node)

    return rule


def limited(text: str, node: Cast) -> str:
    """Return a text within varchar(n): cut by an explicit cast, 22001 by an assignment."""
    length = node.type.length
    if length is None or node.type.family != "varchar":
        return text
    source = node.operand.type
    if source.family == "varchar" and source.length is not None and source.length <= length:
        return text
    return f"text_left({text}, {length})" if node.explicit else f"text_limit({text}, {length})"


def _time_text(printer: Printer, node: Cast, text: str) -> str:
    family = node.operand.type.family
    zone = f", {printer.quoted(node.zone or 'UTC')}" if family == "timestamptz" else ""
    return limited(f"{family}_text({text}{zone})", node)


def to_numeric(printer: Printer, node: Cast, text: str) -> str:
    """Return a cast to numeric, or to numeric(p,s): rounded half away from zero, 22003 when p
    digits do not hold the value.
    """
    source, target = node.operand.type, node.type
    form = form_of(source)
    if form in ("float4", "float8", "text"):
        # With (p,s) a value of more than 38 digits may still round to one that fits.
        if target.precision is None:
            text = f"numeric_from_{form}({text})"
        else:
            text = f"numeric_limited_from_{form}({text}, {target.precision}, {target.display_scale})"
        form = "variable"
    if target.precision is None:
        if form == "variable":
            return unpacked(printer, text, target)
        fixed = scaled_numeric(0) if form != "numeric" else replace(source, precision=None)
        return printer.fit_text(f"CAST({text} AS DECIMAL(38,0))" if form != "numeric" else text, fixed, target)
    scale = target.display_scale
    if scale is None or target.precision < scale or scale < 0:
        raise not_supported(f"type {target.sql_name}", node.position)
    if form == "variable":
        text = printer.unpack(text if source.family != "numeric" else _finite(printer, text, target), scale)
    if form == "numeric" and source.precision is not None and source.display_scale == scale:
        if source.precision <= target.precision:
            return text
    narrow = f"CAST({text} AS DECIMAL({target.precision},{scale}))"
    return narrow if target.precision == 38 else f"CAST({narrow} AS DECIMAL(38,{scale}))"


def _from_variable(printer: Printer, node: Cast, text: str) -> str:
    return f"CAST({printer.unpack(_finite(printer, text, node.type), 0)} AS {printer.type_name(node.type)})"


def _finite(printer: Printer, text: str, target: SqlType) -> str:
    """Return a variable numeric that becomes an integer or a numeric(p,s): neither has NaN or an
    infinity.
    """
    return f"numeric_finite({text}, {printer.quoted(target.sql_name)})"


def _from_text(printer: Printer, node: Cast, text: str) -> str:
    return f"{node.type.family}_from_text({text})"


def _time_from_text(printer: Printer, node: Cast, text: str) -> str:
    zone = "" if node.type.family == "date" else f", {printer.quoted(node.zone or 'UTC')}"
    return f"{node.type.family}_from_text({text}{zone})"


def _zoned(printer: Printer, node: Cast, text: str) -> str:
    """Return a cast between timestamptz and the civil types, on the clock of the session's zone."""
    if node.type.family == "timestamptz":
        civil = printer.civil(text, "date", "timestamp")
        return instant(printer, civil if node.operand.type.family == "date" else text, node.zone)
    local = local_time(printer, text, node.zone)
    return printer.civil(local, "timestamp", "date") if node.type.family == "date" else local


def _civil(printer: Printer, node: Cast, text: str) -> str:
    """Return a cast between date and timestamp."""
    return printer.civil(text, node.operand.type.family, node.type.family)


def with_digits(inner: CastRule) -> CastRule:
    """Return a rule for times, rounded to the digits of the target."""

    def rule(printer: Printer, node: Cast, text: str) -> str:
        result = inner.format(text) if isinstance(inner, str) else inner(printer, node, text)
        digits, kind = node.type.precision, node.type
        source = node.operand.type
        known = source.precision if source.family == kind.family and source.precision is not None else 6
        if digits is None or known <= digits:
            return result
        unit = UNITS_US[digits]
        if kind.family == "time":
            return f"micros_round({result}, 0, {unit})"
        return moment(f"micros_round({micros(result, kind)}, {EPOCH_2000_US}, {unit})", kind.family)

    return rule


# Alike in both engines.
PLAIN_CASTS: Mapping[str, CastRule] = {
    "bool > bool": "{0}",
    "date > date": "{0}",
    "int2 int4 int8 > int2 int4 int8 float4 float8": plain,
    "float4 > float4 float8": plain,
    "float8 > float8": "{0}",
    "numeric > float4 float8": lambda printer, node, text: plain(
        printer, node, f"CAST({text} AS {printer.type_name(replace(node.type, family='text'))})"
    ),
    "bool > int4": plain,
    "int4 > bool": "({0} <> 0)",
    "enum > enum": "{0}",
}
USUAL_CASTS: Mapping[str, CastRule] = {
    **PLAIN_CASTS,
    "float8 > float4": "float4_from_float8({0})",
    "int2 int4 int8 numeric variable float4 float8 text > numeric": to_numeric,
    "variable > int2 int4 int8": _from_variable,
    "variable > float4 float8": lambda printer, node, text: plain(printer, node, f"numeric_text({text})"),
    "timestamp > date": _civil,
    "timestamptz > date": _zoned,
    "timestamp > timestamp": with_digits("{0}"),
    "timestamptz > timestamptz": with_digits("{0}"),
    "date > timestamp": _civil,
    "date timestamp > timestamptz": with_digits(_zoned),
    "timestamptz > timestamp": with_digits(_zoned),
    "text > text": to_text("{0}"),
    "variable > text": to_text("numeric_text({0})"),
    "float4 > text": to_text("float4_text({0})"),
    "float8 > text": to_text("float8_text({0})"),
    "date timestamp timestamptz > text": _time_text,
    "text > bool int2 int4 int8 float4 float8": _from_text,
    "text > date": _time_from_text,
    "text > timestamp timestamptz": with_digits(_time_from_text),
}
