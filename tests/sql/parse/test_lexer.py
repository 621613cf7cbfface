"""Tokens by PostgreSQL's lexical rules."""

from __future__ import annotations

import pytest

from sql.errors import SqlError
from sql.parse.lexer import refuse_unsafe_strings, scan


def kinds(text: str) -> list[tuple[str, str]]:
    return [(token.kind, token.value) for token in scan(text)[:-1]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Ab "Ab" "a""b"', [("word", "ab"), ("quoted", "Ab"), ("quoted", 'a"b')]),
        ("'it''s' 'a\\'", [("string", "it's"), ("string", "a\\")]),
        ("'a'\n  'b' 'c'", [("string", "ab"), ("string", "c")]),
        ("'a' -- x\n 'b'", [("string", "ab")]),
        (r"E'a\'b\x41\101\u00e9\n'", [("string", "a'bAAé\n")]),
        (r"U&'d\0061t\\' U&" + r'"\0061"', [("string", "dat\\"), ("quoted", "a")]),
        ("$$a'b$$ $x$ $$ $x$", [("string", "a'b"), ("string", " $$ ")]),
        ("1 1.5 .5", [("integer", "1"), ("decimal", "1.5"), ("decimal", ".5")]),
        ("5. 1e3 1..2", [("decimal", "5."), ("decimal", "1e3"), ("integer", "1"), ("operator", ".."), ("integer", "2")]),
        ("a::int=-1", [("word", "a"), ("operator", "::"), ("word", "int"), ("operator", "="), ("operator", "-"), ("integer", "1")]),
        ("@-1 a!=b", [("operator", "@-"), ("integer", "1"), ("word", "a"), ("operator", "<>"), ("word", "b")]),
        ("1 /* a /* b */ c */ + -- d\n 2", [("integer", "1"), ("operator", "+"), ("integer", "2")]),
        ("$1+$23", [("parameter", "1"), ("operator", "+"), ("parameter", "23")]),
    ],
)  # fmt: skip
def test_tokens(text: str, expected: list[tuple[str, str]]) -> None:
    assert kinds(text) == expected


def test_positions_are_characters() -> None:
    tokens = scan("é 'ü' x")
    assert [(token.start, token.end) for token in tokens] == [(0, 1), (2, 5), (6, 7), (7, 7)]


@pytest.mark.parametrize(
    ("text", "sqlstate", "message", "position"),
    [
        ("x 'abc", "42601", 'unterminated quoted string at or near "\'abc"', 3),
        ('x "abc', "42601", 'unterminated quoted identifier at or near ""abc"', 3),
        ("x /* y", "42601", 'unterminated /* comment at or near "/* y"', 3),
        ("$$x", "42601", 'unterminated dollar-quoted string at or near "$$x"', 1),
        ("1_000", "42601", 'trailing junk after numeric literal at or near "1_000"', 1),
        ("12ab", "42601", 'trailing junk after numeric literal at or near "12ab"', 1),
        ('""', "42601", 'zero-length delimited identifier at or near """"', 1),
        (r"E'\u00'", "22025", "invalid Unicode escape", 3),
        (r"E'\xff'", "22021", 'invalid byte sequence for encoding "UTF8": 0xff', 3),
        (r"E'\000'", "22021", 'invalid byte sequence for encoding "UTF8": 0x00', 3),
    ],
)
def test_errors_are_tokens_that_wait_to_be_reached(text: str, sqlstate: str, message: str, position: int) -> None:
    token = scan(text)[-2]
    assert token.error is not None
    assert (token.error.sqlstate, token.error.message, token.error.position) == (sqlstate, message, position)


def test_long_identifiers_are_cut_at_63_bytes() -> None:
    assert kinds("a" * 70) == [("word", "a" * 63)]
    assert kinds('"' + "é" * 40 + '"') == [("quoted", "é" * 31)]


ALIKE = (
    r"SELECT E'\\', $$\$$, 'a' -- '\'",
    "SELECT 'it''s', \"a\\b\"",
    r"SELECT 1 /* '\' */",
    'SELECT u&"a"',
    "SELECT '",
    "",
)
BACKSLASH = "a backslash in a string constant with standard_conforming_strings = off is not supported yet"
OTHERWISE = [
    (r"SELECT 1, 'a\b'", 11, BACKSLASH),
    (r"SELECT 'it\'s'", 8, BACKSLASH),
    ("SELECT '\\", 8, BACKSLASH),
    ("SELECT u&'a'", 8, "unsafe use of string constant with Unicode escapes"),
]


@pytest.mark.parametrize("text", ALIKE)
def test_texts_that_mean_the_same_with_standard_conforming_strings_off(text: str) -> None:
    try:
        refuse_unsafe_strings(text)
    except SqlError as error:
        problem = error.message
    else:
        problem = ""
    assert problem == ""


@pytest.mark.parametrize(("text", "position", "message"), OTHERWISE)
def test_texts_that_mean_something_else_with_standard_conforming_strings_off(
    text: str, position: int, message: str
) -> None:
    with pytest.raises(SqlError) as caught:
        refuse_unsafe_strings(text)
    assert (caught.value.sqlstate, caught.value.message, caught.value.position) == ("0A000", message, position)
