"""Functions about the session and the server: settings, search_path, and the like.

Casts of OIDs.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engine.embedded.functions.text import quote_ident as quoted_name
from engine.system_catalog.catalog_functions import catalog_function, constant, named
from engine.system_catalog.registered_types import KINDS
from engine.system_catalog.time_zones import abbreviation_rows, zone_rows
from sql.errors import SqlError
from sql.names.keywords import COLUMN_NAME, KEYWORDS, RESERVED, TYPE_OR_FUNCTION
from sql.names.relation_keys import is_temporary, temporary_schema

if TYPE_CHECKING:
    from engine.system_catalog.session_context import SessionContext

ENCODINGS = {6: "UTF8", 0: "SQL_ASCII"}


@catalog_function
def current_setting(context: SessionContext, name: str | None, missing_ok: bool | None) -> str | None:
    """Return a setting. Raises 42704."""
    if name is None:
        return None
    value = context.setting(name)
    if value is None and not missing_ok:
        raise SqlError("42704", f'unrecognized configuration parameter "{name}"')
    return value


@catalog_function
def txid_current(context: SessionContext) -> int | None:
    """Return the number of the transaction."""
    return context.transaction_number(True)


@catalog_function
def txid_current_if_assigned(context: SessionContext) -> int | None:
    """Return the number of a transaction that has written or whose number was asked for."""
    return context.transaction_number(False)


@catalog_function
def pg_show_all_settings(context: SessionContext) -> list[dict[str, Any]]:
    """Return the rows of pg_settings."""
    return list(context.activity("pg_settings") or [])


@catalog_function
def pg_listening_channels(context: SessionContext) -> list[str]:
    """Return the channels that the session listens to."""
    return [str(row["channel"]) for row in context.activity("pg_listening_channels") or []]


@catalog_function
def pg_timezone_names(context: SessionContext) -> list[dict[str, Any]]:
    """Return the time zones with their present distance from UTC."""
    return zone_rows(context.now_us)


@catalog_function
def pg_timezone_abbrevs(_: SessionContext) -> list[dict[str, Any]]:
    """Return the abbreviations of time zones."""
    return abbreviation_rows()


def _start_time(context: SessionContext) -> datetime | None:
    """Return the time of the server's start, at which it read its settings."""
    return next((row["started"] for row in context.activity("server") or []), None)


for _name in ("pg_postmaster_start_time", "pg_conf_load_time"):
    named(_name)(_start_time)


def _own(context: SessionContext, column: str) -> Any:
    rows = context.activity("pg_stat_activity") or []
    return next((row[column] for row in rows if row["pid"] == context.settings.process_id), None)


@catalog_function
def inet_client_addr(context: SessionContext) -> str | None:
    """Return the address of the session's client."""
    return _own(context, "client_addr") or None


@catalog_function
def inet_client_port(context: SessionContext) -> int | None:
    """Return the port of the session's client."""
    return _own(context, "client_port") or None


@catalog_function
def pg_blocking_pids(context: SessionContext, process_id: int | None) -> list[int] | None:
    """Return the sessions that a session waits for."""
    if process_id is None:
        return None
    for row in context.activity("blocking") or []:
        if row["pid"] == process_id:
            return list(row["by"])
    rows = context.activity("pg_locks") or []
    waits = any(row["pid"] == process_id and not row["granted"] for row in rows)
    return [row["pid"] for row in rows if waits and row["granted"] and row["locktype"] == "object"]


@catalog_function
def pg_client_encoding(context: SessionContext) -> str | None:
    """Return the encoding that the client has chosen."""
    return context.setting("client_encoding")


@catalog_function
def inet_server_port(context: SessionContext) -> int:
    """Return the port that the server listens on."""
    return int(context.setting("port") or 0)


@catalog_function
def current_schemas(context: SessionContext, implicit: bool | None) -> list[str]:
    """Return the schemas of the search path."""
    return list(context.searched if implicit else context.named)


@catalog_function
def pg_encoding_to_char(_: SessionContext, number: int | None) -> str | None:
    """Return the name of an encoding."""
    return None if number is None else ENCODINGS.get(number, "")


@catalog_function
def pg_my_temp_schema(context: SessionContext) -> int:
    """Return the schema of the session's temporary relations, 0 while it has none."""
    return context.snapshot.schema_oid(temporary_schema(context.settings.process_id)) or 0


@catalog_function
def pg_is_other_temp_schema(context: SessionContext, oid: int | None) -> bool | None:
    """Tell whether a schema is that of another session's temporary relations."""
    if oid is None:
        return None
    return oid != pg_my_temp_schema(context) and is_temporary(context.snapshot.schema_name(oid) or "")


@catalog_function
def pg_char_to_encoding(_: SessionContext, name: str | None) -> int | None:
    """Return the number of an encoding, -1 for an unknown one."""
    plain = None if name is None else name.upper().replace("-", "").replace("_", "")
    numbers = {text.replace("_", ""): number for number, text in ENCODINGS.items()}
    return None if plain is None else numbers.get(plain, -1)


def _to_registered(kind: str) -> None:
    def run(context: SessionContext, text: str | None) -> int | None:
        if text is None:
            return None
        return int(text) if text.isdigit() else context.registered_or_none(kind, text)

    named(f"to_{kind}")(run)


for _kind in KINDS:
    _to_registered(_kind)


# Rows.


@catalog_function
def pg_get_keywords(_: SessionContext) -> list[dict[str, Any]]:
    """Return the words of SQL, in alphabetical order."""
    kinds = (
        (RESERVED, "R", "reserved"),
        (TYPE_OR_FUNCTION, "T", "reserved (can be function or type name)"),
        (COLUMN_NAME, "C", "unreserved (cannot be function or type name)"),
        (KEYWORDS, "U", "unreserved"),
    )
    rows = []
    for word in sorted(KEYWORDS):
        code, text = next((code, text) for words, code, text in kinds if word in words)
        bare = word not in NOT_BARE
        rows.append(
            {
                "word": word,
                "catcode": code,
                "barelabel": bare,
                "catdesc": text,
                "baredesc": "can be bare label" if bare else "requires AS",
            }
        )
    return rows


@catalog_function
def pg_options_to_table(_: SessionContext, options: list[str] | None) -> list[dict[str, str | None]]:
    """Return options as rows of name and value."""
    parts = [option.partition("=") for option in options or []]
    return [{"option_name": name, "option_value": value if found else None} for name, found, value in parts]


# grantee=letters/grantor: a name with other characters than letters and digits is in quotes, quotes
# in it are doubled.
ACL_ITEM = re.compile(r'("(?:[^"]|"")*+"|[^"=]*+)=([^/"]*+)/("(?:[^"]|"")*+"|[^"]*+)', re.DOTALL)


def _named_role(context: SessionContext, written: str) -> int:
    """Return the oid of the role whose name stands in an access list, 0 for an empty name:
    everybody.
    """
    name = written[1:-1].replace('""', '"') if written.startswith('"') else written
    return context.snapshot.named("pg_authid", "", name) or 0


@catalog_function
def aclexplode(context: SessionContext, items: list[str] | None) -> list[dict[str, Any]]:
    """Return the privileges in a list of grants as rows."""
    rows = []
    for item in items or []:
        found = ACL_ITEM.fullmatch(item)
        if found is None:
            continue
        grantee, letters, grantor = found.groups()
        for index, letter in enumerate(letters):
            if letter != "*":
                rows.append(
                    {
                        "grantor": _named_role(context, grantor),
                        "grantee": _named_role(context, grantee),
                        "privilege_type": ACL_LETTERS[letter],
                        "is_grantable": letters[index + 1 : index + 2] == "*",
                    }
                )
    return rows


# The letters of an owner's default privileges, and of everybody's, by the kind of object that
# acldefault takes.
DEFAULT_LETTERS = {
    "r": ("arwdDxt", ""), "s": ("rwU", ""), "n": ("UC", ""), "d": ("CTc", "Tc"), "f": ("X", "X"), "T": ("U", "U"), "l": ("U", "U"),
    "t": ("C", ""), "F": ("U", ""), "S": ("U", ""), "c": ("", ""), "p": ("sA", ""), "L": ("rw", ""),
}  # fmt: skip


@catalog_function
def acldefault(context: SessionContext, kind: str | None, owner: int | None) -> list[str] | None:
    """Return the access list of an object that has none. Raises 22023 for an unknown kind."""
    if kind is None or owner is None:
        return None
    if kind not in DEFAULT_LETTERS:
        raise SqlError("22023", f'unrecognized object type abbreviation: "{kind}"')
    mine, everybodys = DEFAULT_LETTERS[kind]
    name = quoted_name(context.shown_as("regrole", owner) or "")
    return [*([f"={everybodys}/{name}"] if everybodys else []), *([f"{name}={mine}/{name}"] if mine else [])]


ACL_LETTERS = {
    "r": "SELECT", "a": "INSERT", "w": "UPDATE", "d": "DELETE", "D": "TRUNCATE", "x": "REFERENCES", "t": "TRIGGER", "X": "EXECUTE",
    "U": "USAGE", "C": "CREATE", "c": "CONNECT", "T": "TEMPORARY", "s": "SET", "A": "ALTER SYSTEM",
}  # fmt: skip
NOT_BARE = frozenset(
    """
    array as char character create day except fetch filter for from grant group having hour intersect into isnull limit minute month
    notnull offset on order over overlaps precision returning second to union varying where window with within without year
    """.split()
)


@catalog_function
def pg_partition_tree(_: SessionContext, __: int | None) -> list[dict[str, Any]]:
    """Return no rows: no table has partitions."""
    return []


@catalog_function
def pg_partition_ancestors(_: SessionContext, oid: int | None) -> list[int]:
    """Return no rows: no table has partitions."""
    return []


# Values that are always the same here.

constant(
    None, "pg_get_partkeydef pg_get_partition_constraintdef pg_get_statisticsobjdef pg_get_statisticsobjdef_columns"
)
constant(None, "pg_get_ruledef pg_get_triggerdef pg_relation_filenode inet_server_addr")
constant(False, "pg_is_wal_replay_paused pg_relation_is_publishable")
constant("", "pg_tablespace_location")
constant(0, "pg_stat_get_numscans pg_stat_get_tuples_inserted pg_trigger_depth age")
constant(True, "pg_column_is_updatable")
constant(28, "pg_relation_is_updatable")
constant("UTF8", "getdatabaseencoding")


# The functions as which casts and operators are printed.


def _registered_forms(kind: str) -> None:
    def shown(context: SessionContext, oid: int | None) -> str | None:
        return context.shown_as(kind, oid)

    def read(context: SessionContext, text: str | None) -> int | None:
        if text is not None and kind == "regclass" and text.isdecimal():
            # A text is a name; only a constant may be a number.
            raise SqlError("42P01", f'relation "{text}" does not exist')
        return None if text is None else context.registered(kind, text)

    def shown_all(context: SessionContext, oids: list[int | None] | None) -> list[str | None] | None:
        return None if oids is None else [shown(context, oid) for oid in oids]

    def read_all(context: SessionContext, texts: list[str | None] | None) -> list[int | None] | None:
        return None if texts is None else [read(context, text) for text in texts]

    for form, run in (("out", shown), ("in", read), ("outs", shown_all), ("ins", read_all)):
        named(f"{kind} {form}")(run)


for _kind in KINDS:
    _registered_forms(_kind)
