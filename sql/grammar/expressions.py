"""Scalar expressions, by PostgreSQL's operator precedence. Enters: a cursor. Leaves: `sql.syntax` expressions.

The levels, loosest first, are those of PostgreSQL's grammar: OR, AND, NOT, IS, comparison, BETWEEN IN LIKE, other operators,
+ -, * / %, ^, AT TIME ZONE, COLLATE, unary + -, ::.
"""

from __future__ import annotations

from sql.errors import not_supported
from sql.grammar import calls, primaries
from sql.grammar.cursor import Cursor
from sql.grammar.types import type_name
from sql.syntax import (
    Between,
    Constant,
    Distinctness,
    Expression,
    FunctionCall,
    InList,
    Like,
    Logic,
    Operation,
    Test,
    TypeCast,
)

OR, AND, NOT, IS, COMPARISON, MEMBERSHIP, OPERATOR, SUM, PRODUCT, POWER, ZONE, COLLATE, SIGN, CAST = range(1, 15)

COMPARISONS = frozenset({"<", ">", "=", "<=", ">=", "<>"})
SUMS = frozenset({"+", "-"})
PRODUCTS = frozenset({"*", "/", "%"})
PUNCTUATION = frozenset({",", "(", ")", "[", "]", ".", ";", ":", ":=", "=>", ".."})
MEMBERSHIP_WORDS = ("between", "in", "like", "ilike", "similar")


def expression(cursor: Cursor, level: int = OR) -> Expression:
    """Read an expression whose operators bind at least as tightly as `level`."""
    cursor.enter()
    first = cursor.index
    outer, cursor.height = cursor.height, 0
    left = prefix(cursor)
    height = cursor.grow(0)
    # PostgreSQL's comparisons and BETWEEN, IN, LIKE do not associate: a < b < c is a syntax error at the second <.
    ceiling = CAST
    while True:
        found = infix_level(cursor)
        if found < level:
            break
        if found > ceiling:
            cursor.fail()
        left = infix(cursor, left, found, first)
        height = cursor.grow(height)
        if found in (COMPARISON, MEMBERSHIP):
            ceiling = found - 1
    cursor.leave()
    cursor.height = max(outer, height)
    return left


def prefix(cursor: Cursor) -> Expression:
    """Read a prefix operator with its operand, or a primary expression."""
    first = cursor.index
    position = cursor.position
    if cursor.accept("not"):
        operand = expression(cursor, NOT)
        return Logic("not", (operand,), position, cursor.text_since(first))
    token = cursor.token
    if token.kind != "operator" or token.value in PUNCTUATION or token.value == "::":
        return primaries.primary(cursor)
    if token.value in COMPARISONS or token.value in PRODUCTS or token.value == "^":
        cursor.fail()
    cursor.advance()
    operand = expression(cursor, SIGN if token.value in SUMS else OPERATOR + 1)
    if token.value == "-" and isinstance(operand, Constant) and operand.kind in ("integer", "decimal"):
        value = operand.value[1:] if operand.value.startswith("-") else "-" + operand.value
        return Constant(operand.kind, value, position)
    return Operation(token.value, (operand,), position, cursor.text_since(first))


def infix_level(cursor: Cursor) -> int:
    """Return the level of the operator that is next, 0 if there is none."""
    token = cursor.token
    if token.kind == "operator":
        return operator_level(token.value)
    if token.kind != "word":
        return 0
    match token.value:
        case "or":
            return OR
        case "and":
            return AND
        case "is" | "isnull" | "notnull":
            return IS
        case "between" | "in" | "like" | "ilike" | "similar":
            return MEMBERSHIP
        case "not" if cursor.ahead(1).kind == "word" and cursor.ahead(1).value in MEMBERSHIP_WORDS:
            return MEMBERSHIP
        case "at" if cursor.at_words("at", "time", "zone"):
            return ZONE
        case "collate":
            return COLLATE
        case "operator" if cursor.ahead(1).value == "(":
            return OPERATOR
        case "overlaps":
            return MEMBERSHIP
    return 0


def operator_level(operator: str) -> int:
    if operator in COMPARISONS:
        return COMPARISON
    if operator in SUMS:
        return SUM
    if operator in PRODUCTS:
        return PRODUCT
    if operator == "^":
        return POWER
    if operator == "::":
        return CAST
    if operator == "[":
        return CAST
    return 0 if operator in PUNCTUATION else OPERATOR


def infix(cursor: Cursor, left: Expression, level: int, first: int) -> Expression:
    """Read the operator that is next and its right side; the whole began at token `first`."""
    position = cursor.position
    match level:
        case _ if level in (OR, AND):
            return logic(cursor, left, level, first)
        case _ if level == IS:
            return is_test(cursor, left, first)
        case _ if level == MEMBERSHIP:
            return membership(cursor, left, first)
        case _ if level == ZONE:
            cursor.expect("at", "time", "zone")
            zone = expression(cursor, COLLATE)
            return FunctionCall("timezone", (zone, left), position, cursor.text_since(first), "timezone", spelled=True)
        case _ if level == COLLATE:
            return collation(cursor, left)
        case _ if level == CAST:
            if cursor.at_operator("["):
                raise not_supported("array subscripting", position)
            cursor.advance()
            target = type_name(cursor)
            return TypeCast(left, target, position, cursor.text_since(first))
    operator = infix_operator(cursor)
    if cursor.at("any", "some", "all") and cursor.ahead(1).value == "(":
        raise not_supported(f"{operator} {cursor.token.value.upper()} (...)", cursor.position)
    right = expression(cursor, level + 1)
    return Operation(operator, (left, right), position, cursor.text_since(first))


def infix_operator(cursor: Cursor) -> str:
    """Read an operator, also as OPERATOR(pg_catalog.+)."""
    if not cursor.accept("operator"):
        return cursor.advance().value
    cursor.expect_operator("(")
    while cursor.token.kind in ("word", "quoted"):
        cursor.advance()
        cursor.expect_operator(".")
    operator = cursor.advance().value
    cursor.expect_operator(")")
    return operator


def logic(cursor: Cursor, left: Expression, level: int, first: int) -> Expression:
    """Read a chain of ANDs or of ORs into one node."""
    operator = "or" if level == OR else "and"
    position = cursor.position
    operands = [left]
    while cursor.accept(operator):
        operands.append(expression(cursor, level + 1))
    return Logic(operator, tuple(operands), position, cursor.text_since(first))


def is_test(cursor: Cursor, left: Expression, first: int) -> Expression:
    position = cursor.position
    word = cursor.advance().value
    if word != "is":
        return Test("null", left, word == "notnull", position, cursor.text_since(first))
    negated = cursor.accept("not")
    kind = cursor.accept_any("null", "true", "false", "unknown")
    if kind is not None:
        return Test(kind, left, negated, position, cursor.text_since(first))
    if cursor.accept("distinct", "from"):
        right = expression(cursor, IS + 1)
        return Distinctness(left, right, negated, position, cursor.text_since(first))
    if cursor.at("document", "normalized", "nfc", "nfd", "nfkc", "nfkd"):
        raise not_supported(f"IS {cursor.token.value.upper()}", position)
    raise cursor.syntax_error()


def membership(cursor: Cursor, left: Expression, first: int) -> Expression:
    """Read [NOT] BETWEEN, IN, LIKE or ILIKE."""
    position = cursor.position
    negated = cursor.accept("not")
    word = cursor.advance().value
    match word:
        case "between":
            symmetric = cursor.accept("symmetric")
            if not symmetric:
                cursor.accept("asymmetric")
            if cursor.at("not"):
                cursor.fail()
            low = expression(cursor, OPERATOR)
            cursor.expect("and")
            high = expression(cursor, OPERATOR)
            return Between(left, low, high, negated, symmetric, position, cursor.text_since(first))
        case "in":
            cursor.expect_operator("(")
            if cursor.at("select", "values", "with"):
                raise not_supported("IN (subquery)", position)
            items = calls.expressions(cursor)
            cursor.expect_operator(")")
            return InList(left, items, negated, position, cursor.text_since(first))
        case "like" | "ilike":
            if cursor.at("any", "some", "all") and cursor.ahead(1).value == "(":
                raise not_supported(f"{word.upper()} {cursor.token.value.upper()} (...)", position)
            pattern = expression(cursor, OPERATOR)
            escape = expression(cursor, OPERATOR) if cursor.accept("escape") else None
            return Like(left, pattern, escape, word == "ilike", negated, position, cursor.text_since(first))
    raise not_supported("SIMILAR TO" if word == "similar" else word.upper(), position)


def collation(cursor: Cursor, left: Expression) -> Expression:
    """Read COLLATE name: text order is C, so that "C" and POSIX change nothing."""
    cursor.expect("collate")
    position = cursor.position
    name = cursor.label()
    while cursor.accept_operator("."):
        name = cursor.label()
    if name not in ("C", "POSIX", "default", "ucs_basic"):
        raise not_supported(f'the collation "{name}"', position, hint='Text is compared as by the collation "C".')
    return left
