"""Patterns of SIMILAR TO as regular expressions (similar_to_escape). Raises 22025 and 2200C."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from sql.errors import SqlError
from sql.patterns.like import one_escape

# The two separators of substring(text similar pattern): the first part takes as little as it can,
# the second one is captured.
SEPARATORS = ("){1,1}?(", "){1,1}(?:")
REWRITTEN = {"%": ".*", "_": ".", "(": "(?:", "\\": "\\\\", ".": "\\.", "^": "\\^", "$": "\\$"}


@lru_cache(maxsize=64)
def similar_pattern(pattern: str, escape: str | None) -> str:
    """Return the regular expression of a SIMILAR TO pattern.

    escape: None is the backslash, '' none.
    """
    mark = "\\" if escape is None else one_escape(escape)
    out = ["^(?:"]
    separators = iter(SEPARATORS)
    escaped = in_brackets = False
    for character in pattern:
        if escaped:
            out.append(separated(separators) if character == '"' and not in_brackets else f"\\{character}")
            escaped = False
        elif mark and character == mark:
            escaped = True
        elif in_brackets:
            out.append("\\\\" if character == "\\" else character)
            in_brackets = character != "]"
        else:
            out.append(REWRITTEN.get(character, character))
            in_brackets = character == "["
    return "".join([*out, ")$"])


def separated(separators: Iterator[str]) -> str:
    found = next(separators, None)
    if found is None:
        raise SqlError("2200C", "SQL regular expression may not contain more than two escape-double-quote separators")
    return found
