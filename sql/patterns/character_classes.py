"""The classes of characters that a pattern tells apart: all characters of a class are in the same
sets.

Raises 2201B.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from sql.patterns.automata import bits
from sql.patterns.character_sets import Ranges, union
from sql.patterns.trees import TOO_COMPLEX, Alternatives, Chain, Characters, Gap, Pattern, Plain, Repeat, bad

# Borders of sets times sets, where these are no single ranges.
STEPS_MAX = 1_000_000


class CharacterClasses:
    """The classes of a pattern, which have numbers from 0.

    Attributes:
        borders: code points at which another class begins.
        numbers: the classes that begin there.
        classes_of: the classes of a set.
    """

    def __init__(self, pattern: Pattern) -> None:
        known = list(dict.fromkeys(sets_of(pattern)))
        self.borders = sorted({0} | {edge for ranges in known for low, high in ranges for edge in (low, high + 1)})
        if len(known) * len(self.borders) > STEPS_MAX and sum(map(len, known)) > len(known):
            raise bad(TOO_COMPLEX)
        members = dict.fromkeys(self.borders, 0)
        for index, ranges in enumerate(known):
            for low, high in ranges:
                for place in range(self.place_of(low), self.place_of(high) + 1):
                    members[self.borders[place]] |= 1 << index
        numbers: dict[int, int] = {}
        self.numbers = [numbers.setdefault(members[border], len(numbers)) for border in self.borders]
        self.count = len(numbers)
        self.classes_of: dict[Ranges, list[int]] = {ranges: [] for ranges in known}
        for member, number in numbers.items():
            for index in bits(member):
                self.classes_of[known[index]].append(number)

    def place_of(self, code: int) -> int:
        """Return the index of the last border at or below a character."""
        return bisect_right(self.borders, code) - 1


def sets_of(pattern: Pattern) -> Iterable[Ranges]:
    """Yield the sets of characters of a pattern's automata."""
    left: list[Plain] = [pattern.root.plain, *(one.part for one in pattern.conditions if one.part is not None)]
    while left:
        match left.pop():
            case Characters(ranges):
                yield ranges
            case Alternatives(parts):
                # An automaton has one state for alternatives that are one character each.
                yield union(part.ranges for part in parts if isinstance(part, Characters))
                left += parts
            case Chain(parts):
                left += parts
            case Repeat(part):
                left.append(part)
            case Gap():
                pass
