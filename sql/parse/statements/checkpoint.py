"""CHECKPOINT."""

from __future__ import annotations

from dataclasses import dataclass

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Right, Statement
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class Checkpoint(Statement):
    """CHECKPOINT, also in a transaction, which it takes no part in."""

    text: str

    tag = "CHECKPOINT"
    rights = (("text", Right.CHECKPOINT),)


@begins("checkpoint")
def checkpoint(cursor: Cursor) -> Checkpoint:
    """Read CHECKPOINT; nothing follows it."""
    first = cursor.index
    cursor.expect("checkpoint")
    return Checkpoint(cursor.text_since(first))
