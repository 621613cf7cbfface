"""The mark by which an error of our own functions crosses an engine: a text inside the engine's
exception.
"""

from __future__ import annotations

import re

from sql.errors import SqlError
from sql.names.relation_keys import shown

OWN_ERROR = re.compile(r"antumbra error (\w{5}): (.*?)(?: \(detail\) (.*?))?(?: \(hint\) (.*?))? \(end\)", re.DOTALL)


def marked(error: SqlError) -> str:
    """Return the text that carries `error`."""
    detail = "" if error.detail is None else f" (detail) {shown(error.detail)}"
    hint = "" if error.hint is None else f" (hint) {shown(error.hint)}"
    return f"antumbra error {error.sqlstate}: {shown(error.message)}{detail}{hint} (end)"


def own_error(text: str) -> SqlError | None:
    """Return the error that an engine's exception text carries, if any."""
    match = OWN_ERROR.search(text)
    return None if match is None else SqlError(match[1], match[2], detail=match[3], hint=match[4])
