"""The options of COPY: read in both spellings as (name, value, position), then checked together as
PostgreSQL does.
"""

from __future__ import annotations

from typing import cast

from sql.errors import SqlError, not_supported
from sql.names.suggestions import did_you_mean
from sql.parse.grammar.cursor import Cursor
from sql.parse.statements.options import boolean_or_string
from sql.parse.statements.parts import CopyOptions
from sql.values.durations import milliseconds
from sql.values.encodings import encoding_named, is_known

OptionValue = str | tuple[str, ...] | None
RawOption = tuple[str, OptionValue, int]

LIST_OPTIONS = ("force_quote", "force_not_null", "force_null")
OPTION_NAMES = (
    *("format", "delimiter", "null", "header", "quote", "escape", "encoding", "freeze", "publish"),
    *LIST_OPTIONS,
)
BOOLEANS = {"true": True, "on": True, "1": True, "false": False, "off": False, "0": False}


def copy_options(cursor: Cursor) -> list[RawOption]:
    """Read (name [value], ...)."""
    return list(cursor.listed(copy_option))


def copy_option(cursor: Cursor) -> RawOption:
    """Read name [value]."""
    name, position = cursor.placed(Cursor.label)
    return name, copy_option_value(cursor), position


def copy_option_value(cursor: Cursor) -> OptionValue:
    if cursor.at_operator(",", ")"):
        return None
    if cursor.accept_operator("*"):
        return "*"
    if cursor.at_operator("("):
        return tuple(name for name, _ in cursor.names_in_parentheses())
    return boolean_or_string(cursor)


def old_copy_options(cursor: Cursor) -> list[RawOption]:
    """Read the options that COPY took before version 9.0."""
    found: list[RawOption] = []
    while not cursor.at_end_of_statement() and not cursor.at("where"):
        position = cursor.position
        word = cursor.one_of(
            "binary", "freeze", "delimiter", "null", "csv", "header", "quote", "escape", "force", "encoding"
        )
        if word in ("delimiter", "null", "quote", "escape"):
            cursor.accept("as")
            found.append((word, cursor.string(), position))
        elif word == "encoding":
            found.append((word, cursor.string(), position))
        elif word in ("binary", "csv"):
            found.append(("format", word, position))
        elif word in ("header", "freeze"):
            found.append((word, "true", position))
        else:
            found.append(old_force_option(cursor, position))
    return found


def old_force_option(cursor: Cursor, position: int) -> RawOption:
    if cursor.accept("quote"):
        name = "force_quote"
    elif cursor.accept("not", "null"):
        name = "force_not_null"
    elif cursor.accept("null"):
        name = "force_null"
    else:
        cursor.fail()
    if name == "force_quote" and cursor.accept_operator("*"):
        return name, "*", position
    return name, cursor.several(Cursor.name), position


def resolve(raw: list[RawOption], is_from: bool) -> CopyOptions:
    """Return the options with their defaults; the errors are PostgreSQL's."""
    found: dict[str, OptionValue] = {}
    for name, value, position in raw:
        if name in found:
            raise SqlError("42601", "conflicting or redundant options", position)
        found[name] = check_option(name, value, position, is_from)
    form = str(found.get("format") or "text").lower()
    is_csv = form == "csv"
    quote = text_option(found, "quote", '"')
    header = str(found.get("header", "false")).lower()
    options = CopyOptions(
        format=form,
        delimiter=text_option(found, "delimiter", "," if is_csv else "\t"),
        null=text_option(found, "null", "" if is_csv else "\\N"),
        header=header == "match" or BOOLEANS[header],
        header_match=header == "match",
        quote=quote,
        escape=text_option(found, "escape", quote),
        force_quote=None if found.get("force_quote") == "*" else list_option(found, "force_quote"),
        force_not_null=list_option(found, "force_not_null"),
        force_null=list_option(found, "force_null"),
        publish_ms=milliseconds(cast(str, found["publish"])) if "publish" in found else None,
        encoding=encoding_named(cast(str, found["encoding"])) if "encoding" in found else None,
        freeze=BOOLEANS[str(found.get("freeze", "false")).lower()],
    )
    check_together(options, found, is_from)
    return options


def text_option(found: dict[str, OptionValue], name: str, default: str) -> str:
    value = found.get(name, default)
    assert isinstance(value, str)
    return value


def list_option(found: dict[str, OptionValue], name: str) -> tuple[str, ...]:
    value = found.get(name, ())
    assert isinstance(value, tuple)
    return value


def check_option(name: str, value: OptionValue, position: int, is_from: bool) -> OptionValue:
    """Return the value of an option. Raises PostgreSQL's errors for this option alone."""
    match name:
        case "format":
            if value is None:
                raise SqlError("42601", "format requires a parameter")
            if str(value).lower() == "arrow" and not is_from:
                raise not_supported("COPY TO in the format arrow", position, hint="Use FORMAT binary, or csv.")
            if str(value).lower() not in ("text", "csv", "binary", "arrow"):
                raise SqlError("22023", f'COPY format "{value}" not recognized', position)
        case "delimiter" | "null" | "quote" | "escape" | "encoding" | "publish":
            if not isinstance(value, str):
                raise SqlError("42601", f"{name} requires a parameter")
            if name == "encoding" and encoding_named(value) is None:
                if is_known(value):
                    raise not_supported(f'the encoding "{value}"', position)
                raise SqlError("22023", 'argument to option "encoding" must be a valid encoding name', position)
            if name == "publish" and not is_from:
                raise SqlError("0A000", "COPY publish only available using COPY FROM", position)
        case "header":
            value = "true" if value is None else str(value).lower()
            if value == "match" and not is_from:
                raise SqlError("0A000", 'cannot use "match" with HEADER in COPY TO')
            if value != "match" and value not in BOOLEANS:
                raise SqlError("42601", 'header requires a Boolean value or "match"')
        case "freeze":
            value = "true" if value is None else value
            if str(value).lower() not in BOOLEANS:
                raise SqlError("42601", "freeze requires a Boolean value")
            return value
        case "force_quote" if value == "*":
            return value
        case _ if name in LIST_OPTIONS:
            if not isinstance(value, tuple):
                raise SqlError("22023", f'argument to option "{name}" must be a list of column names', position)
        case _:
            hint = did_you_mean(name, OPTION_NAMES, "the option")
            raise SqlError("42601", f'option "{name}" not recognized', position, hint=hint)
    return value


def check_together(options: CopyOptions, found: dict[str, OptionValue], is_from: bool) -> None:
    """Raise PostgreSQL's errors about options that do not go together."""
    is_csv = options.format == "csv"
    for name in ("delimiter", "null", "header"):
        if name in found and options.format in ("binary", "arrow") and (name != "header" or options.header):
            code = "42601" if name != "header" else "0A000"
            raise SqlError(code, f"cannot specify {name.upper()} in {options.format.upper()} mode")
    if options.encoding is not None and options.format == "arrow":
        raise SqlError("0A000", "cannot specify ENCODING in ARROW mode", hint="Arrow's strings are always UTF-8.")
    if len(options.delimiter.encode()) != 1:
        raise SqlError("0A000", "COPY delimiter must be a single one-byte character")
    if options.delimiter in "\r\n":
        raise SqlError("22023", "COPY delimiter cannot be newline or carriage return")
    if "\r" in options.null or "\n" in options.null:
        raise SqlError("22023", "COPY null representation cannot use newline or carriage return")
    if not is_csv and options.delimiter in "\\.abcdefghijklmnopqrstuvwxyz0123456789":
        raise SqlError("22023", f'COPY delimiter cannot be "{options.delimiter}"')
    for name in ("quote", "escape", *LIST_OPTIONS):
        if name in found and not is_csv:
            raise SqlError("0A000", f"COPY {name.replace('_', ' ')} available only in CSV mode")
    if is_csv and len(options.quote.encode()) != 1:
        raise SqlError("0A000", "COPY quote must be a single one-byte character")
    if is_csv and options.delimiter == options.quote:
        raise SqlError("22023", "COPY delimiter and quote must be different")
    if is_csv and len(options.escape.encode()) != 1:
        raise SqlError("0A000", "COPY escape must be a single one-byte character")
    if "force_quote" in found and is_from:
        raise SqlError("0A000", "COPY force quote only available using COPY TO")
    for name in ("force_not_null", "force_null"):
        if name in found and not is_from:
            raise SqlError("0A000", f"COPY {name.replace('_', ' ')} only available using COPY FROM")
    if options.delimiter in options.null:
        raise SqlError("0A000", "COPY delimiter must not appear in the NULL specification")
    if is_csv and options.quote in options.null:
        raise SqlError("0A000", "CSV quote character must not appear in the NULL specification")
