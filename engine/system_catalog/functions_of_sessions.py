"""Functions about the session and the server: settings, search_path, privileges, sizes, and the like."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from engine.embedded.regular_expressions import matches as matches_pattern
from engine.embedded.text_functions import formatted, quote_literal
from engine.embedded.text_functions import quote_ident as quoted_name
from engine.roles import FIRST_FREE_OID, PUBLIC
from engine.system_catalog.catalog_functions import catalog_function, constant
from engine.system_catalog.static_rows import PUBLIC_SCHEMA
from sql.array_text import array_text
from sql.errors import SqlError
from sql.grammar.keywords import COLUMN_NAME, KEYWORDS, RESERVED, TYPE_OR_FUNCTION
from sql.literal_output import zoned_text

if TYPE_CHECKING:
    from engine.system_catalog.session_context import SessionContext

ENCODINGS = {6: "UTF8", 0: "SQL_ASCII"}
# What has_..._privilege takes, by its kind of object.
TABLE_LETTERS = {"select": "r", "insert": "a", "update": "w", "references": "x"}
PRIVILEGES: dict[str, dict[str, str]] = {
    "table": {**TABLE_LETTERS, "delete": "d", "truncate": "D", "trigger": "t"},
    "any_column": TABLE_LETTERS,
    "column": TABLE_LETTERS,
    "sequence": {"usage": "U", "select": "r", "update": "w"},
    "schema": {"create": "C", "usage": "U"},
    "database": {"create": "C", "connect": "c", "temporary": "T", "temp": "T"},
    "function": {"execute": "X"},
    "type": {"usage": "U"},
    "language": {"usage": "U"},
    "server": {"usage": "U"},
    "foreign_data_wrapper": {"usage": "U"},
    "tablespace": {"create": "C"},
}
OBJECTS = {
    "table": "regclass",
    "any_column": "regclass",
    "column": "regclass",
    "sequence": "regclass",
    "schema": "regnamespace",
    "type": "regtype",
    "function": "regprocedure",
}
SIZE_UNITS = ("bytes", "kB", "MB", "GB", "TB", "PB")
SIZE_LIMIT = 10 * 1024


@catalog_function("text", "text", required=1)
def quote_ident(_: SessionContext, name: str | None) -> str | None:
    """Return a name as SQL needs it."""
    return None if name is None else quoted_name(name)


@catalog_function("text", "text", name="quote_literal")
def _quote_literal(_: SessionContext, text: str | None) -> str | None:
    return None if text is None else quote_literal(text)


@catalog_function("text bool", "text", required=1)
def current_setting(context: SessionContext, name: str | None, missing_ok: bool | None) -> str | None:
    """Return a setting. Raises 42704."""
    if name is None:
        return None
    value = context.setting(name)
    if value is None and not missing_ok:
        raise SqlError("42704", f'unrecognized configuration parameter "{name}"')
    return value


@catalog_function("bool", "name[]")
def current_schemas(context: SessionContext, implicit: bool | None) -> list[str]:
    """Return the schemas of the search path."""
    return [*(["pg_catalog"] if implicit else []), *context.path]


@catalog_function("int4", "name")
def pg_encoding_to_char(_: SessionContext, number: int | None) -> str | None:
    """Return the name of an encoding."""
    return None if number is None else ENCODINGS.get(number, "")


@catalog_function("name", "int4")
def pg_char_to_encoding(_: SessionContext, name: str | None) -> int | None:
    """Return the number of an encoding, -1 for one that there is not."""
    plain = None if name is None else name.upper().replace("-", "").replace("_", "")
    numbers = {text.replace("_", ""): number for number, text in ENCODINGS.items()}
    return None if plain is None else numbers.get(plain, -1)


def _to_registered(kind: str) -> None:
    def run(context: SessionContext, text: str | None) -> int | None:
        if text is None:
            return None
        return int(text) if text.isdigit() else context.registered_or_none(kind, text)

    catalog_function("text", kind, name=f"to_{kind}")(run)


for _kind in (
    "regclass",
    "regtype",
    "regproc",
    "regprocedure",
    "regoper",
    "regoperator",
    "regnamespace",
    "regrole",
    "regcollation",
):
    _to_registered(_kind)


# Privileges.


def _has_privilege(kind: str) -> None:
    count = 4 if kind == "column" else 3

    def run(context: SessionContext, *given: str | None) -> bool | None:
        # The first argument, the role, can be left out: what is given then ends before the last place.
        values = list(given) if given[-1] is not None else list(given[:-1])
        if None in values:
            return None
        role, thing = context.role, str(values[-3 if kind == "column" else -2])
        if len(values) == count:
            role = _role(context, str(values[0]))
        words = [one.strip() for one in str(values[-1]).removeprefix("=").split(",")]
        letters = "".join(PRIVILEGES[kind].get(_privilege(kind, word), "") for word in words)
        return _may(context, kind, role, thing, letters)

    catalog_function(" ".join(["object"] * count), "bool", required=count - 1, name=f"has_{kind}_privilege")(run)


def _privilege(kind: str, word: str) -> str:
    name = word.lower().removesuffix(" with grant option")
    if name not in PRIVILEGES[kind]:
        raise SqlError("22023", f'unrecognized privilege type: "{word}"')
    return name


def _role(context: SessionContext, value: str) -> int:
    """Return the role that an argument means. Raises 42704."""
    if value.startswith("#"):
        return int(value[1:])
    if value == "=public":
        return PUBLIC
    role = context.snapshot.image.roles.by_name.get(value[1:])
    if role is None:
        raise SqlError("42704", f'role "{value[1:]}" does not exist')
    return role.oid


def _may(context: SessionContext, kind: str, role: int, thing: str, letters: str) -> bool | None:
    """Tell whether a role has one of the privileges: NULL for an OID of nothing. Raises what a name of nothing raises."""
    registered = OBJECTS.get(kind)
    image = context.snapshot.image
    if registered is None:
        return True
    oid = context.registered(registered, thing[1:]) if thing.startswith("=") else int(thing[1:])
    relation = {"regclass": "pg_class", "regnamespace": "pg_namespace", "regtype": "pg_type", "regprocedure": "pg_proc"}
    if context.snapshot.row(relation[registered], oid) is None:
        return None
    if oid < FIRST_FREE_OID and oid != PUBLIC_SCHEMA:
        # Everybody reads the catalog and calls functions, and nobody writes there.
        return bool(set(letters) & set("rUX")) or image.roles.is_superuser(role)
    return image.privileges.may(image.roles, role, oid, letters)


for _kind in PRIVILEGES:
    _has_privilege(_kind)


@catalog_function("object object object", "bool", required=2)
def pg_has_role(context: SessionContext, *given: str | None) -> bool | None:
    """Tell whether a role is a member of another one."""
    values = list(given) if given[-1] is not None else list(given[:-1])
    if None in values:
        return None
    role = _role(context, str(values[0])) if len(values) == len(given) else context.role
    roles = context.snapshot.image.roles
    other, word = _role(context, str(values[-2])), str(values[-1]).removeprefix("=").lower()
    return roles.has_privileges_of(role, other) if word.startswith("usage") else roles.is_member(role, other)


# Sizes: the rows are in one file, whose share per relation nobody counts.


@catalog_function("int8", "text")
def pg_size_pretty(_: SessionContext, size: int | None) -> str | None:
    """Return a size with its unit: the largest of which there are few enough."""
    if size is None:
        return None
    value, unit = size, 0
    if abs(value) < SIZE_LIMIT:
        return f"{value} bytes"
    # As PostgreSQL does: a bit more than is shown is kept, to round the half away from zero.
    half = value // 512 if value >= 0 else -(-value // 512)
    unit = 1
    while abs(half) >= SIZE_LIMIT * 2 - 1 and unit < len(SIZE_UNITS) - 1:
        half = half // 1024 if half >= 0 else -(-half // 1024)
        unit += 1
    value = (abs(half) + 1) // 2 * (1 if half >= 0 else -1)
    return f"{value} {SIZE_UNITS[unit]}"


for _name in ("pg_relation_size", "pg_table_size", "pg_indexes_size", "pg_total_relation_size"):

    @catalog_function("regclass text" if _name == "pg_relation_size" else "regclass", "int8", required=1, name=_name)
    def _relation_size(context: SessionContext, oid: int | None, *_: str | None) -> int | None:
        if oid is None or context.snapshot.row("pg_class", oid) is None:
            return None
        return context.snapshot.bytes_of(oid)


@catalog_function("object", "int8")
def pg_database_size(context: SessionContext, _: str | None) -> int:
    """Return the bytes of all relations together."""
    return sum(context.snapshot.bytes_of(entry.description.oid) for entry in context.snapshot.image.entries.values())


# Rows.


@catalog_function("", "", fields="word text,catcode char,barelabel bool,catdesc text,baredesc text")
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


@catalog_function("text[]", "", fields="option_name text,option_value text")
def pg_options_to_table(_: SessionContext, options: list[str] | None) -> list[dict[str, str | None]]:
    """Return options as rows of name and value."""
    parts = [option.partition("=") for option in options or []]
    return [{"option_name": name, "option_value": value if found else None} for name, found, value in parts]


@catalog_function("aclitem[]", "", fields="grantor oid,grantee oid,privilege_type text,is_grantable bool")
def aclexplode(context: SessionContext, items: list[str] | None) -> list[dict[str, Any]]:
    """Return the privileges in a list of grants as rows."""
    rows = []
    for item in items or []:
        grantee, _, rest = item.rpartition("=")
        letters, _, grantor = rest.partition("/")
        for index, letter in enumerate(letters):
            if letter != "*":
                rows.append(
                    {
                        "grantor": context.snapshot.named("pg_authid", "", grantor.strip('"')) or 0,
                        "grantee": context.snapshot.named("pg_authid", "", grantee.strip('"')) or 0,
                        "privilege_type": ACL_LETTERS[letter],
                        "is_grantable": letters[index + 1 : index + 2] == "*",
                    }
                )
    return rows


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


@catalog_function("oid", "", fields="relid regclass,parentrelid regclass,isleaf bool,level int4")
def pg_partition_tree(_: SessionContext, __: int | None) -> list[dict[str, Any]]:
    """Return no rows: no table has partitions."""
    return []


@catalog_function("oid", "regclass", rows=True)
def pg_partition_ancestors(_: SessionContext, oid: int | None) -> list[int]:
    """Return no rows: no table has partitions."""
    return []


# Values that are always the same here.

constant("pg_get_partkeydef", "oid", "text", None)
constant("pg_get_partition_constraintdef", "oid", "text", None)
constant("pg_get_statisticsobjdef", "oid", "text", None)
constant("pg_get_statisticsobjdef_columns", "oid", "text", None)
constant("pg_get_ruledef", "oid bool", "text", None, required=1)
constant("pg_get_triggerdef", "oid bool", "text", None, required=1)
constant("pg_get_function_sqlbody", "oid", "text", None)
constant("pg_get_function_arg_default", "oid int4", "text", None)
constant("pg_is_other_temp_schema", "oid", "bool", False)
constant("pg_my_temp_schema", "", "oid", 0)
constant("pg_is_in_recovery", "", "bool", False)
constant("pg_is_wal_replay_paused", "", "bool", False)
constant("pg_relation_is_publishable", "regclass", "bool", False)
constant("pg_relation_filenode", "regclass", "oid", None)
constant("pg_tablespace_location", "oid", "text", "")
constant("pg_tablespace_size", "object", "int8", 0)
constant("pg_column_is_updatable", "regclass int2 bool", "bool", True)
constant("pg_relation_is_updatable", "regclass bool", "int4", 28)
constant("pg_stat_get_numscans", "oid", "int8", 0)
constant("pg_stat_get_tuples_inserted", "oid", "int8", 0)
constant("getdatabaseencoding", "", "name", "UTF8")
constant("inet_server_addr", "", "inet", None)
constant("inet_client_addr", "", "inet", None)
constant("pg_trigger_depth", "", "int4", 0)
constant("age", "xid", "int4", 0)


# What casts and operators are printed as.


@catalog_function("text text text", "bool", name="matches", internal=True)
def _matches(_: SessionContext, text: str | None, pattern: str | None, letters: str | None) -> bool | None:
    if text is None or pattern is None:
        return None
    return matches_pattern(text, pattern, letters or "")


@catalog_function("text[]", "text", name="array_out", internal=True)
def _array_out(_: SessionContext, items: list[str | None] | None) -> str | None:
    return None if items is None else array_text(items)


@catalog_function("text[] text text", "text", name="array_to_string", internal=True)
def _array_to_string(
    _: SessionContext, items: list[str | None] | None, delimiter: str | None, null: str | None
) -> str | None:
    if items is None or delimiter is None:
        return None
    shown = [null if item is None else item for item in items]
    return delimiter.join(item for item in shown if item is not None)


@catalog_function("text[] text", "json", name="json_build_object", internal=True)
def _json_build_object(_: SessionContext, texts: list[str | None] | None, plain: str | None) -> str:
    """Return keys and values as an object. plain: '1' where the text is JSON as it is, '0' where it is to be a string."""
    values = texts or []
    if len(values) % 2:
        raise SqlError(
            "22023",
            "argument list must have even number of elements",
            hint="The arguments of json_build_object() must consist of alternating keys and values.",
        )
    shown = [
        "null" if text is None else text if code == "1" else json.dumps(text, ensure_ascii=False)
        for text, code in zip(values, plain or "", strict=True)
    ]
    return "{" + ", ".join(f"{key} : {value}" for key, value in zip(shown[::2], shown[1::2], strict=True)) + "}"


@catalog_function("text text[]", "text", name="format", internal=True)
def _format(_: SessionContext, template: str | None, arguments: list[str | None] | None) -> str | None:
    return None if template is None else formatted(template, arguments or [])


@catalog_function("int8", "text", name="timestamptz_out", internal=True)
def _timestamptz_out(context: SessionContext, micros: int | None) -> str | None:
    return None if micros is None else zoned_text(micros, context.settings.time_zone)


def _registered_forms(kind: str) -> None:
    def shown(context: SessionContext, oid: int | None) -> str | None:
        return context.shown_as(kind, oid)

    def read(context: SessionContext, text: str | None) -> int | None:
        return None if text is None else context.registered(kind, text)

    catalog_function("oid", "text", name=f"{kind}_out", internal=True)(shown)
    catalog_function("text", kind, name=f"{kind}_in", internal=True)(read)


for _kind in (
    "regclass",
    "regtype",
    "regproc",
    "regprocedure",
    "regoper",
    "regoperator",
    "regnamespace",
    "regrole",
    "regcollation",
):
    _registered_forms(_kind)
