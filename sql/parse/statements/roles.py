"""CREATE, ALTER and DROP ROLE with USER and GROUP, and GRANT and REVOKE of roles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sql.errors import SqlError, not_supported
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.declaration import Statement
from sql.parse.statements.options import signed_number
from sql.parse.statements.parts import RoleOptions, RoleSpec
from sql.parse.statements.rules import begins


@dataclass(frozen=True)
class CreateRole(Statement, tag="CREATE ROLE", defines=True):
    """CREATE ROLE | USER | GROUP name [WITH] options."""

    text: str = field(repr=False)
    role: RoleSpec
    options: RoleOptions


@dataclass(frozen=True)
class AlterRole(Statement, tag="ALTER ROLE", defines=True):
    """ALTER ROLE | USER name [WITH] options, or RENAME TO new_name."""

    text: str = field(repr=False)
    role: RoleSpec
    options: RoleOptions
    new_name: RoleSpec | None = None


@dataclass(frozen=True)
class DropRole(Statement, tag="DROP ROLE", defines=True):
    """DROP ROLE | USER | GROUP [IF EXISTS] names."""

    roles: tuple[RoleSpec, ...]
    if_exists: bool


@dataclass(frozen=True)
class GrantRole(Statement, defines=True):
    """The statements GRANT roles TO members [WITH ADMIN OPTION], and REVOKE [ADMIN OPTION FOR]
    roles FROM members.

    Attributes:
        admin: the statement is about the admin option.
        grantor: of GRANTED BY.
    """

    revokes: bool
    roles: tuple[RoleSpec, ...]
    members: tuple[RoleSpec, ...]
    admin: bool
    grantor: RoleSpec | None = None

    @property
    def tag(self) -> str:
        """See Statement."""
        return "REVOKE ROLE" if self.revokes else "GRANT ROLE"


ATTRIBUTES = {
    "superuser": "superuser",
    "createrole": "create_role",
    "createdb": "create_db",
    "login": "login",
    "inherit": "inherit",
    "replication": "replication",
    "bypassrls": "bypass_rls",
}
STANDING_FOR = {"current_user": "current", "current_role": "current", "session_user": "session"}
RESERVED_NAMES = frozenset({"public", "none"})


@begins("create role", "create user", "create group")
def create_role(cursor: Cursor) -> CreateRole:
    """Read CREATE ROLE | USER | GROUP from its first word."""
    kind = kind_of_role(cursor)
    role = new_role_name(cursor)
    options = role_options(cursor, creates=True)
    if kind == "user" and all(name != "login" for name, _ in options.attributes):
        options = RoleOptions(**{**vars(options), "attributes": (*options.attributes, ("login", True))})
    return CreateRole(cursor.statement_text, role, options)


def kind_of_role(cursor: Cursor) -> str:
    """Read CREATE, ALTER or DROP, and return the word ROLE, USER or GROUP after it."""
    verb, kind = cursor.advance().value, cursor.advance().value
    if kind == "user" and cursor.at("mapping"):
        raise not_supported(f"{verb.upper()} USER MAPPING", cursor.tokens[cursor.first].start + 1)
    return kind


@begins("alter role", "alter user", "alter group")
def alter_role(cursor: Cursor) -> AlterRole:
    """Read ALTER ROLE | USER | GROUP from its first word."""
    kind = kind_of_role(cursor)
    if cursor.accept("all"):
        if not cursor.at("set", "reset", "in"):
            cursor.fail()
        raise not_supported("ALTER ROLE ... SET", cursor.position)
    role = role_spec(cursor)
    if cursor.accept("rename"):
        cursor.expect("to")
        if role.kind != "name":
            message = f"{role.name.upper()} cannot be used as a role name here"
            cursor.defer(SqlError("42939", message, role.position))
        return AlterRole(cursor.statement_text, role, RoleOptions(), new_role_name(cursor))
    if kind == "group":
        raise not_supported("ALTER GROUP", cursor.position, "GRANT and REVOKE let roles in and out.")
    if cursor.accept("in"):
        cursor.expect("database")
        raise not_supported("ALTER ROLE ... IN DATABASE", cursor.position)
    if cursor.at("set", "reset"):
        raise not_supported("ALTER ROLE ... SET", cursor.position)
    options = role_options(cursor, creates=False)
    return AlterRole(cursor.statement_text, role, options)


@begins("drop role", "drop user", "drop group")
def drop_role(cursor: Cursor) -> DropRole:
    """Read DROP ROLE | USER | GROUP from its first word."""
    kind_of_role(cursor)
    if_exists = cursor.accept("if", "exists")
    roles = role_list(cursor)
    for role in roles:
        if role.kind != "name":
            cursor.defer(SqlError("22023", "cannot use special role specifier in DROP ROLE"))
    return DropRole(cursor.statement_text, roles, if_exists)


def grant_role(cursor: Cursor, revokes: bool, admin: bool) -> GrantRole:
    """Read the rest of GRANT or REVOKE [ADMIN OPTION FOR], from the first role on."""
    roles = role_list(cursor)
    cursor.expect("from" if revokes else "to")
    members = role_list(cursor)
    if revokes:
        grantor = granted_by(cursor)
        cursor.accept_any("cascade", "restrict")
    else:
        if cursor.accept("with"):
            cursor.expect("admin", "option")
            admin = True
        grantor = granted_by(cursor)
    return GrantRole(cursor.statement_text, revokes, roles, members, admin, grantor)


def granted_by(cursor: Cursor) -> RoleSpec | None:
    """Read GRANTED BY role, if it is next."""
    if not cursor.accept("granted"):
        return None
    cursor.expect("by")
    return role_spec(cursor)


def role_list(cursor: Cursor) -> tuple[RoleSpec, ...]:
    """Read roles, separated by commas."""
    return cursor.several(role_spec)


def role_spec(cursor: Cursor) -> RoleSpec:
    """Read the name of a role, CURRENT_USER and the like, or PUBLIC."""
    position = cursor.position
    word = cursor.accept_any(*STANDING_FOR)
    if word is not None:
        return RoleSpec(word, STANDING_FOR[word], position)
    name = nonreserved_word(cursor)
    if name == "public":
        return RoleSpec(name, "public", position)
    if name == "none":
        cursor.defer(SqlError("42939", 'role name "none" is reserved', position))
    return RoleSpec(name, "name", position)


def new_role_name(cursor: Cursor) -> RoleSpec:
    """Read the name of a new role; words that stand for other roles are refused."""
    position = cursor.position
    word = cursor.accept_any(*STANDING_FOR)
    if word is not None:
        cursor.defer(SqlError("42939", f"{word.upper()} cannot be used as a role name here", position))
        return RoleSpec(word, "name", position)
    name = nonreserved_word(cursor)
    if name in RESERVED_NAMES:
        cursor.defer(SqlError("42939", f'role name "{name}" is reserved', position))
    return RoleSpec(name, "name", position)


def nonreserved_word(cursor: Cursor) -> str:
    """Read a name that may also be the name of a type or function."""
    if not (cursor.at_name() or cursor.function_name()):
        cursor.fail()
    return cursor.advance().value


def role_options(cursor: Cursor, creates: bool) -> RoleOptions:
    """Read [WITH] options, each at most once."""
    cursor.accept("with")
    attributes: dict[str, bool] = {}
    found: dict[str, Any] = {}

    def put(name: str, value: Any, position: int, into: dict[str, Any] = found) -> None:
        if name in into:
            raise SqlError("42601", "conflicting or redundant options", position)
        into[name] = value

    while not cursor.at_end_of_statement():
        position = cursor.position
        token = cursor.advance()
        word = token.value if token.kind in ("word", "quoted") else ""
        plain = word.removeprefix("no")
        attribute = ATTRIBUTES.get(word) or ATTRIBUTES.get(plain)
        if attribute is not None:
            put(attribute, word in ATTRIBUTES, position, attributes)
        elif word in ("password", "encrypted", "unencrypted"):
            if word != "password":
                cursor.expect("password")
            put("password", None if word == "password" and cursor.accept("null") else cursor.string(), position)
            if word == "unencrypted":
                hint = "Remove UNENCRYPTED to store the password in encrypted form instead."
                cursor.defer(SqlError("0A000", "UNENCRYPTED PASSWORD is no longer supported", position, hint=hint))
        elif word == "connection":
            cursor.expect("limit")
            put("connection_limit", int(signed_number(cursor)), position)
        elif word == "valid":
            cursor.expect("until")
            put("valid_until", cursor.string(), position)
        else:
            put(*role_lists(cursor, word, creates, position), position)
    return RoleOptions(tuple(attributes.items()), "password" in found, **found)


def role_lists(cursor: Cursor, word: str, creates: bool, position: int) -> tuple[str, tuple[RoleSpec, ...]]:
    """Read the lists of roles that an option may be."""
    if word == "user" or (creates and word == "role"):
        return "members", role_list(cursor)
    if creates and word == "admin":
        return "admins", role_list(cursor)
    if creates and word == "in":
        cursor.one_of("role", "group")
        return "in_roles", role_list(cursor)
    cursor.index -= 1
    if word in ("role", "admin", "in") or cursor.token.kind not in ("word", "quoted") or cursor.is_keyword():
        cursor.fail()
    raise SqlError("42601", f'unrecognized role option "{word}"', position)
