"""Calls that SQL spells with words: EXTRACT, SUBSTRING FROM, TRIM, POSITION, OVERLAY, COALESCE,
GROUPING, CURRENT_DATE ...

Such calls become ordinary calls with PostgreSQL's names.
"""

from __future__ import annotations

from sql.errors import not_supported
from sql.parse.grammar import calls, predicates, primaries
from sql.parse.grammar import expressions as grammar
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.types import integer_modifiers
from sql.parse.syntax import Constant, Expression, FunctionCall

Arguments = tuple[Expression, ...]

WITHOUT_PARENTHESES = frozenset(
    """
    current_date current_time current_timestamp localtime localtimestamp current_user session_user user current_role
    current_catalog current_schema
    """.split()
)
WITH_PRECISION = ("current_time", "current_timestamp", "localtime", "localtimestamp")
EXPRESSION_LISTS = frozenset({"coalesce", "greatest", "least", "grouping"})
UNSUPPORTED_FORMS = frozenset(
    """
    treat xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
    """.split()
)
# Words that are column names everywhere else, and calls before a parenthesis.
FORMS = frozenset(
    {
        *EXPRESSION_LISTS,
        *UNSUPPORTED_FORMS,
        "nullif",
        "extract",
        "substring",
        "trim",
        "position",
        "overlay",
        "normalize",
    }
)


def at_spelled_call(cursor: Cursor) -> bool:
    """Tell whether the next call is one that SQL spells in its own way."""
    token, after = cursor.token, cursor.ahead(1)
    if token.kind != "word":
        return False
    in_parentheses = after.kind == "operator" and after.value == "("
    if token.value in WITHOUT_PARENTHESES:
        return not (token.value == "current_schema" and in_parentheses)
    if token.value == "collation":
        return after.kind == "word" and after.value == "for"
    return token.value == "cast" or (in_parentheses and token.value in FORMS)


def spelled_call(cursor: Cursor) -> Expression | None:
    """Read a call that SQL spells in its own way, or return None and read nothing."""
    if not at_spelled_call(cursor):
        return None
    word = cursor.token.value
    first = cursor.index
    position = cursor.position
    if word in WITHOUT_PARENTHESES:
        return without_parentheses(cursor)
    if word == "cast":
        return primaries.cast(cursor)
    if word == "collation" or word in UNSUPPORTED_FORMS:
        raise not_supported(word.upper(), position)
    cursor.advance()
    name, arguments, spelled = cursor.enclosed(lambda cursor: form(cursor, word))
    return FunctionCall(name, arguments, position, cursor.shown_since(first), name, spelled=spelled)


def form(cursor: Cursor, word: str) -> tuple[str, Arguments, bool]:
    """Read the tokens between the parentheses.

    Return the function's name, its arguments, and whether words were used.
    """
    match word:
        case "nullif":
            return word, two_expressions(cursor), True
        case "extract":
            return word, extract(cursor), True
        case "substring":
            return word, *substring(cursor)
        case "trim":
            return *trim(cursor), True
        case "position":
            return word, position_of(cursor), True
        case "overlay":
            return word, *overlay(cursor)
        case "normalize":
            text = grammar.expression(cursor)
            form = predicates.normal_form(cursor) if cursor.accept_operator(",") else ()
            return word, (text, *form), True
    return word, calls.expressions(cursor), True


def without_parentheses(cursor: Cursor) -> Expression:
    """Read CURRENT_DATE or another call without parentheses."""
    first = cursor.index
    position = cursor.position
    word = cursor.advance().value
    arguments: Arguments = ()
    if word in WITH_PRECISION:
        place = cursor.position + 1
        arguments = tuple(Constant("integer", str(digits), place) for digits in integer_modifiers(cursor))
    return FunctionCall(word, arguments, position, cursor.shown_since(first), word)


def two_expressions(cursor: Cursor) -> Arguments:
    """Read exactly two expressions."""
    first = grammar.expression(cursor)
    cursor.expect_operator(",")
    return first, grammar.expression(cursor)


def extract(cursor: Cursor) -> Arguments:
    """Read field FROM source."""
    token = cursor.token
    if token.kind not in ("quoted", "string") and not (token.kind == "word" and names_a_field(cursor)):
        cursor.fail()
    cursor.advance()
    field = Constant("string", token.value, token.start + 1)
    cursor.expect("from")
    return field, grammar.expression(cursor)


def names_a_field(cursor: Cursor) -> bool:
    """Tell whether the next word is an identifier, or a keyword that is one of EXTRACT's own."""
    return cursor.at("year", "month", "day", "hour", "minute", "second") or not cursor.is_keyword()


def substring(cursor: Cursor) -> tuple[Arguments, bool]:
    """Read text [FROM start] [FOR count] in either order, text SIMILAR pattern ESCAPE escape, or
    plain arguments (False).
    """
    if cursor.at_operator(")"):
        return (), False
    cursor.in_substring, outer = True, cursor.in_substring
    text = grammar.expression(cursor)
    cursor.in_substring = outer
    if cursor.accept("similar"):
        pattern = grammar.expression(cursor)
        cursor.expect("escape")
        return (text, pattern, grammar.expression(cursor)), True
    if not cursor.at("from", "for"):
        return plain_arguments(cursor, text), False
    default = Constant("integer", "1", cursor.position)
    start: Expression | None = None
    count: Expression | None = None
    if cursor.accept("from"):
        start = grammar.expression(cursor)
        count = grammar.expression(cursor) if cursor.accept("for") else None
    else:
        cursor.expect("for")
        count = grammar.expression(cursor)
        start = grammar.expression(cursor) if cursor.accept("from") else None
    arguments = (text, start or default)
    return arguments if count is None else (*arguments, count), True


def plain_arguments(cursor: Cursor, first: Expression) -> Arguments:
    """Read the arguments after `first`, with commas between them."""
    return (first, *calls.arguments(cursor, variadic_allowed=False)[0]) if cursor.accept_operator(",") else (first,)


def trim(cursor: Cursor) -> tuple[str, Arguments]:
    """Read [LEADING | TRAILING | BOTH] [characters] FROM text."""
    side = cursor.accept_any("leading", "trailing", "both")
    name = {"leading": "ltrim", "trailing": "rtrim"}.get(side or "both", "btrim")
    if cursor.accept("from"):
        return name, calls.expressions(cursor)
    first = grammar.expression(cursor)
    if cursor.accept("from"):
        return name, (*calls.expressions(cursor), first)
    rest = calls.expressions(cursor) if cursor.accept_operator(",") else ()
    return name, (first, *rest)


def position_of(cursor: Cursor) -> Arguments:
    """Read part IN text; both bind more tightly than IN."""
    part = grammar.plain_expression(cursor)
    cursor.expect("in")
    text = grammar.plain_expression(cursor)
    return text, part


def overlay(cursor: Cursor) -> tuple[Arguments, bool]:
    """Read text PLACING new FROM start [FOR count], or plain arguments (False)."""
    if cursor.at_operator(")"):
        return (), False
    text = grammar.expression(cursor)
    if not cursor.accept("placing"):
        return plain_arguments(cursor, text), False
    new = grammar.expression(cursor)
    cursor.expect("from")
    start = grammar.expression(cursor)
    if not cursor.accept("for"):
        return (text, new, start), True
    return (text, new, start, grammar.expression(cursor)), True
