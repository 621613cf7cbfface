"""to_char and to_number of numbers: PostgreSQL's template patterns (formatting.c) in the C locale.

Patterns: 9 0 . D , G S MI PL SG PR FM. Others are 0A000. A numeric is (unscaled, scale).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache

from engine.embedded import decimals
from engine.embedded.decimals import Numeric
from sql.errors import SqlError, not_supported

TOKEN = re.compile(r'FM|MI|PL|SG|PR|TH|RN|EEEE|[90.,DGSVLB]|"(?:[^"]*)"?|.', re.IGNORECASE | re.DOTALL)
UNSUPPORTED = frozenset({"TH", "RN", "EEEE", "V", "L", "B"})
DOUBLE_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Template:
    """The template of a number.

    Attributes:
        tokens: patterns in capitals, or other text after a quote mark.
        before, after: digit places on both sides of the point.
        zero_at: the place (from 0) of the first 0 before the point, None without.
    """

    tokens: tuple[str, ...]
    before: int
    after: int
    zero_at: int | None
    zero_after: int
    fill: bool
    sign: str


@lru_cache(maxsize=256)
def template_of(text: str) -> Template:
    """Return a template, read."""
    tokens: list[str] = []
    before = after = zero_after = 0
    zero_at: int | None = None
    fill, has_point, sign = True, False, ""
    for match in TOKEN.finditer(text):
        token = match[0].upper()
        if token in UNSUPPORTED:
            raise not_supported(f"the pattern {match[0]} of a number format")
        if token == "FM":
            fill = False
        elif token in ("9", "0"):
            if has_point:
                after += 1
                zero_after = after if token == "0" else zero_after
            else:
                zero_at = before if token == "0" and zero_at is None else zero_at
                before += 1
            tokens.append(token)
        elif token in (".", "D"):
            if has_point:
                raise SqlError("42601", "multiple decimal points")
            has_point = True
            tokens.append(token)
        elif token in ("S", "MI", "PL", "SG", "PR"):
            if sign and {sign, token} & {"S", "PR"}:
                raise SqlError("42601", f'cannot use "{sign}" and "{token}" together')
            sign = sign if sign or token == "PL" else token
            tokens.append(token)
        elif token in (",", "G"):
            tokens.append(token)
        else:
            tokens.append('"' + match[0].strip('"'))
    return Template(tuple(tokens), before, after, zero_at, zero_after, fill, sign)


def formatted(value: Numeric, text: str) -> str:
    """Return to_char(number, template)."""
    if not text:
        return ""
    template = template_of(text)
    unscaled = decimals.rescaled(value, template.after)
    digits = str(abs(unscaled)).rjust(template.after + 1, "0")
    whole = digits[: len(digits) - template.after]
    fraction = digits[len(digits) - template.after :]
    negative = unscaled < 0
    if len(whole) > template.before:
        whole, fraction = "#" * template.before, "#" * template.after
    elif whole == "0" and template.after and (template.fill or significant(template, fraction)):
        whole = ""
    return assembled(template, whole.rjust(template.before), fraction, negative)


def formatted_special(value: float, text: str) -> str:
    """Return to_char of NaN or an infinity: the word stands in the place of the digits before the
    point, and nothing after it.
    """
    if not text:
        return ""
    template = template_of(text)
    word = "NaN" if math.isnan(value) else "Infinity"
    if len(word) > template.before:
        return assembled(template, "#" * template.before, "#" * template.after, value < 0)
    point = next((place for place, token in enumerate(template.tokens) if token in (".", "D")), len(template.tokens))
    behind = tuple(token for token in template.tokens[point + 1 :] if token not in ("9", "0"))
    whole_only = replace(template, tokens=template.tokens[:point] + behind, after=0, zero_after=0)
    return assembled(whole_only, word.rjust(template.before), "", value < 0)


def formatted_float(value: float, text: str) -> str:
    """Return to_char of a float, of which 15 digits are shown."""
    if not math.isfinite(value):
        return formatted_special(value, text)
    template = template_of(text)
    whole = len(f"{abs(value):.0f}")
    if whole > template.before:
        return assembled(template, "#" * template.before, "#" * template.after, value < 0) if text else ""
    after = template.after
    shown = max(min(after, DOUBLE_DIGITS - whole), 0)
    return formatted(decimals.from_decimal(Decimal(f"{value:.{shown}f}")), text)


def assembled(template: Template, whole: str, fraction: str, negative: bool) -> str:
    """Put digits and signs into their places."""
    out: list[str] = []
    sign_first = template.sign == "" or (template.sign == "S" and template.tokens[:1] == ("S",))
    place, shown, behind = 0, False, 0
    sign_written = False
    last_digit = significant(template, fraction)

    def write_sign() -> None:
        nonlocal sign_written
        if sign_written:
            return
        sign_written = True
        if template.sign == "":
            out.append("-" if negative else (" " if template.fill else ""))
        elif template.sign == "PR":
            out.append("<" if negative else (" " if template.fill else ""))
        elif sign_first:
            out.append("-" if negative else "+")

    for token in template.tokens:
        if token in ("9", "0") and behind == 0:
            digit = whole[place]
            starts = digit != " " or (template.zero_at is not None and place >= template.zero_at)
            if starts or shown:
                write_sign()
                shown = True
                out.append(digit if digit != " " else "0")
            elif place + 1 == template.before and not template.after and digit == " ":
                write_sign()
                shown = True
                out.append("0")
            elif template.fill:
                out.append(" ")
            place += 1
        elif token in ("9", "0"):
            if template.fill or behind <= last_digit:
                out.append(fraction[behind - 1])
            behind += 1
        elif token in (".", "D"):
            write_sign()
            shown = True
            behind = 1
            out.append(".")
        elif token in (",", "G"):
            out.append("," if shown else (" " if template.fill else ""))
        elif token in ("S", "SG", "MI", "PL"):
            out.append(sign_text(token, negative, template, sign_first))
        elif token == "PR":
            write_sign()
            out.append(">" if negative else (" " if template.fill else ""))
        else:
            out.append(token[1:])
    write_sign()
    return "".join(out)


def sign_text(token: str, negative: bool, template: Template, sign_first: bool) -> str:
    """Return the text of a sign pattern at its place."""
    if token == "S":
        return "" if sign_first else ("-" if negative else "+")
    if token == "SG":
        return "-" if negative else "+"
    if token == "MI":
        return "-" if negative else (" " if template.fill else "")
    return "+" if not negative else (" " if template.fill else "")


def significant(template: Template, fraction: str) -> int:
    """Return how many digits after the point FM leaves."""
    return max(len(fraction.rstrip("0")), template.zero_after)


def read(text: str, template_text: str) -> Numeric | None:
    """Return to_number(text, template): the digits at the places where the template has digits."""
    template = template_of(template_text)
    negative = "-" in text or ("<" in text and template.sign == "PR")
    digits, behind, point = "", 0, False
    room = template.before
    for character in text:
        if character.isdigit() and character.isascii():
            if point and behind < template.after:
                digits += character
                behind += 1
            elif not point and room > 0:
                digits += character
                room -= 1
        elif character == "." and any(token in (".", "D") for token in template.tokens):
            point = True
    if not digits:
        raise SqlError("22P02", f'invalid input syntax for type numeric: "{text if text.strip() else " "}"')
    unscaled = int(digits)
    return decimals.checked(-unscaled if negative else unscaled, behind)
