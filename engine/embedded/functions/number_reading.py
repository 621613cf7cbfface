"""The function to_number, as PostgreSQL's formatting.c has it in the C locale: a text is taken byte
by byte along its template.
"""

from __future__ import annotations

from decimal import Decimal

from engine.embedded import decimals
from engine.embedded.decimals import Numeric
from engine.embedded.functions.number_templates import MARK, Template, template_of
from sql.errors import SqlError
from sql.values.number_input import check_digits, fit_numeric

# The scale of 10 ^ -n as PostgreSQL computes it.
SHIFT_SCALE = 16


def read(text: str, template_text: str) -> Numeric | None:
    """Return to_number(text, template)."""
    if not template_text:
        return None
    template = template_of(template_text)
    for pattern in ("EEEE", "RN"):
        if pattern in template.says:
            raise SqlError("0A000", f'"{pattern}" not supported for input')
    reader = Reader(template, text.encode())
    for node in template.nodes:
        if reader.at >= len(reader.text):
            break
        reader.read(node)
    number = reader.sign + "".join(reader.digits).removesuffix(".")
    if len(number) == 1:
        raise SqlError("22P02", f'invalid input syntax for type numeric: "{number}"')
    after = reader.after
    value = check_digits(Decimal(number.strip()), None)
    value = fit_numeric(value, template.before + template.shift + after, after)
    unscaled, scale = decimals.from_decimal(value)
    if "V" not in template.says:
        return unscaled, scale
    return decimals.checked(unscaled * decimals.rescaled((1, template.shift), SHIFT_SCALE), SHIFT_SCALE)


class Reader:
    """The input of to_number while the nodes of its template are read.

    Attributes:
        text: UTF-8; some patterns skip a byte.
        at: the next byte.
        sign: ' ' until one is read.
        digits: of the number, with its point.
        has_point: whether the point is read.
        after: digits after the point.
    """

    def __init__(self, template: Template, text: bytes) -> None:
        self.template, self.says = template, template.says
        self.text, self.at = text, 0
        self.sign, self.after, self.has_point = " ", 0, False
        self.digits: list[str] = []

    def has_digits(self) -> bool:
        """True after the first digit."""
        return len(self.digits) > self.has_point

    def read(self, node: str) -> None:
        """Read what stands for a node; there is at least a byte to read."""
        following = self.following()
        if node.startswith(MARK):
            self.skip_character()
        elif node in ("9", "0", ".", "D"):
            self.read_place(node)
            self.at += 1
        elif node in (",", "G"):
            self.at += following == "," and "FM" not in self.says
        elif node in ("MI", "PL", "SG"):
            signs = {"MI": "-", "PL": "+", "SG": "+-"}[node]
            if following in signs:
                self.sign = following
                self.at += 1
            else:
                self.skip_others(1)
        elif node == "L":
            self.skip_others(1)
        elif node.upper() == "TH" and "." not in self.says:
            self.skip_others(2)

    def following(self, distance: int = 0) -> str:
        """Return a byte of what follows as a character, '' at the end."""
        return self.text[self.at + distance : self.at + distance + 1].decode("latin-1")

    def skip_character(self) -> None:
        """Skip a character, or the rest of it."""
        lead = self.text[self.at]
        self.at += 1 + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0)

    def skip_others(self, count: int) -> None:
        """Skip so many characters, up to one that numbers have."""
        while count and self.at < len(self.text) and self.following() not in "0123456789.,+-":
            self.skip_character()
            count -= 1

    def read_place(self, node: str) -> None:
        """Read a digit or the point, with the signs that stand next to it.

        The caller goes on to the byte after it.
        """
        self.at += self.following() == " "
        if self.at >= len(self.text):
            return
        if self.sign == " " and node in ("9", "0") and not self.has_digits():
            self.read_sign_before()
        character = self.following()
        is_read = True
        if character.isascii() and character.isdigit():
            if self.has_point and self.after == self.template.after:
                return
            self.digits.append(character)
            self.after += self.has_point
        elif character == "." and "." in self.says and not self.has_point:
            self.digits.append(".")
            self.has_point = True
        else:
            is_read = False
        if character and self.sign == " " and self.has_digits():
            self.read_sign_after(is_read)

    def read_sign_before(self) -> None:
        """Read a sign before the first digit."""
        is_anchored = self.template.before_sign is not None
        signs = {"-": "-", "+": "+"} if is_anchored or "PR" not in self.says else {"-": "-", "+": "+", "<": "-"}
        if self.following() in signs:
            self.sign = signs[self.following()]
            self.at += 1

    def read_sign_after(self, is_read: bool) -> None:
        """Read a sign after a digit or the point: that of S at once, that of MI and the like where
        a digit was expected.
        """
        if "S" in self.says:
            if is_read and self.following(1) in ("+", "-"):
                self.at += 1
                self.sign = self.following()
        elif not is_read and self.says & {"MI", "PL"} and self.following() in ("+", "-"):
            self.sign = self.following()
