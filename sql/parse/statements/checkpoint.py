"""The statement CHECKPOINT."""

from __future__ import annotations

from dataclasses import dataclass

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Right, Statement
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class Checkpoint(Statement, tag="CHECKPOINT", rights=(("text", Right.CHECKPOINT),)):
    """The statement CHECKPOINT. In a transaction it takes no part of the transaction."""


@begins("checkpoint")
def checkpoint(cursor: Cursor) -> Checkpoint:
    """Read CHECKPOINT; no word follows it."""
    cursor.expect("checkpoint")
    return Checkpoint(cursor.statement_text)
