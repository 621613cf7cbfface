"""Scalar expressions, by PostgreSQL's operator precedence.

Enters: a cursor. Leaves: `sql.parse.syntax` expressions.

The levels, loosest first, are those of PostgreSQL's grammar: OR, AND, NOT, IS, comparison, BETWEEN
IN LIKE, other operators, + -, * / %, ^, AT TIME ZONE, COLLATE, unary + -, ::. A `plain` expression
is the b_expr of PostgreSQL: no AND, OR, NOT, no IS but IS DISTINCT FROM, no IN, LIKE, BETWEEN, AT
TIME ZONE, COLLATE and no ANY.
"""

from __future__ import annotations

import re

from sql.errors import SqlError, not_supported
from sql.parse.grammar import predicates, primaries
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.types import type_name
from sql.parse.syntax import Collation, Constant, Expression, FunctionCall, Logic, Operation, TypeCast

OR, AND, NOT, IS, COMPARISON, MEMBERSHIP, OPERATOR, SUM, PRODUCT, POWER, ZONE, COLLATE, SIGN, CAST = range(1, 15)

COMPARISONS = frozenset({"<", ">", "=", "<=", ">=", "<>"})
SUMS = frozenset({"+", "-"})
PRODUCTS = frozenset({"*", "/", "%"})
PUNCTUATION = frozenset({",", "(", ")", "[", "]", ".", ";", ":", ":=", "=>", ".."})
# Operators that may be the label of a column, even without AS.
OPERATOR_LABELS = frozenset(
    {"is", "or", "and", "between", "in", "like", "ilike", "similar", "at", "collate", "operator"}
)
COLLATIONS = frozenset({"C", "POSIX", "default", "ucs_basic"})
# PostgreSQL's names of the orders of languages; the list of a server depends on the machine it runs
# on.
LOCALE = re.compile(r"[A-Za-z]{1,8}[._-][A-Za-z0-9_.@-]+|unicode")
MEMBERSHIP_WORDS = ("between", "in", "like", "ilike", "similar")


def expression(cursor: Cursor, level: int = OR, plain: bool = False) -> Expression:
    """Read an expression whose operators bind at least as tightly as `level`."""
    cursor.enter()
    first = cursor.index
    outer, cursor.height = cursor.height, 0
    left = continued(cursor, prefix(cursor, plain), first, level, plain)
    cursor.leave()
    cursor.height = max(outer, cursor.height)
    return left


def plain_expression(cursor: Cursor) -> Expression:
    """Read a b_expr, after which words like NOT NULL or AND belong to the rule around the
    expression.
    """
    return expression(cursor, OR, plain=True)


def continued(cursor: Cursor, left: Expression, first: int, level: int = OR, plain: bool = False) -> Expression:
    """Read the operators after `left`, which began at token `first`."""
    height = cursor.grow(0)
    # An operator that does not associate in PostgreSQL's grammar may not follow itself: a < b < c
    # is a syntax error at the second <.
    ceiling = CAST
    while True:
        found = infix_level(cursor, plain)
        # An operand goes on with every operator that binds as tightly, even if nothing follows; a
        # whole target may end before its label.
        if found < level or (level == OR and cursor.at(*OPERATOR_LABELS) and cursor.at_label_after_target()):
            break
        if found > ceiling:
            cursor.fail()
        left = infix(cursor, left, found, first, plain)
        height = cursor.grow(height)
        ceiling = found - 1 if found in (IS, COMPARISON, MEMBERSHIP) and predicates.ends_in_operand(left) else CAST
    cursor.height = height
    return left


def prefix(cursor: Cursor, plain: bool = False) -> Expression:
    """Read a prefix operator with its operand, or a primary expression."""
    first = cursor.index
    position = cursor.position
    if not plain and cursor.accept("not"):
        operand = expression(cursor, NOT)
        return Logic("not", (operand,), position, cursor.shown_since(first))
    token = cursor.token
    if token.kind == "word" and token.value in ("default", "unique") and not plain:
        return default_or_unique(cursor)
    if cursor.at("operator") and cursor.ahead(1).kind == "operator" and cursor.ahead(1).value == "(":
        operator = operator_name(cursor)
        operand = expression(cursor, OPERATOR + 1, plain)
        return Operation(operator, (operand,), position, cursor.shown_since(first))
    if token.kind != "operator" or token.value in PUNCTUATION or token.value == "::":
        return primaries.primary(cursor)
    if token.value in COMPARISONS or token.value in PRODUCTS or token.value == "^":
        cursor.fail()
    cursor.advance()
    operand = expression(cursor, SIGN if token.value in SUMS else OPERATOR + 1, plain)
    if token.value == "-" and isinstance(operand, Constant) and operand.kind in ("integer", "decimal"):
        value = operand.value[1:] if operand.value.startswith("-") else "-" + operand.value
        return Constant(operand.kind, value, position)
    return Operation(token.value, (operand,), position, cursor.shown_since(first))


def default_or_unique(cursor: Cursor) -> Expression:
    """Read DEFAULT, or the UNIQUE predicate, which PostgreSQL's grammar has and PostgreSQL refuses
    as well.
    """
    position = cursor.position
    if cursor.at("unique"):
        raise not_supported("the UNIQUE predicate", position)
    # A rule in which DEFAULT means something takes this DEFAULT out of the stray ones.
    cursor.advance()
    cursor.stray_defaults.append(position)
    return Constant("default", "", position)


def infix_level(cursor: Cursor, plain: bool = False) -> int:
    """Return the level of the next operator, 0 if no operator is next."""
    token = cursor.token
    if token.kind == "operator":
        return operator_level(token.value)
    if token.kind != "word":
        return 0
    match token.value:
        case "is":
            return IS
        case "operator" if cursor.ahead(1).value == "(":
            return OPERATOR
        case _ if plain:
            return 0
        case "or":
            return OR
        case "and":
            return AND
        case "isnull" | "notnull":
            return IS
        case "similar" if cursor.in_substring and not cursor.at_words("similar", "to"):
            return 0
        case "between" | "in" | "like" | "ilike" | "similar":
            return MEMBERSHIP
        case "not" if cursor.ahead(1).kind == "word" and cursor.ahead(1).value in MEMBERSHIP_WORDS:
            return MEMBERSHIP
        case "at":
            return ZONE
        case "collate":
            return COLLATE
    return 0


def operator_level(operator: str) -> int:
    """Return the level of an operator, 0 for punctuation."""
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
    return 0 if operator in PUNCTUATION else OPERATOR


def infix(cursor: Cursor, left: Expression, level: int, first: int, plain: bool) -> Expression:
    """Read the next operator and its right side; the whole expression began at token `first`."""
    position = cursor.position
    match level:
        case _ if level in (OR, AND):
            return logic(cursor, left, level, first)
        case _ if level == IS:
            return predicates.is_test(cursor, left, first, plain)
        case _ if level == MEMBERSHIP:
            return predicates.membership(cursor, left, first)
        case _ if level == ZONE:
            cursor.expect("at", "time", "zone")
            zone = expression(cursor, COLLATE)
            return FunctionCall("timezone", (zone, left), position, cursor.shown_since(first), "timezone", spelled=True)
        case _ if level == COLLATE:
            return Collation(left, collation(cursor), position)
        case _ if level == CAST:
            cursor.advance()
            target = type_name(cursor)
            return TypeCast(left, target, position, cursor.shown_since(first), target.fields)
    operator = operator_name(cursor)
    if not plain and cursor.at("any", "some", "all"):
        return predicates.quantified(cursor, left, operator, position, first)
    right = expression(cursor, level + 1, plain)
    return Operation(operator, (left, right), position, cursor.shown_since(first))


def operator_name(cursor: Cursor) -> str:
    """Read an operator, which may be written as OPERATOR(pg_catalog.+)."""
    position = cursor.position
    is_spelled = cursor.accept("operator")
    if is_spelled:
        cursor.expect_operator("(")
    while is_spelled and cursor.token.kind in ("word", "quoted"):
        schema = cursor.name()
        if schema != "pg_catalog":
            cursor.defer(SqlError("3F000", f'schema "{schema}" does not exist', position))
        cursor.expect_operator(".")
    if cursor.token.kind != "operator" or cursor.token.value in PUNCTUATION or cursor.token.value == "::":
        cursor.fail()
    operator = cursor.advance().value
    if is_spelled:
        cursor.expect_operator(")")
    return operator


def logic(cursor: Cursor, left: Expression, level: int, first: int) -> Expression:
    """Read a chain of ANDs or of ORs into one node."""
    operator = "or" if level == OR else "and"
    position = cursor.position
    operands = [left]
    while cursor.accept(operator):
        operands.append(expression(cursor, level + 1))
    return Logic(operator, tuple(operands), position, cursor.shown_since(first))


def collation(cursor: Cursor) -> str:
    """Read COLLATE name and return the name: the order of texts is C, so that "C" and POSIX change
    nothing.
    """
    position = cursor.position
    cursor.expect("collate")
    parts = cursor.qualified_name()
    name = parts[-1]
    if parts[:-1] in ((), ("pg_catalog",)):
        if name in COLLATIONS:
            return name
        if LOCALE.fullmatch(name):
            cursor.refuse(f'the collation "{name}"', position, hint='Text is compared as by the collation "C".')
            return name
    if parts[:-1] not in ((), ("pg_catalog",), ("public",), ("information_schema",)):
        cursor.defer(SqlError("3F000", f'schema "{parts[-2]}" does not exist', position))
    message = f'collation "{".".join(parts)}" for encoding "UTF8" does not exist'
    cursor.defer(SqlError("42704", message, position))
    return name
