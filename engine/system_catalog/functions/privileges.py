"""The functions has_..._privilege and pg_has_role: the rights of a role, asked in SQL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.catalog.image import SequenceEntry
from engine.catalog.roles import FIRST_FREE_OID, PUBLIC
from engine.system_catalog.catalog_access import closed_oids, may_read_closed
from engine.system_catalog.catalog_functions import catalog_function, named
from sql.errors import SqlError

if TYPE_CHECKING:
    from engine.system_catalog.session_context import SessionContext

GRANT_OPTION, ADMIN_OPTION = " with grant option", " with admin option"
TABLE_LETTERS = {"select": "r", "insert": "a", "update": "w", "references": "x"}
EVERY_TABLE_LETTER = {**TABLE_LETTERS, "delete": "d", "truncate": "D", "trigger": "t"}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object that privileges are on.

    Attributes:
        relation: the catalog relation of its rows.
        words: the privileges, and their letters.
        registered: regclass or the like, whose input reads a name; for the other kinds the text is
            the name as it stands.
        missing: the SQLSTATE and the word of the error for a name of nothing.
        everybody: the letters that PUBLIC has where no access list says otherwise.
    """

    relation: str
    words: dict[str, str]
    registered: str = ""
    missing: tuple[str, str] = ("42704", "")
    everybody: str = ""


KINDS = {
    # Every role may read nearly all of the catalog's own relations, see `catalog_access`.
    "table": Kind("pg_class", EVERY_TABLE_LETTER, registered="regclass", everybody="r"),
    "any_column": Kind("pg_class", TABLE_LETTERS, registered="regclass", everybody="r"),
    "column": Kind("pg_class", TABLE_LETTERS, registered="regclass", everybody="r"),
    "sequence": Kind("pg_class", {"usage": "U", "select": "r", "update": "w"}, registered="regclass"),
    "schema": Kind("pg_namespace", {"create": "C", "usage": "U"}, missing=("3F000", "schema"), everybody="U"),
    "database": Kind(
        "pg_database",
        {"create": "C", "connect": "c", "temporary": "T", "temp": "T"},
        missing=("3D000", "database"),
        everybody="cT",
    ),
    "function": Kind("pg_proc", {"execute": "X"}, registered="regprocedure", everybody="X"),
    "type": Kind("pg_type", {"usage": "U"}, registered="regtype", everybody="U"),
    "language": Kind("pg_language", {"usage": "U"}, missing=("42704", "language"), everybody="U"),
    # CREATE FOREIGN TABLE needs no right but CREATE on the schema.
    "server": Kind("pg_foreign_server", {"usage": "U"}, missing=("42704", "server"), everybody="U"),
    "foreign_data_wrapper": Kind("pg_foreign_data_wrapper", {"usage": "U"}, missing=("42704", "foreign-data wrapper")),
    "tablespace": Kind("pg_tablespace", {"create": "C"}, missing=("42704", "tablespace")),
}


@dataclass(slots=True)
class Asked:
    """The privileges that a call names, one of which is enough.

    Attributes:
        plain: their letters.
        grantable: the letters of those WITH GRANT OPTION.
    """

    plain: str = field(default="")
    grantable: str = field(default="")


def _register(name: str) -> None:
    kind = KINDS[name]
    count = 4 if name == "column" else 3

    def has_privilege(context: SessionContext, *given: str | None) -> bool | None:
        # The first argument, the role, can be left out: the arguments then end before the last
        # place.
        values = [str(value) for value in (given if given[-1] is not None else given[:-1]) if value is not None]
        whole = len(given) if given[-1] is not None else len(given) - 1
        if len(values) < whole:
            return None
        role = _role(context, values.pop(0), everybody=True) if len(values) == count else context.role
        thing, *column, words = values
        asked = _asked(kind, words)
        oid = object_oid(context, name, thing)
        if context.snapshot.row(kind.relation, oid) is None:
            return None
        if column and not _has_column(context, oid, column[0]):
            return None
        return _may(context, kind, role, oid, asked)

    named(f"has_{name}_privilege")(has_privilege)


def _asked(kind: Kind, words: str) -> Asked:
    """Return the privileges that a list names. Raises 22023."""
    asked = Asked()
    for word in words.removeprefix("=").split(","):
        name = word.strip().lower()
        letter = kind.words.get(name.removesuffix(GRANT_OPTION))
        if letter is None:
            raise SqlError("22023", f'unrecognized privilege type: "{word.strip()}"')
        if name.endswith(GRANT_OPTION):
            asked.grantable += letter
        else:
            asked.plain += letter
    return asked


def _role(context: SessionContext, value: str, everybody: bool) -> int:
    """Return the role of an argument. Raises 42704.

    everybody: the role may be public.
    """
    if value.startswith("#"):
        return int(value[1:])
    if everybody and value == "=public":
        return PUBLIC
    role = context.snapshot.image.roles.by_name.get(value[1:])
    if role is None:
        raise SqlError("42704", f'role "{value[1:]}" does not exist')
    return role.oid


def object_oid(context: SessionContext, name: str, thing: str) -> int:
    """Return the OID of the object of an argument.

    Raises the error of a name of nothing, 42809 for an object that is no sequence.
    """
    kind, text = KINDS[name], thing[1:]
    if thing.startswith("#"):
        oid = int(text)
    elif kind.registered:
        oid = context.registered(kind.registered, text)
    else:
        found = context.snapshot.named(kind.relation, "", text)
        if found is None:
            raise SqlError(kind.missing[0], f'{kind.missing[1]} "{text}" does not exist')
        oid = found
    if name == "sequence":
        row = context.snapshot.row(kind.relation, oid)
        if row is not None and not isinstance(context.snapshot.image.by_oid(oid), SequenceEntry):
            raise SqlError("42809", f'"{row["relname"]}" is not a sequence')
    return oid


def _has_column(context: SessionContext, relation: int, column: str) -> bool:
    """Tell whether a relation has a column, by number or name. Raises 42703 for an unknown name."""
    columns = context.snapshot.columns(relation)
    if column.startswith("#"):
        return any(row["attnum"] == int(column[1:]) and not row["attisdropped"] for row in columns)
    if not any(row["attname"] == column[1:] for row in columns):
        row = context.snapshot.row("pg_class", relation) or {}
        raise SqlError("42703", f'column "{column[1:]}" of relation "{row.get("relname")}" does not exist')
    return True


def _may(context: SessionContext, kind: Kind, role: int, oid: int, asked: Asked) -> bool:
    image = context.snapshot.image
    if image.roles.is_superuser(role):
        return True
    if oid in image.schemas.values() or image.by_oid(oid) is not None:
        return image.privileges.may(image.roles, role, oid, asked.plain) or image.privileges.may_pass_on(
            image.roles, role, oid, asked.grantable
        )
    if kind.relation == "pg_class" and oid >= FIRST_FREE_OID:
        return False
    if kind.relation == "pg_class" and oid in closed_oids():
        return "r" in asked.plain and may_read_closed(image.roles, role)
    if kind.relation == "pg_type" and image.roles.has_privileges_of(role, image.privileges.owner(oid)):
        return True
    return bool(set(asked.plain) & set(kind.everybody))


for _name in KINDS:
    _register(_name)


@catalog_function
def pg_has_role(context: SessionContext, *given: str | None) -> bool | None:
    """Tell whether a role has what a membership in another one gives: USAGE, MEMBER, or either with
    ADMIN OPTION.
    """
    values = [str(value) for value in (given if given[-1] is not None else given[:-1]) if value is not None]
    whole = len(given) if given[-1] is not None else len(given) - 1
    if len(values) < whole:
        return None
    role = _role(context, values.pop(0), everybody=False) if len(values) == len(given) else context.role
    roles = context.snapshot.image.roles
    other = _role(context, values[0], everybody=False)
    held = False
    for word in values[1].removeprefix("=").split(","):
        name = word.strip().lower()
        plain = name.removesuffix(GRANT_OPTION).removesuffix(ADMIN_OPTION)
        if plain not in ("usage", "member"):
            raise SqlError("22023", f'unrecognized privilege type: "{word.strip()}"')
        if plain != name:
            held |= roles.may_admin(role, other)
        else:
            held |= roles.has_privileges_of(role, other) if plain == "usage" else roles.is_member(role, other)
    return held
