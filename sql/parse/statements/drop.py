"""DROP FOREIGN TABLE | VIEW | TABLE | SEQUENCE [IF EXISTS] name, ... [CASCADE | RESTRICT]."""

from __future__ import annotations

from dataclasses import dataclass

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class DropRelation(Statement, defines=True, named=(("names", Naming.DROPPED),), rights=(("names", Right.DROP),)):
    """The statement DROP FOREIGN TABLE | VIEW | TABLE | SEQUENCE [IF EXISTS] names [CASCADE |
    RESTRICT].

    Attributes:
        kind: 'stream', 'view', 'table' or 'sequence'.
    """

    kind: str
    names: tuple[tuple[str, int], ...]
    if_exists: bool
    cascade: bool

    @property
    def tag(self) -> str:
        """See Statement."""
        return f"DROP {'FOREIGN TABLE' if self.kind == 'stream' else self.kind.upper()}"


@begins("drop foreign", "drop sequence", "drop table", "drop view")
def drop(cursor: Cursor) -> DropRelation:
    """Read the statement from its first word."""
    cursor.expect("drop")
    kind = cursor.accept_any("view", "table", "sequence")
    if kind is None:
        cursor.expect("foreign", "table")
        kind = "stream"
    if_exists = cursor.accept("if", "exists")
    names = cursor.several(Cursor.placed_relation)
    cascade = cursor.cascade()
    return DropRelation(cursor.statement_text, kind, names, if_exists, cascade)
