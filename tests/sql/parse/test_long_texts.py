"""Tokens of long texts take time in proportion to their length, and hold the interpreter for
moments only.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from sql import interrupts
from sql.errors import SqlError
from sql.parse.lexer import scan

SHAPES: dict[str, Callable[[int], str]] = {
    "dashes behind a string": lambda size: "'x' " + "-" * size,
    "comments behind a string": lambda size: "'x'" + "--\n" * (size // 3) + ";",
    "comments and strings": lambda size: "'x'" + "--\n 'x'" * (size // 7),
    "comments on one line behind a string": lambda size: "'x'" + " --" * (size // 3),
    "continued strings": lambda size: "'x'" + "\n'x'" * (size // 4),
    "spaces behind strings": lambda size: ("'x'" + " " * 50) * (size // 53),
    "opened comments": lambda size: "/*" * (size // 2),
    "nested comments": lambda size: "/*" * (size // 4) + "*/" * (size // 4),
    "comments in a row": lambda size: "/**/" * (size // 4),
    "comments between operators": lambda size: "+/**/" * (size // 5),
    "signs": lambda size: "+-" * (size // 2) + "1",
    "signs and a star": lambda size: "+" * size + "*",
    "signs and an unusual character": lambda size: "+" * size + "@",
    "stars and slashes": lambda size: "*/" * (size // 2),
    "doubled quotes": lambda size: "'" + "''" * (size // 2) + "'",
    "doubled quotes without an end": lambda size: "'" + "''" * (size // 2),
    "escapes": lambda size: "e'" + "\\n" * (size // 2) + "'",
    "escapes without an end": lambda size: "e'" + "\\\\" * (size // 2),
    "unicode escapes": lambda size: "u&'" + "\\0041" * (size // 5) + "'",
    "a name without an end": lambda size: '"' + '""' * (size // 2),
    "bits without an end": lambda size: "b'" + "01" * (size // 2),
    "a word": lambda size: "x" * size,
    "letters that begin strings": lambda size: "e" * size,
    "digits": lambda size: "1" * size,
    "points": lambda size: "1." * (size // 2),
    "broken exponents": lambda size: "1e+" * (size // 3),
    "tags": lambda size: "".join(f"$t{number}$" for number in range(size // 8)),
    "tags that do not end": lambda size: "$a$" + "$a" * (size // 2),
    "a long tag": lambda size: f"${'a' * size}$",
    "parameters": lambda size: "$1" * (size // 2),
    "digits of a parameter": lambda size: "$" + "1" * size,
    "parentheses": lambda size: "(" * size,
    "lines": lambda size: "\n" * size,
}


@pytest.mark.turns(6)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_text_takes_more_time_than_its_length_allows(shape: str) -> None:
    # Quadratic work would be minutes, exponential work would not end.
    text = SHAPES[shape](300_000)
    begin = time.monotonic()
    assert scan(text)[-1].kind == "end"
    assert time.monotonic() - begin < 20


@pytest.mark.parametrize("shape", SHAPES)
def test_the_scanner_can_be_stopped(shape: str) -> None:
    def stop() -> None:
        raise SqlError("57014", "canceling statement due to user request")

    with interrupts.interrupted_by(stop), pytest.raises(SqlError):
        scan(SHAPES[shape](300_000))
    interrupts.check()


def test_long_tokens_are_read_in_pieces_as_short_ones_are() -> None:
    for size in (255, 256, 257, 70_000, 140_000):
        digits, word = "1" * size, "x" * size
        text = f"{digits} {digits}.{digits}e{digits} .{digits} {word}+1 '{word}'{' ' * size}\n'y'"
        found = [(token.kind, token.value) for token in scan(text)]
        assert found == [
            ("integer", digits),
            ("decimal", f"{digits}.{digits}e{digits}"),
            ("decimal", f".{digits}"),
            ("word", "x" * 63),
            ("operator", "+"),
            ("integer", "1"),
            ("string", f"{word}y"),
            ("end", ""),
        ]
    quoted = scan("'" + "a''b" * 100_000 + "'")[0]
    assert quoted.value == "a'b" * 100_000
    assert [scan(f"{digits}x")[0].kind, scan(f"{digits}..")[1].value] == ["error", ".."]


def test_operators_are_at_most_63_characters() -> None:
    token = scan("1 " + "<" * 64 + " 2")[1]
    assert token.error is not None
    assert token.error.message == f'operator too long at or near "{"<" * 64}"'
    assert scan("1 " + "<" * 63 + " 2")[1].kind == "operator"
