"""GRANT and REVOKE of privileges on objects, and of roles to roles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from sql.errors import not_supported
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
    """Read roles, separated by commas."""
    return cursor.several(grantee)


def grantee(cursor: Cursor) -> RoleSpec:
    """Read [GROUP] role; GROUP changes nothing, since every group is a role."""
    cursor.accept("group")
    return role_spec(cursor)


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
        refuse_columns(cursor)
        return ()
    return cursor.several(privilege)


def privilege(cursor: Cursor) -> str:
    """Read the name of one privilege."""
    word = cursor.accept_any("select", "references", "create") or cursor.name()
    refuse_columns(cursor)
    return word


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
            raise not_supported(f"{what} ON ALL {kind.upper()}", position)
        cursor.expect("in", "schema")
        return f"all {kind}", names(cursor, schemas=True), ()
    if (
        cursor.at("function")
        and cursor.ahead(1).kind in ("word", "quoted")
        and cursor.ahead(1).value not in ("to", "from")
    ):
        cursor.advance()
        return "function", (), cursor.several(function_name)
    if cursor.at(*OTHERS) and cursor.ahead(1).kind in ("word", "quoted") and not cursor.at_words("type", "to"):
        if cursor.ahead(1).value not in ("to", "from"):
            raise not_supported(f"{what} ON {cursor.token.value.upper()}", position)
    kind = "table"
    if cursor.ahead(1).kind in ("word", "quoted") and cursor.ahead(1).value not in ("to", "from"):
        kind = cursor.accept_any("table", "sequence", "schema") or "table"
    elif cursor.at("table"):
        cursor.advance()
    return kind, names(cursor, schemas=kind == "schema"), ()


def names(cursor: Cursor, schemas: bool) -> tuple[tuple[str, int], ...]:
    """Read names, separated by commas."""
    return cursor.several(Cursor.placed_name if schemas else Cursor.placed_relation)


@begins("alter default")
def alter_default(cursor: Cursor) -> NoReturn:
    """Refuse ALTER DEFAULT PRIVILEGES."""
    position = cursor.position
    cursor.expect("alter", "default", "privileges")
    if cursor.at_end_of_statement():
        cursor.fail()
    hint = "GRANT ... ON ALL TABLES IN SCHEMA gives rights on what is there."
    raise not_supported("ALTER DEFAULT PRIVILEGES", position, hint)
