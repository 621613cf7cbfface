"""ALTER VIEW [IF EXISTS] name RENAME TO name | RENAME [COLUMN] name TO name | SET SCHEMA name | SET
(option = value, ...) | RESET (option, ...).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sql.errors import not_supported
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.alter_table import new_schema, renaming
from sql.parse.statements.create_view import OPTIONS
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.options import relation_options
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


@dataclass(frozen=True)
class AlterViewOptions(
    Statement, tag="ALTER VIEW", defines=True, named=(("name", Naming.KNOWN),), rights=(("name", Right.OWN),)
):
    """The statement ALTER VIEW [IF EXISTS] name SET (option = value, ...) | RESET (option, ...).

    Attributes:
        options: the options with their new values; None: the default again.
    """

    name: str
    name_position: int
    if_exists: bool
    options: Mapping[str, str | None]


# Options that can be changed.
CHANGEABLE = frozenset({"refresh_every", "max_groups", "max_bytes", "output"})
# First words of PostgreSQL's actions that are refused.
REFUSED = frozenset({"alter", "owner"})


@begins("alter view")
@or_owner
def alter_view(cursor: Cursor) -> AlterView | AlterViewOptions:
    """Read the statement from its first word."""
    cursor.expect("alter", "view")
    if_exists = cursor.accept("if", "exists")
    position = cursor.position
    name = cursor.relation_name()
    if cursor.at_words("set", "schema"):
        return AlterView(cursor.statement_text, name, position, if_exists, new_schema(cursor))
    if cursor.at("set", "reset"):
        return view_options(cursor, name, position, if_exists)
    if cursor.at(*REFUSED):
        raise not_supported(f"ALTER VIEW ... {cursor.token.value.upper()}", cursor.position)
    return AlterView(cursor.statement_text, name, position, if_exists, renaming(cursor, foreign=True))


def view_options(cursor: Cursor, name: str, name_position: int, if_exists: bool) -> AlterViewOptions:
    """Read SET (option = value, ...) or RESET (option, ...)."""
    resets = cursor.advance().value == "reset"
    position = cursor.position
    found: Mapping[str, str | None] = relation_options(cursor, OPTIONS)
    for option in found:
        if option in OPTIONS and option not in CHANGEABLE:
            raise not_supported(f"ALTER VIEW ... SET ({option})", position)
    options = dict.fromkeys(found) if resets else found
    return AlterViewOptions(cursor.statement_text, name, name_position, if_exists, options)
