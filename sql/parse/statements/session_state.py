"""DEALLOCATE and DISCARD."""

from __future__ import annotations

from dataclasses import dataclass

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Statement
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class Deallocate(Statement):
    """The statement DEALLOCATE name, or DEALLOCATE ALL where `name` is None."""

    name: str | None

    @property
    def tag(self) -> str:
        """See Statement."""
        return "DEALLOCATE ALL" if self.name is None else "DEALLOCATE"


@dataclass(frozen=True)
class Discard(Statement):
    """DISCARD ALL | PLANS | SEQUENCES | TEMP."""

    what: str

    @property
    def tag(self) -> str:
        """See Statement."""
        return f"DISCARD {self.what.upper()}"


@begins("deallocate")
def deallocate(cursor: Cursor) -> Deallocate:
    """Read DEALLOCATE [PREPARE] name | ALL."""
    cursor.expect("deallocate")
    if cursor.at("prepare") and cursor.ahead(1).kind != "end" and cursor.ahead(1).value != ";":
        cursor.advance()
    name = None if cursor.accept("all") else cursor.name()
    return Deallocate(cursor.statement_text, name)


@begins("discard")
def discard(cursor: Cursor) -> Discard:
    """Read DISCARD ALL | PLANS | SEQUENCES | TEMP."""
    cursor.expect("discard")
    what = cursor.one_of("all", "plans", "sequences", "temp", "temporary")
    return Discard(cursor.statement_text, "temp" if what == "temporary" else what)
