"""Random regular expressions in PostgreSQL's syntax, texts that they may match, and options; a few
patterns are wrong on purpose.
"""

from __future__ import annotations

from random import Random

LETTERS = "ab" * 4 + "c1 \n"
SETS = "[ab] [^a] [a-c] \\w \\d \\s \\W \\D \\S [[:alpha:]] [^\\w] [b\\s] []a] [a-] [^b\\W] [[.a.]-c] [[=b=]1] [^[:upper:]\\n]".split()
GAPS = "^ $ \\m \\M \\y \\Y \\A \\Z [[:<:]] [[:>:]]".split()
LOOKS = ("(?=", "(?!", "(?<=", "(?<!")
QUANTIFIERS = "* + ? {2} {1,2} {0,2} {2,} {1} {1,1} {0} {0,1} {0,3}".split()
ESCAPES = ("\\x62", "\\u0061", "\\142", "\\e", "\\.", "\\n", "é", "[à-ÿ]")
WRONG = ("(", ")", "[", "**", "{1", "\\q", "[b-a]", "{2,1}", "[[:no:]]", "(?<", "\\", "(?z)", "***", "{256}")
TEXT_LETTERS = "aaabbbc1 \nAé"


class RandomPattern:
    """One case: `pattern`, `text` and option `letters`."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.pattern = self.alternatives(3, looks=True)
        if self.random.random() < 0.03:
            place = self.random.randint(0, len(self.pattern))
            self.pattern = self.pattern[:place] + self.random.choice(WRONG) + self.pattern[place:]
        if self.random.random() < 0.1:
            self.pattern = self.random.choice(["(?i)", "(?n)", "(?x)", "***:", "***=", "(?q)", "(?#no)"]) + self.pattern
        length = self.random.choice([0, 1, 2, 3, 5, 8, 12])
        self.text = "".join(self.random.choice(TEXT_LETTERS) for _ in range(length))
        self.letters = "".join(self.random.sample("inpwxsctq", self.random.choice([0, 0, 0, 1, 2])))

    def alternatives(self, depth: int, looks: bool) -> str:
        return "|".join(self.branch(depth, looks) for _ in range(self.random.choice([1, 1, 1, 2, 2, 3])))

    def branch(self, depth: int, looks: bool) -> str:
        out = ""
        for _ in range(self.random.choice([0, 1, 1, 2, 2, 3, 4])):
            atom = self.atom(depth, looks)
            is_gap = atom in GAPS or atom.startswith(LOOKS)
            out += atom + ("" if is_gap and self.random.random() < 0.97 else self.quantifier())
        return out

    def atom(self, depth: int, looks: bool) -> str:
        choice = self.random.random()
        if choice < 0.45:
            return self.random.choice(LETTERS)
        if choice < 0.5:
            return "."
        if choice < 0.58:
            return self.random.choice(SETS)
        if choice < 0.61:
            return self.random.choice(ESCAPES)
        if choice < 0.68:
            return self.random.choice(GAPS)
        if depth == 0:
            return self.random.choice("ab")
        if choice < 0.86:
            return f"({self.alternatives(depth - 1, looks)})"
        if choice < 0.96 or not looks:
            return f"(?:{self.alternatives(depth - 1, looks)})"
        return f"{self.random.choice(LOOKS)}{self.alternatives(depth - 1, looks=False)})"

    def quantifier(self) -> str:
        if self.random.random() < 0.55:
            return ""
        return self.random.choice(QUANTIFIERS) + ("?" if self.random.random() < 0.35 else "")
