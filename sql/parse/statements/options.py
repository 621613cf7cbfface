"""Lists of options: OPTIONS (name 'value', ...) of foreign tables and (name = value, ...) of WITH.

The file also has the words that say what CREATE and DROP are about.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sql.errors import SqlError
from sql.names.keywords import RESERVED
from sql.names.relation_keys import quoted
from sql.names.suggestions import did_you_mean, quoted_list
from sql.parse.grammar.cursor import Cursor

# Options whose values name a relation, or are a query as a string.
NAMES = frozenset({"outputstream", "backfill"})
# Options whose values name a column.
COLUMNS = frozenset({"sw_column", "ttl_column"})


def foreign_options(cursor: Cursor, valid: Collection[str]) -> dict[str, str]:
    """Read OPTIONS (name 'value', ...)."""
    found: dict[str, str] = {}

    def option(cursor: Cursor) -> None:
        name, position = cursor.placed(Cursor.label)
        value = cursor.string()
        if name not in valid:
            raise invalid_option(name, valid, position)
        if name in found:
            raise SqlError("42710", f'option "{name}" provided more than once')
        found[name] = value

    cursor.expect("options")
    cursor.listed(option)
    return found


def invalid_option(name: str, valid: Collection[str], position: int) -> SqlError:
    """Return the error for an option that foreign tables do not have."""
    hint = f"Valid options in this context are: {', '.join(sorted(valid))}"
    return SqlError("HV00D", f'invalid option "{name}"', position, hint=hint)


def relation_options(cursor: Cursor, valid: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Read (name [= value], ...), where `valid` lists the values of each option.

    An option without a list takes any value, which the caller checks.
    """
    found: dict[str, str] = {}

    def option(cursor: Cursor) -> None:
        name, position = cursor.placed(Cursor.label)
        namespace = name if cursor.accept_operator(".") else None
        name = name if namespace is None else cursor.label()
        read = name_value if name in NAMES else option_value if name in COLUMNS else folded_value
        value = read(cursor) if cursor.accept_operator("=") else "true"
        if namespace is not None:
            cursor.defer(SqlError("22023", f'unrecognized parameter namespace "{namespace}"'))
        elif name not in valid:
            hint = did_you_mean(name, valid, "the parameter")
            cursor.defer(SqlError("22023", f'unrecognized parameter "{name}"', position, hint=hint))
        elif name in found:
            cursor.defer(SqlError("22023", f'parameter "{name}" specified more than once'))
        elif valid[name] and value not in valid[name]:
            allowed = quoted_list(valid[name])
            message = f'invalid value for option "{name}": {value}'
            cursor.defer(SqlError("22023", message, position, detail=f"Valid values are {allowed}."))
        found[name] = value

    cursor.listed(option)
    return found


def comment_text(cursor: Cursor) -> str | None:
    """Read IS 'text' | NULL of a comment, where the empty text is none, too."""
    cursor.expect("is")
    return None if cursor.accept("null") else cursor.string() or None


def named_values(cursor: Cursor) -> tuple[tuple[str, str | None, int], ...]:
    """Read (name [value], ...) of a statement's options, with the positions of the names."""
    return cursor.listed(named_value)


def named_value(cursor: Cursor) -> tuple[str, str | None, int]:
    """Read name [value]."""
    name, position = cursor.placed(Cursor.label)
    return name, None if cursor.at_operator(",", ")") else boolean_or_string(cursor), position


def folded_value(cursor: Cursor) -> str:
    """Read one value in small letters."""
    return option_value(cursor).lower()


def name_value(cursor: Cursor) -> str:
    """Read one value that names a relation, as a string or as an identifier, as regclass reads
    it.
    """
    is_quoted = cursor.token.kind == "quoted"
    value = option_value(cursor)
    return quoted(value) if is_quoted else value


def option_value(cursor: Cursor) -> str:
    """Read one value: a word, a string, or a number with its sign."""
    if cursor.token.kind in ("word", "quoted", "string"):
        return cursor.advance().value
    return signed_number(cursor)


def boolean_or_string(cursor: Cursor) -> str:
    """Read one value, where a reserved word may only be a boolean."""
    if cursor.at(*RESERVED) and not cursor.at("true", "false", "on"):
        cursor.fail()
    return option_value(cursor)


def signed_number(cursor: Cursor) -> str:
    sign = "-" if cursor.accept_operator("-") else ""
    if not sign:
        cursor.accept_operator("+")
    if cursor.token.kind not in ("integer", "decimal"):
        cursor.fail()
    return sign + cursor.advance().value


def generic_options(cursor: Cursor) -> None:
    """Read (name 'value', ...) of a kind of foreign table; the caller refuses the options."""
    cursor.listed(lambda cursor: (cursor.label(), cursor.string()))


# Kinds of objects that may be temporary or unlogged.
TRANSIENT = {
    "temp": ("table", "sequence", "view"),
    "temporary": ("table", "sequence", "view"),
    "unlogged": ("table", "sequence"),
}


def object_kind(cursor: Cursor) -> str:
    """Return what CREATE, ALTER or DROP is about: the word for the object, after words that only
    say how.
    """
    words = [cursor.ahead(offset) for offset in range(1, 7)]
    found = [token.value if token.kind == "word" else "" for token in words]
    replaces = found[:2] == ["or", "replace"]
    if replaces:
        del found[:2]
    if found[0] in ("local", "global"):
        del found[0]
    if found[0] in TRANSIENT:
        found = [found[1] if found[1] in TRANSIENT[found[0]] else ""]
    if replaces:
        return found[0] if found[0] in ("view", "function") else ""
    if found[0] == "unique":
        return "index" if found[1] == "index" else ""
    if found[0] == "foreign":
        return "" if found[1] == "data" else "foreign"
    return found[0]
