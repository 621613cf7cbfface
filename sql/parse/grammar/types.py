"""Type names to `syntax.TypeName`, in all of PostgreSQL's spellings.

Such spellings are double precision, character varying(n), timestamp with time zone, int4 ...
"""

from __future__ import annotations

from sql.errors import SqlError
from sql.names.keywords import COLUMN_NAME, RESERVED
from sql.parse.grammar import calls
from sql.parse.grammar.cursor import Cursor
from sql.parse.syntax import Constant, Expression, Name, TypeName
from sql.parse.type_names import is_built_in

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
MODIFIED_TYPES = frozenset({"dec", "decimal", "numeric"})

# Other words of the keyword class COLUMN_NAME name no type.
TYPE_WORDS = frozenset(
    {
        *KEYWORD_TYPES,
        "float",
        "character",
        "char",
        "nchar",
        "national",
        "varchar",
        "time",
        "timestamp",
        "interval",
        "bit",
    }
)

INTERVAL_FIELDS = ("year", "month", "day", "hour", "minute", "second")
INTERVAL_RANGES = {
    "year": ("month",),
    "day": ("hour", "minute", "second"),
    "hour": ("minute", "second"),
    "minute": ("second",),
}


def at_type(cursor: Cursor) -> bool:
    """Tell whether a type name can begin here."""
    token = cursor.token
    if token.kind != "word":
        return token.kind == "quoted"
    return token.value not in RESERVED and (token.value not in COLUMN_NAME or token.value in TYPE_WORDS)


def type_name(cursor: Cursor) -> TypeName:
    """Read a type name with modifiers and array brackets."""
    first = cursor.index
    position = cursor.position
    if cursor.accept("setof"):
        cursor.refuse("SETOF", position)
    if not at_type(cursor):
        cursor.fail()
    quoted = cursor.token.kind == "quoted"
    word = cursor.label()
    fields = schema = ""
    if not quoted and word == "interval":
        name = word
        modifiers: tuple[int, ...] | None = integer_modifiers(cursor)
        if not modifiers:
            fields, modifiers = interval_fields(cursor)
    else:
        name, modifiers = (word, None) if quoted else spelled_type(cursor, word)
    if modifiers is None:
        if cursor.accept_operator("."):
            schema, name = word, cursor.label()
        modifiers = type_modifiers(cursor, name, position)
    array = array_bounds(cursor)
    return TypeName(name, modifiers, position, cursor.text_since(first), array, fields, schema)


def array_bounds(cursor: Cursor) -> bool:
    """Read ARRAY, ARRAY[n], or any number of [] and [n]; the bounds mean nothing, as in
    PostgreSQL.
    """
    if cursor.accept("array"):
        if cursor.accept_operator("["):
            integer(cursor)
            cursor.expect_operator("]")
        return True
    found = False
    while cursor.accept_operator("["):
        found = True
        if not cursor.at_operator("]"):
            integer(cursor)
        cursor.expect_operator("]")
    return found


def integer(cursor: Cursor) -> int:
    if cursor.token.kind != "integer":
        cursor.fail()
    return int(cursor.advance().value)


def spelled_type(cursor: Cursor, word: str) -> tuple[str, tuple[int, ...] | None]:
    """Return the one-word name of a type that SQL spells with several words.

    The second part is the modifiers of the type, if they were read on the way.
    """
    if word in KEYWORD_TYPES:
        name = KEYWORD_TYPES[word]
        return name, type_modifiers(cursor, name, cursor.last_position) if word in MODIFIED_TYPES else ()
    match word:
        case "float":
            return float_type(cursor), ()
        case "double" if cursor.accept("precision"):
            return "float8", ()
        case "national":
            cursor.one_of("character", "char")
            return character_type(cursor)
        case "character" | "char" | "nchar":
            return character_type(cursor)
        case "varchar":
            return "varchar", integer_modifiers(cursor)
        case "time" | "timestamp":
            return time_type(cursor, word)
        case "bit":
            position = cursor.last_position
            name = "varbit" if cursor.accept("varying") else "bit"
            return name, type_modifiers(cursor, name, position)
    return word, None


def character_type(cursor: Cursor) -> tuple[str, tuple[int, ...]]:
    """Read [VARYING] [(n)]; CHARACTER alone has the length 1."""
    name = "varchar" if cursor.accept("varying") else "bpchar"
    modifiers = integer_modifiers(cursor)
    return name, modifiers or ((1,) if name == "bpchar" else ())


def float_type(cursor: Cursor) -> str:
    position = cursor.ahead(1).start + 1
    digits = integer_modifiers(cursor)
    if not digits:
        return "float8"
    if digits[0] < 1:
        raise SqlError("22023", "precision for type float must be at least 1 bit", position)
    if digits[0] > 53:
        raise SqlError("22023", "precision for type float must be less than 54 bits", position)
    return "float4" if digits[0] <= 24 else "float8"


def time_type(cursor: Cursor, word: str) -> tuple[str, tuple[int, ...]]:
    modifiers = integer_modifiers(cursor)
    if cursor.at_words("with", "time"):
        cursor.expect("with", "time", "zone")
        return word + "tz", modifiers
    if cursor.at_words("without", "time"):
        cursor.expect("without", "time", "zone")
    return word, modifiers


def integer_modifiers(cursor: Cursor) -> tuple[int, ...]:
    """Read (n), if it is next."""
    return (cursor.enclosed(integer),) if cursor.at_operator("(") else ()


def type_modifiers(cursor: Cursor, name: str, position: int) -> tuple[int, ...]:
    """Read (n[, n]) of a type, if it is next; the grammar takes any expressions."""
    if not cursor.at_operator("("):
        return ()
    return integers(cursor, cursor.enclosed(calls.expressions), name, position)


def integers(cursor: Cursor, modifiers: tuple[Expression, ...], name: str, position: int) -> tuple[int, ...]:
    """Return the modifiers of the type called `name` at `position`, which must be integers."""
    found = [int(item.value) for item in modifiers if isinstance(item, Constant) and item.kind == "integer"]
    if len(found) == len(modifiers):
        return tuple(found)
    if not is_built_in(name):
        # PostgreSQL looks for the type before it looks at the modifiers.
        return tuple(found)
    for item in modifiers:
        if isinstance(item, Name) and len(item.parts) == 1:
            message = f'invalid input syntax for type integer: "{item.parts[0]}"'
            cursor.defer(SqlError("22P02", message, position))
        elif not isinstance(item, Constant):
            cursor.defer(SqlError("42601", "type modifiers must be simple constants or identifiers", position))
    return tuple(found)


def interval_fields(cursor: Cursor) -> tuple[str, tuple[int, ...]]:
    """Read the fields of an interval (YEAR TO MONTH), if they are next, and the digits of
    SECOND(n).
    """
    field = cursor.accept_any(*INTERVAL_FIELDS)
    if field is None:
        return "", ()
    fields = last = field
    if field in INTERVAL_RANGES and cursor.accept("to"):
        last = cursor.one_of(*INTERVAL_RANGES[field])
        fields = f"{field} to {last}"
    return fields, integer_modifiers(cursor) if last == "second" else ()
