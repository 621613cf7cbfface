"""LOCK [TABLE] tables [IN mode MODE] [NOWAIT]."""

from __future__ import annotations

from dataclasses import dataclass

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.rules import begins
from sql.parse.statements.update import written_name


@dataclass(frozen=True)
class LockTable(Statement, tag="LOCK TABLE", named=(("tables", Naming.ALL_KNOWN),), rights=(("tables", Right.LOCK),)):
    """The statement LOCK [TABLE] tables [IN mode MODE] [NOWAIT].

    Attributes:
        tables: (name, position).
        mode: in capital letters, without MODE.
    """

    tables: tuple[tuple[str, int], ...]
    mode: str
    nowait: bool


MODES = (
    ("access", "share"), ("row", "share"), ("row", "exclusive"), ("share", "update", "exclusive"), ("share", "row", "exclusive"),
    ("share",), ("exclusive",), ("access", "exclusive"),
)  # fmt: skip


@begins("lock")
def lock(cursor: Cursor) -> LockTable:
    """Read LOCK."""
    cursor.expect("lock")
    cursor.accept("table")
    tables = cursor.several(written_name)
    mode: tuple[str, ...] = ("access", "exclusive")
    if cursor.accept("in"):
        found = next((words for words in MODES if cursor.accept(*words, "mode")), None)
        if found is None:
            while cursor.at("access", "row", "share", "update", "exclusive"):
                cursor.advance()
            cursor.fail()
        else:
            mode = found
    nowait = cursor.accept("nowait")
    return LockTable(cursor.statement_text, tables, " ".join(mode).upper(), bool(nowait))
