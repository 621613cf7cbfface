"""The parts that the statements on roles, privileges, owners and schemas share: the role that says
one, and the changed image.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from engine.catalog.image import CatalogImage
from engine.catalog.privileges import Privileges
from engine.catalog.roles import Role, Roles
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.errors import SqlError
from sql.parse.statements.declaration import Statement
from sql.parse.statements.parts import RoleSpec


@dataclass
class RoleWork:
    """A statement on roles, privileges, owners or schemas that is being done.

    Attributes:
        current, session: the oids of the roles that say it.
        notices: (sqlstate, text, severity).
        password_encryption: the setting; only passwords that are verifiers already do not depend on
            it.
    """

    image: CatalogImage
    current: int
    session: int
    time_zone: str
    database: str = "antumbra"
    password_encryption: str = "scram-sha-256"
    notices: list[tuple[str, str, str]] = field(default_factory=list)

    def notice(self, sqlstate: str, text: str, severity: str) -> None:
        """Give the client a notice when the statement has succeeded."""
        self.notices.append((sqlstate, text, severity))

    @property
    def roles(self) -> Roles:
        """The roles as the statement has changed them so far."""
        return self.image.roles

    def put(self, roles: Roles | None = None, privileges: Privileges | None = None) -> None:
        """Go on with other roles or privileges."""
        roles, privileges = roles or self.roles, privileges or self.image.privileges
        self.image = replace(self.image, roles=roles, privileges=privileges, version=self.image.version + 1)

    def attribute(self, name: str) -> bool:
        """Tell whether the role that says the statement is a superuser, or has the attribute."""
        role = self.roles.by_oid(self.current)
        return role is not None and (role.superuser or bool(getattr(role, name)))


Change = TypeVar("Change", bound=Callable[[Any, RoleWork], None])


def changes_access(*kinds: type[Statement]) -> Callable[[Change], Change]:
    """Register a function for statements of these kinds, which it does by changing the image.

    The function takes milliseconds when there is a password.
    """

    def register(change: Change) -> Change:
        @handles(*kinds)
        async def changed(statement: Statement, work: Work) -> None:
            access = role_work(work.image, work)
            await work.threads.in_worker(change, statement, access)
            tell(access, work)
            if access.image is not work.image:
                work.transaction.change_catalog(access.image)

        return change

    return register


def role_work(image: CatalogImage, work: Work) -> RoleWork:
    """Return a statement that is being done on an image."""
    identity, settings = work.identity, work.settings
    who = identity.current(image.roles), identity.session(image.roles)
    return RoleWork(image, *who, settings.time_zone, settings.database, settings.value("password_encryption"))


def tell(access: RoleWork, work: Work) -> None:
    """Give the client the notices of a statement."""
    for notice in access.notices:
        work.notice(*notice)


def named_role(spec: RoleSpec, work: RoleWork) -> Role:
    """Return the role that a statement names. Raises 42704."""
    roles = work.roles
    if spec.kind == "name" or spec.kind == "public":
        found = roles.by_name.get(spec.name)
    else:
        found = roles.by_oid(work.current if spec.kind == "current" else work.session)
    if found is None:
        raise SqlError("42704", f'role "{spec.name}" does not exist')
    return found
