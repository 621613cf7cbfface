"""Functions for DuckDB on inet and cidr. Strict: callers handle NULL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sql.values import network_addresses as addresses
from sql.values.network_addresses import Address

_TEXT = "VARCHAR"
ADDRESS_SPECIFICATIONS: list[tuple[str, list[str], str, Callable[..., Any]]] = [
    ("inet_from_text", [_TEXT], _TEXT, addresses.inet_value),
    ("cidr_from_text", [_TEXT], _TEXT, addresses.cidr_value),
    ("inet_show", [_TEXT], _TEXT, lambda text: Address.of(text).text(is_cidr=True)),
    ("cidr_of", [_TEXT], _TEXT, addresses.cidr_of),
    ("inet_of", [_TEXT], _TEXT, addresses.inet_of),
    ("inet_key", [_TEXT], "BLOB", addresses.address_key),
    ("cidr_key", [_TEXT], "BLOB", addresses.address_key),
    ("cidr_abbrev", [_TEXT], _TEXT, addresses.abbreviated),
    ("inet_broadcast", [_TEXT], _TEXT, addresses.broadcast),
    ("inet_family", [_TEXT], "INTEGER", lambda text: Address.of(text).version),
    ("inet_host", [_TEXT], _TEXT, lambda text: Address.of(text).host),
    ("inet_hostmask", [_TEXT], _TEXT, addresses.hostmask),
    ("inet_masklen", [_TEXT], "INTEGER", lambda text: Address.of(text).bits),
    ("inet_netmask", [_TEXT], _TEXT, addresses.netmask),
    ("inet_network", [_TEXT], _TEXT, addresses.cidr_of),
    ("inet_set_masklen", [_TEXT, "INTEGER", "BOOLEAN"], _TEXT, addresses.with_masklen),
    ("inet_merge", [_TEXT, _TEXT], _TEXT, addresses.merged),
    ("inet_within", [_TEXT, _TEXT, "BOOLEAN"], "BOOLEAN", addresses.is_within),
    ("inet_overlaps", [_TEXT, _TEXT], "BOOLEAN", addresses.overlaps),
    ("inet_moved", [_TEXT, "BIGINT", "INTEGER"], _TEXT, addresses.moved),
    ("inet_difference", [_TEXT, _TEXT], "BIGINT", addresses.distance),
]
