"""Conversions that the binding puts in: literals are converted at once, parameters take the type,
others get a Cast.

The file also has one type for several expressions (PostgreSQL's select_common_type), the types of
'any', 'element' and 'array' in a call, the words now, today, tomorrow and yesterday as constants
(of the transaction's start, as now() is), types that the grammar left open, and numeric constants
of more than 38 digits, which may stand beside a float and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TypeVar

from sql.bind.expressions.context import BindContext
from sql.bind.expressions.object_names import constant_oids, from_texts, names_objects, scalar, to_texts
from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError, not_supported
from sql.functions.comparisons import COMPARED_DAYS, NEGATED
from sql.functions.overloads import element_family
from sql.functions.signatures import INTEGERS, Signature
from sql.functions.table import result_scale
from sql.parse.statements.parts import TableChange, TableColumn
from sql.parse.type_names import OwnTypes, found_type
from sql.times.datetime_input import CLOCK_WORDS
from sql.times.input_styles import USUAL
from sql.tree.expressions import Call, Case, Cast, Column, Expression, Literal, OuterColumn, Parameter, Subquery
from sql.tree.numeric_scale import common_scale
from sql.tree.relations import Relation
from sql.tree.walks import map_relation
from sql.types.casts import OIDS, can_cast, category, common_family, needs_zone, plain_name, preferred, same_modifier
from sql.types.datatypes import DATE, INT4, TEXT, TIMESTAMPTZ, LiteralValue, SqlType, array_of, scaled_numeric
from sql.values.literals import apply_modifier, check_digits, input_value, integer_value, unmodified_value

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
    if names_objects(source) and scalar(target).family in TEXTS:
        return coerce(to_texts(expression, context, position), target, context, explicit, position)
    if names_objects(target) and scalar(source).family in TEXTS:
        texts = coerce(expression, array_of(TEXT) if source.is_array else TEXT, context, explicit, position)
        if target.is_array and not source.is_array:
            texts = Cast(texts, array_of(TEXT), explicit, "", position)
        return from_texts(texts, target, context, position)
    if target.family in TEXTS:
        require_usual_form(source, context.settings, position)
    elif source.family in TEXTS:
        clock = typed_clock_value(expression, target, context, position)
        if clock is not None:
            return clock
        require_usual_reading(target, context.settings, position)
    zone = context.settings.clock_zone if needs_zone(source.family, target.family) else ""
    return Cast(expression, cast_type(source, target), explicit, zone, position)


def require_usual_form(source: SqlType, settings: SessionSettings, position: int | None) -> None:
    """Raise 0A000 for a text of values of `source` in a form that the session asks for: only
    results are shown in it.

    The texts of a definition are checked for its readers (`sql.bind.readers`).
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
    """Raise 0A000 for texts, known when the query runs, that the session reads otherwise than one
    that has set nothing.
    """
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
    """Tell whether a value of `source` must be checked against the length, (p,s), digits or fields
    of `target`.
    """
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
    if names_objects(target):
        return constant_oids(text, target, context, position)
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
    """Return the value of a constant.

    Raises 0A000 in definitions, which are read again without the session, where it would be
    another.
    """
    settings = context.settings
    zone, styles = settings.reads_constants
    value = unmodified_value(text, target, zone, position, styles)
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
    """Return a number literal converted to another number type where that loses nothing, else
    None.
    """
    if not isinstance(expression, Literal) or isinstance(expression.value, bool | str) or expression.value is None:
        return None
    value, source = expression.value, expression.type.family
    if isinstance(value, Decimal) and target.family == "numeric" and target.precision is not None:
        return fold_modifier(value, target, expression.position)
    if isinstance(value, int) and source in OIDS and target.family in OIDS:
        return Literal(value, target, expression.position)
    if isinstance(value, int) and source in INTEGERS:
        if target.family in INTEGERS:
            # Out of range is the same error that the cast would raise, but at once.
            in_range = abs(value) < 1 << 15 or target.family != "int2"
            return Literal(value, target, expression.position) if in_range and fits(value, target) else None
        if target.family in OIDS and 0 <= value < 1 << 31:
            return Literal(value, target, expression.position)
        if target.family == "numeric" and target.precision is None:
            return Literal(Decimal(value), scaled_numeric(0), expression.position)
        if target.family == "float8":
            return Literal(float(value), target, expression.position)
    if isinstance(value, Decimal) and target.family in ("float4", "float8"):
        return fold_float(value, target, expression.position)
    return None


def fold_float(value: Decimal, target: SqlType, position: int | None) -> Literal | None:
    """Return a decimal literal as the float that its text means.

    One out of range is left to fail when it is evaluated.
    """
    try:
        return Literal(input_value(str(value), target, "UTC", position), target, position)
    except SqlError:
        return None


def fold_modifier(value: Decimal, target: SqlType, position: int | None) -> Literal | None:
    """Return a decimal literal rounded to (p,s).

    One that does not fit is left to fail when it is evaluated.
    """
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
    """Return `expression` as a boolean, or raise PostgreSQL's error about the argument of
    `clause`.
    """
    if not can_cast(expression.type.family, "bool", "implicit"):
        message = f"argument of {clause} must be type boolean, not type {plain_name(expression.type)}"
        raise SqlError("42804", message, position)
    return coerce(expression, SqlType("bool"), context)


def position_of(expression: Expression, default: int | None = None) -> int | None:
    """Return the place of an expression."""
    if isinstance(expression, Column | OuterColumn | Literal | Parameter | Call | Cast | Subquery):
        return expression.position or default
    assert isinstance(expression, Case)
    return default


def common_type(expressions: Sequence[Expression]) -> SqlType | None:
    """Return the common type, None when there is none."""
    families = [expression.type.family for expression in expressions]
    family = common_family(families)
    if family is None:
        return None
    typed = [expression.type for expression in expressions if not is_null(expression)]
    plain = SqlType(family)
    if not typed or family == "unknown":
        return plain
    kinds = [expression.type for expression in expressions]
    if all(kind.family == family for kind in kinds) and same_modifier(kinds):
        first = typed[0]
        plain = replace(plain, length=first.length, precision=first.precision, scale=first.scale, fields=first.fields)
    if family == "numeric":
        scales = [scaled_numeric(0) if kind.family.startswith("int") else kind for kind in typed]
        return replace(
            plain, display_scale=common_scale([kind for kind in scales if kind.family == "numeric"] or scales)
        )
    return plain


def is_null(expression: Expression) -> bool:
    return isinstance(expression, Literal) and expression.value is None


def unify(
    expressions: Sequence[Expression], what: str, context: BindContext, positions: Sequence[int] = ()
) -> tuple[SqlType, list[Expression]]:
    """Return the common type and the expressions converted to it.

    what: the construct's name in PostgreSQL's error. positions: where each expression begins, for
    the error.
    """
    kind = common_type(expressions)
    if kind is None:
        raise mismatch(expressions, what, positions)
    # Untyped literals are read as the family first: their digits take part in the common scale.
    base = SqlType(kind.family)
    converted = [coerce(expression, base, context) for expression in expressions]
    final = common_type(converted)
    assert final is not None, "values of one family have a common type"
    aligned = [
        Literal(None, final, item.position) if isinstance(item, Literal) and item.value is None else item
        for item in converted
    ]
    return final, aligned


def mismatch(expressions: Sequence[Expression], what: str, positions: Sequence[int]) -> SqlError:
    """Return PostgreSQL's error about the first two types that do not match."""
    places: list[int | None] = [*positions] or [position_of(expression) for expression in expressions]
    typed = [
        (item.type, place) for item, place in zip(expressions, places, strict=True) if item.type.family != "unknown"
    ]
    first = typed[0][0]
    for other, place in typed[1:]:
        if category(other.family) != category(first.family):
            names = f"{plain_name(first)} and {plain_name(other)}"
            return SqlError("42804", f"{what} types {names} cannot be matched", place)
        if not preferred(first.family) and can_cast(first.family, other.family, "implicit"):
            first = other
    return SqlError(
        "42846", f"{what} could not convert type {plain_name(typed[0][0])} to {plain_name(first)}", typed[0][1]
    )


def converted(signature: Signature, operands: Sequence[Expression], context: BindContext) -> list[Expression]:
    """Return the operands with the types that the overload takes."""
    wanted = signature.cast_to
    element = element_type(signature, operands)
    found = []
    for index, operand in enumerate(operands):
        family = wanted[min(index, len(wanted) - 1)]
        if family == "any":
            found.append(coerce(operand, TEXT, context) if operand.type.family == "unknown" else operand)
        elif family in ("element", "enum"):
            found.append(coerce(operand, element, context))
        elif family == "record":
            found.append(coerce(operand, next(one.type for one in operands if one.type.is_record), context))
        elif family == "array":
            found.append(coerce(operand, array_of(element), context))
        elif operand.type.family == "date" and family in COMPARED_DAYS and signature.canonical in NEGATED:
            found.append(compared_day(operand, SqlType(family), context))
        else:
            found.append(coerce(operand, SqlType(family), context))
    return found


def compared_day(day: Expression, target: SqlType, context: BindContext) -> Expression:
    """Return a date as what is compared with a time stamp: not every date is one."""
    zone = (Literal(context.settings.clock_zone, TEXT),) if target == TIMESTAMPTZ else ()
    return Call(COMPARED_DAYS[target.family], (day, *zone), target, position_of(day))


def element_type(signature: Signature, operands: Sequence[Expression]) -> SqlType:
    """Return the common type of the elements that a polymorphic call means."""
    if not signature.is_polymorphic:
        return TEXT
    family = element_family(signature, [operand.type.family for operand in operands])
    assert family is not None, "an overload is chosen for elements that agree"
    return SqlType(family)


def result_type(signature: Signature, arguments: Sequence[Expression], position: int | None) -> SqlType:
    """Return the type of a call over converted arguments; numerics get their display scale."""
    if signature.result == "numeric":
        return scaled_numeric(result_scale(signature.canonical, arguments, position))
    if signature.result not in ("element", "enum", "array"):
        return SqlType(signature.result)
    for wanted, argument in zip(signature.cast_to, arguments, strict=True):
        if wanted == "array":
            return argument.type if signature.result == "array" else argument.type.element
        if wanted in ("element", "enum") and "array" not in signature.arguments:
            plain = argument.type.without_modifier()
            return array_of(plain) if signature.result == "array" else plain
    raise AssertionError(signature)


DAYS = {"today": 0, "tomorrow": 1, "yesterday": -1}
MEANT = {"now": "now()", "today": "current_date", "tomorrow": "current_date + 1", "yesterday": "current_date - 1"}
FAMILIES = frozenset({"date", "time", "timestamp", "timestamptz"})


def clock_value(text: str, target: SqlType, context: BindContext, position: int | None) -> Expression | None:
    """Return the meaning of a constant text that is nothing but such a word, None for other texts.

    Raises 0A000 in definitions.
    """
    word = clock_word(text, target)
    if word is None:
        return None
    if context.settings.is_shared:
        # PostgreSQL keeps the time of the definition for ever, which nobody wants.
        hint = f"Write {MEANT[word]}, or the time itself."
        raise not_supported(f"'{word}' in a definition", position, hint=hint)
    return clock_reading(word, target, context, position)


def typed_clock_value(
    expression: Expression, target: SqlType, context: BindContext, position: int | None
) -> Expression | None:
    """Return the meaning of such a word as a value of type text, which PostgreSQL reads when the
    statement runs, else None.
    """
    if not isinstance(expression, Literal) or not isinstance(expression.value, str):
        return None
    word = clock_word(expression.value, target)
    return None if word is None else clock_reading(word, target, context, position)


def clock_word(text: str, target: SqlType) -> str | None:
    """Return the word for the time of the statement that a text is as a value of `target`, None for
    every other text.
    """
    word = text.strip().lower()
    if target.family not in FAMILIES or word not in CLOCK_WORDS or (target.family == "time" and word != "now"):
        return None
    return word


def clock_reading(word: str, target: SqlType, context: BindContext, position: int | None) -> Expression:
    """Return the time of the statement, or a day beside it, as `target`."""
    context.stable = True
    now = Call("now", (), TIMESTAMPTZ, position, "now()")
    zone = context.settings.clock_zone
    if word == "now":
        return now if target == TIMESTAMPTZ else Cast(now, target, False, zone, position)
    day: Expression = Cast(now, DATE, False, zone, position)
    if DAYS[word]:
        day = Call("date_add_days", (day, Literal(DAYS[word], INT4)), DATE, position, word)
    return day if target == DATE else Cast(day, target, False, zone if target.family == "timestamptz" else "", position)


Part = TypeVar("Part", TableColumn, TableChange)


def with_type(part: Part, own: OwnTypes) -> Part:
    """Return a column, or a change of one, with its known type."""
    if isinstance(part, TableColumn):
        return replace(part, type=found_type(part.type, own))
    if part.column is not None:
        return replace(part, column=replace(part.column, type=found_type(part.column.type, own)))
    if part.type is None:
        return part
    try:
        return replace(part, type=found_type(part.type, own))
    except SqlError as error:
        # PostgreSQL gives no position of a type that is not there.
        raise replace(error, position=None) from None


def is_wide(value: Decimal) -> bool:
    """Tell whether `value` has more digits than a numeric can hold here."""
    try:
        check_digits(value, None)
    except SqlError:
        return True
    return False


def refuse_wide_numbers(root: Relation, context: BindContext) -> Relation:
    """Return `root`.

    Raises 22003, with the constant's position, for a wide constant that is still a numeric.
    """
    if context.wide_numbers:
        map_relation(root, _checked)
    return root


def _checked(node: Expression) -> Expression | None:
    if isinstance(node, Literal) and isinstance(node.value, Decimal):
        check_digits(node.value, node.position)
    return None
