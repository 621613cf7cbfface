"""GRANT and REVOKE: of roles to roles."""

from __future__ import annotations

from sql.errors import not_supported
from sql.grammar.cursor import Cursor
from sql.statements.access import GrantRole
from sql.statements.roles import grant_role


def grant(cursor: Cursor) -> GrantRole:
    """Read GRANT or REVOKE from its first word."""
    first = cursor.index
    position = cursor.position
    revokes = cursor.advance().value == "revoke"
    admin = False
    if revokes and cursor.at_words("admin", "option"):
        cursor.expect("admin", "option", "for")
        admin = True
    if not admin and at_privileges(cursor):
        raise not_supported("REVOKE" if revokes else "GRANT", position)
    return grant_role(cursor, first, revokes, admin)


def at_privileges(cursor: Cursor) -> bool:
    """Tell whether privileges follow: an ON comes before TO and FROM."""
    for token in cursor.tokens[cursor.index :]:
        if token.kind == "word" and token.value == "on":
            return True
        if token.kind == "end" or (token.kind == "word" and token.value in ("to", "from")) or token.value == ";":
            return False
    return False
