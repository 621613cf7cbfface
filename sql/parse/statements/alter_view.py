"""ALTER VIEW [IF EXISTS] name RENAME TO name | RENAME [COLUMN] name TO name."""

from __future__ import annotations

from dataclasses import dataclass

from sql.errors import not_supported
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.alter_table import new_schema, renaming
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.owners import or_owner
from sql.parse.statements.parts import TableChange
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class AlterView(
    Statement,
    tag="ALTER VIEW",
    defines=True,
    named=(
        ("name", Naming.KNOWN),
        ("change", Naming.CHANGE),
    ),
    rights=(
        ("name", Right.OWN),
        ("new_schema", Right.MOVE),
    ),
):
    """The statement ALTER VIEW [IF EXISTS] name RENAME ... or SET SCHEMA ...

    Attributes:
        change: has the action 'rename', 'rename column' or 'set schema'.
    """

    name: str
    name_position: int
    if_exists: bool
    change: TableChange

    @property
    def new_schema(self) -> str:
        """The schema into which the statement moves the view, or the empty text."""
        return self.change.new_name if self.change.action == "set schema" else ""


# First words of PostgreSQL's actions that are refused.
REFUSED = frozenset({"alter", "owner", "reset", "set"})


@begins("alter view")
@or_owner
def alter_view(cursor: Cursor) -> AlterView:
    """Read the statement from its first word."""
    cursor.expect("alter", "view")
    if_exists = cursor.accept("if", "exists")
    position = cursor.position
    name = cursor.relation_name()
    if cursor.at_words("set", "schema"):
        return AlterView(cursor.statement_text, name, position, if_exists, new_schema(cursor))
    if cursor.at(*REFUSED):
        raise not_supported(f"ALTER VIEW ... {cursor.token.value.upper()}", cursor.position)
    return AlterView(cursor.statement_text, name, position, if_exists, renaming(cursor, foreign=True))
