"""CHECKPOINT."""

from __future__ import annotations

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.statement import Checkpoint


def checkpoint(cursor: Cursor) -> Checkpoint:
    """Read CHECKPOINT; nothing follows it."""
    first = cursor.index
    cursor.expect("checkpoint")
    return Checkpoint(cursor.text_since(first))
