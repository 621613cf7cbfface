"""Texts of other dialects read by sqlglot, into trees whose functions are as they were written.

Enters: the text of one or more statements. Leaves: tokens by statement, and sqlglot's tree of one
of them, in which a call is `Anonymous` with the client's name and arguments, so that what a
function means is said in our tables alone (`sql.dialects.tables`), not by sqlglot's idea of it.
Must not know how anything is translated.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from sqlglot import Dialect, exp
from sqlglot.errors import ErrorLevel, ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from sql import interrupts
from sql.errors import SqlError
from sql.names.dialects import DIALECTS, POSTGRES

# A tree of sqlglot takes some 50 us per character.
TEXT_MAX = 131_072
# Levels of parentheses: each takes some twenty frames of Python's.
NESTING_MAX = 400
# The parser's steps between two looks at whether somebody ends the work.
STEPS_PER_CHECK = 256
# Calls that have words between their arguments.
SPELLED = ("CAST", "TRY_CAST", "SAFE_CAST", "CONVERT", "TRY_CONVERT", "EXTRACT", "TRIM", "SUBSTRING", "POSITION")
JOINED = ("GROUP_CONCAT", "STRING_AGG", "LISTAGG")


@cache
def dialect_of(name: str) -> Dialect:
    """Return sqlglot's dialect of one of our names."""
    return Dialect.get_or_raise(name)


@cache
def parser_of(name: str) -> type[Any]:
    """Return sqlglot's parser of a dialect, without its functions."""
    base: Any = dialect_of(name).parser_class

    class Parser(base):  # type: ignore[misc]
        """A parser that knows no function but those that are spelled with words."""

        FUNCTIONS: dict[str, Any] = {}  # noqa: RUF012
        FUNCTION_PARSERS = {  # noqa: RUF012
            word: rule for word, rule in base.FUNCTION_PARSERS.items() if word in SPELLED or word in JOINED
        }
        # CAST that fails is an error in all of them, or refused where it is meant otherwise.
        STRICT_CAST = True

        def _advance(self, times: int = 1) -> None:
            if not self._index % STEPS_PER_CHECK:
                interrupts.check()
            super()._advance(times)

    return Parser


def tokens_of(text: str, name: str) -> list[Token]:
    """Return the tokens of a text. Raises 42601."""
    try:
        return dialect_of(name).tokenize(text)
    except TokenError as error:
        place = None if error.start is None else error.start + 1
        raise unreadable("unterminated text, or a character that begins nothing,", name, place) from None


def statements_of(tokens: list[Token]) -> Iterator[list[Token]]:
    """Yield the tokens of each statement, without the semicolons between them."""
    found: list[Token] = []
    for token in tokens:
        if token.token_type == TokenType.SEMICOLON:
            if found:
                yield found
            found = []
        else:
            found.append(token)
    if found:
        yield found


def require_bounded(tokens: list[Token]) -> None:
    """Raise 54000 for a statement that is too long to translate, and 54001 for one that nests too
    deeply.
    """
    if tokens[-1].end - tokens[0].start > TEXT_MAX:
        hint = "Longer statements are read in PostgreSQL's SQL: SET antumbra.sql_dialect = 'postgres'."
        raise SqlError("54000", f"a statement of more than {TEXT_MAX} characters can't be translated", hint=hint)
    depth = 0
    for token in tokens:
        if token.token_type in (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE):
            depth += 1
        elif token.token_type in (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END):
            depth = max(depth - 1, 0)
        if depth > NESTING_MAX:
            hint = "Nest fewer expressions, subqueries, WITH queries or views in each other."
            raise SqlError("54001", "stack depth limit exceeded", token.start + 1, hint=hint)


def tree_of(tokens: list[Token], text: str, name: str) -> exp.Expr:
    """Return the tree of one statement. Raises 42601 for what sqlglot can't read."""
    parser = parser_of(name)(dialect=dialect_of(name), error_level=ErrorLevel.IMMEDIATE)
    try:
        (tree,) = parser.parse(tokens, text)
    except ParseError as error:
        (told, *_) = error.errors or [{}]
        place = told.get("highlight") or ""
        near = f' at or near "{place}"' if place else ""
        raise unreadable(f"syntax error{near}", name, offset(text, told)) from None
    except (TypeError, AttributeError, ValueError, KeyError, IndexError):
        # What sqlglot's parser does not expect ends in its own code.
        raise unreadable("syntax error", name, tokens[0].start + 1) from None
    if not isinstance(tree, exp.Expr):
        raise unreadable("syntax error", name, tokens[0].start + 1)
    return tree


@cache
def plain_parser() -> type[Any]:
    """Return the parser of our own templates."""
    return parser_of(POSTGRES)


def parsed_template(text: str) -> exp.Expr:
    """Return the tree of an expression of PostgreSQL's, with $1, $2 ... in it."""
    dialect = dialect_of(POSTGRES)
    (tree,) = plain_parser()(dialect=dialect, error_level=ErrorLevel.IMMEDIATE).parse(
        dialect.tokenize(f"SELECT {text}"), text
    )
    found: exp.Expr = tree.expressions[0]
    return found.pop()


def offset(text: str, told: dict[str, Any]) -> int | None:
    """Return the 1-based place in the text that sqlglot's error tells by line and column."""
    line, column, place = told.get("line"), told.get("col"), told.get("highlight") or ""
    if not line or column is None:
        return None
    before = sum(len(one) + 1 for one in text.split("\n")[: line - 1])
    return int(max(1, min(before + column - len(place) + 1, len(text))))


def unreadable(why: str, name: str, position: int | None) -> SqlError:
    """Return the error for a text that is not of its dialect."""
    return SqlError("42601", f"{why} ({DIALECTS.get(name, name)})", position)
