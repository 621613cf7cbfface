"""Regular expressions beside what is made of them, in patterns.txt: RE2's text, and the size of the
automaton; or the error.

A line is a pattern; one that begins with LIKE or SIMILAR is of that kind. That they match as
PostgreSQL's do is the subject of tests/engine/embedded/test_regular_expressions.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sql.errors import SqlError
from sql.patterns.automata import chain_automaton
from sql.patterns.character_classes import CharacterClasses
from sql.patterns.grammar import parsed
from sql.patterns.like import like_pattern
from sql.patterns.re2 import re2_text
from sql.patterns.similar import similar_pattern
from tests.golden import Golden, error_lines

FILE = Path(__file__).with_name("patterns.txt")


@pytest.mark.golden
def test_patterns_are_read_as_ever(golden: Golden) -> None:
    golden(FILE, pattern_lines)


def pattern_lines(text: str) -> list[str]:
    """Return what is made of a pattern."""
    kind, _, rest = text.partition(" ")
    try:
        match kind:
            case "LIKE":
                return [like_pattern(rest, "\\")]
            case "SIMILAR":
                own = similar_pattern(rest, None)
                return [own, *automaton_lines(own)]
        return automaton_lines(text)
    except SqlError as error:
        return error_lines(error)


def automaton_lines(text: str) -> list[str]:
    pattern = parsed(text)
    automaton = chain_automaton([pattern.root.plain])
    size = f"{len(automaton.sets)} states, {CharacterClasses(pattern).count} classes"
    return [f"re2 {re2_text(pattern)}", f"{size}, {len(pattern.conditions)} conditions"]
