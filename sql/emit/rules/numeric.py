"""ROUND, TRUNC, CEIL, FLOOR and SIGN of numerics, in both physical forms; alike in both engines."""

from __future__ import annotations

from collections.abc import Mapping

from sql.emit.rules.arguments import literal_integer
from sql.functions.printing import Printer, Rule
from sql.tree.expressions import Call
from sql.types.datatypes import SqlType, scaled_numeric


def unpacked(printer: Printer, text: str, kind: SqlType) -> str:
    """Return a variable numeric in the form of `kind`, whose scale its values have."""
    return text if kind.display_scale is None else printer.unpack(text, kind.display_scale)


def _digits(node: Call) -> int:
    return literal_integer(node.arguments[1], "a number of digits") if len(node.arguments) > 1 else 0


def _round(printer: Printer, node: Call, texts: list[str]) -> str:
    """Return ROUND of a fixed scale: the engines' decimal casts round half away from zero, as
    PostgreSQL does.
    """
    digits, scale = _digits(node), node.arguments[0].type.display_scale
    assert scale is not None
    if digits < 0:
        return printer.unpack(f"numeric_round({printer.pack(texts[0], scale)}, {digits})", 0)
    return f"CAST({texts[0]} AS {printer.type_name(node.type)})"


def _trunc(printer: Printer, node: Call, texts: list[str]) -> str:
    digits, scale = _digits(node), node.arguments[0].type.display_scale
    assert scale is not None and node.type.display_scale is not None
    if digits >= scale:
        return printer.fit_text(texts[0], node.arguments[0].type, node.type)
    return printer.unpack(f"numeric_trunc({printer.pack(texts[0], scale)}, {digits})", node.type.display_scale)


def _variable(name: str) -> Rule:
    """Return a function of a numeric and a number of digits, whose result has a scale of its
    own.
    """

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        digits = texts[1] if len(texts) > 1 else "0"
        return unpacked(printer, f"{name}({_packed(printer, node)}, {digits})", node.type)

    return rule


def _variable_whole(name: str) -> Rule:
    """Return a function of a variable numeric alone."""

    def rule(printer: Printer, node: Call, texts: list[str]) -> str:
        return unpacked(printer, f"{name}({_packed(printer, node)})", node.type)

    return rule


def _packed(printer: Printer, node: Call) -> str:
    return printer.fit(node.arguments[0], scaled_numeric(None))


NUMERIC_RULES: Mapping[str, Mapping[str, Rule]] = {
    "round": {"numeric": _round, "variable": _variable("numeric_round")},
    "trunc": {"numeric": _trunc, "variable": _variable("numeric_trunc")},
    "ceil": {"numeric": "CAST(ceil({0}) AS DECIMAL(38,0))", "variable": _variable_whole("numeric_ceil")},
    "floor": {"numeric": "CAST(floor({0}) AS DECIMAL(38,0))", "variable": _variable_whole("numeric_floor")},
    "sign": {"numeric": "CAST(sign({0}) AS DECIMAL(38,0))", "variable": _variable_whole("numeric_sign")},
}
