"""Tests that SQL spells with words: IS, BETWEEN, IN, LIKE, SIMILAR TO, OVERLAPS, and operator ANY |
ALL (...).
"""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar import rows
from sql.parse.grammar.cursor import Cursor
from sql.parse.syntax import (
    ArrayComparison,
    Between,
    Constant,
    Distinctness,
    Expression,
    FunctionCall,
    InList,
    Like,
    Logic,
    Operation,
    Query,
    Row,
    Subquery,
    Test,
)

LIKE_OPERATORS = {
    ("like", False): "~~",
    ("like", True): "!~~",
    ("ilike", False): "~~*",
    ("ilike", True): "!~~*",
}
FORMS = ("nfc", "nfd", "nfkc", "nfkd")


def ends_in_operand(found: Expression) -> bool:
    """Tell whether the last thing that was read for `found` is an operand, which another operator
    could have followed.
    """
    return isinstance(found, Operation | Distinctness | Between | Like)


def is_test(cursor: Cursor, left: Expression, first: int, plain: bool) -> Expression:
    """Read ISNULL, NOTNULL, or IS [NOT] NULL, TRUE, FALSE, UNKNOWN, [form] NORMALIZED, DISTINCT
    FROM an operand.

    A plain expression has only the last.
    """
    position = cursor.position
    word = cursor.advance().value
    if word != "is":
        return Test("null", left, word == "notnull", position, cursor.shown_since(first))
    negated = cursor.accept("not")
    if cursor.accept("distinct"):
        cursor.expect("from")
        right = grammar.expression(cursor, grammar.IS + 1, plain)
        return Distinctness(left, right, negated, position, cursor.shown_since(first))
    if cursor.at("document"):
        raise not_supported("IS DOCUMENT", position)
    kind = None if plain else cursor.accept_any("null", "true", "false", "unknown")
    if kind is not None:
        return Test(kind, left, negated, position, cursor.shown_since(first))
    if not plain and cursor.at(*FORMS, "normalized"):
        form = normal_form(cursor) if cursor.at(*FORMS) else ()
        cursor.expect("normalized")
        text = cursor.shown_since(first)
        call = FunctionCall("is_normalized", (left, *form), position, text, "is_normalized", spelled=True)
        return Logic("not", (call,), position, text) if negated else call
    raise cursor.syntax_error()


def normal_form(cursor: Cursor) -> tuple[Expression]:
    """Read NFC, NFD, NFKC or NFKD."""
    position = cursor.position
    return (Constant("string", cursor.one_of(*FORMS).upper(), position),)


def membership(cursor: Cursor, left: Expression, first: int) -> Expression:
    """Read [NOT] BETWEEN, IN, LIKE, ILIKE or SIMILAR TO."""
    position = cursor.position
    negated = cursor.accept("not")
    word = cursor.advance().value
    match word:
        case "between":
            symmetric = cursor.accept("symmetric")
            if not symmetric:
                cursor.accept("asymmetric")
            low = grammar.plain_expression(cursor)
            cursor.expect("and")
            high = grammar.expression(cursor, grammar.MEMBERSHIP + 1)
            return Between(left, low, high, negated, symmetric, position, cursor.shown_since(first))
        case "in":
            return inside(cursor, left, negated, position, first)
        case "similar":
            cursor.expect("to")
            return similar(cursor, left, negated, position, first)
    if cursor.at("any", "some", "all"):
        return quantified(cursor, left, LIKE_OPERATORS[word, negated], position, first)
    pattern = grammar.expression(cursor, grammar.MEMBERSHIP + 1)
    escape = grammar.expression(cursor, grammar.MEMBERSHIP + 1) if cursor.accept("escape") else None
    return Like(left, pattern, escape, word == "ilike", negated, position, cursor.shown_since(first))


def inside(cursor: Cursor, left: Expression, negated: bool, position: int, first: int) -> Expression:
    """Read the parentheses after IN: a list, or a query."""
    found = rows.in_parentheses(cursor)
    text = cursor.shown_since(first)
    if not isinstance(found, Query):
        return InList(left, found, negated, position, text)
    subquery = Subquery("any", found, left, "=", position, text)
    return Logic("not", (subquery,), position, text) if negated else subquery


def similar(cursor: Cursor, left: Expression, negated: bool, position: int, first: int) -> Expression:
    """Read the pattern of SIMILAR TO, which is a regular expression after similar_to_escape."""
    pattern_first = cursor.index
    pattern_position = cursor.position
    arguments: tuple[Expression, ...] = (grammar.expression(cursor, grammar.MEMBERSHIP + 1),)
    if cursor.accept("escape"):
        arguments = (*arguments, grammar.expression(cursor, grammar.MEMBERSHIP + 1))
    name = "similar_to_escape"
    pattern = FunctionCall(name, arguments, pattern_position, cursor.shown_since(pattern_first), name, spelled=True)
    return Operation("!~" if negated else "~", (left, pattern), position, cursor.shown_since(first))


def quantified(cursor: Cursor, left: Expression, operator: str, position: int, first: int) -> Expression:
    """Read ANY | SOME | ALL (query or array) after an operator."""
    quantifier = "all" if cursor.advance().value == "all" else "any"
    found = rows.in_parentheses(cursor, one_only=True)
    text = cursor.shown_since(first)
    if isinstance(found, Query):
        return Subquery(quantifier, found, left, operator, position, text)
    return ArrayComparison(left, operator, quantifier, found[0], position, text)


def overlaps(cursor: Cursor, left: Row, first: int) -> Expression:
    """Read OVERLAPS and the row after it."""
    position = cursor.position
    cursor.expect("overlaps")
    right_position = cursor.position
    right = rows.strict_row(cursor)
    for side, row, place in (("left", left, left.position), ("right", right, right_position)):
        if len(row.items) != 2:
            message = f"wrong number of parameters on {side} side of OVERLAPS expression"
            raise SqlError("42601", message, place)
    arguments = (*left.items, *right.items)
    return FunctionCall("overlaps", arguments, position, cursor.shown_since(first), "overlaps", spelled=True)
