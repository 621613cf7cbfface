"""Regular expressions and LIKE: patterns on which a backtracking matcher never ends, what is
refused, and PostgreSQL's words for it.
"""

from __future__ import annotations

import threading
import time
from contextlib import nullcontext
from random import Random
from typing import Any

import psycopg
import pytest

from engine.embedded.functions import regular_expressions as functions
from engine.embedded.patterns.like import like
from sql.errors import SqlError
from sql.patterns.similar import similar_pattern

TEN_KB = "a" * 10_000
WORDS = "ab cd " * 1_700
# Every one took longer than anybody waits, or would with the first match that a backtracking
# matcher finds.
PATHOLOGICAL = [
    ("(a+)+$", TEN_KB + "!"),
    ("^(a+)+$", TEN_KB + "!"),
    ("(a|a)*b", TEN_KB),
    ("(.*)*x", TEN_KB),
    ("(.*)*(.*)*(.*)*x", TEN_KB + "x"),
    ("(a?){255}a{255}", TEN_KB),
    ("(a*)*(a*)*(a*)*!", TEN_KB),
    ("((a*)*)*b|c", TEN_KB),
    ("(x|x[^y]*y)+", "x" * 10_000),
    ("(?:x|x[^y]*y)*?(x)*$", "x" * 10_000),
    ("(a|b)*a(a|b){200}", "ab" * 5_000),
    ("[ab]*a[ab]{200}c", "aabab" * 2_000),
    ("(a|bb|aba){50}b(a|bb|aba){60}c", "aabab" * 2_000),
    ("(\\w+\\s?)+!", WORDS),
    ("\\y(\\w+)\\y.*\\y(\\w+)\\y!", WORDS),
    ("(?<=(a|aa)+)b(?=(a*)*c)", TEN_KB + "b"),
    ("((a)|(b)|(c))*", "abc" * 3_300),
    ("(a*)" * 50, TEN_KB),
]
# PostgreSQL says 2201B too.
TOO_COMPLEX = [
    "(?:a{255}){255}",
    "(?:(?:a{255}){255}){255}",
    "((a{10}){255}){255}",
    "((a?){255}){255}",
    "(?:(?:(?:(?:(?:){255}){255}){255}){255}){255}",
    "".join(f"(?={number})" for number in range(17)),
    "(" * 2_000 + "a" + ")" * 2_000,
]
FLAGS = ["", *"i n m s p w x t c q qi in ci ic xn qn qx g z iz b e bi eb be bq".split()]
FLAG_PATTERNS = [
    "^b$",
    "A.b",
    "a b # c",
    "[^a]$",
    "(?i)B",
    "(?c)B",
    "(?s)a.b",
    "(?q)a.b",
    "***=a.b",
    "***:a.b",
    "(?p)^b",
    "(?w).b",
    "(?e)a|b",
    "(?b)a.b",
    "(?xi)A \\  B # c",
    "(?nw)^b$",
    "(?t)a b",
    "(?qi)A.B",
    "(?)a",
    "(?i",
    "(?zi)a",
    "(?g)a",
    "***:(?i)B",
    "***=(?i)b",
    "***",
    "***b",
    "a(?i)b",
    "(?i)(?c)B",
    "(?#x)a",
    "a(?#x)b",
]
ESCAPES = [
    "a",
    "a%",
    "%a%b",
    "a_c",
    "(a|b)%",
    "[a-c]%",
    "a\\%",
    "a#%",
    'a#"b#"c',
    '#"%#"',
    "a.c",
    "^a$",
    "[[:digit:]]%",
    "a{2}",
    "\\d%",
]


@pytest.mark.parametrize(("pattern", "text"), PATHOLOGICAL)
def test_no_pattern_takes_more_than_linear_time(pattern: str, text: str) -> None:
    """Ten seconds are for a loaded machine; all of it takes some 20 ms. What is found is compared
    by the random suite.
    """
    began_s = time.monotonic()
    whether = functions.matches(text, pattern, "")
    assert (functions.first_match(text, pattern, "") is not None) == whether
    assert bool(functions.count(text, pattern, 1, "")) == whether
    assert (functions.replace(text, pattern, "<\\1>", "g") != text) == whether
    assert time.monotonic() - began_s < 10


@pytest.mark.parametrize(
    ("pattern", "sqlstate", "message"),
    [
        *(
            (pattern, "2201B", "invalid regular expression: regular expression is too complex")
            for pattern in TOO_COMPLEX
        ),
        *((pattern, "0A000", "backward reference") for pattern in ("(a)\\1", "(?:(a)b)\\1*", "(a)(?=b)\\1")),
    ],
)
def test_what_is_too_large_or_refers_back_is_refused(pattern: str, sqlstate: str, message: str) -> None:
    with pytest.raises(SqlError, match=message) as caught:
        functions.matches("aa", pattern, "")
    assert caught.value.sqlstate == sqlstate


def test_other_threads_go_on_beside_a_long_match() -> None:
    """A match that takes long lets a thread that wants a moment of the interpreter now and then
    have it.
    """
    waits_s: list[float] = []
    matching = threading.Thread(target=lambda: functions.first_match(TEN_KB * 150, "(a|aa)*(a+)*$", ""))
    matching.start()
    while matching.is_alive():
        began_s = time.monotonic()
        time.sleep(0.001)
        waits_s.append(time.monotonic() - began_s)
    assert len(waits_s) > 10 and sorted(waits_s)[len(waits_s) // 2] < 0.1


def test_compiled_patterns_are_bounded() -> None:
    """By their number, and by what they take up: each of the long ones has rows of a megabyte or
    more.
    """
    random = Random(3)
    text = "".join(random.choice("ab") for _ in range(20_000))
    for number in range(2 * functions.PROGRAMS_MAX):
        functions.matches("a", f"(?:a{{{number % 255}}}|b)c{number}", "")
    assert 100 < len(functions.PROGRAMS) <= functions.PROGRAMS_MAX
    for number in range(150, 250):
        functions.position(text, f"[ab]*a[ab]{{{number}}}", 1, 1, 0, "", 0)
    size = sum(program.bytes for program in functions.PROGRAMS.values())
    assert functions.PROGRAMS_BYTES_MAX // 2 < size <= functions.PROGRAMS_BYTES_MAX


@pytest.mark.slow
def test_options_are_those_of_postgresql(oracle: psycopg.Connection[Any]) -> None:
    text = "a b\nb\na.b"
    for letters in FLAGS:
        for pattern in FLAG_PATTERNS:
            try:
                row = oracle.execute("SELECT regexp_match(%s, %s, %s)", (text, pattern, letters)).fetchone()
                assert row is not None
                expected = row[0]
            except psycopg.Error as error:
                expected = (error.sqlstate, error.diag.message_primary)
            try:
                found: object = functions.first_match(text, pattern, letters)
            except SqlError as error:
                found = (error.sqlstate, error.message)
                if error.sqlstate == "0A000":
                    # Basic and extended regular expressions have other escapes.
                    assert set("be") & set(letters + pattern[:4])
                    continue
            assert found == expected, (pattern, letters)


@pytest.mark.slow
def test_similar_patterns_are_those_of_postgresql(oracle: psycopg.Connection[Any]) -> None:
    for pattern in ESCAPES:
        for escape in ("\\", "#", ""):
            row = oracle.execute("SELECT similar_to_escape(%s, %s)", (pattern, escape)).fetchone()
            assert row is not None and similar_pattern(pattern, escape) == row[0], (pattern, escape)


@pytest.mark.slow
def test_like_is_that_of_postgresql(oracle: psycopg.Connection[Any]) -> None:
    texts = ["", "a", "ab", "abc", "a%c", "aéc", "abcabc", "a\\b", "ba"]
    patterns = [
        "",
        "%",
        "_",
        "__",
        "a%",
        "%c",
        "%b%",
        "a_c",
        "%_%",
        "_%b%_",
        "a\\%c",
        "%a%c",
        "%%b%%",
        "a\\\\b",
        "%ab_%",
        "_b%a__",
    ]
    for pattern in patterns:
        row = oracle.execute(
            "SELECT array_agg(t LIKE %s ORDER BY i) FROM unnest(%s::text[]) WITH ORDINALITY x(t, i)", (pattern, texts)
        )
        expected = row.fetchall()[0][0]
        assert [like(text, pattern, "\\") for text in texts] == expected, pattern


def test_like_fails_where_a_text_comes_as_far_as_an_escape_at_the_end() -> None:
    # What PostgreSQL says of '', 'a', 'ab', 'aab' and 'ba': false, or an error.
    expected = """
    \\ fEEEE  a\\ ffEEf  ab\\ fffff  _\\ ffEEE  %\\ fEEEE  a%\\ ffEEf  %a\\ ffEEf  %_\\ fEEEE  _%\\ ffEEE
    a%_\\ ffEEf  a_%\\ fffEf  %_%\\ fEEEE  %a_\\ fffEf  %b\\ ffffE  \\\\\\ fffff  %%\\ fEEEE  a%b%\\ fffff  _a%_\\ fffEf
    """.split()
    for pattern, answers in zip(expected[::2], expected[1::2], strict=True):
        for text, answer in zip(("", "a", "ab", "aab", "ba"), answers, strict=True):
            with pytest.raises(SqlError, match="must not end") if answer == "E" else nullcontext():
                assert not like(text, pattern, "\\"), (text, pattern)


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("a" * 10_000, "%" + "a%" * 1_000 + "b"),
        ("a" * 10_000, "%" + "_a%" * 1_000 + "b%"),
        ("a" * 10_000, "%" + "a" * 5_000 + "_b%c"),
        ("a" * 1_000_000, "%" + "a" * 5_000 + "b%c"),
        ("ab" * 500_000, "%" + "ab" * 2_500 + "c%"),
    ],
)
def test_no_like_takes_more_than_linear_time(text: str, pattern: str) -> None:
    began_s = time.monotonic()
    assert not like(text, pattern, "\\")
    assert time.monotonic() - began_s < 5
