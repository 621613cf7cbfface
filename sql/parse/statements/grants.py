"""GRANT and REVOKE of privileges on objects, and of roles to roles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from sql.errors import SqlError, not_supported
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Naming, Statement
from sql.parse.statements.functions import FunctionName, function_name
from sql.parse.statements.parts import RoleSpec
from sql.parse.statements.roles import GrantRole, grant_role, granted_by, role_spec
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class GrantPrivileges(Statement, defines=True):
    """The statements GRANT privileges ON objects TO grantees [WITH GRANT OPTION], and REVOKE.

    The form of REVOKE is REVOKE [GRANT OPTION FOR] privileges ON objects FROM grantees [CASCADE].

    Attributes:
        kind: 'table', 'sequence', 'schema', 'function', 'all tables', 'all sequences' or 'all
            functions' (the names are then schemas).
        words: the privileges, none for ALL.
        option: the statement is about the grant option.
        grantor: of GRANTED BY.
        functions: of the kind 'function', which has no names.
    """

    revokes: bool
    words: tuple[str, ...]
    kind: str
    names: tuple[tuple[str, int], ...]
    grantees: tuple[RoleSpec, ...]
    option: bool
    cascade: bool
    grantor: RoleSpec | None = None
    functions: tuple[FunctionName, ...] = ()

    @property
    def tag(self) -> str:
        """See Statement."""
        return "REVOKE" if self.revokes else "GRANT"

    @property
    def named(self) -> tuple[tuple[str, Naming], ...]:
        """See Statement."""
        if self.kind == "function":
            return (("functions", Naming.FUNCTIONS),)
        return (("names", Naming.ALL_KNOWN),) if self.kind in ("table", "sequence") else ()


# Kinds of objects on which PostgreSQL grants privileges, and which Antumbra does not have.
OTHERS = (
    "database",
    "domain",
    "foreign",
    "language",
    "large",
    "parameter",
    "procedure",
    "routine",
    "tablespace",
    "type",
)


@begins("grant", "revoke")
def grant(cursor: Cursor) -> GrantPrivileges | GrantRole:
    """Read GRANT or REVOKE from its first word."""
    position = cursor.position
    revokes = cursor.advance().value == "revoke"
    if revokes and cursor.at_words("admin", "option"):
        cursor.expect("admin", "option", "for")
        return grant_role(cursor, revokes, admin=True)
    option = revokes and cursor.at_words("grant", "option")
    if option:
        cursor.expect("grant", "option", "for")
    elif not at_privileges(cursor) and not cursor.at("all", "create", "references", "select"):
        return grant_role(cursor, revokes, admin=False)
    words = privilege_words(cursor)
    cursor.expect("on")
    kind, names, functions = objects(cursor, "REVOKE" if revokes else "GRANT", position)
    cursor.expect("from" if revokes else "to")
    grantees = grantee_list(cursor)
    if not revokes and cursor.accept("with"):
        cursor.expect("grant", "option")
        option = True
    grantor = granted_by(cursor)
    cascade = revokes and cursor.accept_any("cascade", "restrict") == "cascade"
    text = cursor.statement_text
    return GrantPrivileges(text, revokes, words, kind, names, grantees, option, cascade, grantor, functions)


def grantee_list(cursor: Cursor) -> tuple[RoleSpec, ...]:
    """Read [GROUP] role, ...; GROUP changes nothing, since every group is a role."""
    found = []
    while True:
        cursor.accept("group")
        found.append(role_spec(cursor))
        if not cursor.accept_operator(","):
            return tuple(found)


def at_privileges(cursor: Cursor) -> bool:
    """Tell whether privileges follow: ON comes before TO and FROM."""
    for token in cursor.tokens[cursor.index :]:
        if token.kind == "word" and token.value == "on":
            return True
        if token.kind == "end" or (token.kind == "word" and token.value in ("to", "from")) or token.value == ";":
            return False
    return False


def privilege_words(cursor: Cursor) -> tuple[str, ...]:
    """Read ALL [PRIVILEGES], or the names of privileges."""
    if cursor.accept("all"):
        cursor.accept("privileges")
        words: list[str] = []
        refuse_columns(cursor)
        return ()
    words = []
    while True:
        if cursor.at("select", "references", "create"):
            words.append(cursor.advance().value)
        else:
            words.append(cursor.name())
        refuse_columns(cursor)
        if not cursor.accept_operator(","):
            return tuple(words)


def refuse_columns(cursor: Cursor) -> None:
    """Defer the refusal of privileges on columns until the statement is read."""
    position = cursor.position
    if cursor.at_operator("("):
        cursor.names_in_parentheses()
        cursor.refuse("a privilege on columns", position)


def objects(
    cursor: Cursor, what: str, position: int
) -> tuple[str, tuple[tuple[str, int], ...], tuple[FunctionName, ...]]:
    """Read the objects that the privileges are on: their kind, their names, functions."""
    if cursor.at("all") and cursor.ahead(1).value in ("tables", "sequences", "functions", "procedures", "routines"):
        cursor.advance()
        kind = cursor.advance().value
        if kind not in ("tables", "sequences", "functions"):
            refuse(cursor, f"{what} ON ALL {kind.upper()}", position)
        cursor.expect("in", "schema")
        return f"all {kind}", names(cursor, schemas=True), ()
    if (
        cursor.at("function")
        and cursor.ahead(1).kind in ("word", "quoted")
        and cursor.ahead(1).value not in ("to", "from")
    ):
        cursor.advance()
        functions = [function_name(cursor)]
        while cursor.accept_operator(","):
            functions.append(function_name(cursor))
        return "function", (), tuple(functions)
    if cursor.at(*OTHERS) and cursor.ahead(1).kind in ("word", "quoted") and not cursor.at_words("type", "to"):
        if cursor.ahead(1).value not in ("to", "from"):
            refuse(cursor, f"{what} ON {cursor.token.value.upper()}", position)
    kind = "table"
    if cursor.ahead(1).kind in ("word", "quoted") and cursor.ahead(1).value not in ("to", "from"):
        kind = cursor.accept_any("table", "sequence", "schema") or "table"
    elif cursor.at("table"):
        cursor.advance()
    return kind, names(cursor, schemas=kind == "schema"), ()


def refuse(cursor: Cursor, what: str, position: int) -> NoReturn:
    raise not_supported(what, position)


def names(cursor: Cursor, schemas: bool) -> tuple[tuple[str, int], ...]:
    """Read names, separated by commas."""
    found = []
    while True:
        position = cursor.position
        found.append((cursor.name() if schemas else cursor.relation_name(), position))
        if not cursor.accept_operator(","):
            return tuple(found)


@begins("alter default")
def alter_default(cursor: Cursor) -> NoReturn:
    """Refuse ALTER DEFAULT PRIVILEGES."""
    position = cursor.position
    cursor.expect("alter", "default", "privileges")
    if cursor.at_end_of_statement():
        cursor.fail()
    error: SqlError = not_supported(
        "ALTER DEFAULT PRIVILEGES", position, "GRANT ... ON ALL TABLES IN SCHEMA gives rights on what is there."
    )
    raise error
