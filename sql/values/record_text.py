"""Rows as values in text: fields between parentheses, as PostgreSQL's record_out prints them."""

from __future__ import annotations

from collections.abc import Sequence

# Characters for which a field needs quotes. White space is that of the C locale.
SPECIAL = frozenset('"\\(), \t\n\r\v\f')


def record_text(fields: Sequence[str | None]) -> str:
    """Return a row of texts: NULL is nothing, an empty text is two quotes."""
    return f"({','.join(map(_field, fields))})"


def _field(text: str | None) -> str:
    if text is None:
        return ""
    if text and SPECIAL.isdisjoint(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '""')
    return f'"{escaped}"'
