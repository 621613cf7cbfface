"""The owners of relations and schemas, and the privileges on them: immutable, a part of the image.

Enters: GRANT, REVOKE and OWNER TO. Leaves: answers, PostgreSQL's texts of access lists, and the
plain form that is stored with the catalog. An object without an entry belongs to the first
superuser, and no other role may use it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from engine.catalog.roles import BOOTSTRAP_OID, DATABASE_OWNER, PREDEFINED, PUBLIC, READ_ALL, WRITE_ALL, Roles

# Letters as PostgreSQL's access lists have them, in its order, and the words of GRANT.
WORDS = {
    "a": "INSERT",
    "r": "SELECT",
    "w": "UPDATE",
    "d": "DELETE",
    "D": "TRUNCATE",
    "x": "REFERENCES",
    "t": "TRIGGER",
    "U": "USAGE",
    "C": "CREATE",
    "X": "EXECUTE",
}
LETTERS = {word: letter for letter, word in WORDS.items()}
# All that there is to grant on each kind of object.
OF_RELATION, OF_SEQUENCE, OF_SCHEMA, OF_FUNCTION = "arwdDxt", "rwU", "UC", "X"
PUBLIC_SCHEMA_OID = 2200


@dataclass(frozen=True, slots=True)
class Grant:
    """The privileges that one role has given another role, or PUBLIC.

    Attributes:
        letters: of the privileges.
        options: of those that the grantee may pass on.
    """

    grantee: int
    grantor: int
    letters: str
    options: str = ""


def _first_owners() -> Mapping[int, int]:
    return MappingProxyType({PUBLIC_SCHEMA_OID: PREDEFINED[DATABASE_OWNER]})


def _first_grants() -> Mapping[int, tuple[Grant, ...]]:
    owner = PREDEFINED[DATABASE_OWNER]
    return MappingProxyType({PUBLIC_SCHEMA_OID: (Grant(owner, owner, "UC"), Grant(PUBLIC, owner, "U"))})


@dataclass(frozen=True)
class Privileges:
    """Owners and access lists of all objects.

    Attributes:
        owners: oid of a relation or schema -> oid of a role.
        grants: the access list of an object, where it is not the default.
    """

    owners: Mapping[int, int] = field(default_factory=_first_owners)
    grants: Mapping[int, tuple[Grant, ...]] = field(default_factory=_first_grants)

    def owner(self, oid: int) -> int:
        """Return the oid of the owner."""
        return self.owners.get(oid, BOOTSTRAP_OID)

    def access_list(self, oid: int, everything: str) -> tuple[Grant, ...]:
        """Return the grants on an object.

        everything: the letters of the object's kind, which the owner has by default.
        """
        owner = self.owner(oid)
        first: tuple[Grant, ...] = (Grant(owner, owner, everything),)
        if everything == OF_FUNCTION:
            first = (Grant(PUBLIC, owner, everything), *first)
        return self.grants.get(oid, first)

    def may(self, roles: Roles, role: int, oid: int, letters: str) -> bool:
        """Tell whether a role has one of the privileges."""
        if roles.is_superuser(role):
            return True
        mine = roles.reached_from(role, inheriting=True)
        # Of a schema: a sequence's list has other letters beside it.
        uses = "U" in letters and set(letters) <= set(OF_SCHEMA)
        if ("r" in letters or uses) and PREDEFINED[READ_ALL] in mine:
            return True
        if (set("awd") & set(letters) or uses) and PREDEFINED[WRITE_ALL] in mine:
            return True
        owner = self.owner(oid)
        if oid not in self.grants:
            return owner in mine
        return any(
            (one.grantee == PUBLIC or one.grantee in mine) and any(letter in one.letters for letter in letters)
            for one in self.grants[oid]
        )

    def may_pass_on(self, roles: Roles, role: int, oid: int, letters: str) -> bool:
        """Tell whether a role may grant one of the privileges to others."""
        mine = roles.reached_from(role, inheriting=True)
        if letters and (roles.is_superuser(role) or self.owner(oid) in mine):
            return True
        return any(one.grantee in mine and set(letters) & set(one.options) for one in self.grants.get(oid, ()))

    def may_grant(self, roles: Roles, role: int, oid: int, everything: str) -> tuple[int, str]:
        """Return the role in whose name a role grants, and the privileges that it can grant."""
        owner = self.owner(oid)
        if roles.has_privileges_of(role, owner):
            return owner, everything
        mine = roles.reached_from(role, inheriting=True)
        best = (role, "")
        for one in self.access_list(oid, everything):
            if one.grantee in mine:
                options = "".join(
                    letter
                    for letter in everything
                    if any(
                        letter in other.options for other in self.grants.get(oid, ()) if other.grantee == one.grantee
                    )
                )
                if len(options) > len(best[1]):
                    best = (one.grantee, options)
        return best

    def with_owner(self, oid: int, owner: int) -> Privileges:
        """Return privileges with another owner of an object.

        The grants to and by the present owner pass to the new one.
        """
        before = self.owner(oid)
        owners = {**self.owners, oid: owner}
        if oid not in self.grants:
            return replace(self, owners=MappingProxyType(owners))
        found: tuple[Grant, ...] = ()
        for one in self.grants[oid]:
            grantee = owner if one.grantee == before else one.grantee
            grantor = owner if one.grantor == before else one.grantor
            found = added(found, Grant(grantee, grantor, one.letters, one.options))
        return Privileges(MappingProxyType(owners), MappingProxyType({**self.grants, oid: found}))

    def with_grants(self, oid: int, grants: Iterable[Grant]) -> Privileges:
        """Return privileges with another access list of an object."""
        return replace(self, grants=MappingProxyType({**self.grants, oid: tuple(grants)}))

    def after(self, known: Iterable[int], present: Iterable[int], creator: int) -> Privileges:
        """Return privileges for the objects that exist now.

        A new object without owner is the creator's; privileges on dropped objects are forgotten.
        """
        before, now = frozenset(known), frozenset(present)
        made = {} if creator == BOOTSTRAP_OID else dict.fromkeys(now - before - self.owners.keys(), creator)
        gone = before - now
        if not made and not any(oid in self.owners or oid in self.grants for oid in gone):
            return self
        owners = {oid: owner for oid, owner in self.owners.items() if oid not in gone} | made
        grants = {oid: given for oid, given in self.grants.items() if oid not in gone}
        return Privileges(MappingProxyType(owners), MappingProxyType(grants))


def may_execute(roles: Roles, privileges: Privileges, role: int, oid: int) -> bool:
    """Tell whether a role may call a function: everybody may, until that is taken back."""
    return oid not in privileges.grants or privileges.may(roles, role, oid, OF_FUNCTION)


def added(grants: tuple[Grant, ...], new: Grant) -> tuple[Grant, ...]:
    """Return an access list with `new`, joined with what its grantee has from its grantor."""
    for index, one in enumerate(grants):
        if (one.grantee, one.grantor) == (new.grantee, new.grantor):
            merged = replace(
                one, letters=ordered(one.letters + new.letters), options=ordered(one.options + new.options)
            )
            return (*grants[:index], merged, *grants[index + 1 :])
    return (*grants, replace(new, letters=ordered(new.letters), options=ordered(new.options)))


def ordered(letters: str) -> str:
    """Return letters, each once, in PostgreSQL's order."""
    return "".join(letter for letter in WORDS if letter in letters)


def access_texts(image_roles: Roles, privileges: Privileges, oid: int) -> list[str] | None:
    """Return an access list as PostgreSQL prints aclitem[], None for the default list."""
    grants = privileges.grants.get(oid)
    if grants is None:
        return None
    return [
        f"{'' if one.grantee == PUBLIC else quoted(image_roles.name_of(one.grantee))}="
        + "".join(letter + ("*" if letter in one.options else "") for letter in one.letters)
        + f"/{quoted(image_roles.name_of(one.grantor))}"
        for one in grants
    ]


def quoted(name: str) -> str:
    """Return the name of a role as an access list has it."""
    return name if name.replace("_", "a").isalnum() else '"' + name.replace('"', '""') + '"'


def plain_privileges(privileges: Privileges) -> dict[str, object]:
    """Return the stored form of the privileges."""
    return {
        "owners": [[oid, owner] for oid, owner in privileges.owners.items()],
        "grants": [
            [oid, [[one.grantee, one.grantor, one.letters, one.options] for one in given]]
            for oid, given in privileges.grants.items()
        ],
    }


def privileges_of(plain: Mapping[str, Any]) -> Privileges:
    """Return the privileges that `plain_privileges` stored."""
    if "owners" not in plain:
        return Privileges()
    owners = dict(plain["owners"])
    grants = {oid: tuple(Grant(*one) for one in given) for oid, given in plain["grants"]}
    return Privileges(MappingProxyType(owners), MappingProxyType(grants))
