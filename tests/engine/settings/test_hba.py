"""Rules of who may connect: the first that fits counts."""

from __future__ import annotations

import ipaddress

import pytest

from engine.settings.hba import default_rules, find_rule, read_rules

RULES = read_rules(
    """
    host     all                all                  127.0.0.1/32   trust
    hostssl  antumbra,"other"   alice,+writers       10.1.0.0/16    scram-sha-256
    hostnossl all               "all"                10.0.0.0/8     trust ; host sameuser all 10.0.0.0/8 reject
    host     antumbra           all                  2001:db8::/32  scram-sha-256
    """
)


@pytest.mark.parametrize(
    ("user", "database", "address", "encrypted", "expected"),
    [
        ("anybody", "antumbra", "127.0.0.1", False, "trust"),
        ("anybody", "antumbra", "::ffff:127.0.0.1", False, "trust"),
        ("anybody", "antumbra", "127.0.0.2", False, None),
        ("alice", "antumbra", "10.1.2.3", True, "scram-sha-256"),
        ("alice", "other", "10.1.2.3", True, "scram-sha-256"),
        ("alice", "postgres", "10.1.2.3", True, None),
        ("alice", "antumbra", "10.1.2.3", False, None),
        ("alice", "antumbra", "10.2.0.1", True, None),
        ("writer", "antumbra", "10.1.2.3", True, "scram-sha-256"),
        ("all", "antumbra", "10.9.9.9", False, "trust"),
        ("all", "antumbra", "10.9.9.9", True, None),
        ("bob", "bob", "10.9.9.9", True, "reject"),
        ("bob", "antumbra", "2001:db8::1", False, "scram-sha-256"),
        ("bob", "antumbra", "2001:db9::1", False, None),
    ],
)
def test_the_first_rule_that_fits(
    user: str, database: str, address: str, encrypted: bool, expected: str | None
) -> None:
    rule = find_rule(
        RULES,
        user,
        database,
        ipaddress.ip_address(address),
        encrypted,
        lambda group: (user, group) == ("writer", "writers"),
    )
    assert (None if rule is None else rule.method) == expected


def test_without_rules_passwords_are_asked_for_when_others_can_connect() -> None:
    def method(beyond: bool, trusts_all: bool) -> str:
        (rule,) = default_rules(beyond, trusts_all)
        return rule.method

    assert [method(False, False), method(True, False), method(True, True)] == ["trust", "scram-sha-256", "trust"]


@pytest.mark.parametrize(
    ("line", "trusts"),
    [("127.0.0.0/8", False), ("::1/128", False), ("localhost", False), ("126.0.0.0/7", True), ("all", True)],
)
def test_who_is_trusted_beyond_this_machine(line: str, trusts: bool) -> None:
    (rule,) = read_rules(f"host all all {line} trust")
    assert rule.trusts_others == trusts
