"""LIKE patterns brought to the one form on which the engines agree: backslash escapes, and only
where an escape is needed.
"""

from __future__ import annotations

from sql.errors import SqlError

WILDCARDS = "%_"
# DuckDB compares a part that is looked for with the text at every place.
PART_CHARACTERS_MAX = 32


def like_pattern(pattern: str, escape: str) -> str:
    """Return `pattern` with backslash as its escape character.

    `escape` is '' where the user switched escapes off.
    """
    out = []
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            escaped = next(characters, None)
            if escaped is None:
                raise SqlError("22025", "LIKE pattern must not end with escape character")
            out.append(f"\\{escaped}" if escaped in WILDCARDS + "\\" else escaped)
        else:
            out.append("\\\\" if character == "\\" else character)
    return "".join(out)


def is_quick(pattern: str) -> bool:
    """Return whether all parts of a pattern in that form that are looked for are short."""
    return all(len(part) <= PART_CHARACTERS_MAX for part in pattern.split("%")[1:])
