"""Functions and operators of inet and cidr in DuckDB. A value is its text."""

from __future__ import annotations

from collections.abc import Mapping

from sql.emit.expressions import Rule

ADDRESS_RULES: Mapping[str, Mapping[str, Rule]] = {
    "inet_output": {"inet": "{0}"},
    "cidr_abbrev": {"cidr": "cidr_abbrev({0})"},
    **{
        f"inet_{name}": {"inet": f"inet_{name}({{0}})"}
        for name in ("broadcast", "family", "host", "hostmask", "masklen", "netmask", "network")
    },
    "set_masklen": {"inet": "inet_set_masklen({0}, {1}, FALSE)", "cidr": "inet_set_masklen({0}, {1}, TRUE)"},
    "inet_merge": {"inet": "inet_merge({0}, {1})"},
    "inet_same_family": {"inet": "(inet_family({0}) = inet_family({1}))"},
    "inet_within": {"inet": "inet_within({0}, {1}, FALSE)"},
    "inet_holds": {"inet": "inet_within({1}, {0}, FALSE)"},
    "inet_within_or_equal": {"inet": "inet_within({0}, {1}, TRUE)"},
    "inet_holds_or_equal": {"inet": "inet_within({1}, {0}, TRUE)"},
    "inet_overlaps": {"inet": "inet_overlaps({0}, {1})"},
    "inet_add": {"inet": "inet_moved({0}, {1}, 1)"},
    "add_inet": {"any": "inet_moved({1}, {0}, 1)"},
    "inet_subtract": {"inet": "inet_moved({0}, {1}, -1)"},
    "inet_difference": {"inet": "inet_difference({0}, {1})"},
}
