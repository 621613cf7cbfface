"""PostgreSQL's words for true and false."""

from __future__ import annotations


def parse_bool(text: str) -> bool | None:
    """Return the boolean that PostgreSQL reads from a text, or None."""
    word = text.strip().lower()
    if word in ("1", "on"):
        return True
    if word in ("0", "off", "of"):
        return False
    if word and ("true".startswith(word) or "yes".startswith(word)):
        return True
    if word and ("false".startswith(word) or "no".startswith(word)):
        return False
    return None
