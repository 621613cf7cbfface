"""Type names: PostgreSQL's spellings (double precision, character varying(n), timestamp with time zone, int4 ...) to `syntax.TypeName`."""

from __future__ import annotations

from sql.errors import SqlError
from sql.grammar.cursor import Cursor
from sql.grammar.keywords import RESERVED
from sql.syntax import TypeName

KEYWORD_TYPES = {
    "int": "int4",
    "integer": "int4",
    "smallint": "int2",
    "bigint": "int8",
    "real": "float4",
    "dec": "numeric",
    "decimal": "numeric",
    "numeric": "numeric",
    "boolean": "bool",
}

INTERVAL_FIELDS = ("year", "month", "day", "hour", "minute", "second")


def at_type(cursor: Cursor) -> bool:
    """Tell whether a type name can begin here."""
    token = cursor.token
    return token.kind == "quoted" or (token.kind == "word" and token.value not in RESERVED)


def type_name(cursor: Cursor) -> TypeName:
    """Read a type name with modifiers and array brackets."""
    first = cursor.index
    position = cursor.position
    if not at_type(cursor):
        cursor.fail()
    quoted = cursor.token.kind == "quoted"
    word = cursor.label()
    name, modifiers = (word, None) if quoted else spelled_type(cursor, word)
    if modifiers is None:
        while cursor.accept_operator("."):
            # pg_catalog.int4 is int4; other schemas hold no types.
            if word != "pg_catalog":
                raise SqlError("3F000", f'schema "{word}" does not exist', position)
            name = cursor.label()
        modifiers = type_modifiers(cursor)
    array = False
    while cursor.at_operator("[") or cursor.at("array"):
        array = True
        if cursor.accept("array") and not cursor.at_operator("["):
            break
        cursor.expect_operator("[")
        if cursor.token.kind == "integer":
            cursor.advance()
        cursor.expect_operator("]")
    return TypeName(name, modifiers, position, cursor.text_since(first), array)


def spelled_type(cursor: Cursor, word: str) -> tuple[str, tuple[int, ...] | None]:
    """Return the one-word name of a type that SQL spells with several, and its modifiers if they were read on the way."""
    if word in KEYWORD_TYPES:
        return KEYWORD_TYPES[word], type_modifiers(cursor)
    match word:
        case "float":
            return float_type(cursor), ()
        case "double" if cursor.accept("precision"):
            return "float8", ()
        case "character" | "char" | "nchar":
            name = "varchar" if cursor.accept("varying") else "bpchar"
            modifiers = type_modifiers(cursor)
            return name, modifiers or ((1,) if name == "bpchar" else ())
        case "varchar":
            return "varchar", type_modifiers(cursor)
        case "time" | "timestamp":
            return time_type(cursor, word)
        case "interval":
            interval_fields(cursor)
            return "interval", type_modifiers(cursor)
        case "bit":
            name = "varbit" if cursor.accept("varying") else "bit"
            return name, type_modifiers(cursor)
    return word, None


def float_type(cursor: Cursor) -> str:
    position = cursor.ahead(1).start + 1
    digits = type_modifiers(cursor)
    if not digits:
        return "float8"
    if digits[0] < 1:
        raise SqlError("22023", "precision for type float must be at least 1 bit", position)
    if digits[0] > 53:
        raise SqlError("22023", "precision for type float must be less than 54 bits", position)
    return "float4" if digits[0] <= 24 else "float8"


def time_type(cursor: Cursor, word: str) -> tuple[str, tuple[int, ...]]:
    modifiers = type_modifiers(cursor)
    if cursor.accept("with", "time", "zone"):
        return word + "tz", modifiers
    cursor.accept("without", "time", "zone")
    return word, modifiers


def type_modifiers(cursor: Cursor) -> tuple[int, ...]:
    """Read (n[, n]) if it is there."""
    if not cursor.accept_operator("("):
        return ()
    modifiers = []
    while True:
        sign = -1 if cursor.accept_operator("-") else 1
        if cursor.token.kind != "integer":
            cursor.fail()
        modifiers.append(sign * int(cursor.advance().value))
        if not cursor.accept_operator(","):
            break
    cursor.expect_operator(")")
    return tuple(modifiers)


def interval_fields(cursor: Cursor) -> str:
    """Read the fields of an interval type (YEAR TO MONTH), if there are any."""
    first = cursor.accept_any(*INTERVAL_FIELDS)
    if first is None:
        return ""
    if cursor.accept("to"):
        last = cursor.accept_any(*INTERVAL_FIELDS)
        if last is None:
            cursor.fail()
        return f"{first} to {last}"
    return first
