"""PostgreSQL's text input of intervals, as DecodeInterval reads them: '1 day 2:03', '1-2', '3
4:05:06 ago', ISO 8601.

Enters: a text and the fields that the type is restricted to. Leaves: (months, days, microseconds),
not yet cut to those fields. Fractions go through floats, because PostgreSQL's digits come from
floats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sql.errors import SqlError
from sql.times.datetime_input import is_too_long
from sql.times.iso_intervals import read_iso
from sql.times.span import BadFormatError, FieldOverflowError, Span, fraction_of, integer

Interval = tuple[int, int, int]

UNITS = {
    **dict.fromkeys("us usec usecond useconds usecs microsecon".split(), "microsecond"),
    **dict.fromkeys("ms msec msecond mseconds msecs millisecon".split(), "millisecond"),
    **dict.fromkeys("s sec second seconds secs".split(), "second"),
    **dict.fromkeys("m min mins minute minutes".split(), "minute"),
    **dict.fromkeys("h hour hours hr hrs".split(), "hour"),
    **dict.fromkeys("d day days".split(), "day"),
    **dict.fromkeys("w week weeks".split(), "week"),
    **dict.fromkeys("mon mons month months".split(), "month"),
    **dict.fromkeys("y year years yr yrs".split(), "year"),
    **dict.fromkeys("dec decade decades decs".split(), "decade"),
    **dict.fromkeys("c cent centuries century".split(), "century"),
    **dict.fromkeys("mil millennia millennium mils".split(), "millennium"),
    **dict.fromkeys("qtr quarter timezone timezone_h timezone_m".split(), "refused"),
}
# A word of the input counts by its first letters, as many as PostgreSQL's tokens have.
TOKEN_LETTERS_MAX = 10
CLOCK = frozenset({"hour", "minute", "second", "millisecond", "microsecond"})

TOKENS = re.compile(
    r"""
      [ \t\n\r\f\v]+
    | (?P<time> \d+ : [\d:.]* )
    | (?P<number> \d+ \. \d+ (?! \.) | \d+ \. (?![A-Za-z\d.]) | \d+ (?! [-/.]) | \.\d* )
    | (?P<date> \d+ (?P<mark>[-/.]) (?: \d+ (?: (?P=mark) (?: \d | (?P=mark) )* )? | (?: [A-Za-z\d] | (?P=mark) )* ) )
    | (?P<word> [A-Za-z]+ (?! [-/.+\dA-Za-z]) | (?i: d|h|m|mm|s|y|j|t|am|pm|bc|ad|at|on|mon|dec|mar|may|sat|sun ) (?= [+\d]) )
    | (?P<mixed> [A-Za-z]+ [-/.+\d] [-+/_.:A-Za-z\d]* )
    | (?P<signed> [+-] [ \t\n\r\f\v]* \d [\d:.-]* )
    | (?P<special> [+-] [ \t\n\r\f\v]* [A-Za-z]+ )
    | (?P<bad> [+-] )
    | [!-/:-@\[-`{-~]
    | (?P<strange> . )
    """,
    re.VERBOSE | re.DOTALL,
)
YEARS_MONTHS = re.compile(r"([+-]?\d+)-(\d*)(.*)", re.DOTALL)
NUMBER = re.compile(r"([+-]?\d*)(\..*)?", re.DOTALL)


@dataclass(frozen=True)
class Token:
    """A piece of the text.

    Attributes:
        kind: 'time', 'signed', 'number' (also for dates) or 'word'.
    """

    kind: str
    text: str


def interval_value(text: str, fields: str = "", position: int | None = None, style: str = "postgres") -> Interval:
    """Return the interval that `text` means in a session with this IntervalStyle."""
    try:
        if is_too_long(text):
            raise BadFormatError
        try:
            tokens = tokens_of(text)
            span = decode(all_negative(tokens) if style == "sql_standard" else tokens, fields)
        except BadFormatError:
            span = read_iso(text)
    except BadFormatError:
        raise SqlError("22007", f'invalid input syntax for type interval: "{text}"', position) from None
    except FieldOverflowError:
        raise SqlError("22015", f'interval field value out of range: "{text}"', position) from None
    months = span.years * 12 + span.months
    if not -(1 << 31) <= months < 1 << 31:
        raise SqlError("22008", "interval out of range", position)
    return months, span.days, span.micros


def tokens_of(text: str) -> list[Token]:
    """Return the pieces of `text`; other punctuation only parts the pieces."""
    found = []
    for match in TOKENS.finditer(text):
        kind = match.lastgroup if match.lastgroup != "mark" else "date"
        if kind in ("bad", "strange"):
            raise BadFormatError
        if kind == "special":
            found.append(Token("word", "".join(match[0].split()).lower()))
        elif kind in ("date", "mixed", "number"):
            found.append(Token("number", match[0].lower()))
        elif kind == "signed":
            found.append(Token("signed", match[0][0] + match[0][1:].lstrip()))
        elif kind is not None:
            found.append(Token(kind, match[0].lower()))
    return found


def all_negative(tokens: list[Token]) -> list[Token]:
    """Return the pieces with the first minus before all numbers and times, if there is no other
    sign.
    """
    signs = [token.text[:1] for token in tokens if token.text[:1] in ("+", "-")]
    if signs != ["-"] or tokens[0].text[:1] != "-":
        return tokens
    return [Token(token.kind, f"-{token.text}") if token.kind in ("time", "number") else token for token in tokens]


def decode(tokens: list[Token], fields: str) -> Span:
    """Read the pieces from the right, so that a unit is known before its number."""
    span, unit, seen, before = Span(), "", frozenset[str](), False
    for token in reversed(tokens):
        found: frozenset[str] = frozenset()
        if token.kind == "word":
            if token.text == "ago":
                before, unit = True, "refused"
            elif (unit := UNITS.get(token.text[:TOKEN_LETTERS_MAX], "")) == "":
                raise BadFormatError
        elif token.kind == "time":
            size = clock_micros(token.text.removeprefix("-"), fields)
            span.micros = -size if token.text[0] == "-" else size
            unit, found = "day", CLOCK
        elif token.kind == "signed" and (micros := signed_clock(token.text, fields)) is not None:
            span.micros = micros
            unit, found = "day", CLOCK
        else:
            unit = unit or (fields.split(" to ")[-1] if fields else "second")
            unit, found = add_number(span, token.text, unit)
        if found & seen:
            raise BadFormatError
        seen |= found
    if not seen:
        raise BadFormatError
    if before:
        span.negate()
    return span


def signed_clock(text: str, fields: str) -> int | None:
    """Return the microseconds of '-1:02', None when the text has another form."""
    if ":" not in text:
        return None
    try:
        micros = clock_micros(text[1:], fields)
    except (BadFormatError, FieldOverflowError):
        return None
    return -micros if text[0] == "-" else micros


def clock_micros(text: str, fields: str) -> int:
    """Return the microseconds of h:m, h:m:s or m:s.f (DecodeTimeCommon)."""
    head, *rest = text.split(":")
    if len(rest) > 2:
        raise BadFormatError
    hour, seconds, fraction = integer(head, 64), 0, 0.0
    if "." in rest[0]:
        if len(rest) > 1:
            raise BadFormatError
        whole, _, digits = rest[0].partition(".")
        minute, seconds, hour, fraction = integer(head, 32), integer(whole, 32), 0, fraction_of(digits)
    else:
        minute = integer(rest[0], 32)
        if len(rest) == 2:
            whole, _, digits = rest[1].partition(".")
            seconds, fraction = integer(whole, 32), fraction_of(digits)
        elif fields == "minute to second":
            minute, seconds, hour = integer(head, 32), minute, 0
    if minute > 59 or seconds > 60:
        raise FieldOverflowError
    micros = ((hour * 60 + minute) * 60 + seconds) * 1_000_000 + round(fraction * 1e6)
    if micros >= 1 << 63:
        raise FieldOverflowError
    return micros


def add_number(span: Span, text: str, unit: str) -> tuple[str, frozenset[str]]:
    """Add a number of `unit`, or years and months.

    Return the unit of the piece before the number, and the fields that the number fills.
    """
    years = YEARS_MONTHS.fullmatch(text)
    if years is not None:
        whole, months = integer(years[1], 64), integer(years[2], 32)
        if months > 11:
            raise FieldOverflowError
        if years[3]:
            raise BadFormatError
        span.add("month", whole * 12 + (-months if text[0] == "-" else months), 0.0)
        return "month", frozenset({"month"})
    number = NUMBER.fullmatch(text)
    if number is None:
        raise BadFormatError
    fraction = fraction_of(number[2][1:]) if number[2] else 0.0
    span.add(unit, integer(number[1], 64), -fraction if text[0] == "-" else fraction)
    if unit == "second" and fraction:
        return unit, frozenset({"second", "millisecond", "microsecond"})
    return ("day" if unit == "hour" else unit), frozenset({unit})
