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

    `escape` is '' where the user switched escapes off. A pattern that ends with its escape does so
    in this form, too.
    """
    out: list[str] = []
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            escaped = next(characters, None)
            if escaped is None:
                return "".join([*out, "\\"])
            out.append(f"\\{escaped}" if escaped in WILDCARDS + "\\" else escaped)
        else:
            out.append("\\\\" if character == "\\" else character)
    return "".join(out)


def like_escape(pattern: str, escape: str) -> str:
    """Return `pattern` with backslash as its escape character, as PostgreSQL writes it. Raises
    22025 for an escape of several characters.
    """
    mark = one_escape(escape)
    if mark == "\\":
        return pattern
    out: list[str] = []
    escaped = False
    for character in pattern:
        if mark and character == mark and not escaped:
            out.append("\\")
            escaped = True
        else:
            out.append("\\\\" if character == "\\" and not escaped else character)
            escaped = False
    return "".join(out)


def one_escape(escape: str) -> str:
    """Return an escape character or ''. Raises 22025."""
    if len(escape) > 1:
        hint = "Escape string must be empty or one character."
        raise SqlError("22025", "invalid escape string", hint=hint)
    return escape


def is_quick(pattern: str) -> bool:
    """Return whether a pattern in that form ends with no escape, and all parts that are looked for
    are short.
    """
    return not is_unended(pattern) and all(len(part) <= PART_CHARACTERS_MAX for part in pattern.split("%")[1:])


def is_unended(pattern: str) -> bool:
    """Return whether a pattern in that form ends with its escape."""
    return (len(pattern) - len(pattern.rstrip("\\"))) % 2 == 1
