"""What the statements on roles and privileges say, as frozen dataclasses. Passwords are in no repr, so that no traceback shows one."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class RoleSpec:
    """A role as it is named. kind: 'name', or 'current', 'session', 'public' for what stands for one."""

    name: str
    kind: str
    position: int


@dataclass(frozen=True)
class RoleOptions:
    """What CREATE and ALTER ROLE say. attributes: (name, on), such as ('superuser', False). sets_password: PASSWORD was there, maybe NULL.

    in_roles, members, admins: of CREATE ROLE, the roles that it is in, those in it, and those that may let others in.
    """

    attributes: tuple[tuple[str, bool], ...] = ()
    sets_password: bool = False
    password: str | None = field(default=None, repr=False)
    connection_limit: int | None = None
    valid_until: str | None = None
    in_roles: tuple[RoleSpec, ...] = ()
    members: tuple[RoleSpec, ...] = ()
    admins: tuple[RoleSpec, ...] = ()


@dataclass(frozen=True)
class CreateRole:
    """CREATE ROLE | USER | GROUP name [WITH] options."""

    text: str = field(repr=False)
    role: RoleSpec
    options: RoleOptions


@dataclass(frozen=True)
class AlterRole:
    """ALTER ROLE | USER name [WITH] options, or RENAME TO new_name."""

    text: str = field(repr=False)
    role: RoleSpec
    options: RoleOptions
    new_name: RoleSpec | None = None


@dataclass(frozen=True)
class DropRole:
    """DROP ROLE | USER | GROUP [IF EXISTS] names."""

    text: str
    roles: tuple[RoleSpec, ...]
    if_exists: bool


@dataclass(frozen=True)
class GrantRole:
    """GRANT roles TO members [WITH ADMIN OPTION], or REVOKE [ADMIN OPTION FOR] roles FROM members. admin: the option is meant.

    grantor: of GRANTED BY.
    """

    text: str
    revokes: bool
    roles: tuple[RoleSpec, ...]
    members: tuple[RoleSpec, ...]
    admin: bool
    grantor: RoleSpec | None = None


@dataclass(frozen=True)
class GrantPrivileges:
    """GRANT privileges ON objects TO grantees [WITH GRANT OPTION], or REVOKE [GRANT OPTION FOR] ... FROM ... [CASCADE].

    kind: 'table', 'sequence', 'schema', 'all tables' or 'all sequences' (names are then schemas). words: privileges, none for ALL.
    option: the grant option is meant. grantor: of GRANTED BY.
    """

    text: str
    revokes: bool
    words: tuple[str, ...]
    kind: str
    names: tuple[tuple[str, int], ...]
    grantees: tuple[RoleSpec, ...]
    option: bool
    cascade: bool
    grantor: RoleSpec | None = None


@dataclass(frozen=True)
class ChangeOwner:
    """ALTER TABLE | FOREIGN TABLE | VIEW | SEQUENCE | SCHEMA [IF EXISTS] name OWNER TO role. kind: those words in lower case."""

    text: str
    kind: str
    name: str
    name_position: int
    if_exists: bool
    role: RoleSpec


@dataclass(frozen=True)
class ReassignOwned:
    """REASSIGN OWNED BY roles TO role."""

    text: str
    roles: tuple[RoleSpec, ...]
    role: RoleSpec


@dataclass(frozen=True)
class DropOwned:
    """DROP OWNED BY roles [CASCADE | RESTRICT]."""

    text: str
    roles: tuple[RoleSpec, ...]
    cascade: bool


@dataclass(frozen=True)
class CommentOn:
    """COMMENT ON ROLE | SCHEMA | TYPE name IS comment, None: it is taken away. name: of a schema or a type."""

    text: str
    kind: str
    role: RoleSpec | None
    name: str
    comment: str | None


@dataclass(frozen=True)
class CreateSchema:
    """CREATE SCHEMA [IF NOT EXISTS] [name] [AUTHORIZATION role]; without a name, the role's is meant."""

    text: str
    name: str | None
    if_not_exists: bool
    role: RoleSpec | None


@dataclass(frozen=True)
class DropSchema:
    """DROP SCHEMA [IF EXISTS] names [CASCADE | RESTRICT]."""

    text: str
    names: tuple[str, ...]
    if_exists: bool
    cascade: bool


@dataclass(frozen=True)
class RenameSchema:
    """ALTER SCHEMA name RENAME TO new_name."""

    text: str
    name: str
    new_name: str


RoleStatement = CreateRole | AlterRole | DropRole | GrantRole
AccessStatement = (
    RoleStatement
    | GrantPrivileges
    | ChangeOwner
    | ReassignOwned
    | DropOwned
    | CommentOn
    | CreateSchema
    | DropSchema
    | RenameSchema
)
