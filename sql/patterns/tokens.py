"""The tokens of PostgreSQL's advanced regular expressions: outside of brackets, in bounds, and
escapes.

Raises 2201B.
"""

from __future__ import annotations

from typing import NamedTuple

from sql.patterns.trees import Options, bad

BLANKS = " \t\n\v\f\r"
DIGITS = "0123456789"
HEX_DIGITS = "0123456789abcdefABCDEF"
CODES = {"a": 7, "b": 8, "B": 92, "e": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
SHORTHANDS = {"d": "digit", "s": "space", "w": "word"}
GAPS = {
    "A": "text_start", "Z": "text_end", "m": "word_start", "M": "word_end", "y": "word_edge", "Y": "no_word_edge",
}  # fmt: skip
CODE_MAX = 0x7FFFFFFE


class Token(NamedTuple):
    """A token of a regular expression.

    Attributes:
        kind: plain, class, gap, look, reference, digit, end or the character itself.
        code: of a plain character; the number of a reference or digit.
        name: of a class or gap.
        flag: greedy, capturing, negated or positive.
    """

    kind: str
    code: int = 0
    name: str = ""
    flag: bool = True


END = Token("end")


class Tokens:
    """A pattern that is read token by token.

    Attributes:
        token: the next token.
        place: the place after the next token.
    """

    def __init__(self, pattern: str, options: Options) -> None:
        self.pattern = pattern
        self.options = options
        self.place = 0
        self.token = END

    def accept(self, text: str) -> bool:
        """Step over `text` if it is next."""
        if self.pattern.startswith(text, self.place):
            self.place += len(text)
            return True
        return False

    def take(self) -> str:
        """Return the next character and step over it, '' at the end."""
        self.place += 1
        return self.pattern[self.place - 1 : self.place]

    def peek(self) -> str:
        return self.pattern[self.place : self.place + 1]

    def advance(self, groups: int) -> None:
        """Go to the next token.

        groups: the number of capturing parentheses whose begin has been read.
        """
        if self.options.literal:
            character = self.take()
            self.token = Token("plain", ord(character)) if character else END
            return
        token = None
        while token is None:
            token = self.read(groups)
        self.token = token

    def skip_blanks(self) -> None:
        """Step over blanks and comments of the expanded syntax."""
        if not self.options.expanded:
            return
        while self.peek() and self.peek() in BLANKS + "#":
            if self.take() == "#":
                end = self.pattern.find("\n", self.place)
                self.place = len(self.pattern) if end < 0 else end

    def read(self, groups: int) -> Token | None:
        """Return the next token, or None for a comment."""
        self.skip_blanks()
        character = self.take()
        match character:
            case "":
                return END
            case "*" | "+" | "?":
                return Token(character, flag=not self.accept("?"))
            case "{":
                self.skip_blanks()
                return Token("{") if self.peek() and self.peek() in DIGITS else Token("plain", ord("{"))
            case "(":
                return self.parenthesis()
            case "[":
                for mark, name in (("<", "word_start"), (">", "word_end")):
                    if self.accept(f"[:{mark}:]]"):
                        return Token("gap", name=name)
                return Token("[", flag=self.accept("^"))
            case "|" | ")" | "." | "^" | "$":
                return Token(character)
            case "\\":
                return self.escape(groups)
        return Token("plain", ord(character))

    def parenthesis(self) -> Token | None:
        if not self.accept("?"):
            return Token("(")
        if self.accept(":"):
            return Token("(", flag=False)
        if self.accept("#"):
            end = self.pattern.find(")", self.place)
            self.place = len(self.pattern) if end < 0 else end + 1
            return None
        name = "behind" if self.accept("<") else "ahead"
        mark = self.take()
        if mark not in ("=", "!"):
            raise bad("quantifier operand invalid")
        return Token("look", name=name, flag=mark == "=")

    def advance_in_bounds(self) -> None:
        """Go to the next token between { and }."""
        self.skip_blanks()
        character = self.take()
        if not character:
            raise bad("braces {} not balanced")
        if character in DIGITS:
            self.token = Token("digit", int(character))
        elif character == ",":
            self.token = Token(",")
        elif character == "}":
            self.token = Token("}", flag=not self.accept("?"))
        else:
            raise bad("invalid repetition count(s)")

    def escape(self, groups: int) -> Token:
        """Return the token of a backslash, which has been read, and the characters after it."""
        letter = self.take()
        if not letter:
            raise bad("invalid escape \\ sequence")
        if not (letter.isascii() and letter.isalnum()):
            return Token("plain", ord(letter))
        if letter in CODES:
            return Token("plain", CODES[letter])
        if letter in GAPS:
            return Token("gap", name=GAPS[letter])
        if letter.lower() in SHORTHANDS:
            return Token("class", name=SHORTHANDS[letter.lower()], flag=letter.islower())
        match letter:
            case "c":
                control = self.take()
                if not control:
                    raise bad("invalid escape \\ sequence")
                return Token("plain", ord(control) & 31)
            case "u":
                return self.character(16, 4, 4)
            case "U":
                return self.character(16, 8, 8)
            case "x":
                return self.character(16, 1, 255)
        if letter not in DIGITS:
            raise bad("invalid escape \\ sequence")
        self.place -= 1
        return self.reference_or_octal(groups)

    def reference_or_octal(self, groups: int) -> Token:
        start = self.place
        if self.peek() != "0":
            number = self.digits(10, 1, 255)
            if self.place == start + 1 or 0 < number <= groups:
                return Token("reference", number)
            self.place = start
        code = self.digits(8, 1, 3)
        if code > 0xFF:
            self.place -= 1
            code >>= 3
        return Token("plain", code)

    def character(self, base: int, least: int, most: int) -> Token:
        code = self.digits(base, least, most) & 0xFFFFFFFF
        if code > CODE_MAX:
            raise bad("invalid escape \\ sequence")
        return Token("plain", code)

    def digits(self, base: int, least: int, most: int) -> int:
        """Read up to `most` digits of a number."""
        start = self.place
        while self.place - start < most and self.peek() and self.peek() in HEX_DIGITS and int(self.peek(), 16) < base:
            self.place += 1
        if self.place - start < least:
            raise bad("invalid escape \\ sequence")
        return int(self.pattern[start : self.place], base)
