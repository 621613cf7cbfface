"""CREATE SEQUENCE, ALTER SEQUENCE, and the options that they share with identity columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sql.errors import SqlError, not_supported
from sql.names.relation_keys import TEMPORARY, as_written, name_of, written_schema
from sql.parse.grammar.cursor import Cursor
from sql.parse.grammar.types import type_name
from sql.parse.statements.declaration import Naming, Right, Statement
from sql.parse.statements.options import signed_number
from sql.parse.statements.owners import or_owner
from sql.parse.statements.parts import SequenceOptions
from sql.parse.statements.rules import begins
from sql.parse.type_names import resolve_type
from sql.types.datatypes import SqlType


@dataclass(frozen=True)
class CreateSequence(
    Statement,
    tag="CREATE SEQUENCE",
    defines=True,
    named=(
        ("name", Naming.NEW),
        ("options", Naming.OPTIONS),
    ),
    rights=(
        ("name", Right.CREATE),
        ("options", Right.LINK),
    ),
):
    """CREATE SEQUENCE [IF NOT EXISTS] name [options]."""

    name: str
    name_position: int
    if_not_exists: bool
    options: SequenceOptions


@dataclass(frozen=True)
class AlterSequence(
    Statement,
    tag="ALTER SEQUENCE",
    defines=True,
    named=(
        ("name", Naming.KNOWN),
        ("options", Naming.OPTIONS),
    ),
    rights=(
        ("name", Right.OWN),
        ("options", Right.LINK),
        ("schema", Right.MOVE),
    ),
):
    """ALTER SEQUENCE [IF EXISTS] name options, or SET SCHEMA schema."""

    name: str
    name_position: int
    if_exists: bool
    options: SequenceOptions
    schema: str | None = None


@dataclass(frozen=True)
class RenameSequence(
    Statement,
    tag="ALTER SEQUENCE",
    defines=True,
    named=(
        ("name", Naming.KNOWN),
        ("new_name", Naming.BESIDE),
    ),
    rights=(("name", Right.OWN),),
):
    """ALTER SEQUENCE [IF EXISTS] name RENAME TO new_name."""

    name: str
    name_position: int
    if_exists: bool
    new_name: str


# Words that begin an option, with a name: two words with the same name exclude each other.
STARTS = {
    "as": "type",
    "cache": "cache",
    "cycle": "cycle",
    "increment": "increment",
    "maxvalue": "maximum",
    "minvalue": "minimum",
    "no": "",
    "owned": "owned_by",
    "restart": "restart",
    "start": "start",
}
NEGATIONS = {"minimum": "no_minimum", "maximum": "no_maximum", "owned_by": "not_owned"}
LIMIT = 1 << 63


@begins("create sequence")
def create_sequence(cursor: Cursor) -> CreateSequence:
    """Read CREATE [TEMPORARY | UNLOGGED] SEQUENCE from its first word."""
    cursor.expect("create")
    is_temporary = persistence(cursor)
    cursor.expect("sequence")
    if_not_exists = cursor.accept_if_not_exists()
    position = cursor.position
    name = created_name(cursor, is_temporary)
    options = sequence_options(cursor)
    return CreateSequence(cursor.statement_text, name, position, if_not_exists, options)


def persistence(cursor: Cursor) -> bool:
    """Read TEMPORARY, and return whether it was written, or UNLOGGED, which is kept as safely as
    the rest.
    """
    if cursor.accept("unlogged"):
        return False
    scope = cursor.accept_any("local", "global")
    is_temporary = cursor.accept_any("temp", "temporary") is not None
    if scope is not None and not is_temporary:
        cursor.fail()
    return is_temporary


def created_name(cursor: Cursor, is_temporary: bool) -> str:
    """Read the name of a new relation; a temporary one has a name in the schema pg_temp."""
    name = cursor.relation_name()
    schema = written_schema(name)
    if not is_temporary or schema == TEMPORARY:
        return name
    if schema is not None:
        cursor.defer(SqlError("42P16", "cannot create temporary relation in non-temporary schema"))
    return as_written((TEMPORARY, name_of(name)))


@begins("alter sequence")
@or_owner
def alter_sequence(cursor: Cursor) -> AlterSequence | RenameSequence:
    """Read ALTER SEQUENCE from its first word."""
    cursor.expect("alter", "sequence")
    if_exists = cursor.accept("if", "exists")
    position = cursor.position
    name = cursor.relation_name()
    if cursor.accept("set", "schema"):
        return AlterSequence(cursor.statement_text, name, position, if_exists, SequenceOptions(), cursor.name())
    if cursor.accept("rename"):
        cursor.expect("to")
        return RenameSequence(cursor.statement_text, name, position, if_exists, cursor.name())
    for words in (("owner", "to"), ("set", "logged"), ("set", "unlogged")):
        if cursor.at_words(*words):
            raise not_supported(f"ALTER SEQUENCE ... {' '.join(words).upper()}", cursor.position)
    if cursor.accept_any("owner", "set") or not cursor.at(*STARTS):
        cursor.fail()
    options = sequence_options(cursor)
    return AlterSequence(cursor.statement_text, name, position, if_exists, options)


def sequence_options(cursor: Cursor, typed: bool = False) -> SequenceOptions:
    """Read any number of options, each at most once.

    The sequence of an identity column is `typed` by its column.
    """
    found: dict[str, Any] = {}
    while cursor.at(*STARTS) or (typed and cursor.at_words("sequence", "name")):
        position = cursor.position
        word = cursor.advance().value
        name, value = sequence_option(cursor, word)
        if name in found or NEGATIONS.get(name) in found or (typed and name == "type"):
            cursor.defer(SqlError("42601", "conflicting or redundant options", position))
        if value is False and name in NEGATIONS:
            name, value = NEGATIONS[name], True
        found[name] = value
    return SequenceOptions(**found)


def sequence_option(cursor: Cursor, word: str) -> tuple[str, Any]:
    """Read the rest of an option after its first word.

    Return the field of `SequenceOptions` and its value.
    """
    if word == "sequence":
        cursor.expect("name")
        return "name", cursor.relation_name()
    name = STARTS[word]
    if word == "as":
        return name, integer_type(cursor)
    if word == "cycle":
        return name, True
    if word == "no":
        return STARTS[cursor.one_of("cycle", "maxvalue", "minvalue")], False
    if word == "owned":
        cursor.expect("by")
        return name, owner(cursor)
    if word == "restart" and not (cursor.at("with") or cursor.token.kind in ("integer", "decimal") or at_sign(cursor)):
        return name, True
    if word in ("restart", "start"):
        cursor.accept("with")
    elif word == "increment":
        cursor.accept("by")
    return name, whole_number(cursor)


def at_sign(cursor: Cursor) -> bool:
    return cursor.at_operator("+", "-")


def whole_number(cursor: Cursor) -> int:
    """Read a number with its sign, as PostgreSQL's bigint."""
    text = signed_number(cursor)
    try:
        value = int(text)
    except ValueError:
        cursor.defer(SqlError("22P02", f'invalid input syntax for type bigint: "{text}"'))
        return 0
    if not -LIMIT <= value < LIMIT:
        cursor.defer(SqlError("22003", f'value "{text}" is out of range for type bigint'))
    return value


def integer_type(cursor: Cursor) -> SqlType | None:
    """Read smallint, integer or bigint."""
    written = type_name(cursor)
    try:
        kind = resolve_type(written)
    except SqlError as error:
        cursor.defer(error)
        return None
    if kind.family not in ("int2", "int4", "int8"):
        cursor.defer(SqlError("22023", "sequence type must be smallint, integer, or bigint"))
    return kind


def owner(cursor: Cursor) -> tuple[str, str] | bool:
    """Read table.column, or NONE (False)."""
    if cursor.accept("none"):
        return False
    parts = cursor.qualified_name()
    if len(parts) < 2:
        hint = "Specify OWNED BY table.column or OWNED BY NONE."
        cursor.defer(SqlError("42601", "invalid OWNED BY option", hint=hint))
        return False
    return as_written(parts[-3:-1]), parts[-1]
