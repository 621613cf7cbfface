"""Conversions that bind puts in: literals are converted at once, parameters take the type, everything else gets a Cast."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from sql.bind.clock_words import clock_value
from sql.bind.context import BindContext
from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError, not_supported
from sql.times.input_styles import USUAL
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal, OuterColumn, Parameter, Subquery
from sql.types.casts import can_cast, needs_zone, plain_name
from sql.types.datatypes import LiteralValue, SqlType, scaled_numeric
from sql.values.literals import apply_modifier, input_value, integer_value, unmodified_value

INTEGERS = ("int2", "int4", "int8")
TEXTS = ("text", "varchar", "bpchar", "name")


def coerce(
    expression: Expression, target: SqlType, context: BindContext, explicit: bool = False, position: int | None = None
) -> Expression:
    """Return `expression` as `target`; the caller has checked that the conversion is allowed."""
    source = expression.type
    if isinstance(expression, Literal) and (source.family == "unknown" or expression.value is None):
        return coerce_literal(expression, target, context, explicit)
    if isinstance(expression, Parameter) and source.family == "unknown":
        expression = context.parameters.decide(expression, target)
        source = expression.type
    if source.family == target.family and not changes_modifier(source, target):
        return stripped(expression) if explicit and target == target.without_modifier() else expression
    folded = fold(expression, target)
    if folded is not None:
        return folded
    if target.family in TEXTS:
        require_usual_form(source, context.settings, position)
    elif source.family in TEXTS:
        require_usual_reading(target, context.settings, position)
    zone = context.settings.clock_zone if needs_zone(source.family, target.family) else ""
    return Cast(expression, cast_type(source, target), explicit, zone, position)


def require_usual_form(source: SqlType, settings: SessionSettings, position: int | None) -> None:
    """Raise 0A000 for a text of values of `source` in a form that the session asks for: only results are shown in it.

    A definition's readers are asked (`sql.bind.readers`).
    """
    if settings.is_shared:
        return
    family = source.element.family if source.is_array else source.family
    name = {
        "interval": "intervalstyle",
        "bytea": "bytea_output",
        "float4": "extra_float_digits",
        "float8": "extra_float_digits",
        "date": "datestyle",
        "timestamp": "datestyle",
        "timestamptz": "datestyle",
    }.get(family)
    value = dict(settings.variables).get(name or "")
    if value is not None and not (name == "extra_float_digits" and int(value) > 0) and not value.startswith("ISO,"):
        raise not_supported(f'a cast of {plain_name(source)} to text with {name} = "{value}"', position)


def require_usual_reading(target: SqlType, settings: SessionSettings, position: int | None) -> None:
    """Raise 0A000 for texts, known when the query runs, that the session reads otherwise than those that have set nothing."""
    family = target.element.family if target.is_array else target.family
    if not settings.is_shared and settings.input_styles.reads_otherwise(family):
        name = "intervalstyle" if family == "interval" else "datestyle"
        value = dict(settings.variables)[name]
        raise not_supported(f'a cast of text to {plain_name(target)} with {name} = "{value}"', position)


def stripped(expression: Expression) -> Expression:
    """Return `expression` without length or (p,s), as a cast to the bare type makes it."""
    plain = expression.type.without_modifier()
    if plain == expression.type:
        return expression
    if isinstance(expression, Literal):
        return Literal(expression.value, plain, expression.position)
    return Cast(expression, plain, True)


def cast_type(source: SqlType, target: SqlType) -> SqlType:
    """Return `target` with the display scale that the conversion of `source` yields."""
    if target.family != "numeric" or target.precision is not None:
        return target
    if source.family in INTEGERS:
        return scaled_numeric(0)
    return scaled_numeric(source.display_scale if source.family == "numeric" else None)


def changes_modifier(source: SqlType, target: SqlType) -> bool:
    """Tell whether a value of `source` must be checked against the length, (p,s), digits or fields of `target`."""
    wanted = (target.length, target.precision, target.scale, target.fields)
    if wanted == (None, None, None, ""):
        return False
    return wanted != (source.length, source.precision, source.scale, source.fields)


def coerce_literal(literal: Literal, target: SqlType, context: BindContext, explicit: bool) -> Expression:
    """Return an untyped constant as `target`, read by the type's input function."""
    position = literal.position
    if literal.value is None:
        kind = target
        if target.family == "numeric" and target.display_scale is None:
            kind = replace(target, display_scale=0)
        return Literal(None, kind, position)
    text = str(literal.value)
    clock = clock_value(text, target, context, position)
    if clock is not None:
        return clock
    value = constant_value(text, target, context, position)
    value = apply_modifier(value, target, None, explicit)
    kind = target
    if isinstance(value, Decimal) and target.precision is None:
        kind = scaled_numeric(scale_of(value))
    return Literal(value, kind, position)


def constant_value(text: str, target: SqlType, context: BindContext, position: int | None) -> LiteralValue:
    """Return the value of a constant. Raises 0A000 in definitions, which are read again without the session, where it would be another."""
    settings = context.settings
    value = unmodified_value(text, target, settings.time_zone, position, settings.input_styles)
    if settings.is_shared and settings.input_styles != USUAL:
        try:
            same = value == unmodified_value(text, target, settings.time_zone, position)
        except SqlError:
            same = False
        if not same:
            hint = "Write dates as 2000-12-31, and a sign for each part of an interval."
            raise not_supported(f'"{text}" in a definition', position, hint=hint)
    return value


def scale_of(value: Decimal) -> int | None:
    """Return the decimal digits of a numeric value, None of NaN and the infinities."""
    exponent = value.as_tuple().exponent
    return -exponent if isinstance(exponent, int) else None


def fold(expression: Expression, target: SqlType) -> Literal | None:
    """Return a number literal converted to another number type where that loses nothing, else None."""
    if not isinstance(expression, Literal) or isinstance(expression.value, bool | str) or expression.value is None:
        return None
    value, source = expression.value, expression.type.family
    if isinstance(value, Decimal) and target.family == "numeric" and target.precision is not None:
        return fold_modifier(value, target, expression.position)
    if isinstance(value, int) and source in INTEGERS:
        if target.family in INTEGERS:
            # Out of range is the same error that the cast would raise, but at once.
            in_range = abs(value) < 1 << 15 or target.family != "int2"
            return Literal(value, target, expression.position) if in_range and fits(value, target) else None
        if target.family == "numeric" and target.precision is None:
            return Literal(Decimal(value), scaled_numeric(0), expression.position)
        if target.family == "float8":
            return Literal(float(value), target, expression.position)
    if isinstance(value, Decimal) and target.family in ("float4", "float8"):
        return fold_float(value, target, expression.position)
    return None


def fold_float(value: Decimal, target: SqlType, position: int | None) -> Literal | None:
    """Return a decimal literal as the float that its text means; one out of range is left to fail when it is evaluated."""
    try:
        return Literal(input_value(str(value), target, "UTC", position), target, position)
    except SqlError:
        return None


def fold_modifier(value: Decimal, target: SqlType, position: int | None) -> Literal | None:
    """Return a decimal literal rounded to (p,s); one that does not fit is left to fail when it is evaluated."""
    try:
        return Literal(apply_modifier(value, target), target, position)
    except SqlError:
        return None


def fits(value: int, target: SqlType) -> bool:
    try:
        integer_value(str(value), target, None)
    except SqlError:
        return False
    return True


def explicit_cast(expression: Expression, target: SqlType, context: BindContext, position: int) -> Expression:
    """Return CAST(expression AS target)."""
    source = expression.type
    if not can_cast(source.family, target.family, "explicit"):
        message = f"cannot cast type {plain_name(source)} to {plain_name(target)}"
        raise SqlError("42846", message, position)
    return coerce(expression, target, context, explicit=True, position=position)


def require_boolean(expression: Expression, context: BindContext, clause: str, position: int) -> Expression:
    """Return `expression` as a boolean, or raise what PostgreSQL says about the argument of `clause`."""
    if not can_cast(expression.type.family, "bool", "implicit"):
        message = f"argument of {clause} must be type boolean, not type {plain_name(expression.type)}"
        raise SqlError("42804", message, position)
    return coerce(expression, SqlType("bool"), context)


def position_of(expression: Expression, default: int | None = None) -> int | None:
    """Return where an expression was written."""
    if isinstance(expression, Column | OuterColumn | Literal | Parameter | Call | Cast | Subquery):
        return expression.position or default
    assert isinstance(expression, Case)
    return default
