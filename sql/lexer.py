"""Text to tokens by PostgreSQL's lexical rules (standard_conforming_strings on).

Enters: the text of a message. Leaves: a list of `Token`, the last of kind 'end'. A lexical error is a token of kind 'error', so that
an earlier syntax error is reported first, as PostgreSQL does. Our own scanner and not sqlglot's: that one reads `1_000` as an alias,
leaves E'\\x41' undecoded, swallows the rest of a SHOW as one string and folds words together, so positions get lost.
Must not know keywords' meanings.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass

from sql.errors import SqlError, not_supported
from sql.escapes import decode_escapes, decode_unicode_escapes

IDENTIFIER_BYTES_MAX = 63

ASCII_FOLD = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)

SCANNER = re.compile(
    r"""
      (?P<space> (?: [ \t\r\n\f\v]+ | --[^\r\n]* )+ )
    | (?P<comment> /\* )
    | (?P<escape_string> [eE]' (?: [^'\\] | '' | \\. )* (?P<escape_end> ' )? )
    | (?P<unicode_string> [uU]&' (?: [^'] | '' )* (?P<unicode_string_end> ' )? )
    | (?P<unicode_name> [uU]&" (?: [^"] | "" )* (?P<unicode_name_end> " )? )
    | (?P<bits> [bBxX]' (?: [^'] | '' )* '? )
    | (?P<national> [nN](?=') )
    | (?P<word> [A-Za-z_\u0080-\U0010ffff] [A-Za-z0-9_$\u0080-\U0010ffff]* )
    | (?P<number> (?: \d+ (?: \.(?!\.)\d* )? | \.\d+ ) (?: [eE][+-]?\d+ )? )
    | (?P<string> ' (?: [^'] | '' )* (?P<string_end> ' )? )
    | (?P<quoted> " (?: [^"] | "" )* (?P<quoted_end> " )? )
    | (?P<dollar> \$ (?P<tag> (?: [A-Za-z_\u0080-\U0010ffff] [A-Za-z0-9_\u0080-\U0010ffff]* )? ) \$ )
    | (?P<parameter> \$ \d+ )
    | (?P<punctuation> :: | := | => (?! [-+*/<>=~!@\#%^&|`?] ) | \.\. | [,()\[\].;:] )
    | (?P<operator> [-+*/<>=~!@\#%^&|`?]+ )
    | (?P<other> . )
    """,
    re.VERBOSE | re.DOTALL,
)

NUMBER_JUNK = re.compile(r"[A-Za-z_\u0080-\U0010ffff][A-Za-z0-9_$\u0080-\U0010ffff]*|[eE][+-]?")
COMMENT_EDGE = re.compile(r"/\*|\*/")
CONTINUATION = re.compile(r"(?:[ \t\f\v]|--[^\r\n]*)*[\r\n](?:[ \t\r\n\f\v]|--[^\r\n]*(?=[\r\n]))*'((?:[^']|'')*)(')?")


@dataclass(frozen=True, slots=True)
class Token:
    """kind: 'word' (folded in `value`), 'quoted', 'string', 'integer', 'decimal', 'parameter', 'operator', 'bits', 'error', 'end'.

    Punctuation is of kind 'operator'. start, end: 0-based characters in the text.
    """

    kind: str
    value: str
    start: int
    end: int
    error: SqlError | None = None


def scan(text: str) -> list[Token]:
    """Return the tokens of `text`; after a token of kind 'error' nothing follows but 'end'."""
    tokens: list[Token] = []
    place = 0
    length = len(text)
    while place < length:
        match = SCANNER.match(text, place)
        assert match is not None, "the scanner's last alternative takes any character"
        kind = match.lastgroup
        place = match.end()
        if kind == "space":
            continue
        if kind == "word":
            tokens.append(Token("word", fold(match[0]), match.start(), place))
            continue
        token = scan_token(text, match)
        if token is None:
            place = comment_end(text, match.start())
            if place > 0:
                continue
            token = lexical_error("unterminated /* comment", text, match.start(), length)
        tokens.append(token)
        place = token.end
        if token.kind == "error":
            break
    tokens.append(Token("end", "", length, length))
    return tokens


def refuse_unsafe_strings(text: str) -> None:
    """Raise 0A000 for the first constant of `text` that standard_conforming_strings = off gives another meaning than we do."""
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


def scan_token(text: str, match: re.Match[str]) -> Token | None:
    """Return the token that starts at `match`, or None for a comment."""
    start, end = match.span()
    # Inner groups close before the outer one, so lastgroup is always the outer name.
    match match.lastgroup:
        case "operator":
            return operator_token(text, start, end)
        case "punctuation":
            return Token("operator", match[0], start, end)
        case "number":
            return number_token(text, start, end)
        case "string" | "escape_string" | "unicode_string":
            return string_token(text, match)
        case "quoted" | "unicode_name":
            return quoted_token(text, match)
        case "dollar":
            return dollar_token(text, match)
        case "parameter":
            number = int(match[0][1:])
            if number > 65_535:
                return lexical_error("parameter number too large", text, start, end)
            return Token("parameter", str(number), start, end)
        case "bits":
            return Token("bits", match[0], start, end)
        case "national":
            return Token("word", "nchar", start, end)
        case "comment":
            return None
    return lexical_error("syntax error", text, start, end)


def fold(word: str) -> str:
    """Return an unquoted identifier as PostgreSQL stores it: ASCII letters in lower case, at most 63 bytes."""
    return truncate(word.translate(ASCII_FOLD))


def truncate(name: str) -> str:
    """Return `name` cut to PostgreSQL's identifier length, on a character boundary."""
    if len(name) * 4 <= IDENTIFIER_BYTES_MAX:
        return name
    return name.encode()[:IDENTIFIER_BYTES_MAX].decode(errors="ignore")


def lexical_error(message: str, text: str, start: int, end: int) -> Token:
    error = SqlError("42601", f'{message} at or near "{text[start:end]}"', position=start + 1)
    return Token("error", text[start:end], start, end, error)


def comment_end(text: str, start: int) -> int:
    """Return the place after the (nested) comment that starts at `start`, or -1."""
    depth = 0
    for edge in COMMENT_EDGE.finditer(text, start):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return -1


def operator_token(text: str, start: int, end: int) -> Token:
    """Cut a run of operator characters: before a comment, and before + and - unless the operator has an unusual character."""
    run = text[start:end]
    for comment in ("--", "/*"):
        place = run.find(comment)
        if place > 0:
            run = run[:place]
    while len(run) > 1 and run[-1] in "+-" and not any(character in "~!@#%^&|`?" for character in run):
        run = run[:-1]
    value = "<>" if run == "!=" else run
    return Token("operator", value, start, start + len(run))


def number_token(text: str, start: int, end: int) -> Token:
    junk = NUMBER_JUNK.match(text, end)
    if junk is not None:
        return lexical_error("trailing junk after numeric literal", text, start, junk.end())
    value = text[start:end]
    return Token("integer" if value.isdigit() else "decimal", value, start, end)


def string_token(text: str, match: re.Match[str]) -> Token:
    """Return a string constant with its continuation lines joined and its escapes decoded."""
    start, end = match.span()
    kind = match.lastgroup
    opening = {"string": 1, "escape_string": 2, "unicode_string": 3}[str(kind)]
    closed = match["string_end"] or match["escape_end"] or match["unicode_string_end"]
    body = match[0][opening : -1 if closed else None]
    while closed and (more := CONTINUATION.match(text, end)) is not None:
        body += more[1]
        closed = more[2]
        end = more.end()
    if not closed:
        return lexical_error("unterminated quoted string", text, start, len(text))
    try:
        if kind == "escape_string":
            return Token("string", decode_escapes(body, start + opening), start, end)
        body = body.replace("''", "'")
        if kind == "unicode_string":
            body = decode_unicode_escapes(body, start + opening)
    except SqlError as error:
        return Token("error", text[start:end], start, end, error)
    return Token("string", body, start, end)


def quoted_token(text: str, match: re.Match[str]) -> Token:
    start, end = match.span()
    if not (match["quoted_end"] or match["unicode_name_end"]):
        return lexical_error("unterminated quoted identifier", text, start, len(text))
    opening = 1 if match.lastgroup == "quoted" else 3
    name = match[0][opening:-1].replace('""', '"')
    if not name:
        return lexical_error("zero-length delimited identifier", text, start, end)
    if opening == 3:
        try:
            name = decode_unicode_escapes(name, start + opening)
        except SqlError as error:
            return Token("error", text[start:end], start, end, error)
    return Token("quoted", truncate(name), start, end)


def dollar_token(text: str, match: re.Match[str]) -> Token:
    close = text.find(match[0], match.end())
    if close < 0:
        return lexical_error("unterminated dollar-quoted string", text, match.start(), len(text))
    return Token("string", text[match.end() : close], match.start(), close + len(match[0]))
