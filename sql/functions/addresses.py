"""Functions and operators of inet and cidr. A value is its text."""

from __future__ import annotations

from sql.functions.rows import Function, routines
from sql.values import network_addresses as addresses

FUNCTIONS = (
    Function("inet_output", "abbrev", "inet > text", ("abbrev('10.1.0.0/16'::inet)", "10.1.0.0/16"), duckdb="{0}"),
    Function("cidr_abbrev", "abbrev", "cidr > text", ("abbrev('10.1.0.0/16'::cidr)", "10.1/16"), python=addresses.abbreviated),
    Function("inet_broadcast", "broadcast", "inet > inet", ("broadcast('10.1.2.3/24'::inet)", "10.1.2.255/24"), python=addresses.broadcast),
    Function("inet_family", "family", "inet > int4", ("family('::1'::inet)", "6"), python=addresses.version),
    Function("inet_host", "host", "inet > text", ("host('10.1.2.3/24'::inet)", "10.1.2.3"), python=addresses.host),
    Function("inet_hostmask", "hostmask", "inet > inet", ("hostmask('10.1.2.3/20'::inet)", "0.0.15.255"), python=addresses.hostmask),
    Function("inet_masklen", "masklen", "inet > int4", ("masklen('10.1.2.3/20'::inet)", "20"), python=addresses.masklen),
    Function("inet_netmask", "netmask", "inet > inet", ("netmask('10.1.2.3/20'::inet)", "255.255.240.0"), python=addresses.netmask),
    Function("inet_network", "network", "inet > cidr", ("network('10.1.2.3/20'::inet)", "10.1.0.0/20"), python=addresses.cidr_of),
    Function(
        "set_masklen", "set_masklen", "inet int4 > inet; cidr int4 > cidr", ("set_masklen('10.1.2.3/24'::inet, 16)", "10.1.2.3/16"),
        python={"inet": addresses.with_inet_masklen, "cidr": addresses.with_cidr_masklen},
    ),
    Function(
        "inet_merge", "inet_merge", "inet inet > cidr", ("inet_merge('10.1.5.1/24', '10.1.2.5/24')", "10.1.0.0/21"),
        python=addresses.merged,
    ),
    Function(
        "inet_same_family", "inet_same_family", "inet inet > bool", ("inet_same_family('10.1.5.1/24', '::1')", "f"),
        duckdb="(inet_family({0}) = inet_family({1}))",
    ),
    Function("inet_within", "<<", "inet inet > bool", ("'10.1.5.1'::inet << '10.1.5/24'::inet", "t"), python=addresses.is_below),
    Function("inet_holds", ">>", "inet inet > bool", ("'10.1.5/24'::inet >> '10.1.6.1'::inet", "f"), duckdb="inet_within({1}, {0})"),
    Function("inet_within_or_equal", "<<=", "inet inet > bool", ("'::1'::inet <<= '::1'::inet", "t"), python=addresses.is_within),
    Function(
        "inet_holds_or_equal", ">>=", "inet inet > bool", ("'10/8'::inet >>= '::1'::inet", "f"),
        duckdb="inet_within_or_equal({1}, {0})",
    ),
    Function("inet_overlaps", "&&", "inet inet > bool", ("'10.1/16'::inet && '10.1.80/20'::inet", "t"), python=addresses.overlaps),
    Function("inet_not", "~ inetnot", "inet > inet", ("~ '192.168.1.6'::inet", "63.87.254.249"), python=addresses.inverted),
    Function("inet_and", "& inetand", "inet inet > inet", ("'10.1.2.3'::inet & '0.0.255.0'::inet", "0.0.2.0"), python=addresses.both),
    Function("inet_or", "| inetor", "inet inet > inet", ("'10.1.2.3'::inet | '0.0.255.0'::inet", "10.1.255.3"), python=addresses.either),
    Function("inet_add", "+", "inet int8 > inet", ("'10.1.2.255/8'::inet + 2", "10.1.3.1/8"), python=addresses.moved),
    Function("add_inet", "+", "int8 inet > inet", ("2 + '10.1.2.255'::inet", "10.1.3.1"), duckdb="inet_add({1}, {0})"),
    Function("inet_subtract", "-", "inet int8 > inet", ("'::'::inet - (-1)", "::1"), python=addresses.moved_back),
    Function("inet_difference", "-", "inet inet > int8", ("'10.1.3.1'::inet - '10.1.2.255'::inet", "2"), python=addresses.distance),
)  # fmt: skip

ROUTINES = routines(
    inet_from_text=("text > inet", addresses.inet_value),
    cidr_from_text=("text > cidr", addresses.cidr_value),
    inet_show=("inet > text", addresses.shown),
    cidr_of=("inet > cidr", addresses.cidr_of),
    inet_of=("cidr > inet", addresses.inet_of),
    inet_key=("inet > bytea", addresses.address_key),
    cidr_key=("cidr > bytea", addresses.address_key),
)
