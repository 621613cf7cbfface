"""ALTER VIEW [IF EXISTS] name RENAME TO name | RENAME [COLUMN] name TO name."""

from __future__ import annotations

from sql.errors import not_supported
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.alter_table import new_schema, renaming
from sql.parse.statements.objects import AlterView

# First words of actions of PostgreSQL that are refused.
REFUSED = frozenset({"alter", "owner", "reset", "set"})


def alter_view(cursor: Cursor) -> AlterView:
    """Read the statement from its first word."""
    first = cursor.index
    cursor.expect("alter", "view")
    if_exists = cursor.accept("if", "exists")
    position = cursor.position
    name = cursor.relation_name()
    if cursor.at_words("set", "schema"):
        return AlterView(cursor.text_since(first), name, position, if_exists, new_schema(cursor))
    if cursor.at(*REFUSED):
        raise not_supported(f"ALTER VIEW ... {cursor.token.value.upper()}", cursor.position)
    return AlterView(cursor.text_since(first), name, position, if_exists, renaming(cursor, foreign=True))
