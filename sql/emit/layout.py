"""Printed SQL as EXPLAIN shows it, with texts in parentheses indented.

Enters and leaves: a text. Never for an engine: a line break may be in a name or a constant.
"""

from __future__ import annotations

STEP = "  "


def laid_out(text: str) -> str:
    """Return a printed statement with its subqueries indented."""
    depth = 0
    lines = []
    for line in text.split("\n"):
        depth -= line.startswith(")")
        lines.append(STEP * depth + line)
        depth += line.endswith("(")
    return "\n".join(lines)
