"""The identity of a session: the role it was let in as, and the role that it acts as by SET ROLE or
SET SESSION AUTHORIZATION.

Enters: the settings role and session_authorization, the present roles. Leaves: oids. A dropped role
may do nothing. Must not know messages.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable

from engine.catalog.image import CatalogImage
from engine.catalog.per_image import PerImage
from engine.catalog.privileges import Privileges
from engine.catalog.roles import Roles
from engine.execution.rights import Bound, Checks
from sql.catalog.catalog import SessionSettings
from sql.catalog.schemas import found_names
from sql.errors import SqlError
from sql.names.relation_keys import MARK, is_temporary
from sql.settings.settings import Settings
from sql.tree.relations import BoundQuery

# No role has this oid: neither a dropped role, nor PUBLIC, which has everybody as its member.
NOBODY = (1 << 32) - 1


class Identity:
    """The role of one session.

    Attributes:
        login: the oid of the role that the client was let in as, under the name `user`.
        current_image: the image whose roles and privileges count now: the newest, as the session's
            transaction has changed it. Raises SqlError when the client asked at startup for a role
            that it may not have.
    """

    def __init__(self, settings: Settings, login: int, user: str, current_image: Callable[[], CatalogImage]) -> None:
        self.login = login
        self._user = user
        self._settings = settings
        # One object: other threads ask, too.
        self._known: tuple[SessionSettings, Roles, int] | None = None
        self._current_image = current_image
        # The meaning of the names when role and session_authorization were set to them: names may
        # be given to others meanwhile.
        self._became: dict[tuple[str, str], int] = {}
        # The role of the last look.
        self._looked: PerImage[int] = PerImage()
        # The streams that the session may insert into, and the reads that it may do, under
        # privileges and settings.
        self._allowed: PerImage[tuple[Privileges, Roles, SessionSettings, set[Hashable]]] = PerImage()
        settings.check_identity = self._check_change
        settings.let_in(current_image().roles.is_superuser(login))

    def look(self) -> None:
        """Tell the settings which schemas the session may not use, and whether it acts as a
        superuser, before each statement.

        The same is told before each message.
        """
        image = self._current_image()
        role = self.current(image.roles)
        if self._looked.find(image) == role:
            return
        self._looked.keep(image, role)
        may = image.privileges.may
        unusable = (
            name
            for name, oid in image.schemas.items()
            if not is_temporary(name) and not may(image.roles, role, oid, "U")
        )
        self._settings.note_rights(frozenset(unusable), image.roles.is_superuser(role))

    def current(self, roles: Roles) -> int:
        """Return the oid of the role that the session acts as."""
        captured = self._settings.captured()
        known = self._known
        if known is None or known[0] is not captured or known[1] is not roles:
            acts_as = next((value for name, value in captured.variables if name == "role"), "none")
            found = self.session(roles) if acts_as == "none" else self._became.get(("role", acts_as), NOBODY)
            known = self._known = captured, roles, NOBODY if roles.by_oid(found) is None else found
        return known[2]

    def bypasses(self) -> bool:
        """Tell whether no right is checked, since the session acts as a superuser."""
        roles = self._current_image().roles
        return roles.is_superuser(self.current(roles))

    def require(self, image: CatalogImage, bound: Bound) -> None:
        """Raise 42501 unless the session may run a tree that is bound to an image.

        Every caller that runs one asks here first.
        """
        if not self.bypasses():
            self.checks(image).bound(bound)

    def require_privilege(self, image: CatalogImage, name: str, letter: str) -> None:
        """Raise 42501 unless the session has a privilege on a relation."""
        if not self.bypasses():
            self.checks(image).require(name, letter)

    def require_owner(self, image: CatalogImage, name: str) -> None:
        """Raise 42501 unless the session's role owns a relation."""
        if not self.bypasses():
            self.checks(image).owner(name)

    def told(self, error: SqlError) -> SqlError:
        """Return an error or a notice as the session may see it: without values of a relation that
        it may not read, and with the schemas that its search_path does not find.
        """
        if error.read_oid and not self.may(error.read_oid, "r"):
            error.detail, error.read_oid = error.detail_without, 0
        image = self._current_image()

        def is_there(key: str) -> bool:
            return key in image.entries or key in image.types or bool(image.functions_called(key))

        def shown(text: str) -> str:
            return found_names(text, is_there, self._settings.captured()) if MARK in text else text

        error.message = shown(error.message)
        error.detail = None if error.detail is None else shown(error.detail)
        error.hint = None if error.hint is None else shown(error.hint)
        return error

    def may_insert(self, name: str, image: CatalogImage) -> bool:
        """Tell whether a row may go into a stream. Cheap: asked for each row."""
        allowed = self._allowed_now(image)
        if name in allowed:
            return True
        if name in image.held_up or (not self.bypasses() and not self._may_insert(name, image)):
            return False
        allowed.add(name)
        return True

    def may_run(self, bound: BoundQuery, image: CatalogImage) -> bool:
        """Tell whether a query may run that locks nothing and calls no function. Cheap, too."""
        allowed = self._allowed_now(image)
        read = bound.named, bound.functions_below
        if read in allowed:
            return True
        try:
            self.require(image, bound)
        except SqlError:
            return False
        allowed.add(read)
        return True

    def _allowed_now(self, image: CatalogImage) -> set[Hashable]:
        """Return what was allowed before under the rights and settings of this moment."""
        captured = self._settings.captured()
        under = self._current_image()
        found = self._allowed.find(image)
        rights = under.privileges, under.roles
        if found is None or found[0] is not rights[0] or found[1] is not rights[1] or found[2] is not captured:
            found = self._allowed.keep(image, (*rights, captured, set()))
        return found[3]

    def may(self, oid: int, letters: str) -> bool:
        """Tell whether the session has one of some privileges on a relation."""
        image = self._current_image()
        return image.privileges.may(image.roles, self.current(image.roles), oid, letters)

    def checks(self, image: CatalogImage) -> Checks:
        """Return the rights of the session on the objects of an image."""
        under = self._current_image()
        return Checks(image, under.roles, under.privileges, self.current(under.roles), self._settings.captured())

    def _may_insert(self, name: str, image: CatalogImage) -> bool:
        try:
            self.checks(image).require(name, "a")
        except SqlError:
            return False
        return True

    def session(self, roles: Roles) -> int:
        """Return the oid of session_user."""
        name = self._settings.session_user
        found = self._became.get(("session_authorization", name), self.login if name == self._user else NOBODY)
        return NOBODY if roles.by_oid(found) is None else found

    def _meant(self, name: str, roles: Roles) -> int:
        """Return the oid of the role that has a name now.

        A session that was let in under a name that is no role's may call itself by that name.
        """
        role = roles.by_name.get(name)
        if role is not None:
            return role.oid
        return self.login if name == self._user else NOBODY

    def _check_change(self, name: str, value: str) -> bool:
        """Raise 22023 or 42501 when the session can't become `value`.

        Return whether it is a superuser then.
        """
        roles = self._current_image().roles
        session = self.session(roles)
        if name == "role" and value == "none":
            return roles.is_superuser(session)
        wanted = self._meant(value, roles)
        if roles.by_oid(wanted) is None:
            raise SqlError("22023", f'role "{value}" does not exist')
        if name == "session_authorization":
            if wanted != self.login and not roles.is_superuser(self.login):
                raise SqlError("42501", f'permission denied to set session authorization "{value}"')
        elif not roles.is_member(session, wanted):
            raise SqlError("42501", f'permission denied to set role "{value}"')
        self._became[name, value] = wanted
        return roles.is_superuser(wanted)
