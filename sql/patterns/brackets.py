"""Bracket expressions of PostgreSQL's regular expressions. Raises 2201B."""

from __future__ import annotations

from sql.patterns.character_sets import CLASSES, ELEMENTS, Ranges, between, complement, folded, union
from sql.patterns.tokens import Token, Tokens
from sql.patterns.trees import bad

START = Token("start")


class Brackets:
    """The reader of the text after a [ and a ^."""

    def __init__(self, tokens: Tokens, ignore_case: bool) -> None:
        self.tokens = tokens
        self.ignore_case = ignore_case
        self.token = START
        self.groups = 0

    def read(self, groups: int) -> Ranges:
        """Return the characters that are named, in both cases where case does not matter."""
        self.groups = groups
        found: list[Ranges] = []
        self.advance()
        while self.token.kind != "]":
            found.append(self.item())
        return union(found)

    def advance(self) -> None:
        """Go to the next token: plain, class, range, element, equals, named or ]."""
        tokens = self.tokens
        is_first = self.token is START
        character = tokens.take()
        if not character:
            raise bad("brackets [] not balanced")
        if character == "]" and not is_first:
            self.token = Token("]")
        elif character == "\\":
            self.token = tokens.escape(self.groups)
            if self.token.kind not in ("plain", "class"):
                raise bad("invalid escape \\ sequence")
        elif character == "-" and not is_first and tokens.peek() != "]":
            self.token = Token("range", ord("-"))
        elif character == "[" and not tokens.peek():
            raise bad("brackets [] not balanced")
        elif character == "[" and tokens.peek() in ".=:":
            self.token = Token({".": "element", "=": "equals", ":": "named"}[tokens.take()])
        else:
            self.token = Token("plain", ord(character))

    def item(self) -> Ranges:
        """Read a character, a range or a class."""
        token = self.token
        match token.kind:
            case "plain":
                low = token.code
                self.advance()
            case "element":
                low = self.element(".]")
            case "equals":
                low = self.element("=]")
                return self.cased(between(low, low))
            case "named":
                return self.named()
            case "class":
                self.advance()
                return CLASSES[token.name] if token.flag else complement(CLASSES[token.name])
            case _:
                raise bad("invalid character range")
        high = self.range_end() if self.token.kind == "range" else low
        if high < low:
            raise bad("invalid character range")
        return self.cased(between(low, high))

    def range_end(self) -> int:
        self.advance()
        if self.token.kind == "element":
            return self.element(".]")
        if self.token.kind not in ("plain", "range"):
            raise bad("invalid character range")
        code = self.token.code
        self.advance()
        return code

    def cased(self, ranges: Ranges) -> Ranges:
        return folded(ranges) if self.ignore_case else ranges

    def element(self, closing: str) -> int:
        """Read the name of a character."""
        name = self.name(closing)
        if len(name) != 1 and name not in ELEMENTS:
            raise bad("invalid collating element")
        self.advance()
        return ord(name) if len(name) == 1 else ELEMENTS[name]

    def named(self) -> Ranges:
        """Read the name of a class."""
        name = self.name(":]")
        if name not in CLASSES:
            raise bad("invalid character class")
        self.advance()
        return CLASSES["alpha" if self.ignore_case and name in ("lower", "upper") else name]

    def name(self, closing: str) -> str:
        name, found, _ = self.tokens.pattern[self.tokens.place :].partition(closing)
        if not found:
            raise bad("brackets [] not balanced")
        self.tokens.place += len(name) + len(closing)
        return name
