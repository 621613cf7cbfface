"""The roles and their memberships: immutable, a part of the catalog image.

Enters: CREATE, ALTER, DROP ROLE and GRANT. Leaves: answers about attributes and membership, and the
plain form that is stored with the catalog. Must not know relations: `engine.catalog.privileges` has
the privileges on them.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

BOOTSTRAP_OID = 10
BOOTSTRAP_NAME = "antumbra"
PUBLIC = 0
# PostgreSQL's FirstNormalObjectId.
FIRST_FREE_OID = 16384
# A member that the database's owner is, as PostgreSQL's pg_database_owner.
DATABASE_OWNER = "pg_database_owner"
READ_FILES = "pg_read_server_files"
WRITE_FILES = "pg_write_server_files"
READ_ALL = "pg_read_all_data"
WRITE_ALL = "pg_write_all_data"
CHECKPOINTER = "pg_checkpoint"
PREDEFINED = {
    DATABASE_OWNER: 6171,
    READ_ALL: 6181,
    WRITE_ALL: 6182,
    READ_FILES: 4569,
    WRITE_FILES: 4570,
    CHECKPOINTER: 4544,
}
MOCK_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Role:
    """A role with PostgreSQL's attributes.

    Attributes:
        verifier: of its password, as text.
        valid_until: in microseconds since 1970, None: for ever.
    """

    name: str
    oid: int
    superuser: bool = False
    inherit: bool = True
    create_role: bool = False
    create_db: bool = False
    login: bool = False
    replication: bool = False
    bypass_rls: bool = False
    connection_limit: int = -1
    verifier: str | None = field(default=None, repr=False)
    valid_until: int | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Membership:
    """The membership of one role in another.

    Attributes:
        role: oid of the role.
        member: oid of its member.
        admin: true if the member may let others in.
    """

    role: int
    member: int
    admin: bool
    grantor: int


def _first_roles() -> Mapping[str, Role]:
    everything = Role(
        BOOTSTRAP_NAME,
        BOOTSTRAP_OID,
        superuser=True,
        create_role=True,
        create_db=True,
        login=True,
        replication=True,
        bypass_rls=True,
    )
    groups = {name: Role(name, oid) for name, oid in PREDEFINED.items()}
    return MappingProxyType({BOOTSTRAP_NAME: everything, **groups})


@dataclass(frozen=True)
class Roles:
    """All roles and memberships.

    Attributes:
        mock_secret: hides from a stranger which roles have a password.
    """

    by_name: Mapping[str, Role] = field(default_factory=_first_roles)
    memberships: tuple[Membership, ...] = ()
    mock_secret: bytes = field(default_factory=lambda: secrets.token_bytes(MOCK_SECRET_BYTES), repr=False)

    @cached_property
    def are_made(self) -> bool:
        """True if a client has created a role."""
        return any(role.oid >= FIRST_FREE_OID for role in self.by_name.values())

    def by_oid(self, oid: int) -> Role | None:
        """Return the role with an oid, or None."""
        return self._by_oid.get(oid)

    @cached_property
    def _by_oid(self) -> dict[int, Role]:
        return {role.oid: role for role in self.by_name.values()}

    @cached_property
    def _reached(self) -> dict[tuple[int, bool], frozenset[int]]:
        return {}

    def name_of(self, oid: int) -> str:
        """Return the name of a role; of a dropped role its number."""
        role = self.by_oid(oid)
        return str(oid) if role is None else role.name

    def is_superuser(self, oid: int) -> bool:
        """Tell whether a role passes every check."""
        role = self.by_oid(oid)
        return role is not None and role.superuser

    def reached_from(self, oid: int, inheriting: bool) -> frozenset[int]:
        """Return a role and the roles of which it is a member.

        inheriting: only those whose privileges it has without SET ROLE.
        """
        known = self._reached.get((oid, inheriting))
        if known is not None:
            return known
        found = {oid}
        waiting = [oid]
        while waiting:
            member = waiting.pop()
            role = self.by_oid(member)
            if inheriting and role is not None and not role.inherit:
                continue
            groups = [one.role for one in self.memberships if one.member == member]
            if member == BOOTSTRAP_OID:
                groups.append(PREDEFINED[DATABASE_OWNER])
            for group in groups:
                if group not in found:
                    found.add(group)
                    waiting.append(group)
        return self._reached.setdefault((oid, inheriting), frozenset(found))

    def has_privileges_of(self, oid: int, other: int) -> bool:
        """Tell whether a role has all privileges of another role."""
        return self.is_superuser(oid) or other in self.reached_from(oid, inheriting=True)

    def is_member(self, oid: int, other: int) -> bool:
        """Tell whether a role may become another one by SET ROLE."""
        return self.is_superuser(oid) or other in self.reached_from(oid, inheriting=False)

    def may_admin(self, oid: int, other: int) -> bool:
        """Tell whether a role may let others into another role."""
        if self.is_superuser(oid):
            return True
        mine = self.reached_from(oid, inheriting=False)
        return any(one.role == other and one.admin and one.member in mine for one in self.memberships)

    def with_role(self, role: Role) -> Roles:
        """Return roles that also have `role`, instead of the role with its oid."""
        kept = {name: one for name, one in self.by_name.items() if one.oid != role.oid}
        return replace(self, by_name=MappingProxyType({**kept, role.name: role}))

    def without_role(self, role: Role) -> Roles:
        """Return roles without `role` and its memberships."""
        kept = {name: one for name, one in self.by_name.items() if one.oid != role.oid}
        memberships = tuple(one for one in self.memberships if role.oid not in (one.role, one.member))
        return replace(self, by_name=MappingProxyType(kept), memberships=memberships)

    def with_memberships(self, memberships: Iterable[Membership]) -> Roles:
        """Return roles with these memberships."""
        return replace(self, memberships=tuple(memberships))


def plain_roles(roles: Roles) -> dict[str, object]:
    """Return the stored form of the roles."""
    return {
        "roles": [asdict(role) for role in roles.by_name.values()],
        "memberships": [asdict(one) for one in roles.memberships],
        "mock_secret": roles.mock_secret.hex(),
    }


def roles_of(plain: Mapping[str, Any]) -> Roles:
    """Return the roles that `plain_roles` stored, and those that the server brings."""
    stored = (Role(**one) for one in plain["roles"])
    by_name = {**_first_roles()}
    for role in stored:
        by_name = {name: one for name, one in by_name.items() if one.oid != role.oid} | {role.name: role}
    memberships = tuple(Membership(**one) for one in plain["memberships"])
    return Roles(MappingProxyType(by_name), memberships, bytes.fromhex(plain["mock_secret"]))
