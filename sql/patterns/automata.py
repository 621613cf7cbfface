"""Automata of regular expressions by Glushkov: the states are the places of characters in a
pattern.

Such automata have no empty moves. Enters: plain trees. Leaves: an `Automaton`, of which every set
of states is an integer with a bit for each. Moves may have conditions on the gap between two
characters; a set of conditions is an integer as well. Raises 2201B where a pattern is too large.
Must not match anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sql.patterns.character_sets import Ranges, union
from sql.patterns.trees import TOO_COMPLEX, Alternatives, Chain, Characters, Gap, Plain, Repeat, bad, copies

STATES_MAX = 20_000
# Sets of conditions at one place.
CONDITION_SETS_MAX = 64
# A link with fewer moves is divided, and its moves are added to other links that lead as far.
MOVES_MAX = 16
WORD_BITS = 64
# The words of 64 states that a step from a set of states to the next reads: ten thousand steps take
# some 20 ms.
STEP_WORDS_MAX = 6_000

NEVER: frozenset[int] = frozenset()
# Conditions on gaps -> states.
Guarded = dict[int, int]


@dataclass(slots=True)
class Part:
    """A part of an automaton.

    Attributes:
        first, last: the states where the part begins and ends, by conditions.
        empty: the conditions under which the part is the empty text.
    """

    first: Guarded
    last: Guarded
    empty: frozenset[int]


@dataclass(slots=True)
class Automaton:
    """An automaton of a regular expression.

    Attributes:
        sets: the characters of each state, None for a start; a start lies before a part and is
            never moved to.
        shifts: conditions and distance of a move -> the numbers of the states that make the move.
        links: conditions, the states of which one must be there, and all states that follow then.
        last: the states in which a text may end, by conditions.
        starts: one start for each part.
        parts: the states of each part with its start.
        part_last: the states where a part ends, by conditions.
    """

    sets: list[Ranges | None] = field(default_factory=list)
    shifts: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    links: list[tuple[int, int, int]] = field(default_factory=list)
    last: Guarded = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    parts: list[int] = field(default_factory=list)
    part_last: list[Guarded] = field(default_factory=list)

    def moves(self) -> Iterator[tuple[int, int, int]]:
        """Yield conditions, a state and the states after it; a state may come more than once."""
        for (conditions, offset), moving in self.shifts.items():
            for state in moving:
                yield conditions, state, 1 << state + offset
        for conditions, states, following in self.links:
            for state in bits(states):
                yield conditions, state, following


def chain_automaton(plains: Iterable[Plain], optional: bool = False) -> Automaton:
    """Return the automaton of parts one after the other.

    optional: the text may end before any of the parts.
    """
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
    """Return those sets of conditions that include no other."""
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
    """The builder of one automaton."""

    def __init__(self) -> None:
        self.automaton = Automaton()
        # A lower bound; the distance of the states of a shift does not count here.
        self.step_words = 0

    def state(self, characters: Ranges | None) -> int:
        sets = self.automaton.sets
        if len(sets) >= STATES_MAX:
            raise bad(TOO_COMPLEX)
        sets.append(characters)
        return len(sets) - 1

    def started(self, plain: Plain) -> tuple[int, Part]:
        """Return a part of its own with its start, which also ends the part where the part is
        empty.
        """
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
                return Part({0: states}, {0: states}, NEVER)
            case Gap(condition):
                return Part({}, {}, frozenset([1 << condition]))
            case Chain(parts):
                return self.chain([self.part(one) for one in parts])
            case Alternatives(parts):
                return self.alternatives(parts)
            case Repeat(inner, low, high):
                return self.repeat(inner, low, high)

    def chain(self, pieces: list[Part]) -> Part:
        """Return parts one after the other.

        The parts are joined from the right: a part with many ends is never joined to the parts
        after it more than once.
        """
        rest = nothing()
        for piece in reversed(pieces):
            rest = self.joined(piece, rest)
        return rest

    def joined(self, piece: Part, rest: Part) -> Part:
        self.connect(piece.last, rest.first)
        first, last = dict(piece.first), dict(rest.last)
        if piece.empty:
            merge(first, rest.first, piece.empty)
        if rest.empty:
            merge(last, piece.last, rest.empty)
        empty = (
            least(one | other for one in piece.empty for other in rest.empty) if piece.empty and rest.empty else NEVER
        )
        return Part(first, last, empty)

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
        """Return a part with copies of another; without an upper bound the last copy is a loop."""
        if high is None:
            pieces = self.copies(inner, max(low, 1))
            loop = pieces[-1]
            self.connect(loop.last, loop.first)
            if low == 0:
                pieces[-1] = Part(loop.first, loop.last, frozenset([0]))
            return self.chain(pieces)
        pieces = self.copies(inner, high)
        rest = nothing()
        for place in range(high - 1, -1, -1):
            rest = self.joined(pieces[place], rest)
            if place >= low:
                rest = Part(rest.first, rest.last, frozenset([0]))
        return rest

    def copies(self, plain: Plain, count: int) -> list[Part]:
        """Return a number of equal parts: the first is made of the tree, the others are its states,
        moved on.
        """
        if not count:
            return []
        automaton = self.automaton
        begin, links_count = len(automaton.sets), len(automaton.links)
        known = {key: len(states) for key, states in automaton.shifts.items()}
        piece = self.part(plain)
        size = len(automaton.sets) - begin
        if begin + size * count > STATES_MAX:
            raise bad(TOO_COMPLEX)
        automaton.sets += automaton.sets[begin:] * (count - 1)
        distances = range(size, size * count, size) if size else ()
        for key, moving in automaton.shifts.items():
            own = moving[known.get(key, 0) :]
            moving += [state + distance for distance in distances for state in own]
        for conditions, states, following in automaton.links[links_count:]:
            for distance in distances:
                self.add_link(conditions, states << distance, following << distance)
        return [piece, *(moved(piece, size * number) for number in range(1, count))]

    def connect(self, last: Guarded, first: Guarded) -> None:
        """Let the states of `last` be followed by those of `first`."""
        for conditions, states in last.items():
            for more, following in first.items():
                self.link(conditions | more, states, following)

    def link(self, conditions: int, states: int, following: int) -> None:
        if states.bit_count() * following.bit_count() <= MOVES_MAX:
            targets = list(bits(following))
            for state in bits(states):
                for target in targets:
                    known = self.automaton.shifts.setdefault((conditions, target - state), [])
                    self.step_words += not known
                    known.append(state)
        else:
            self.add_link(conditions, states, following)
        if self.step_words > STEP_WORDS_MAX:
            raise bad(TOO_COMPLEX)

    def add_link(self, conditions: int, states: int, following: int) -> None:
        self.step_words += width(states) + width(following)
        if self.step_words > STEP_WORDS_MAX:
            raise bad(TOO_COMPLEX)
        self.automaton.links.append((conditions, states, following))


def moved(piece: Part, distance: int) -> Part:
    """Return a part with its states moved on."""
    first = {conditions: states << distance for conditions, states in piece.first.items()}
    last = {conditions: states << distance for conditions, states in piece.last.items()}
    return Part(first, last, piece.empty)


def width(states: int) -> int:
    """Return the number of words of 64 states that a set of states takes."""
    return (states.bit_length() - 1) // WORD_BITS - ((states & -states).bit_length() - 1) // WORD_BITS + 1
