"""The function to_char of numbers, as PostgreSQL's formatting.c has it in the C locale.

A numeric is (unscaled, scale).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from engine.embedded import decimals
from engine.embedded.decimals import Numeric
from engine.embedded.functions.number_templates import MARK, Template, template_of
from sql.errors import SqlError

DOUBLE_DIGITS, REAL_DIGITS = 15, 6
# More than a template has.
NUMERIC_DIGITS = 1_000
ROMAN_MAX, ROMAN_WIDTH = 3999, 15
ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        ("M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"),
        strict=True,
    )
)


def formatted(value: Numeric, text: str) -> str:
    """Return to_char(numeric, template)."""
    template = template_of(text)
    if "EEEE" in template.says:
        return scientific(value, template.after)
    if "RN" in template.says:
        whole = decimals.rescaled(value, 0)
        if not -(2**31) <= whole < 2**31:
            raise SqlError("22003", "integer out of range")
        return written(template, roman(whole), "", 0)
    unscaled = decimals.rescaled((value[0] * 10**template.shift, value[1]), template.after)
    return written(template, plain(abs(unscaled), template.after), "-" if unscaled < 0 else "+", template.after)


def integers_formatted(bits: int, type_name: str) -> Callable[[int, str], str]:
    """Return to_char(integer, template) of a type.

    V raises 22003 for a product outside of the type; PostgreSQL's int4 wraps around.
    """

    def run(value: int, text: str) -> str:
        template = template_of(text)
        if bits == 32 and "EEEE" in template.says:
            return f"{float(value): .{template.after}e}"
        if template.shift and "RN" not in template.says and abs(value) * 10**template.shift >= 2 ** (bits - 1):
            raise SqlError("22003", f"{type_name} out of range")
        return formatted((value, 0), text)

    return run


formatted_int4, formatted_int8 = integers_formatted(32, "integer"), integers_formatted(64, "bigint")


def formatted_special(value: float, text: str) -> str:
    """Return to_char of a numeric that is NaN or an infinity."""
    if "RN" in template_of(text).says:
        raise SqlError("0A000", f"cannot convert {'NaN' if math.isnan(value) else 'infinity'} to integer")
    return formatted_float(value, text, NUMERIC_DIGITS)


def formatted_float(value: float, text: str, digits: int = DOUBLE_DIGITS) -> str:
    """Return to_char of a float, of which so many digits are shown."""
    template = template_of(text)
    if "EEEE" in template.says:
        places = "#" * template.before + "." + "#" * (template.after + 4)
        return f"{value: .{template.after}e}" if math.isfinite(value) else f" {places}"
    if "RN" in template.says:
        return written(template, roman(round(value) if math.isfinite(value) else 0), "", 0)
    value *= float(f"1e{template.shift}")
    sign = "-" if math.copysign(1, value) < 0 and not math.isnan(value) else "+"
    whole = f"{abs(value):.0f}".replace("nan", "NaN").replace("inf", "Infinity")
    after = min(template.after, max(digits - len(whole), 0))
    return written(template, f"{abs(value):.{after}f}" if math.isfinite(value) else whole, sign, after)


def formatted_float4(value: float, text: str) -> str:
    """Return to_char of a real."""
    return formatted_float(value, text, REAL_DIGITS)


def plain(unscaled: int, scale: int) -> str:
    """Return the text of a number that is not negative."""
    digits = str(unscaled).rjust(scale + 1, "0")
    return f"{digits[: len(digits) - scale]}.{digits[len(digits) - scale :]}" if scale else digits


def scientific(value: Numeric, after: int) -> str:
    """Return a number with an exponent; rounding may give it a second digit before the point."""
    unscaled, scale = value
    exponent = len(str(abs(unscaled))) - 1 - scale if unscaled else 0
    shifted = (unscaled, scale + exponent) if scale + exponent >= 0 else (unscaled * 10 ** -(scale + exponent), 0)
    rounded = decimals.rescaled(shifted, after)
    return f"{'-' if rounded < 0 else ' '}{plain(abs(rounded), after)}e{exponent:+03d}"


def roman(number: int) -> str:
    """Return a number in Roman numerals."""
    if not 0 < number <= ROMAN_MAX:
        return "#" * ROMAN_WIDTH
    out = ""
    for value, letters in ROMAN:
        times, number = divmod(number, value)
        out += letters * times
    return out


def written(template: Template, number: str, sign: str, after: int) -> str:
    """Return a number in the places of its template.

    Args:
        template: of a text.
        number: digits, a word or Roman numerals.
        sign: '+' or '-', '' of Roman numerals.
        after: digits after the point of the number, which may be fewer than the template's.
    """
    before = template.before + template.shift
    whole = len(number.partition(".")[0])
    if "RN" in template.says:
        template, before, whole = replace(template, says=template.says & {"FM", "RN"}), 0, 0
    elif whole > before:
        number = "#" * before + "." + "#" * after
    writer = Writer(template, number, sign, max(before - whole, 0), before, after)
    for node in template.nodes:
        writer.write(node)
    # A place without a digit is PostgreSQL's end of the text.
    return "".join(writer.out).partition("\0")[0]


class Writer:
    """The output of to_char while the nodes of its template are written.

    Attributes:
        at: the next character of the number.
        place: the digit places and points so far.
        blanks: the places before the number's first digit.
        last: the last character that FM shows, None where it shows all.
        inside: whether the latest place shows a digit.
        is_signed: whether the sign is written, or is written by a pattern of its own.
    """

    def __init__(self, template: Template, number: str, sign: str, blanks: int, before: int, after: int) -> None:
        says = template.says
        self.number, self.sign, self.blanks, self.after = number, sign, blanks, after
        self.zero_at = None if "RN" in says else template.zero_at
        self.fills = "FM" not in says
        self.is_roman, self.has_point = "RN" in says, "." in says
        self.brackets = "PR" in says and (self.fills or sign == "-")
        self.sign_before = self.sign_after = False
        if "S" in says:
            self.sign_before = template.before_sign is not None and template.before_sign != before
            self.sign_after = not self.sign_before
        is_own = says & {"MI", "PL"}
        self.is_signed = "MI" in says if is_own else sign == "+" and not self.fills and "S" not in says
        self.at = self.place = 0
        self.inside = False
        self.out: list[str] = []
        self.last = None if self.fills or not self.has_point else last_shown(number, template.zero_end, blanks)
        signs = not self.is_signed and not blanks
        self.end = before + after - 1 + signs + bool(blanks) + self.has_point

    def write(self, node: str) -> None:
        """Write what stands for a node."""
        if node.startswith(MARK):
            self.out.append(node[1:])
        elif node in ("9", "0", ".", "D"):
            if not self.is_roman:
                self.write_place(node)
        elif node in (",", "G"):
            self.write_or_fill("," if self.inside else "")
        elif node == "L":
            self.out.append(" ")
        elif node == "MI":
            self.write_or_fill("-" if self.sign == "-" else "")
        elif node == "PL":
            self.write_or_fill("+" if self.sign == "+" else "")
        elif node == "SG":
            self.out.append(self.sign or "\0")
        elif node.upper() == "RN":
            letters = self.number if node == "RN" else self.number.lower()
            self.out.append(letters.rjust(ROMAN_WIDTH) if self.fills else letters)
        elif node.upper() == "TH" and self.sign == "+" and not self.has_point and self.number[0] != "#":
            self.out.append(ordinal(self.number) if node == "th" else ordinal(self.number).upper())

    def write_or_fill(self, text: str) -> None:
        """Write a text, for an empty one a blank unless FM leaves it out."""
        self.out.append(text or (" " if self.fills else ""))

    def write_place(self, node: str) -> None:
        """Write a digit or the point, with the signs that stand next to it."""
        self.inside = False
        if not self.is_signed and (self.place >= self.blanks or self.zero_at == self.place):
            if not self.hides_zero() or self.ends_at_point():
                self.write_sign()
        if self.place < self.blanks:
            self.inside = self.zero_at is not None and self.zero_at <= self.place
            self.write_or_fill("0" if self.inside else "")
        else:
            self.write_character(node)
        is_end = self.place + 1 == self.end and self.at != self.last
        if is_end and self.is_signed and self.brackets:
            self.out.append(" " if self.sign == "+" else ">")
        elif is_end and self.sign_after:
            self.out.append(self.sign)
        self.place += 1

    def write_sign(self) -> None:
        """Write the sign before the number."""
        if self.sign_after:
            return
        self.is_signed = True
        if self.sign_before:
            self.out.append(self.sign)
        elif self.brackets:
            self.out.append(" " if self.sign == "+" else "<")
        else:
            self.write_or_fill("-" if self.sign == "-" else "")

    def write_character(self, node: str) -> None:
        """Write the next character of the number."""
        character = self.number[self.at : self.at + 1]
        if character == ".":
            self.out.append(".")
        elif self.last is not None and self.at > self.last and node != "0":
            pass
        elif self.hides_zero():
            self.write_or_fill("0" if self.ends_at_point() else "")
        else:
            self.out.append(character or "\0")
            self.inside = True
        self.at += bool(character)

    def hides_zero(self) -> bool:
        """True before the 0 of a number below 1 that is not written."""
        return self.zero_at is None and self.at == 0 and self.number[0] == "0" and self.after > 0

    def ends_at_point(self) -> bool:
        """True where FM shows no digit after the point."""
        return self.last is not None and self.number[self.last] == "."


def last_shown(number: str, zero_end: int, blanks: int) -> int | None:
    """Return the index of the last character that FM shows, None for a number without a point."""
    if "." not in number:
        return None
    last = len(number.rstrip("0")) - 1
    return max(last, min(len(number) - 1, zero_end - blanks)) if zero_end > blanks else last


def ordinal(number: str) -> str:
    """Return the suffix of an ordinal number."""
    if not number[-1].isdigit():
        raise SqlError("22P02", f'"{number}" is not a number')
    return "th" if number[-2:-1] == "1" else {"1": "st", "2": "nd", "3": "rd"}.get(number[-1], "th")
