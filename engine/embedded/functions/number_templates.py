"""Templates of numbers, as to_char and to_number take them (PostgreSQL's formatting.c).

A template is a sequence of patterns and of other characters, which PostgreSQL takes one by one, so
the answers for texts and numbers that do not line up with their template depend on the order in
which `number_formats` and `number_reading` take them.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass, field
from functools import lru_cache

from sql.errors import SqlError

# Patterns of several letters are all capitals or all small.
PATTERN = "EEEE|FM|MI|PL|PR|RN|SG|SP|TH"
TOKEN = re.compile(
    rf'(?P<pattern>{PATTERN}|{PATTERN.lower()}|[,.09BCDGLSVbcdglsv])|"(?P<quoted>(?:\\.|[^"])*)"?|(?:\\(?="))?(?P<other>.)',
    re.DOTALL,
)
QUOTED_CHARACTER = re.compile(r"\\?(.)", re.DOTALL)
# Characters of a template; so the digits of a number are few enough for Python's str().
TEMPLATE_MAX = 4000
# Before a character that stands for itself.
MARK = '"'
# Patterns that may not follow others, with the error.
CLASHES = (
    ("9", {"PR"}, '"9" must be ahead of "PR"'),
    ("0", {"PR"}, '"0" must be ahead of "PR"'),
    (".", {"."}, "multiple decimal points"),
    (".", {"V"}, 'cannot use "V" and decimal point together'),
    ("V", {"."}, 'cannot use "V" and decimal point together'),
    ("S", {"S"}, 'cannot use "S" twice'),
    ("S", {"PL", "MI", "PR"}, 'cannot use "S" and "PL"/"MI"/"SG"/"PR" together'),
    ("MI", {"S"}, 'cannot use "S" and "MI" together'),
    ("PL", {"S"}, 'cannot use "S" and "PL" together'),
    ("SG", {"S"}, 'cannot use "S" and "SG" together'),
    ("PR", {"S", "PL", "MI"}, 'cannot use "PR" and "S"/"PL"/"MI"/"SG" together'),
    ("EEEE", {"EEEE"}, 'cannot use "EEEE" twice'),
)
BESIDE_EXPONENT = {"B", "FM", "S", "PR", "MI", "PL", "RN", "V"}
ONLY_DIGITS = '"EEEE" may only be used together with digit and decimal point patterns.'


@dataclass(slots=True)
class Template:
    """The template of a number.

    Attributes:
        nodes: patterns in capitals ("th" and "rn" as they are), and MARK with a character.
        says: the patterns that concern the whole number.
        before, after: digit places on both sides of the point.
        shift: digits after V, by which the number is multiplied.
        zero_at: the place (from 0) of the first 0 before the point, None without.
        zero_end: the number of places up to the last 0.
        before_sign: digit places before S where S stands before the point, else None.
    """

    nodes: list[str] = field(default_factory=list)
    says: set[str] = field(default_factory=set)
    before: int = 0
    after: int = 0
    shift: int = 0
    zero_at: int | None = None
    zero_end: int = 0
    before_sign: int | None = None

    def add(self, node: str) -> None:
        """Append a pattern; raise 42601 where it may not stand."""
        self.nodes.append(node)
        name = "." if node == "D" else node.upper()
        refuse(name, self.says)
        if name in ("0", "9"):
            self.add_digit(name)
            return
        if name == "S" and "." not in self.says:
            self.before_sign = self.before
        # Only EEEE minds a B.
        if name != "B" or not self.before + self.after:
            self.says |= {"MI", "PL"} if name == "SG" else {name}

    def add_digit(self, name: str) -> None:
        """Count a digit place."""
        if "." in self.says:
            self.after += 1
        elif name == "9" and "V" in self.says:
            self.shift += 1
        else:
            self.zero_at = self.before if name == "0" and self.zero_at is None else self.zero_at
            self.before += 1
        if name == "0":
            self.zero_end = self.before + self.after


def refuse(name: str, says: Set[str]) -> None:
    """Raise 42601 for a pattern that may not follow others."""
    if "EEEE" in says and name != "EEEE":
        raise SqlError("42601", '"EEEE" must be the last pattern used')
    for pattern, others, message in CLASHES:
        if pattern == name and others & says:
            raise SqlError("42601", message)
    if name == "EEEE" and BESIDE_EXPONENT & says:
        raise SqlError("42601", '"EEEE" is incompatible with other formats', detail=ONLY_DIGITS)


@lru_cache(maxsize=64)
def template_of(text: str) -> Template:
    """Return a template, read."""
    if len(text) > TEMPLATE_MAX:
        raise SqlError("54000", f"number format has more than {TEMPLATE_MAX} characters")
    template = Template()
    for match in TOKEN.finditer(text):
        if pattern := match["pattern"]:
            template.add(pattern if pattern in ("th", "rn") else pattern.upper())
        elif match["other"]:
            template.nodes.append(MARK + match["other"])
        else:
            template.nodes += [MARK + each for each in QUOTED_CHARACTER.findall(match["quoted"])]
    return template
