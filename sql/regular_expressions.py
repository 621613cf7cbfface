"""PostgreSQL's advanced regular expressions rewritten for the matchers that we have: Python's, Java's and RE2.

Enters: a pattern and PostgreSQL's option letters. Leaves: `Expression`, the same pattern in the other syntax, and what decides which
match PostgreSQL takes of several. Letters are those of ASCII, as in the C locale. Raises 2201B. Must not match anything itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from sql.errors import SqlError, not_supported

WORD = "A-Za-z0-9_"
CLASSES = {
    "alnum": "A-Za-z0-9",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r\\f\\x0b",
    "upper": "A-Z",
    "word": WORD,
    "xdigit": "0-9A-Fa-f",
}
SHORTHANDS = {"d": "0-9", "s": " \\t\\n\\r\\f\\x0b", "w": WORD}
CHARACTERS = {"a": 7, "b": 8, "e": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "B": 92}
BEFORE, AFTER, NOT_BEFORE, NOT_AFTER = f"(?<=[{WORD}])", f"(?=[{WORD}])", f"(?<![{WORD}])", f"(?![{WORD}])"
CONSTRAINTS = {
    "m": NOT_BEFORE + AFTER,
    "M": BEFORE + NOT_AFTER,
    "y": f"(?:{BEFORE}{NOT_AFTER}|{NOT_BEFORE}{AFTER})",
    "Y": f"(?:{BEFORE}{AFTER}|{NOT_BEFORE}{NOT_AFTER})",
}
REPEATS_MAX = 255
METACHARACTERS = "\\^$.|?*+()[]{}"


@dataclass(frozen=True, slots=True)
class Expression:
    """A pattern in the syntax of the engines. end: how they write the end of the text.

    groups: number of capturing parentheses. shortest: PostgreSQL takes the shortest match, else the longest. plain: the first match that a
    backtracking matcher finds is PostgreSQL's. looks: it has backward references or looks around. anchored: the text's end matters to it.
    """

    template: str
    ignore_case: bool
    groups: int
    shortest: bool
    plain: bool
    looks: bool
    anchored: bool

    def text(self, end: str) -> str:
        """Return the pattern; `end` is the matcher's way to write the end of the text: \\Z or \\z."""
        return ("(?si)" if self.ignore_case else "(?s)") + self.template.replace(END, end)


END = "\ue000"


@dataclass(frozen=True, slots=True)
class Options:
    """What PostgreSQL's option letters say. dot_stops: at line ends. lines: ^ and $ match at them."""

    ignore_case: bool = False
    expanded: bool = False
    literal: bool = False
    dot_stops: bool = False
    lines: bool = False
    is_global: bool = False


def bad(message: str) -> SqlError:
    return SqlError("2201B", f"invalid regular expression: {message}")


def options_of(letters: str, base: Options | None = None) -> Options:
    """Return the meaning of option letters; later ones win."""
    values = {name: getattr(base or Options(), name) for name in Options.__slots__}
    for letter in letters:
        match letter:
            case "g":
                values["is_global"] = True
            case "i" | "c":
                values["ignore_case"] = letter == "i"
            case "x" | "t":
                values["expanded"] = letter == "x"
            case "q":
                values["literal"] = True
            case "n" | "m":
                values["dot_stops"] = values["lines"] = True
            case "s":
                values["dot_stops"] = values["lines"] = False
            case "p":
                values["dot_stops"], values["lines"] = True, False
            case "w":
                values["dot_stops"], values["lines"] = False, True
            case "b" | "e":
                raise not_supported(f'the regular expression option "{letter}"')
            case _:
                raise SqlError("22023", f'invalid regular expression option: "{letter}"')
    return Options(**values)


@lru_cache(maxsize=512)
def translated(pattern: str, letters: str = "") -> Expression:
    """Return a pattern in the syntax of the engines."""
    options = options_of(letters)
    if pattern.startswith("***="):
        options, pattern = options_of("q", options), pattern[4:]
    elif pattern.startswith("***:"):
        pattern = pattern[4:]
    elif pattern.startswith("***"):
        raise bad("invalid regexp (reg version 0.8)")
    if options.literal:
        return Expression("".join(map(literal, pattern)), options.ignore_case, 0, False, True, False, False)
    if pattern.startswith("(?") and pattern[2:3].isalpha():
        letters, _, pattern = pattern[2:].partition(")")
        options = options_of(letters, options)
    reader = Reader(pattern, options)
    template, shortest = reader.alternatives()
    if reader.place < len(pattern):
        raise bad("parentheses () not balanced")
    plain = not reader.has_branches and reader.quantifiers <= 1
    return Expression(
        template, options.ignore_case, reader.groups, shortest is True, plain, reader.looks, reader.anchored
    )


def literal(character: str) -> str:
    """Return a character that stands for itself."""
    return f"\\{character}" if character in METACHARACTERS + "-&~#" else character


class Reader:
    """Reads one pattern from the left."""

    def __init__(self, pattern: str, options: Options) -> None:
        self.pattern = pattern
        self.options = options
        self.place = 0
        self.groups = 0
        self.quantifiers = 0
        self.has_branches = False
        self.looks = False
        self.anchored = False

    def next(self) -> str:
        """Return the next character, '' at the end."""
        return self.pattern[self.place : self.place + 1]

    def accept(self, text: str) -> bool:
        """Go past `text` if it is next."""
        if self.pattern.startswith(text, self.place):
            self.place += len(text)
            return True
        return False

    def alternatives(self) -> tuple[str, bool | None]:
        """Read branches; the second value tells whether the shortest match wins, None where nothing decides."""
        branches = [self.branch()]
        while self.accept("|"):
            branches.append(self.branch())
        if len(branches) > 1:
            self.has_branches = True
            return "|".join(text for text, _ in branches), False
        return branches[0]

    def branch(self) -> tuple[str, bool | None]:
        out, shortest = "", None
        while self.next() and self.next() not in "|)":
            if self.options.expanded and self.skip_blank():
                continue
            text, preference = self.quantified()
            out += text
            shortest = preference if shortest is None else shortest
        return out, shortest

    def skip_blank(self) -> bool:
        if self.next().isspace():
            self.place += 1
            return True
        if self.next() == "#":
            end = self.pattern.find("\n", self.place)
            self.place = len(self.pattern) if end < 0 else end
            return True
        return False

    def quantified(self) -> tuple[str, bool | None]:
        """Read an atom with its quantifier."""
        text, preference, is_atom = self.atom()
        bounds = self.quantifier()
        if bounds is None:
            return text, preference
        if not is_atom:
            raise bad("quantifier operand invalid")
        low, high = bounds
        lazy = self.accept("?")
        if self.next() in ("*", "+", "?") and self.next():
            raise bad("quantifier operand invalid")
        written = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get(bounds)
        if written is None:
            written = f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}"
        if low == high:
            return text + written, preference
        self.quantifiers += 1
        return f"{text}{written}{'?' if lazy else ''}", lazy

    def quantifier(self) -> tuple[int, int | None] | None:
        if self.accept("*"):
            return 0, None
        if self.accept("+"):
            return 1, None
        if self.accept("?"):
            return 0, 1
        if self.next() == "{" and self.pattern[self.place + 1 : self.place + 2].isdigit():
            self.place += 1
            return self.bounds()
        return None

    def bounds(self) -> tuple[int, int | None]:
        low = self.number()
        high: int | None = low
        if self.accept(","):
            high = self.number() if self.next().isdigit() else None
        if not self.accept("}"):
            raise bad("braces {} not balanced" if not self.next() else "invalid repetition count(s)")
        if low > REPEATS_MAX or (high is not None and (high > REPEATS_MAX or high < low)):
            raise bad("invalid repetition count(s)")
        return low, high

    def number(self) -> int:
        start = self.place
        while self.next().isdigit():
            self.place += 1
        return int(self.pattern[start : self.place])

    def atom(self) -> tuple[str, bool | None, bool]:
        """Read an atom or a constraint: its text, its preference, and whether it may be repeated."""
        character = self.next()
        self.place += 1
        match character:
            case "(":
                return self.group()
            case "[":
                return self.brackets(), None, True
            case ".":
                return ("[^\\n]" if self.options.dot_stops else "."), None, True
            case "^":
                return ("(?m:^)" if self.options.lines else "\\A"), None, False
            case "$":
                self.anchored = True
                return ("(?m:$)" if self.options.lines else END), None, False
            case "\\":
                return self.escape()
            case "*" | "+" | "?":
                raise bad("quantifier operand invalid")
            case "{" if self.next().isdigit():
                raise bad("quantifier operand invalid")
        return literal(character), None, True

    def group(self) -> tuple[str, bool | None, bool]:
        for opening in ("?=", "?!", "?<=", "?<!"):
            if self.accept(opening):
                self.looks = self.anchored = True
                inner, _ = self.alternatives()
                self.close()
                return f"({opening}{inner})", None, False
        opening = "(?:" if self.accept("?:") else "("
        if opening == "(":
            self.groups += 1
        elif self.next() == "?":
            raise bad("quantifier operand invalid")
        inner, preference = self.alternatives()
        self.close()
        return f"{opening}{inner})", preference, True

    def close(self) -> None:
        if not self.accept(")"):
            raise bad("parentheses () not balanced")

    def escape(self) -> tuple[str, bool | None, bool]:
        letter = self.next()
        if not letter:
            raise bad("invalid escape \\ sequence")
        if letter in "dsw":
            self.place += 1
            return f"[{SHORTHANDS[letter]}]", None, True
        if letter in "DSW":
            self.place += 1
            return f"[^{SHORTHANDS[letter.lower()]}]", None, True
        if letter in CONSTRAINTS or letter in "AZ":
            self.place += 1
            self.anchored = True
            self.looks |= letter in CONSTRAINTS
            return ({"A": "\\A", "Z": END}.get(letter) or CONSTRAINTS[letter]), None, False
        if letter.isdigit() and letter != "0":
            number = self.number()
            if number > self.groups:
                raise bad("invalid backreference number")
            self.looks = True
            return f"(?:\\{number})", None, True
        return literal(self.escaped_character()), None, True

    def escaped_character(self) -> str:
        """Read what follows a backslash as one character."""
        letter = self.next()
        self.place += 1
        if letter in CHARACTERS:
            return chr(CHARACTERS[letter])
        if letter == "c":
            control = self.next()
            self.place += 1
            return chr(ord(control) & 31)
        if letter in "uU":
            return self.code(16, 4 if letter == "u" else 8)
        if letter == "x":
            start = self.place
            while self.next() and self.next() in "0123456789abcdefABCDEF":
                self.place += 1
            return chr(int(self.pattern[start : self.place] or "0", 16) & 0x10FFFF)
        if letter == "0":
            self.place -= 1
            start = self.place
            while self.next() and self.next() in "01234567" and self.place - start < 3:
                self.place += 1
            return chr(int(self.pattern[start : self.place], 8))
        if not letter or letter.isalnum():
            raise bad("invalid escape \\ sequence")
        return letter

    def code(self, base: int, length: int) -> str:
        digits = self.pattern[self.place : self.place + length]
        self.place += length
        try:
            return chr(int(digits, base))
        except ValueError:
            raise bad("invalid escape \\ sequence") from None

    def brackets(self) -> str:
        """Read a bracket expression after its '['."""
        negated = self.accept("^")
        out = ""
        first = True
        while first or self.next() != "]":
            first = False
            if not self.next():
                raise bad("brackets [] not balanced")
            out += self.bracket_item()
        self.place += 1
        if negated and self.options.dot_stops:
            out += "\\n"
        return f"[{'^' if negated else ''}{out}]"

    def bracket_item(self) -> str:
        if self.accept("[:"):
            name, found, _ = self.pattern[self.place :].partition(":]")
            if not found or name not in CLASSES:
                raise bad("invalid character class")
            self.place += len(name) + 2
            return CLASSES[name]
        if self.next() == "\\" and self.pattern[self.place + 1 : self.place + 2] in ("d", "s", "w"):
            self.place += 2
            return SHORTHANDS[self.pattern[self.place - 1]]
        low = self.bracket_character()
        if self.next() != "-" or self.pattern[self.place + 1 : self.place + 2] in ("]", ""):
            return literal(low)
        self.place += 1
        high = self.bracket_character()
        if high < low:
            raise bad("invalid character range")
        return f"{literal(low)}-{literal(high)}"

    def bracket_character(self) -> str:
        for opening, closing in (("[.", ".]"), ("[=", "=]")):
            if self.accept(opening):
                name, found, _ = self.pattern[self.place :].partition(closing)
                if not found or len(name) != 1:
                    raise bad("invalid collating element")
                self.place += len(name) + 2
                return name
        if self.accept("\\"):
            return self.escaped_character()
        character = self.next()
        self.place += 1
        return character


@lru_cache(maxsize=512)
def similar_pattern(pattern: str, escape: str | None) -> str:
    """Return the regular expression of a SIMILAR TO pattern (similar_to_escape). escape: None is the backslash, '' none."""
    mark = "\\" if escape is None else escape
    if len(mark) > 1:
        hint = "Escape string must be empty or one character."
        raise SqlError("22025", "invalid escape string", hint=hint)
    out = "^(?:"
    escaped = in_brackets = False
    for character in pattern:
        if escaped:
            if character == '"' and not in_brackets:
                raise not_supported("a SIMILAR TO pattern with separators")
            out += f"\\{character}"
            escaped = False
        elif mark and character == mark:
            escaped = True
        elif in_brackets:
            out += "\\\\" if character == "\\" else character
            in_brackets = character != "]"
        elif character == "[":
            out += character
            in_brackets = True
        elif character == "%":
            out += ".*"
        elif character == "_":
            out += "."
        elif character == "(":
            out += "(?:"
        elif character in "\\.^$":
            out += f"\\{character}"
        else:
            out += character
    return out + ")$"
