"""Who a session is: the role it was let in as, and the one that it acts as since SET ROLE or SET SESSION AUTHORIZATION.

Enters: the settings role and session_authorization, the roles of today. Leaves: oids. A role that is gone may do nothing. Must not
know messages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engine.catalog import CatalogImage
from engine.roles import Roles
from engine.sessions.checks import Checks
from sql.catalog import SessionSettings
from sql.datatypes import SqlType
from sql.errors import SqlError
from sql.settings import Settings

# Nobody has this oid; it also stands for PUBLIC, which nobody is.
NOBODY = 0


class Identity:
    """One session's role. login: the oid of the role that the client was let in as, under the name `user`.

    roles: those that the next statement sees. Raises SqlError when the client asked at startup to be what it may not.
    """

    def __init__(self, settings: Settings, login: int, user: str, roles: Callable[[], Roles]) -> None:
        self.login = login
        self._user = user
        self._settings = settings
        self._known_at: tuple[SessionSettings, Roles] | None = None
        self._current = NOBODY
        self._roles = roles
        self._allowed: set[str] = set()
        self._allowed_at: CatalogImage | None = None
        self._allowed_for: SessionSettings | None = None
        settings.check_identity = self._check_change
        settings.let_in(roles().is_superuser(login))

    def current(self, roles: Roles) -> int:
        """Return the oid of the role that the session acts as."""
        captured = self._settings.captured()
        known = self._known_at
        if known is None or known[0] is not captured or known[1] is not roles:
            self._known_at = (captured, roles)
            self._current = self._oid(captured.user, roles)
        return self._current

    def bypasses(self, image: CatalogImage) -> bool:
        """Tell whether nothing is checked, since the session acts as a superuser."""
        return image.roles.is_superuser(self.current(image.roles))

    def may_insert(self, name: str, image: CatalogImage) -> bool:
        """Tell whether a row may go into a stream. Cheap: asked for each row."""
        captured = self._settings.captured()
        if name in self._allowed and self._allowed_at is image and self._allowed_for is captured:
            return True
        if self._allowed_at is not image or self._allowed_for is not captured:
            self._allowed, self._allowed_at, self._allowed_for = set(), image, captured
        if not self.bypasses(image) and not self._may_insert(name, image):
            return False
        self._allowed.add(name)
        return True

    def may(self, image: CatalogImage, oid: int, letters: str) -> bool:
        """Tell whether the session has one of some privileges on a relation."""
        return image.privileges.may(image.roles, self.current(image.roles), oid, letters)

    def checks(self, image: CatalogImage, declared: Sequence[SqlType | None] | None = None) -> Checks:
        """Return the rights that the session has."""
        return Checks(image, self.current(image.roles), self._settings.captured(), declared)

    def _may_insert(self, name: str, image: CatalogImage) -> bool:
        try:
            self.checks(image).require(name, "a")
        except SqlError:
            return False
        return True

    def session(self, roles: Roles) -> int:
        """Return the oid of session_user."""
        return self._oid(self._settings.session_user, roles)

    def _oid(self, name: str, roles: Roles) -> int:
        if name == self._user:
            return self.login
        role = roles.by_name.get(name)
        return NOBODY if role is None else role.oid

    def _check_change(self, name: str, value: str) -> bool:
        """Raise 22023 or 42501 when the session can't become `value`; return whether it is a superuser then."""
        roles = self._roles()
        session = self.session(roles)
        if name == "role" and value == "none":
            return roles.is_superuser(session)
        wanted = self._oid(value, roles)
        if roles.by_oid(wanted) is None:
            raise SqlError("22023", f'role "{value}" does not exist')
        if name == "session_authorization":
            if wanted != self.login and not roles.is_superuser(self.login):
                raise SqlError("42501", f'permission denied to set session authorization "{value}"')
        elif not roles.is_member(session, wanted):
            raise SqlError("42501", f'permission denied to set role "{value}"')
        return roles.is_superuser(wanted)
