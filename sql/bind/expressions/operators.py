"""Operators: PostgreSQL's overload for the operands, the casts that it needs, and the canonical
call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sql.bind.expressions.coerce import coerce, converted, result_type
from sql.bind.expressions.object_names import as_array
from sql.bind.expressions.scope import check_alike
from sql.errors import SqlError, not_supported
from sql.functions.overloads import AmbiguousError, choose
from sql.functions.rows import Function
from sql.functions.signatures import PSEUDO, Signature
from sql.functions.table import BINARY_OPERATORS, BLANKS_SEEN, PREFIX_OPERATORS, ROWS
from sql.parse.syntax import FunctionCall
from sql.tree.expressions import Call, Case, Cast, Expression, Literal
from sql.types.casts import can_cast, plain_name
from sql.types.datatypes import BOOL, FLOAT8, INT4, INT8, INTERVAL, TEXT, TIMESTAMP, LiteralValue, SqlType

if TYPE_CHECKING:
    from sql.bind.expressions.binder import Binder

NONE_HINT = "No operator matches the given name and argument types. You might need to add explicit type casts."
NONE_HINT_UNARY = "No operator matches the given name and argument type. You might need to add an explicit type cast."
NO_FUNCTION_HINT = "No function matches the given name and argument types. You might need to add explicit type casts."
MANY_FUNCTIONS_HINT = "Could not choose a best candidate function. You might need to add explicit type casts."
MANY_HINT = "Could not choose a best candidate operator. You might need to add explicit type casts."


def prefix(binder: Binder, operator: str, operand: Expression, position: int, text: str) -> Expression:
    signature = pick(PREFIX_OPERATORS.get(operator, ()), operator, [operand], position)
    if not signature.canonical:
        raise not_supported(f"the operator {operator} {type_name(operand)}", position)
    value = coerce(operand, SqlType(signature.cast_to[0]), binder.context)
    if signature.canonical == "plus":
        return value
    return finish(signature, [value], position, text)


def binary(binder: Binder, operator: str, left: Expression, right: Expression, position: int, text: str) -> Expression:
    """Bind a binary operator over typed operands."""
    if operator == "||":
        left, right = text_operands(binder, left, right, position)
    if operator in BLANKS_SEEN:
        left = with_blanks(left)
    if left.type.is_record or right.type.is_record:
        check_alike(left, right)
    left, right = as_array(left), as_array(right)
    signature = pick(BINARY_OPERATORS.get(operator, ()), operator, [left, right], position)
    if not signature.canonical:
        raise not_supported(f"the operator {type_name(left)} {operator} {type_name(right)}", position)
    if ROWS[signature.canonical].bound == "shift":
        if signature.cast_to[0] == "interval":
            left, right = right, left
        return interval_arithmetic(binder, operator, left, right, position, text)
    return finish(signature, converted(signature, (left, right), binder.context), position, text)


def with_blanks(operand: Expression) -> Expression:
    """Return a char(n) as a text with the blanks that a cast would take away: patterns and
    octet_length see them.
    """
    return Call("padded_text", (operand,), TEXT) if operand.type.family == "bpchar" else operand


def comparison_signature(operator: str, left: Expression, right: Expression, position: int) -> Signature:
    """Return the overload that compares two operands."""
    return pick(BINARY_OPERATORS[operator], operator, [left, right], position)


def text_operands(binder: Binder, left: Expression, right: Expression, position: int) -> tuple[Expression, Expression]:
    """Return the operands of ||: PostgreSQL takes any type beside a text, and converts it."""
    strings: tuple[str, ...] = ("text", "varchar", "bpchar", "name")
    families = (left.type.family, right.type.family)
    if left.type.is_array or right.type.is_array:
        return left, right
    if "char" in families and all(family in (*strings, "char", "unknown") for family in families):
        written = f"{type_name(left)} || {type_name(right)}"
        raise SqlError("42725", f"operator is not unique: {written}", position, hint=MANY_HINT)
    if "char" in families:
        strings = (*strings, "char")
    if not any(family in (*strings, "unknown") for family in families):
        return left, right
    if families[0] not in strings and families[1] not in strings and "unknown" in families:
        # A bare literal beside a number: textanycat is the one candidate that is left.
        typed = families[0] if families[1] == "unknown" else families[1]
        if typed in ("jsonb", "bytea") or (typed != "unknown" and not can_cast(typed, "text", "assignment")):
            return left, right
    return coerce(left, TEXT, binder.context), coerce(right, TEXT, binder.context)


def pick(candidates: Sequence[Signature], operator: str, operands: Sequence[Expression], position: int) -> Signature:
    """Return the overload, or raise 42883 or 42725."""
    names = [type_name(operand) for operand in operands]
    written = f"{names[0]} {operator} {names[1]}" if len(names) == 2 else f"{operator} {names[0]}"
    try:
        found = choose(candidates, [operand.type.family for operand in operands], is_operator=True)
    except AmbiguousError:
        raise SqlError("42725", f"operator is not unique: {written}", position, hint=MANY_HINT) from None
    if found is None:
        hint = NONE_HINT if len(names) == 2 else NONE_HINT_UNARY
        raise SqlError("42883", f"operator does not exist: {written}", position, hint=hint)
    return found


def pick_function(
    candidates: Iterable[Signature], operands: Sequence[Expression], written: str, position: int
) -> Signature:
    """Return the overload of a function, or raise 42883 or 42725 about the call as written."""
    try:
        found = choose(candidates, [operand.type.family for operand in operands])
    except AmbiguousError:
        raise not_unique(written, position) from None
    if found is None:
        raise no_function(written, position)
    return found


def not_unique(written: str, position: int) -> SqlError:
    """Return the error about a call that means several functions."""
    return SqlError("42725", f"function {written} is not unique", position, hint=MANY_FUNCTIONS_HINT)


def no_function(written: str, position: int, hint: str | None = None) -> SqlError:
    """Return the error about a call that means no function."""
    return SqlError("42883", f"function {written} does not exist", position, hint=hint or NO_FUNCTION_HINT)


def written_call(name: str, operands: Sequence[Expression]) -> str:
    """Return a call as errors about it have it: with the types of its arguments."""
    return f"{name}({', '.join(type_name(operand) for operand in operands)})"


def type_name(expression: Expression) -> str:
    """Return the type's name as it stands in error messages."""
    return plain_name(expression.type)


def finish(signature: Signature, operands: Sequence[Expression], position: int, text: str) -> Expression:
    """Return the canonical call with its type."""
    canonical = signature.canonical
    arguments = tuple(operands)
    row = ROWS[canonical]
    if row.swaps:
        canonical, arguments = row.swaps, arguments[::-1]
    if row.negates:
        positive = Call(row.negates, with_defaults(ROWS[row.negates], arguments), BOOL, position, text)
        return Call("not", (positive,), BOOL, position, text)
    arguments = with_defaults(row, arguments)
    return Call(canonical, arguments, result_type(signature, arguments, position), position, text)


def with_defaults(row: Function, arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
    """Return the arguments of a call, those that are not given among them."""
    return (*arguments, *(constant(value) for place, value in row.defaults.items() if place >= len(arguments)))


def constant(value: LiteralValue) -> Literal:
    """Return the default of an argument that is not given."""
    match value:
        case bool():
            return Literal(value, BOOL)
        case int():
            return Literal(value, INT4)
        case float():
            return Literal(value, FLOAT8)
    return Literal(value, TEXT)


def with_escape(expression: Expression, escape: str) -> Expression:
    """Return a bound LIKE with another escape character ('' is none)."""
    assert isinstance(expression, Call)
    if expression.function == "not":
        inner = with_escape(expression.arguments[0], escape)
        return Call("not", (inner,), BOOL, expression.position, expression.text)
    arguments = (*expression.arguments[:2], Literal(escape, TEXT))
    return Call(expression.function, arguments, BOOL, expression.position, expression.text)


def interval_arithmetic(
    binder: Binder, operator: str, left: Expression, right: Expression, position: int, text: str
) -> Expression:
    """Bind timestamp +- interval constant as add_interval(timestamp, months, days, microseconds,
    zone).

    Of an interval that is not a constant it is add_interval_value(timestamp, interval, zone).
    """
    interval = coerce(right, INTERVAL, binder.context)
    kind = SqlType(left.type.family)
    if kind.family == "date":
        left, kind = Cast(left, TIMESTAMP, False, "", position), TIMESTAMP
    zoned = kind.family == "timestamptz"
    zone = Literal(binder.context.settings.clock_zone if zoned else "", TEXT)
    sign = -1 if operator == "-" else 1
    match interval:
        case Literal(value=(int(months), int(days), int(microseconds))):
            months, days, microseconds = sign * months, sign * days, sign * microseconds
            if max(months, days) >= 1 << 31:
                raise SqlError("22008", "timestamp out of range")
        case _:
            span = Call("interval_negate", (interval,), INTERVAL, position, text) if sign < 0 else interval
            return Call("add_interval_value", (left, span, zone), kind, position, text)
    parts = (Literal(months, INT4), Literal(days, INT4), Literal(microseconds, INT8), *((zone,) if zoned else ()))
    return Call("add_interval", (left, *parts), kind, position, text)


def nullif(binder: Binder, node: FunctionCall) -> Expression:
    """Bind NULLIF: compared as `=` compares, with the type that the first argument has there."""
    left, right = (binder.bind(argument) for argument in node.arguments)
    equal = binary(binder, "=", left, right, node.position, node.text)
    assert isinstance(equal, Call)
    kept = comparison_signature("=", left, right, node.position).arguments[0]
    if kept not in PSEUDO and kept != equal.arguments[0].type.family:
        # PostgreSQL compares sizes of numbers and kinds of times without a conversion, so that the
        # value keeps its type.
        value = coerce(left, SqlType(kept), binder.context)
        return Case(((equal, Literal(None, value.type)),), value, value.type)
    return Call("nullif", equal.arguments, equal.arguments[0].type, node.position, node.text)
