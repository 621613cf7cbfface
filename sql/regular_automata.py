"""Automata of regular expressions: Glushkov's, whose states are the places of characters in a pattern. They have no empty moves.

Enters: plain trees. Leaves: an `Automaton`, of which every set of states is an integer with a bit for each. Moves may ask something of the
gap between two characters; a set of conditions is an integer as well. Raises 2201B where a pattern is too large. Must not match anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sql.character_sets import Ranges, union
from sql.regular_expressions import (
    TOO_COMPLEX,
    Alternatives,
    Chain,
    Characters,
    Gap,
    Plain,
    Repeat,
    bad,
    copies,
)

STATES_MAX = 20_000
# Sets of conditions at one place, and states whose moves do not look like those of their neighbours.
CONDITION_SETS_MAX = 64

# What gaps must fulfil -> states.
Guarded = dict[int, int]


@dataclass(slots=True)
class Part:
    """A piece of an automaton. first, last: where it begins and ends, by conditions. empty: under which conditions it is the empty text."""

    first: Guarded
    last: Guarded
    empty: frozenset[int]


@dataclass(slots=True)
class Automaton:
    """An automaton. sets: the characters of each state, None for a start; a start lies before a part and is never moved to.

    moves: conditions -> state -> the states behind it, shifted to the right by its number; back: the same for those up to it, unshifted.
    last: the states in which a text may end, by conditions. starts: one for each part. parts: the states of each part with its start.
    part_last: where a part ends, by conditions.
    """

    sets: list[Ranges | None] = field(default_factory=list)
    moves: dict[int, dict[int, int]] = field(default_factory=dict)
    back: dict[int, dict[int, int]] = field(default_factory=dict)
    last: Guarded = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    part_last: list[Guarded] = field(default_factory=list)


def chain_automaton(plains: Iterable[Plain], optional: bool = False) -> Automaton:
    """Return the automaton of parts one after the other; optional: the text may end before any of them."""
    builder = Builder()
    pieces = [builder.started(plain) for plain in plains]
    rest = nothing()
    for start, piece in reversed(pieces):
        if optional:
            rest = Part(rest.first, rest.last, frozenset([0]))
        rest = builder.joined(piece, rest)
        builder.begin(start, rest)
    if optional:
        for start, _ in pieces:
            add(rest.last, 0, 1 << start)
    builder.automaton.last = rest.last
    return builder.automaton


def branches_automaton(plains: Iterable[Plain]) -> Automaton:
    """Return the automaton of alternatives, with a start for each."""
    builder = Builder()
    last: Guarded = {}
    for start, piece in [builder.started(plain) for plain in plains]:
        builder.begin(start, piece)
        merge(last, piece.last)
    builder.automaton.last = last
    return builder.automaton


def bits(mask: int) -> Iterator[int]:
    """Yield the numbers of the bits that are set."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def add(guarded: Guarded, conditions: int, states: int) -> None:
    guarded[conditions] = guarded.get(conditions, 0) | states
    if len(guarded) > CONDITION_SETS_MAX:
        raise bad(TOO_COMPLEX)


def merge(into: Guarded, other: Guarded, under: Iterable[int] = (0,)) -> None:
    """Add states that are reached under further conditions."""
    for more in under:
        for conditions, states in other.items():
            add(into, conditions | more, states)


def least(sets: Iterable[int]) -> frozenset[int]:
    """Return the sets of conditions of which none includes another."""
    found: list[int] = []
    for one in sorted(set(sets), key=int.bit_count):
        if not any(other & one == other for other in found):
            found.append(one)
    if len(found) > CONDITION_SETS_MAX:
        raise bad(TOO_COMPLEX)
    return frozenset(found)


def nothing() -> Part:
    return Part({}, {}, frozenset([0]))


class Builder:
    """Makes one automaton."""

    def __init__(self) -> None:
        self.automaton = Automaton()

    def state(self, characters: Ranges | None) -> int:
        sets = self.automaton.sets
        if len(sets) >= STATES_MAX:
            raise bad(TOO_COMPLEX)
        sets.append(characters)
        return len(sets) - 1

    def started(self, plain: Plain) -> tuple[int, Part]:
        """Return a part of its own with its start, which ends it as well where it is empty."""
        if copies(plain) > STATES_MAX:
            raise bad(TOO_COMPLEX)
        start = self.state(None)
        piece = self.part(plain)
        self.automaton.starts.append(start)
        self.automaton.parts.append((1 << len(self.automaton.sets)) - (1 << start))
        ends = dict(piece.last)
        merge(ends, {0: 1 << start}, piece.empty)
        self.automaton.part_last.append(ends)
        return start, piece

    def begin(self, start: int, piece: Part) -> None:
        """Let the automaton begin with a part, at its start."""
        self.connect({0: 1 << start}, piece.first)
        merge(piece.last, {0: 1 << start}, piece.empty)

    def part(self, plain: Plain) -> Part:
        """Return the part that accepts a tree."""
        match plain:
            case Characters(ranges):
                states = 1 << self.state(ranges)
                return Part({0: states}, {0: states}, frozenset())
            case Gap(condition):
                return Part({}, {}, frozenset([1 << condition]))
            case Chain(parts):
                return self.chain([self.part(one) for one in parts])
            case Alternatives(parts):
                return self.alternatives(parts)
            case Repeat(inner, low, high):
                return self.repeat(inner, low, high)

    def chain(self, pieces: list[Part]) -> Part:
        """Return parts one after the other. From the right: what has many ends is never joined to what follows more than once."""
        rest = nothing()
        for piece in reversed(pieces):
            rest = self.joined(piece, rest)
        return rest

    def joined(self, piece: Part, rest: Part) -> Part:
        self.connect(piece.last, rest.first)
        first, last = dict(piece.first), dict(rest.last)
        merge(first, rest.first, piece.empty)
        merge(last, piece.last, rest.empty)
        return Part(first, last, least(one | other for one in piece.empty for other in rest.empty))

    def alternatives(self, parts: tuple[Plain, ...]) -> Part:
        sets = [one.ranges for one in parts if isinstance(one, Characters)]
        others: list[Plain] = [one for one in parts if not isinstance(one, Characters)]
        if sets:
            others.append(Characters(union(sets)))
        first: Guarded = {}
        last: Guarded = {}
        empty: set[int] = set()
        for piece in map(self.part, others):
            merge(first, piece.first)
            merge(last, piece.last)
            empty |= piece.empty
        return Part(first, last, least(empty))

    def repeat(self, inner: Plain, low: int, high: int | None) -> Part:
        """Return a part with copies of another; without an end the last one is a loop."""
        if high is None:
            pieces = [self.part(inner) for _ in range(max(low, 1))]
            loop = pieces[-1]
            self.connect(loop.last, loop.first)
            if low == 0:
                pieces[-1] = Part(loop.first, loop.last, frozenset([0]))
            return self.chain(pieces)
        pieces = [self.part(inner) for _ in range(high)]
        rest = nothing()
        for place in range(high - 1, -1, -1):
            rest = self.joined(pieces[place], rest)
            if place >= low:
                rest = Part(rest.first, rest.last, frozenset([0]))
        return rest

    def connect(self, last: Guarded, first: Guarded) -> None:
        """Let the states of `last` be followed by those of `first`."""
        for conditions, states in last.items():
            for more, following in first.items():
                moves = self.automaton.moves.setdefault(conditions | more, {})
                back = self.automaton.back.setdefault(conditions | more, {})
                for state in bits(states):
                    ahead = following >> state & ~1
                    if ahead:
                        moves[state] = moves.get(state, 0) | ahead
                    behind = following & (2 << state) - 1
                    if behind:
                        back[state] = back.get(state, 0) | behind
