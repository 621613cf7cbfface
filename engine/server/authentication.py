"""The identity of a client: the rule that fits its connection, the proof that the rule asks for,
and the role of the client.

Enters: startup parameters, the client's address, its SASL messages. Leaves: the oid of a role, or
FATAL errors with PostgreSQL's words. The reason of a refusal is logged, never what was sent. Must
not know sockets.
"""

from __future__ import annotations

import ipaddress
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.catalog.roles import BOOTSTRAP_OID, Roles
from engine.settings.hba import Rule, find_rule
from sql.wire import writer
from sql.wire.scram import ScramExchange, mock_verifier, read_verifier
from sql.wire.startup import fatal

log = logging.getLogger(__name__)

DATABASES = frozenset({"antumbra", "postgres"})


@dataclass
class Login:
    """A client that is being let in.

    Attributes:
        any_name: the name need not be a role while no role was created.
        exchange: None when no proof is asked for.
    """

    user: str
    address: str
    any_name: bool = False
    exchange: ScramExchange | None = None
    awaited: str = "initial"

    def answer(self, payload: bytes) -> tuple[bytes, bool]:
        """Return the reply to a SASL message, and whether the client has shown that it knows the
        password.

        Raises FATAL errors.
        """
        assert self.exchange is not None
        if self.awaited == "final":
            final = self.exchange.client_final(payload)
            if final is None:
                log.warning("password authentication failed for user %r from %s", self.user, self.address)
                raise fatal("28P01", f'password authentication failed for user "{self.user}"')
            return writer.authentication_sasl_final(final), True
        first = self.exchange.first(payload) if self.awaited == "initial" else self.exchange.client_first(payload)
        self.awaited = "first" if first is None else "final"
        return writer.authentication_sasl_continue(first or b""), False


class Authenticator:
    """The authenticator, which lets clients in by rules.

    Attributes:
        roles: the present roles.
        now_us: the time of day.
        end_point: see `engine.server.certificate_hash`.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        roles: Callable[[], Roles],
        now_us: Callable[[], int],
        end_point: bytes | None = None,
    ) -> None:
        self._rules = rules
        self._roles = roles
        self._now_us = now_us
        self._end_point = end_point

    def begin(self, parameters: Mapping[str, str], address: str, encrypted: bool) -> Login:
        """Return the login of a client, with the proof that it has to give.

        Raises 28000 when it can't get in.
        """
        user, database = parameters["user"], parameters["database"]
        roles = self._roles()
        role = roles.by_name.get(user)

        def is_member(group: str) -> bool:
            other = roles.by_name.get(group)
            return (
                role is not None and other is not None and other.oid in roles.reached_from(role.oid, inheriting=False)
            )

        rule = find_rule(self._rules, user, database, ipaddress.ip_address(address), encrypted, is_member)
        about = f'host "{address}", user "{user}", database "{database}", {"SSL" if encrypted else "no"} encryption'
        if rule is None:
            raise fatal("28000", f"no pg_hba.conf entry for {about}", "The setting hba has the rules.")
        if rule.method == "reject":
            raise fatal("28000", f"pg_hba.conf rejects connection for {about}")
        login = Login(user, address, rule.any_name)
        if rule.method == "trust":
            return login
        verifier = None if role is None or role.verifier is None else read_verifier(role.verifier)
        if role is not None and role.valid_until is not None and role.valid_until < self._now_us():
            log.warning("the password of user %r has expired", user)
            verifier = None
        login.exchange = ScramExchange(
            verifier, mock_verifier(user, roles.mock_secret), self._end_point if encrypted else None
        )
        return login

    def is_superuser(self, role: int) -> bool:
        """Tell whether a role, by its oid, is a superuser now."""
        return self._roles().is_superuser(role)

    def role_of(self, login: Login, database: str, roles_connected: Iterable[int]) -> int:
        """Return the oid of the role of a client that has given the proof.

        Raises 28000, 3D000 and 53300.

        roles_connected: the roles of the present sessions.
        """
        roles = self._roles()
        role = roles.by_name.get(login.user)
        if role is None and (roles.are_made or not login.any_name):
            raise fatal("28000", f'role "{login.user}" does not exist')
        if role is not None and not role.login:
            raise fatal("28000", f'role "{login.user}" is not permitted to log in')
        if database not in DATABASES:
            raise fatal("3D000", f'database "{database}" does not exist', 'The database is called "antumbra".')
        if role is None:
            return BOOTSTRAP_OID
        if 0 <= role.connection_limit <= sum(other == role.oid for other in roles_connected) and not role.superuser:
            raise fatal("53300", f'too many connections for role "{login.user}"')
        return role.oid
