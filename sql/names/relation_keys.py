"""The key by which every room knows a relation, made of its schema and its name here, and nowhere
else.

A relation of schema public has its bare name as its key. The key of a relation of another schema
begins with a zero byte, which no client's name can have: so no quoted name is ever taken for a key.
Names as a client has written them, with a schema, have the same form, public ones too, until
`sql.catalog.schemas` finds their relations. Messages show a key as its name (`shown`).
"""

from __future__ import annotations

import re

from sql.names.keywords import COLUMN_NAME, RESERVED, TYPE_OR_FUNCTION

PUBLIC = "public"
# The schema of a session's temporary relations, as clients write it and as it is called.
TEMPORARY = "pg_temp"
MARK = "\0"
KEY = re.compile(f"{MARK}([^{MARK}]*){MARK}({MARK}?)")
DESCRIBED = re.compile(f'{MARK}([^{MARK}]*){MARK}{MARK}([a-z0-9_$]++|"(?:[^"]|"")*+")')
PLAIN = re.compile("[a-z_][a-z0-9_$]*")
NEEDS_QUOTES = RESERVED | TYPE_OR_FUNCTION | COLUMN_NAME
# No schema has this name: a relation in it is never found, and shown as it was written.
NOWHERE = ""
# Of what belongs to views that have an output.
OUTPUTS = "outputs of views, in a schema that no client can name, since names of clients end after 63 bytes"


def relation_key(schema: str, name: str) -> str:
    """Return the key of a relation."""
    return name if schema == PUBLIC else f"{MARK}{schema}{MARK}{name}"


def output_key(oid: int) -> str:
    """Return the key of the stream of the changes of a view, by the view's oid."""
    return relation_key(OUTPUTS, f"output_of({oid})")


def emitted_key(oid: int) -> str:
    """Return the key of the table of the rows of a view that its output has told of."""
    return relation_key(OUTPUTS, f"emitted rows of {oid}")


def output_keys(oid: int) -> tuple[str, str]:
    """Return the keys of what belongs to a view that has an output."""
    return output_key(oid), emitted_key(oid)


def viewed_oid(key: str) -> int:
    """Return the oid of the view whose changes a stream has."""
    return int(name_of(key).removeprefix("output_of(").removesuffix(")"))


def is_output(key: str) -> bool:
    """Tell whether a key is that of a relation that belongs to a view with an output."""
    return schema_of(key) == OUTPUTS


def temporary_schema(process_id: int) -> str:
    """Return the schema of a session's temporary relations, which exists from the first temporary
    relation on.
    """
    return f"{TEMPORARY}_{process_id}"


def process_of(schema: str) -> int | None:
    """Return the session whose temporary relations are in a schema, None for any other schema."""
    number = schema.removeprefix(f"{TEMPORARY}_")
    return int(number) if number != schema and number.isdecimal() else None


def is_temporary(schema: str) -> bool:
    """Tell whether a schema is for the temporary relations of some session."""
    return schema.startswith(f"{TEMPORARY}_")


def in_temporary_schema(key: str) -> bool:
    """Tell whether a key is the key of a temporary relation."""
    return is_temporary(schema_of(key))


def as_written(parts: tuple[str, ...]) -> str:
    """Return [schema.]name as the grammar has read it."""
    return parts[-1] if len(parts) == 1 else f"{MARK}{parts[-2]}{MARK}{parts[-1]}"


def written_schema(written: str) -> str | None:
    """Return the schema that a name was written with, None for a bare name."""
    return written.split(MARK, 2)[1] if written.startswith(MARK) else None


def schema_of(key: str) -> str:
    """Return the schema of a key."""
    schema = written_schema(key)
    return PUBLIC if schema is None else schema


def name_of(key: str) -> str:
    """Return the name in a key, or in a name as written."""
    return key.rpartition(MARK)[2]


def dotted(written: str) -> str:
    """Return a name as the client wrote it."""
    schema = written_schema(written)
    return written if schema is None else f"{schema}.{name_of(written)}"


def unknown(text: str) -> str:
    """Return a key for a relation that does not exist; messages show it as `text`."""
    return relation_key(NOWHERE, text)


def in_schema_of(key: str, name: str) -> str:
    """Return the key of a name in the schema of another relation."""
    return relation_key(schema_of(key), name)


def quoted_key(key: str) -> str:
    """Return a key as "schema"."name"."""
    return ".".join('"' + part.replace('"', '""') + '"' for part in (schema_of(key), name_of(key)))


def described(key: str) -> str:
    """Return a key in a form that tells which of several objects is meant: quoted, and with its
    schema, which a message shows unless the search_path finds the object without it
    (`sql.catalog.schemas`).
    """
    name = quoted(name_of(key))
    return name if in_temporary_schema(key) else f"{MARK}{schema_of(key)}{MARK}{MARK}{name}"


def shown_key(key: str) -> str:
    """Return the name of a key as types are shown: with its schema unless that is public."""
    name = quoted(name_of(key))
    return name if schema_of(key) == PUBLIC else f"{quoted(schema_of(key))}.{name}"


def quoted(name: str) -> str:
    """Return a name as SQL takes it: in double quotes where these are needed."""
    return name if PLAIN.fullmatch(name) and name not in NEEDS_QUOTES else '"' + name.replace('"', '""') + '"'


def unquoted(name: str) -> str:
    """Return the name that `quoted` was given."""
    return name[1:-1].replace('""', '"') if name.startswith('"') else name


def shown(text: str) -> str:
    """Return a text with names in the place of keys."""
    if MARK not in text:
        return text
    return KEY.sub(lambda found: f"{quoted(found[1])}." if found[2] and found[1] != PUBLIC else "", text)
