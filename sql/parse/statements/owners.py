"""ALTER ...

OWNER TO for all kinds of objects; REASSIGN OWNED and DROP OWNED; comments on roles and schemas.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Naming, Statement
from sql.parse.statements.options import comment_text
from sql.parse.statements.parts import RoleSpec
from sql.parse.statements.roles import role_list, role_spec
from sql.parse.statements.rules import begins
from sql.parse.statements.unsupported import refusal

# Kinds of objects that the whole server has, each of them once.
WHOLE = ("database", "tablespace", "server", "foreign data wrapper", "extension")


@dataclass(frozen=True)
class ChangeOwner(Statement, defines=True):
    """The statement ALTER kind [IF EXISTS] name OWNER TO role.

    Attributes:
        kind: TABLE, FOREIGN TABLE, VIEW, SEQUENCE or SCHEMA, in lower case.
    """

    kind: str
    name: str
    name_position: int
    if_exists: bool
    role: RoleSpec

    @property
    def tag(self) -> str:
        """See Statement."""
        return f"ALTER {self.kind.upper()}"

    @property
    def named(self) -> tuple[tuple[str, Naming], ...]:
        """See Statement."""
        if self.kind == "schema":
            return ()
        return (("name", Naming.TYPE if self.kind == "type" else Naming.KNOWN),)


@dataclass(frozen=True)
class ReassignOwned(Statement, tag="REASSIGN OWNED", defines=True):
    """REASSIGN OWNED BY roles TO role."""

    roles: tuple[RoleSpec, ...]
    role: RoleSpec


@dataclass(frozen=True)
class DropOwned(Statement, tag="DROP OWNED", defines=True):
    """DROP OWNED BY roles [CASCADE | RESTRICT]."""

    roles: tuple[RoleSpec, ...]
    cascade: bool


@dataclass(frozen=True)
class CommentOn(Statement, tag="COMMENT", defines=True):
    """The statement COMMENT ON kind name IS comment.

    Attributes:
        kind: 'role', 'schema', 'type', or one of `WHOLE`.
        name: of a schema or a type.
        comment: None takes the comment away.
    """

    kind: str
    role: RoleSpec | None
    name: str
    comment: str | None

    @property
    def named(self) -> tuple[tuple[str, Naming], ...]:
        """See Statement."""
        return (("name", Naming.TYPE),) if self.kind == "type" else ()


Altered = TypeVar("Altered")


def or_owner(rule: Callable[[Cursor], Altered] | None) -> Callable[[Cursor], Altered | ChangeOwner]:
    """Return a rule that reads OWNER TO as well as `rule`.

    None as rule: nothing else of the object can be altered yet.
    """

    def read(cursor: Cursor) -> Altered | ChangeOwner:
        found = change_owner(cursor)
        if found is not None:
            return found
        cursor.index = cursor.first
        if rule is None:
            raise refusal(cursor)
        return rule(cursor)

    return read


def change_owner(cursor: Cursor) -> ChangeOwner | None:
    """Read ALTER kind [IF EXISTS] name OWNER TO role.

    Return None when the statement is another one.
    """
    cursor.advance()
    kind = cursor.advance().value
    if kind == "foreign":
        if not cursor.accept("table"):
            return None
        kind = "foreign table"
    if_exists = kind not in ("schema", "type") and cursor.accept("if", "exists")
    position = cursor.position
    if not cursor.at_name() or not owner_follows(cursor):
        return None
    name = cursor.name() if kind == "schema" else cursor.relation_name()
    cursor.expect("owner", "to")
    role = role_spec(cursor)
    return ChangeOwner(cursor.statement_text, kind, name, position, if_exists, role)


def owner_follows(cursor: Cursor) -> bool:
    """Tell whether OWNER is the word after the next name."""
    at = 1
    while cursor.ahead(at).kind == "operator" and cursor.ahead(at).value == ".":
        at += 2
    return cursor.ahead(at).kind == "word" and cursor.ahead(at).value == "owner"


@begins("reassign")
def reassign(cursor: Cursor) -> ReassignOwned:
    """Read REASSIGN OWNED BY roles TO role."""
    cursor.expect("reassign", "owned", "by")
    roles = role_list(cursor)
    cursor.expect("to")
    return ReassignOwned(cursor.statement_text, roles, role_spec(cursor))


@begins("drop owned")
def drop_owned(cursor: Cursor) -> DropOwned:
    """Read DROP OWNED BY roles."""
    cursor.expect("drop", "owned", "by")
    roles = role_list(cursor)
    cascade = cursor.cascade()
    return DropOwned(cursor.statement_text, roles, cascade)


def comment_on(cursor: Cursor) -> CommentOn:
    """Read the rest of COMMENT ON before ROLE, SCHEMA, TYPE or one of `WHOLE`."""
    kind = next((words for words in WHOLE if cursor.accept(*words.split())), None) or cursor.advance().value
    role = role_spec(cursor) if kind == "role" else None
    name = "" if kind == "role" else cursor.relation_name() if kind == "type" else cursor.name()
    text = comment_text(cursor)
    return CommentOn(cursor.statement_text, kind, role, name, text)
