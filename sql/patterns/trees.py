"""PostgreSQL's advanced regular expressions as trees: the texts of a pattern, and the division of a
match.

Enters: a pattern and PostgreSQL's option letters. Leaves: a `Pattern`. One reading makes two trees.
The plain one (`Plain`) says which texts are accepted, and automata are made of it. The other
(`Node`) is that of Henry Spencer's matcher, which PostgreSQL has: it has nodes only where a match
is divided, by captures and by parts that prefer the longest match beside others that prefer the
shortest. Letters are those of ASCII, as in the C locale. Raises 2201B and 22023. Must not match
anything itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from sql.errors import SqlError, not_supported
from sql.patterns.character_sets import Ranges

# The preference of a part, and whether a match is divided below the part: by preferences that
# differ, or by a capture.
LONGER, SHORTER, MIXED, CAPTURES = 1, 2, 4, 8
PREFERENCE = LONGER | SHORTER
MESSY = MIXED | CAPTURES

REPEATS_MAX = 255
DEPTH_MAX = 50
# The largest number of characters of a pattern, and of conditions that look around: each of these
# is a pattern that is run over all of a text.
CHARACTERS_MAX, LOOKS_MAX = 50_000, 16
TOO_COMPLEX = "regular expression is too complex"


@dataclass(frozen=True, slots=True)
class Characters:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Gap:
    """A condition on the gap between two characters.

    Attributes:
        condition: the number of one of `Pattern.conditions`.
    """

    condition: int


@dataclass(frozen=True, slots=True)
class Chain:
    """Parts, one after the other; no part is the empty text."""

    parts: tuple[Plain, ...]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """Any of the parts."""

    parts: tuple[Plain, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part that is repeated.

    Attributes:
        low, high: how often; `high` None is without end.
    """

    part: Plain
    low: int
    high: int | None


Plain = Characters | Gap | Chain | Alternatives | Repeat
EMPTY = Chain(())


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition of a gap.

    Attributes:
        kind: text_start, text_end, line_start, line_end, word_start, word_end, word_edge or
            no_word_edge; ahead and behind ask whether `part` follows or goes before.
        holds: the condition must be true, else false.
    """

    kind: str
    part: Plain | None = None
    holds: bool = True


@dataclass(slots=True)
class Node:
    """A part of a pattern that takes part in dividing a match.

    Attributes:
        kind: leaf, chain (one child after the other), branches (the first child that fits), loop
            (the child up to `high` times), or group (the child alone).
        plain: the texts that the part accepts.
        flags: the preference of the part, and what is below it.
        capture: the number of its parentheses, 0 for none.
    """

    kind: str
    plain: Plain
    flags: int
    children: Sequence[Node] = ()
    high: int | None = None
    capture: int = 0


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern that was read.

    Attributes:
        groups: the number of capturing parentheses.
    """

    root: Node
    groups: int
    conditions: tuple[Condition, ...]

    @property
    def shortest(self) -> bool:
        """True where PostgreSQL takes the shortest of the leftmost matches, else the longest."""
        return bool(self.root.flags & SHORTER)


@dataclass(frozen=True, slots=True)
class Options:
    """The meaning of PostgreSQL's option letters.

    Attributes:
        dot_stops: the dot does not match the end of a line.
        lines: ^ and $ match at ends of lines; literals have none of both.
    """

    ignore_case: bool = False
    expanded: bool = False
    literal: bool = False
    dot_stops: bool = False
    lines: bool = False
    is_global: bool = False


MEANINGS: dict[str, dict[str, bool]] = {
    "g": {"is_global": True},
    "i": {"ignore_case": True},
    "c": {"ignore_case": False},
    "x": {"expanded": True},
    "t": {"expanded": False},
    "q": {"literal": True},
    "n": {"dot_stops": True, "lines": True},
    "m": {"dot_stops": True, "lines": True},
    "s": {"dot_stops": False, "lines": False},
    "p": {"dot_stops": True, "lines": False},
    "w": {"dot_stops": False, "lines": True},
}


def copies(plain: Plain) -> int:
    """Return how many copies of single characters and gaps there are when all repetitions are
    written out, at least one.
    """
    match plain:
        case Characters() | Gap():
            return 1
        case Chain(parts) | Alternatives(parts):
            return max(1, sum(map(copies, parts)))
        case Repeat(part, low, high):
            return copies(part) * max(1, low if high is None else high)


def bad(message: str) -> SqlError:
    return SqlError("2201B", f"invalid regular expression: {message}")


@lru_cache(maxsize=64)
def options_of(letters: str, base: Options | None = None) -> Options:
    """Return the meaning of option letters, of which later ones win.

    base: the options outside of the pattern in which the letters stand.
    """
    values = {name: getattr(base or Options(), name) for name in Options.__slots__}
    for letter in letters:
        if letter in ("b", "e"):
            raise not_supported(f'the regular expression option "{letter}"')
        if letter not in MEANINGS or (letter == "g" and base is not None):
            if base is not None:
                raise bad("invalid embedded option")
            raise SqlError("22023", f'invalid regular expression option: "{letter}"')
        values.update(MEANINGS[letter])
    return Options(**values)
