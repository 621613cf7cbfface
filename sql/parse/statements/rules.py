"""The registry of rules of the grammar by the first words of a statement.

A rule names the words itself: `@begins("drop index")`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Statement

Rule = TypeVar("Rule", bound=Callable[[Cursor], Statement])
# The keys are CREATE, ALTER and DROP with the kind of object (`options.object_kind`), for others
# the first word.
RULES: dict[str, Callable[[Cursor], Statement]] = {}


def begins(*words: str) -> Callable[[Rule], Rule]:
    """Register a rule for the statements that begin with any of `words`."""

    def register(rule: Rule) -> Rule:
        for one in words:
            assert one not in RULES, one
            RULES[one] = rule
        return rule

    return register
