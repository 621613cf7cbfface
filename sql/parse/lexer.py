"""The lexer: text to tokens by PostgreSQL's lexical rules (standard_conforming_strings on).

Enters: the text of a message. Leaves: a list of `Token`, the last of kind 'end'. A lexical error is
a token of kind 'error', so that an earlier syntax error is reported first, as PostgreSQL does. The
scanner is our own and not sqlglot's, which reads `1_000` as an alias, leaves E'\\x41' undecoded,
swallows the rest of a SHOW as one string and folds words together, so that positions get lost. Must
not know the meanings of keywords.
"""

from __future__ import annotations

import re
import string
from typing import NamedTuple

from sql import interrupts
from sql.errors import SqlError, not_supported
from sql.parse.escapes import NO_ESCAPE_CHARACTERS, decode_escapes, decode_unicode_escapes

IDENTIFIER_BYTES_MAX = 63

ASCII_FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

# Characters that one call of a C function looks at: the call holds the interpreter until it
# returns.
PIECE = 65_536
# Strings are searched for one character, and copied, which is faster.
SEARCHED_AT_ONCE = 4_194_304
WORD_PIECE = 256
CHECKED_EVERY = 256

# Every repetition is possessive: no character is read twice, whatever comes after it. Long tokens
# are read in pieces.
SCANNER = re.compile(
    rf"""
    [ \t\r\n\f\v]{{0,{PIECE}}}+
    (?: (?P<word> [A-Za-z_\u0080-\U0010ffff] (?! (?<=[eEbBxXnN])' | (?<=[uU])&['"] ) [A-Za-z0-9_$\u0080-\U0010ffff]{{0,{WORD_PIECE}}}+ )
    | (?P<comment> /\* | -- )
    | (?P<punctuation> :: | := | => (?! [-+*/<>=~!@\#%^&|`?] ) | \.\. | [,()\[\];:] | \.(?![0-9]) )
    | (?P<number> (?: [0-9]{{1,{PIECE}}}+ (?: \.(?!\.)[0-9]{{0,{PIECE}}}+ )? | \.[0-9]{{1,{PIECE}}}+ ) (?: [eE][+-]?[0-9]{{1,{PIECE}}}+ )? )
    | (?P<string> ' )
    | (?P<operator> [-+*/<>=~!@\#%^&|`?] )
    | (?P<quoted> " )
    | (?P<escape_string> [eE]' )
    | (?P<bits> [bBxX]' )
    | (?P<national> [nN](?=') )
    | (?P<unicode_string> [uU]&' )
    | (?P<unicode_name> [uU]&" )
    | (?P<parameter> \$ [0-9]{{1,{PIECE}}}+ )
    | (?P<dollar> \$ (?: [A-Za-z_\u0080-\U0010ffff] [A-Za-z0-9_\u0080-\U0010ffff]{{0,{PIECE}}}+ )? \$ )
    | (?P<other> [^ \t\r\n\f\v] )
    )?
    """,
    re.VERBOSE | re.DOTALL,
)

SPACES = frozenset(" \t\r\n\f\v")
SPACE_PIECE = re.compile(rf"[ \t\r\n\f\v]{{1,{PIECE}}}+")
WORD_REST = re.compile(rf"[A-Za-z0-9_$\u0080-\U0010ffff]{{1,{PIECE}}}+")
DIGITS = re.compile(rf"[0-9]{{0,{PIECE}}}+")
EXPONENT = re.compile("[eE][+-]?(?=[0-9])")
NUMBER_JUNK = re.compile(r"[A-Za-z_\u0080-\U0010ffff]")
LINE_END = re.compile(r"[\r\n]")
ESCAPED_PIECE = re.compile(r"(?:[^'\\]{1,1000}+|''|\\.){0,100}+", re.DOTALL)
# No operator is longer, and PostgreSQL refuses longer ones; a run of + and - may go on after that.
OPERATOR_RUN = re.compile(r"(?:(?!--|/\*)[-+*/<>=~!@\#%^&|`?]){1,4096}+")
UESCAPE = re.compile(
    rf"[ \t\r\n\f\v]{{0,{PIECE}}}+uescape(?![A-Za-z0-9_$\u0080-\U0010ffff])[ \t\r\n\f\v]{{0,{PIECE}}}+", re.IGNORECASE
)
UNUSUAL = re.compile(r"[~!@\#%^&|`?]")


class Token(NamedTuple):
    """A token of a client's text.

    Attributes:
        kind: 'word' (folded in `value`), 'quoted', 'string', 'integer', 'decimal', 'parameter',
            'operator', 'bits', 'error' or 'end'. Punctuation is of kind 'operator'.
        start, end: 0-based characters in the text.
    """

    kind: str
    value: str
    start: int
    end: int
    error: SqlError | None = None


def scan(text: str) -> list[Token]:
    """Return the tokens of `text`; after a token of kind 'error' only the token 'end' follows."""
    tokens: list[Token] = []
    place = 0
    length = len(text)
    match_at = SCANNER.match
    while place < length:
        match = match_at(text, place)
        assert match is not None, "the scanner takes nothing, too"
        kind = match.lastgroup
        place = match.end()
        if not len(tokens) % CHECKED_EVERY:
            interrupts.check()
        if kind is None:
            interrupts.check()
            continue
        start = match.start(kind)
        if kind == "word":
            if place - start > WORD_PIECE:
                place = extended(text, place, WORD_REST)
            tokens.append(Token("word", fold(text[start:place]), start, place))
        elif kind == "punctuation":
            tokens.append(Token("operator", match[kind], start, place))
        elif kind == "comment":
            interrupts.check()
            place = comment_end(text, start)
            if place < 0:
                tokens.append(lexical_error("unterminated /* comment", text, start, length))
                break
        elif kind == "operator":
            place = operator_tokens(text, start, tokens)
        else:
            token = scan_token(text, kind, start, place)
            tokens.append(token)
            place = token.end
            if token.kind == "error":
                break
    tokens.append(Token("end", "", length, length))
    return tokens


def refuse_unsafe_strings(text: str) -> None:
    """Raise 0A000 for the first constant that standard_conforming_strings = off gives another
    meaning than we do.
    """
    if "\\" not in text and "&'" not in text:
        return
    for token in scan(text):
        source = text[token.start : token.end]
        if source.startswith("'") and "\\" in source:
            what = "a backslash in a string constant with standard_conforming_strings = off"
            raise not_supported(
                what, token.start + 1, hint="Use the escape string syntax for backslashes, e.g., E'\\\\'."
            )
        if source[:3].upper() == "U&'":
            raise SqlError(
                "0A000",
                "unsafe use of string constant with Unicode escapes",
                position=token.start + 1,
                detail="String constants with Unicode escapes cannot be used when standard_conforming_strings is off.",
            )


def scan_token(text: str, kind: str, start: int, end: int) -> Token:
    """Return the token of the scanner's alternative `kind`, which took the text from `start` to
    `end`.
    """
    match kind:
        case "number":
            return number_token(text, start, end)
        case "string" | "escape_string" | "unicode_string" | "bits":
            return string_token(text, kind, start, end)
        case "quoted" | "unicode_name":
            return quoted_token(text, kind, start, end)
        case "dollar":
            return dollar_token(text, start, end)
        case "parameter" if NUMBER_JUNK.match(text, end) is not None:
            return lexical_error("trailing junk after parameter", text, start, end + 1)
        case "parameter":
            digits = text[start + 1 : end].lstrip("0") or "0"
            if len(digits) > 5 or int(digits) > 65_535:
                return lexical_error("parameter number too large", text, start, end)
            return Token("parameter", digits, start, end)
        case "national":
            return Token("word", "nchar", start, end)
    return lexical_error("syntax error", text, start, end)


def fold(word: str) -> str:
    """Return an unquoted identifier as PostgreSQL stores it: ASCII letters in lower case, at most
    63 bytes.
    """
    return truncate(word[:IDENTIFIER_BYTES_MAX].translate(ASCII_FOLD))


def truncate(name: str) -> str:
    """Return `name` cut to PostgreSQL's identifier length, on a character boundary."""
    if len(name) * 4 <= IDENTIFIER_BYTES_MAX:
        return name
    return name[:IDENTIFIER_BYTES_MAX].encode()[:IDENTIFIER_BYTES_MAX].decode(errors="ignore")


def lexical_error(message: str, text: str, start: int, end: int) -> Token:
    error = SqlError("42601", f'{message} at or near "{text[start:end]}"', position=start + 1)
    return Token("error", text[start:end], start, end, error)


def extended(text: str, place: int, piece: re.Pattern[str]) -> int:
    """Return the end of the match of `piece` from `place` on; the text is read piece by piece."""
    while (more := piece.match(text, place)) is not None and more.end() > place:
        place = more.end()
        interrupts.check()
    return place


def found_at(text: str, wanted: str, place: int) -> int:
    """Return the place of `wanted` at or after `place`, or -1, as str.find does, in pieces."""
    length = len(text)
    while place < length:
        end = place + SEARCHED_AT_ONCE
        found = text.find(wanted, place, end + len(wanted) - 1)
        if found >= 0:
            return found
        place = end
        interrupts.check()
    return -1


def line_end(text: str, place: int) -> int:
    """Return the end of the line in which `place` is."""
    length = len(text)
    while place < length:
        found = LINE_END.search(text, place, place + PIECE)
        if found is not None:
            return found.start()
        place += PIECE
        interrupts.check()
    return length


def comment_end(text: str, start: int) -> int:
    """Return the place after the comment that starts at `start`, nested comments included, or
    -1.
    """
    if text.startswith("--", start):
        return line_end(text, start)
    depth, place = 1, start + 2
    # The next edge of each kind is looked for once, however often the other kind comes first.
    opening = closing = -1
    while depth:
        interrupts.check()
        if closing < place and (closing := found_at(text, "*/", place)) < 0:
            return -1
        if opening < place and (opening := found_at(text, "/*", place)) < 0:
            opening = len(text)
        depth += 1 if opening < closing else -1
        place = min(opening, closing) + 2
    return place


def operator_tokens(text: str, start: int, tokens: list[Token]) -> int:
    """Append the operators of a run of operator characters, which ends before a comment.

    Return the place after the run.

    An operator ends in + or - only if it has an unusual character, so that `a=-1` has two
    operators.
    """
    match = OPERATOR_RUN.match(text, start)
    assert match is not None
    run = match[0]
    end = match.end()
    usual = run if UNUSUAL.search(run) is not None else run.rstrip("+-") or run[0]
    place = start + len(usual)
    if len(usual) > IDENTIFIER_BYTES_MAX:
        tokens.append(lexical_error("operator too long", text, start, place))
        return len(text)
    tokens.append(Token("operator", "<>" if usual == "!=" else usual, start, place))
    for index in range(place, end):
        tokens.append(Token("operator", text[index], index, index + 1))
    interrupts.check()
    return end


def number_token(text: str, start: int, end: int) -> Token:
    if end - start >= PIECE:
        end, is_integer = long_number_end(text, start)
    else:
        is_integer = text[start:end].isdigit()
    if NUMBER_JUNK.match(text, end) is not None:
        junk_end = extended(text, end, WORD_REST)
        return lexical_error("trailing junk after numeric literal", text, start, junk_end)
    return Token("integer" if is_integer else "decimal", text[start:end], start, end)


def long_number_end(text: str, start: int) -> tuple[int, bool]:
    """Return the end of a number that is longer than one reading of the scanner, and whether it is
    an integer.
    """
    whole = end = extended(text, start, DIGITS)
    if text.startswith(".", end) and not text.startswith("..", end):
        end = extended(text, end + 1, DIGITS)
    if (exponent := EXPONENT.match(text, end)) is not None:
        end = extended(text, exponent.end(), DIGITS)
    return end, end == whole


def string_token(text: str, kind: str, start: int, end: int) -> Token:
    """Return a string constant with its continuation lines joined and its escapes decoded.

    Its body begins at `end`.
    """
    opening = end - start
    parts: list[str] = []
    place = end
    while place >= 0:
        close = escaped_part(text, place, parts) if kind == "escape_string" else plain_part(text, place, "'", parts)
        if close < 0:
            return lexical_error(unterminated(text, kind, start), text, start, len(text))
        end = close + 1
        place = continuation(text, end)
    body = "".join(parts)
    if kind == "bits":
        return Token("bits", text[start : start + opening] + body + "'", start, end)
    try:
        if kind == "escape_string":
            body = decode_escapes(body, start + opening)
        elif kind == "unicode_string":
            character, end = escape_character(text, end)
            body = decode_unicode_escapes(body, start + opening, character)
    except SqlError as error:
        return Token("error", text[start:end], start, end, error)
    return Token("string", body, start, end)


def unterminated(text: str, kind: str, start: int) -> str:
    if kind != "bits":
        return "unterminated quoted string"
    return f"unterminated {'bit' if text[start] in 'bB' else 'hexadecimal'} string literal"


def plain_part(text: str, start: int, quote: str, parts: list[str]) -> int:
    """Append the quoted text from `start` on, its doubled quotes made one.

    Return the closing quote's place, or -1.
    """
    place, doubled = start, 0
    while (close := found_at(text, quote, place)) >= 0 and text.startswith(quote, close + 1):
        place = close + 2
        doubled += 1
        if place - start > PIECE:
            parts.append(text[start:place].replace(quote * 2, quote))
            start, doubled = place, 0
            interrupts.check()
    part = text[start:close]
    parts.append(part.replace(quote * 2, quote) if doubled else part)
    return close


def escaped_part(text: str, start: int, parts: list[str]) -> int:
    """Append the undecoded text of an E'' constant from `start` on.

    Return the closing quote's place, or -1.
    """
    end = extended(text, start, ESCAPED_PIECE)
    parts.append(text[start:end])
    return end if text.startswith("'", end) else -1


def continuation(text: str, place: int) -> int:
    """Return the place where a string goes on whose quote ends at `place`, or -1.

    A string goes on after white space with a newline in it.
    """
    on_new_line = False
    while True:
        character = text[place : place + 1]
        if character == "'" and on_new_line:
            return place + 1
        if character in SPACES:
            match = SPACE_PIECE.match(text, place)
            assert match is not None
            on_new_line = on_new_line or LINE_END.search(text, place, match.end()) is not None
            place = match.end()
        elif character == "-" and text.startswith("--", place):
            place = line_end(text, place)
        else:
            return -1
        interrupts.check()


def quoted_token(text: str, kind: str, start: int, end: int) -> Token:
    """Return a quoted name, whose first character is at `end`."""
    parts: list[str] = []
    close = plain_part(text, end, '"', parts)
    if close < 0:
        return lexical_error("unterminated quoted identifier", text, start, len(text))
    name, after = "".join(parts), close + 1
    if not name:
        return lexical_error("zero-length delimited identifier", text, start, after)
    if kind == "unicode_name":
        try:
            character, after = escape_character(text, after)
            name = decode_unicode_escapes(name, end, character)
        except SqlError as error:
            return Token("error", text[start:after], start, after, error)
    return Token("quoted", truncate(name), start, after)


def escape_character(text: str, place: int) -> tuple[str, int]:
    """Return what begins the Unicode escapes of what ends at `place`, and the place after UESCAPE
    where that says it.
    """
    match = UESCAPE.match(text, place)
    if match is None:
        return "\\", place
    token = scan_token(text, "string", match.end(), match.end() + 1) if text.startswith("'", match.end()) else None
    if token is None or token.kind == "error":
        near = text[match.end() : match.end() + 1]
        where = f'at or near "{near}"' if near else "at end of input"
        raise SqlError("42601", f"UESCAPE must be followed by a simple string literal {where}", match.end() + 1)
    if len(token.value) != 1 or token.value in NO_ESCAPE_CHARACTERS:
        near = text[token.start : token.end]
        raise SqlError("42601", f'invalid Unicode escape character at or near "{near}"', token.start + 1)
    return token.value, token.end


def dollar_token(text: str, start: int, end: int) -> Token:
    """Return a string between two equal tags; the first tag ends at `end`."""
    tag = text[start:end]
    close = found_at(text, tag, end)
    if close < 0:
        return lexical_error("unterminated dollar-quoted string", text, start, len(text))
    return Token("string", text[end:close], start, close + len(tag))
