"""Primary expressions: constants, names, parameters, parentheses, CASE, CAST, typed literals. Calls have their own file."""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.grammar import calls, expressions
from sql.grammar.cursor import Cursor
from sql.grammar.keywords import COLUMN_NAME
from sql.grammar.types import interval_fields, type_modifiers, type_name
from sql.syntax import CaseWhen, Constant, Expression, Name, ParameterNumber, Star, TypeCast, TypeName

# Words that begin a typed literal such as date '2020-01-01'; another identifier before a string is a type name too.
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
            cursor.advance()
            if not cursor.parameters_allowed or token.value == "0":
                raise SqlError("42P02", f"there is no parameter ${token.value}", position)
            return ParameterNumber(int(token.value), position)
        case "operator" if token.value == "(":
            return parenthesised(cursor)
        case "bits":
            raise not_supported("a bit string constant", position)
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
        case "cast" if cursor.ahead(1).value == "(":
            return cast(cursor)
        case "exists" if cursor.ahead(1).value == "(":
            raise not_supported("EXISTS (subquery)", position)
        case "array" | "row" if cursor.ahead(1).value in ("[", "("):
            raise not_supported(f"{word.upper()} constructor", position)
        case "interval" if cursor.ahead(1).kind == "string" or cursor.ahead(1).value == "(":
            return interval(cursor)
        case "default":
            raise SqlError("42601", "DEFAULT is not allowed in this context", position)
    special = calls.special(cursor)
    if special is not None:
        return special
    if word in LITERAL_TYPES and begins_literal(cursor):
        return typed_literal(cursor)
    if cursor.function_name() and cursor.ahead(1).kind == "string":
        return typed_literal(cursor)
    return named(cursor)


def begins_literal(cursor: Cursor) -> bool:
    """Tell whether a type's word begins a literal here; otherwise it is a column's name."""
    after = cursor.ahead(1)
    if after.kind == "word":
        return after.value in ("precision", "varying", "with", "without") and cursor.token.value in SPELLED_TYPES
    return after.kind == "string" or (after.value == "(" and after.kind == "operator")


def named(cursor: Cursor) -> Expression:
    """Read a column reference, a call, or relation.*."""
    first = cursor.index
    position = cursor.position
    is_function = cursor.function_name()
    is_column = cursor.at_name()
    if not (is_function or is_column):
        cursor.fail()
    parts = [cursor.label()]
    while cursor.accept_operator("."):
        if cursor.accept_operator("*"):
            return Star(tuple(parts), position)
        parts.append(cursor.label())
        is_column = True
    if cursor.at_operator("(") and (is_function or len(parts) > 1):
        return calls.call(cursor, tuple(parts), position, first)
    if not is_column or (len(parts) == 1 and cursor.tokens[first].value in COLUMN_NAME and cursor.at_operator("(")):
        cursor.fail()
    if len(parts) > 1 and cursor.token.kind == "string" and parts[0] == "pg_catalog":
        cursor.index = first
        return typed_literal(cursor)
    return Name(tuple(parts), position)


def typed_literal(cursor: Cursor) -> Expression:
    """Read type 'literal'."""
    first = cursor.index
    target = type_name(cursor)
    position = cursor.position
    value = Constant("string", cursor.string(), position)
    return TypeCast(value, target, target.position, cursor.text_since(first))


def interval(cursor: Cursor) -> Expression:
    """Read INTERVAL 'text' [fields]."""
    first = cursor.index
    position = cursor.position
    cursor.expect("interval")
    modifiers = type_modifiers(cursor)
    literal_position = cursor.position
    value = Constant("string", cursor.string(), literal_position)
    fields = interval_fields(cursor)
    type_modifiers(cursor)
    target = TypeName("interval", modifiers, position, "interval")
    return TypeCast(value, target, position, cursor.text_since(first), fields)


def parenthesised(cursor: Cursor) -> Expression:
    position = cursor.position
    cursor.expect_operator("(")
    if cursor.at("select", "values", "with", "table"):
        raise not_supported("a subquery in an expression", position)
    inner = expressions.expression(cursor)
    if cursor.at_operator(","):
        raise not_supported("a row constructor", position)
    cursor.expect_operator(")")
    if cursor.at_operator("."):
        raise not_supported("selection of a field of a composite value", position)
    return inner


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
    return CaseWhen(operand, tuple(branches), default, position, cursor.text_since(first))


def cast(cursor: Cursor) -> Expression:
    first = cursor.index
    position = cursor.position
    cursor.expect("cast")
    cursor.expect_operator("(")
    operand = expressions.expression(cursor)
    cursor.expect("as")
    target = type_name(cursor)
    cursor.expect_operator(")")
    return TypeCast(operand, target, position, cursor.text_since(first))
