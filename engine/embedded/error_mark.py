"""The mark by which an error of our own functions crosses an engine: a text inside the engine's
exception.
"""

from __future__ import annotations

import re

from sql.errors import SqlError
from sql.names.relation_keys import shown

HEAD = re.compile(r"antumbra error (\w{5}): ")


def marked(error: SqlError) -> str:
    """Return the text that carries `error`."""
    detail = "" if error.detail is None else f" (detail) {shown(error.detail)}"
    hint = "" if error.hint is None else f" (hint) {shown(error.hint)}"
    return f"antumbra error {error.sqlstate}: {shown(error.message)}{detail}{hint} (end)"


def own_error(text: str) -> SqlError | None:
    """Return the error that an engine's exception text carries, if any."""
    head = HEAD.search(text)
    end = -1 if head is None else text.find(" (end)", head.end())
    if head is None or end < 0:
        return None
    # Not by one pattern: a message may quote megabytes, and a pattern that looks for marks at each
    # character keeps the interpreter.
    told, has_hint, hint = text[head.end() : end].partition(" (hint) ")
    message, has_detail, detail = told.partition(" (detail) ")
    return SqlError(head[1], message, detail=detail if has_detail else None, hint=hint if has_hint else None)
