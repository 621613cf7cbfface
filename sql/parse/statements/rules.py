"""Which rule of the grammar reads a statement, by its first words. A rule names them where it stands: `@begins("drop index")`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Statement

Rule = TypeVar("Rule", bound=Callable[[Cursor], Statement])
# CREATE, ALTER and DROP with what they are about (`options.object_kind`), all others by their first word.
RULES: dict[str, Callable[[Cursor], Statement]] = {}


def begins(*words: str) -> Callable[[Rule], Rule]:
    """Let a rule read the statements that begin with any of `words`."""

    def register(rule: Rule) -> Rule:
        for one in words:
            assert one not in RULES, one
            RULES[one] = rule
        return rule

    return register
