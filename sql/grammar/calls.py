"""Function calls: the ordinary form with DISTINCT, ORDER BY, FILTER and OVER, and the forms that SQL spells with words.

The latter (EXTRACT, SUBSTRING FROM, TRIM, POSITION, COALESCE, CURRENT_DATE ...) become ordinary calls with PostgreSQL's names.
"""

from __future__ import annotations

from sql.errors import SqlError, not_supported
from sql.grammar import expressions as grammar
from sql.grammar import queries
from sql.grammar.cursor import Cursor
from sql.syntax import Constant, Expression, FunctionCall, SortItem, WindowDefinition

WITHOUT_PARENTHESES = frozenset(
    """
    current_date current_time current_timestamp localtime localtimestamp current_user session_user user current_role
    current_catalog current_schema
    """.split()
)
EXPRESSION_LISTS = frozenset({"coalesce", "greatest", "least", "nullif"})
UNSUPPORTED_FORMS = frozenset(
    "grouping normalize treat xmlconcat xmlelement xmlexists xmlforest xmlparse xmlpi xmlroot xmlserialize".split()
)


def expressions(cursor: Cursor) -> tuple[Expression, ...]:
    """Read one or more expressions with commas between."""
    items = [grammar.expression(cursor)]
    while cursor.accept_operator(","):
        items.append(grammar.expression(cursor))
    return tuple(items)


def two_expressions(cursor: Cursor) -> tuple[Expression, ...]:
    """Read exactly two expressions."""
    first = grammar.expression(cursor)
    cursor.expect_operator(",")
    return first, grammar.expression(cursor)


def call(cursor: Cursor, name: tuple[str, ...], position: int, first: int) -> Expression:
    """Read the parentheses of a call of `name`, and what may follow them."""
    if len(name) > 1 and name[-2] not in ("pg_catalog", "public"):
        raise SqlError("3F000", f'schema "{name[-2]}" does not exist', position)
    cursor.expect_operator("(")
    star = distinct = False
    arguments: tuple[Expression, ...] = ()
    order_by: tuple[SortItem, ...] = ()
    if cursor.accept_operator("*"):
        star = True
    elif not cursor.at_operator(")"):
        distinct = cursor.accept("distinct")
        if not distinct:
            cursor.accept("all")
        if cursor.at("variadic"):
            raise not_supported("VARIADIC", cursor.position)
        arguments = expressions(cursor)
        if cursor.at_operator("=>", ":="):
            raise not_supported("a named argument", cursor.position)
        order_by = queries.order_by(cursor)
    cursor.expect_operator(")")
    text = cursor.text_since(first)
    if cursor.at_words("within", "group"):
        raise not_supported("WITHIN GROUP", cursor.position)
    condition = None
    if cursor.at("filter") and cursor.ahead(1).value == "(":
        cursor.expect("filter")
        cursor.expect_operator("(")
        cursor.expect("where")
        condition = grammar.expression(cursor)
        cursor.expect_operator(")")
    over = over_clause(cursor) if cursor.accept("over") else None
    text = cursor.text_since(first)
    return FunctionCall(
        name[-1], arguments, position, text, name[-1],
        star=star, distinct=distinct, order_by=order_by, filter=condition, over=over,
    )  # fmt: skip


def over_clause(cursor: Cursor) -> WindowDefinition:
    """Read what follows OVER: a definition, or the name of one."""
    if cursor.at_operator("("):
        return queries.window_definition(cursor)
    position = cursor.position
    return WindowDefinition(cursor.name(), (), (), None, position, exact=True)


def special(cursor: Cursor) -> Expression | None:
    """Read a call that SQL spells in its own way, or return None and read nothing."""
    word = cursor.token.value
    first = cursor.index
    position = cursor.position
    if word in WITHOUT_PARENTHESES and not (word == "current_schema" and cursor.ahead(1).value == "("):
        return without_parentheses(cursor)
    if cursor.ahead(1).value != "(" or cursor.ahead(1).kind != "operator":
        return None
    if word in UNSUPPORTED_FORMS:
        raise not_supported(word.upper(), position)
    reader = {
        "extract": extract,
        "substring": substring,
        "trim": trim,
        "position": position_of,
        "overlay": overlay,
    }.get(word)
    if word not in EXPRESSION_LISTS and reader is None:
        return None
    cursor.advance()
    cursor.expect_operator("(")
    if reader is None:
        name, arguments = word, two_expressions(cursor) if word == "nullif" else expressions(cursor)
    else:
        name, arguments = reader(cursor)
    cursor.expect_operator(")")
    return FunctionCall(name, arguments, position, cursor.text_since(first), name, spelled=True)


def without_parentheses(cursor: Cursor) -> Expression:
    """Read CURRENT_DATE and its like."""
    first = cursor.index
    position = cursor.position
    word = cursor.advance().value
    arguments: tuple[Expression, ...] = ()
    if word in ("current_time", "current_timestamp", "localtime", "localtimestamp") and cursor.accept_operator("("):
        arguments = (grammar.expression(cursor),)
        cursor.expect_operator(")")
    return FunctionCall(word, arguments, position, cursor.text_since(first), word)


def extract(cursor: Cursor) -> tuple[str, tuple[Expression, ...]]:
    """Read field FROM source."""
    token = cursor.token
    if token.kind not in ("word", "quoted", "string"):
        cursor.fail()
    cursor.advance()
    field = Constant("string", token.value, token.start + 1)
    cursor.expect("from")
    return "extract", (field, grammar.expression(cursor))


def substring(cursor: Cursor) -> tuple[str, tuple[Expression, ...]]:
    """Read text [FROM start] [FOR count], text SIMILAR ..., or plain arguments."""
    text = grammar.expression(cursor)
    if cursor.at("similar"):
        raise not_supported("SUBSTRING ... SIMILAR", cursor.position)
    start: Expression | None = None
    count: Expression | None = None
    position = cursor.position
    while cursor.at("from", "for"):
        if cursor.accept("from"):
            start = grammar.expression(cursor)
        else:
            cursor.expect("for")
            count = grammar.expression(cursor)
    if start is None and count is None:
        rest = expressions(cursor) if cursor.accept_operator(",") else ()
        return "substring", (text, *rest)
    arguments = (text, start or Constant("integer", "1", position))
    return "substring", arguments if count is None else (*arguments, count)


def trim(cursor: Cursor) -> tuple[str, tuple[Expression, ...]]:
    """Read [LEADING | TRAILING | BOTH] [characters] FROM text."""
    side = cursor.accept_any("leading", "trailing", "both")
    name = {"leading": "ltrim", "trailing": "rtrim"}.get(side or "both", "btrim")
    if cursor.accept("from"):
        return name, expressions(cursor)
    arguments = expressions(cursor)
    if cursor.accept("from"):
        if len(arguments) != 1:
            cursor.fail()
        return name, (*expressions(cursor), *arguments)
    return name, arguments


def position_of(cursor: Cursor) -> tuple[str, tuple[Expression, ...]]:
    """Read part IN text; both bind more tightly than IN."""
    part = grammar.expression(cursor, grammar.OPERATOR)
    cursor.expect("in")
    text = grammar.expression(cursor, grammar.OPERATOR)
    return "position", (text, part)


def overlay(cursor: Cursor) -> tuple[str, tuple[Expression, ...]]:
    raise not_supported("OVERLAY", cursor.position)
