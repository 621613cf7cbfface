"""Primary expressions: constants, names, parameters, parentheses, CASE, CAST, typed literals.

Calls are in `calls`.
"""

from __future__ import annotations

from dataclasses import replace

from sql.errors import SqlError
from sql.parse.grammar import calls, expressions, rows, spelled_calls
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.types import integer_modifiers, integers, interval_fields, type_name
from sql.parse.syntax import (
    CaseWhen,
    Constant,
    Expression,
    FunctionCall,
    Name,
    ParameterNumber,
    Star,
    TypeCast,
    TypeName,
)

# Words that begin a typed literal such as date '2020-01-01'; every other identifier before a string
# is a type name, too.
LITERAL_TYPES = frozenset(
    """
    int integer smallint bigint real float double decimal dec numeric boolean bit char character varchar nchar time timestamp
    """.split()
)


SPELLED_TYPES = frozenset({"double", "bit", "char", "character", "nchar", "time", "timestamp"})


def primary(cursor: Cursor) -> Expression:
    """Read one primary expression."""
    token = cursor.token
    position = cursor.position
    match token.kind:
        case "integer" | "decimal" | "string":
            cursor.advance()
            return Constant(token.kind, token.value, position)
        case "parameter":
            first = cursor.index
            cursor.advance()
            if not cursor.parameters_allowed or token.value == "0":
                cursor.defer(SqlError("42P02", f"there is no parameter ${token.value}", position))
            return rows.indirection(cursor, ParameterNumber(int(token.value), position), first)
        case "operator" if token.value == "(":
            return rows.parenthesised(cursor)
        case "bits":
            cursor.refuse("a bit string constant", position)
            cursor.advance()
            return Constant("null", "", position)
        case "quoted":
            return named(cursor)
        case "word":
            return worded(cursor)
    raise cursor.syntax_error()


def worded(cursor: Cursor) -> Expression:
    """Read a primary that begins with a word."""
    position = cursor.position
    word = cursor.token.value
    match word:
        case "null":
            cursor.advance()
            return Constant("null", "", position)
        case "true" | "false":
            cursor.advance()
            return Constant("bool", word, position)
        case "case":
            return case(cursor)
        case "cast":
            return cast(cursor)
        case "exists" if cursor.ahead(1).value == "(":
            return rows.exists(cursor)
        case "array":
            return rows.array(cursor)
        case "row" if cursor.ahead(1).value == "(":
            return rows.explicit_row(cursor)
        case "interval" if cursor.ahead(1).kind == "string" or cursor.ahead(1).value == "(":
            return interval(cursor)
        case "nulls" if cursor.ahead(1).value in ("first", "last"):
            cursor.fail()
    special = spelled_calls.spelled_call(cursor)
    if special is not None:
        return special
    if word in LITERAL_TYPES and begins_literal(cursor):
        return typed_literal(cursor)
    if cursor.function_name() and cursor.ahead(1).kind == "string":
        return typed_literal(cursor)
    return named(cursor)


def begins_literal(cursor: Cursor) -> bool:
    """Tell whether the word of a type begins a literal here.

    Otherwise the word is the name of a column.
    """
    after = cursor.ahead(1)
    if after.kind == "word":
        return after.value in ("precision", "varying", "with", "without") and cursor.token.value in SPELLED_TYPES
    is_call = after.value == "(" and after.kind == "operator"
    return after.kind == "string" or (is_call and cursor.token.value != "double")


def named(cursor: Cursor) -> Expression:
    """Read a column reference with its subscripts, a call, or relation.*."""
    first = cursor.index
    position = cursor.position
    is_function = cursor.function_name()
    is_column = cursor.at_name()
    if not (is_function or is_column):
        cursor.fail()
    parts = [cursor.label()]
    while is_column and cursor.accept_operator("."):
        if cursor.accept_operator("*"):
            return star(cursor, tuple(parts), position)
        parts.append(cursor.label())
    if cursor.at_operator("(") and (is_function or len(parts) > 1):
        call = calls.call(cursor, tuple(parts), position, first)
        return modified_literal(cursor, call, first) if cursor.token.kind == "string" and is_plain(call) else call
    if cursor.token.kind == "string" and (is_function or len(parts) > 1):
        cursor.index = first
        return typed_literal(cursor)
    if not is_column:
        cursor.fail()
    return rows.indirection(cursor, Name(tuple(parts), position), first)


def star(cursor: Cursor, parts: tuple[str, ...], position: int) -> Star:
    """Return relation.*, which no subscript or field may follow."""
    first = cursor.index
    rows.indirection(cursor, Star(parts, position), first)
    if cursor.index > first:
        raise cursor.error_near('improper use of "*"')
    return Star(parts, position)


def is_plain(call: FunctionCall) -> bool:
    """Tell whether the call may as well be a type with modifiers."""
    return bool(call.arguments) and not (call.distinct or call.within_group or call.filter or call.over)


def modified_literal(cursor: Cursor, call: FunctionCall, first: int) -> Expression:
    """Read the string of type(modifiers) 'literal', which looked like a call up to the string."""
    modifiers = integers(cursor, call.arguments, call.name, call.position)
    target = TypeName(call.name, modifiers, call.position, call.text)
    value = Constant("string", cursor.token.value, cursor.position)
    cursor.advance()
    return TypeCast(value, target, call.position, cursor.shown_since(first))


def typed_literal(cursor: Cursor) -> Expression:
    """Read type 'literal'."""
    first = cursor.index
    target = type_name(cursor)
    if target.name == "bpchar" and "(" not in target.text:
        # Here, and only here, CHARACTER has any length.
        target = replace(target, modifiers=())
    position = cursor.position
    value = Constant("string", cursor.string(), position)
    return TypeCast(value, target, target.position, cursor.shown_since(first), target.fields)


def interval(cursor: Cursor) -> Expression:
    """Read INTERVAL 'text' [fields] or INTERVAL(digits) 'text'."""
    first = cursor.index
    position = cursor.position
    cursor.expect("interval")
    modifiers = integer_modifiers(cursor)
    literal_position = cursor.position
    value = Constant("string", cursor.string(), literal_position)
    fields = ""
    if not modifiers:
        fields, modifiers = interval_fields(cursor)
    target = TypeName("interval", modifiers, position, "interval", fields=fields)
    return TypeCast(value, target, position, cursor.shown_since(first), fields)


def case(cursor: Cursor) -> Expression:
    first = cursor.index
    position = cursor.position
    cursor.expect("case")
    operand = None if cursor.at("when") else expressions.expression(cursor)
    branches = []
    while cursor.accept("when"):
        condition = expressions.expression(cursor)
        cursor.expect("then")
        branches.append((condition, expressions.expression(cursor)))
    if not branches:
        cursor.fail()
    default = expressions.expression(cursor) if cursor.accept("else") else None
    cursor.expect("end")
    return CaseWhen(operand, tuple(branches), default, position, cursor.shown_since(first))


def cast(cursor: Cursor) -> Expression:
    first = cursor.index
    position = cursor.position
    cursor.expect("cast")
    cursor.expect_operator("(")
    operand = expressions.expression(cursor)
    cursor.expect("as")
    target = type_name(cursor)
    cursor.expect_operator(")")
    return TypeCast(operand, target, position, cursor.shown_since(first), target.fields)
