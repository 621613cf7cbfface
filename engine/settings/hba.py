"""The rules of who may connect from where, and by which method, as in pg_hba.conf, in the setting
`hba`.

Enters: the text of the setting, one rule after the other. Leaves: rules, and the first rule that
fits a connection. Raises ValueError with a line for a person. Must not know roles or sockets: the
caller tells whether a user is a member of a role.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

METHODS = ("trust", "scram-sha-256", "reject")
KINDS = ("host", "hostssl", "hostnossl")
FORM = "TYPE DATABASE USER ADDRESS METHOD"
WORD = re.compile(r'"([^"]*)"|([^\s"]+)')
ANYWHERE = (ipaddress.ip_network("0.0.0.0/0"), ipaddress.ip_network("::/0"))
LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))

Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


@dataclass(frozen=True, slots=True)
class Name:
    """One name of a list in a rule.

    Attributes:
        keyword: the name was not in quotes, so that all, sameuser and +group mean more than
            themselves.
    """

    text: str
    keyword: bool


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        networks: the address has to be in one of them.
        any_name: while no role was created, any name comes in, as a superuser.
    """

    kind: str
    databases: tuple[Name, ...]
    users: tuple[Name, ...]
    networks: tuple[Network, ...]
    method: str
    any_name: bool = False

    @property
    def trusts_others(self) -> bool:
        """True when the rule lets other machines in without a password."""
        return self.method == "trust" and not all(_is_within(network, LOOPBACK) for network in self.networks)


def read_rules(text: str) -> tuple[Rule, ...]:
    """Return the rules of the setting: separated by semicolons or lines. Raises ValueError."""
    return tuple(_rule(line.strip()) for line in re.split(r"[;\n]", text) if line.strip())


def default_rules(listens_beyond_loopback: bool, trusts_all: bool) -> tuple[Rule, ...]:
    """Return the rules of a server that has none of its own: this machine is trusted as long as no
    other one can connect.
    """
    everybody = (Name("all", True),)
    if trusts_all or not listens_beyond_loopback:
        return (Rule("host", everybody, everybody, ANYWHERE, "trust", any_name=True),)
    return (Rule("host", everybody, everybody, ANYWHERE, "scram-sha-256"),)


def find_rule(
    rules: Sequence[Rule],
    user: str,
    database: str,
    address: Address,
    encrypted: bool,
    is_member: Callable[[str], bool],
) -> Rule | None:
    """Return the first rule that fits.

    is_member: tells whether the user is in a role; a role counts as its own member.
    """
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    for rule in rules:
        if (
            (rule.kind == "host" or (rule.kind == "hostssl") == encrypted)
            and any(address in network for network in rule.networks)
            and any(_names_database(name, database, user) for name in rule.databases)
            and any(_names_user(name, user, is_member) for name in rule.users)
        ):
            return rule
    return None


def _names_database(name: Name, database: str, user: str) -> bool:
    if name.keyword and name.text == "all":
        return True
    return database == (user if name.keyword and name.text == "sameuser" else name.text)


def _names_user(name: Name, user: str, is_member: Callable[[str], bool]) -> bool:
    if name.keyword and name.text == "all":
        return True
    if name.keyword and name.text.startswith("+"):
        return is_member(name.text[1:])
    return user == name.text


def _rule(line: str) -> Rule:
    words = [part.strip() for part in re.split(r"\s+(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", line)]
    if words[0] == "local":
        raise ValueError(f'"{line}": there are no Unix-domain sockets here; use host')
    if words[0] not in KINDS:
        raise ValueError(f'"{line}": the type must be one of {", ".join(KINDS)}')
    if len(words) != 5:
        raise ValueError(f'"{line}": a rule is {FORM}')
    kind, databases, users, address, method = words
    if method not in METHODS:
        raise ValueError(f'"{line}": the method must be one of {", ".join(METHODS)}')
    return Rule(kind, _names(databases, line), _names(users, line), _networks(address, line), method)


def _names(text: str, line: str) -> tuple[Name, ...]:
    names = []
    for item in text.split(","):
        match = WORD.fullmatch(item)
        if match is None:
            raise ValueError(f'"{line}": "{item}" is no name')
        quoted, plain = match.groups()
        names.append(Name(plain, True) if quoted is None else Name(quoted, False))
    return tuple(names)


def _networks(text: str, line: str) -> tuple[Network, ...]:
    if text == "all":
        return ANYWHERE
    if text == "localhost":
        return LOOPBACK
    try:
        return (ipaddress.ip_network(text),)
    except ValueError as error:
        raise ValueError(
            f'"{line}": the address must be "all", "localhost" or a network as in 192.168.1.0/24: {error}'
        ) from None


def _is_within(network: Network, wholes: Sequence[Network]) -> bool:
    return any(network.version == whole.version and network.subnet_of(whole) for whole in wholes)  # type: ignore[arg-type]  # of one version
