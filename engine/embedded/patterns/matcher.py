"""PostgreSQL's regular expressions matched in time that is linear in the text: whether, where, and
how a match is divided.

One run from the right finds the states that can still reach a match from each place; runs from the
left stop where no match can be reached, so that no run passes a character twice. A match is divided
as Spencer's matcher does it: a part of a chain is as long, or short, as the rest of the span
allows.

The loops over texts are kernels, which do not hold the interpreter. Must not know of Arrow or
DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from engine.embedded.patterns.alphabet import Alphabet, Symbols
from engine.embedded.patterns.machines import MATCHES_AT_ONCE, FromRight, Machine, Span
from engine.embedded.stopping import go_on
from ringbuffer.patterns.automata import ANYWHERE, AT_STOP, ROUNDS
from sql.patterns.automata import branches_automaton, chain_automaton
from sql.patterns.trees import CAPTURES, SHORTER, Node, Pattern, Repeat

# How many matches' captures a pattern remembers, and how long these matches may be.
REMEMBERED_MAX, REMEMBERED_CHARACTERS_MAX = 200, 16


class Program:
    """A compiled pattern."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        looks = sum(1 for condition in pattern.conditions if condition.part is not None)
        self.alphabet = Alphabet(pattern, 1 + looks + dividing(pattern.root))
        self.machines: dict[int, tuple[Machine, Machine]] = {}
        self.divided: dict[bytes, list[Span | None]] = {}
        self.ahead: dict[str, tuple[Symbols, list[Span]]] = {}
        self.root = Machine(self.alphabet, chain_automaton([pattern.root.plain]))

    @property
    def bytes(self) -> int:
        """The bytes of the automata that were made, with their rows."""
        return sum(machine.bytes for machine in self.alphabet.made)

    @cached_property
    def looks(self) -> dict[int, Machine]:
        """The automata of conditions that look around, by number."""
        return {
            number: Machine(self.alphabet, chain_automaton([condition.part]))
            for number, condition in enumerate(self.pattern.conditions)
            if condition.part is not None
        }

    def symbols_of(self, text: str) -> Symbols:
        """Return the symbols of a text, and one for its end. Raises 53200."""
        classes, holding = self.alphabet.classified(text)
        for number, machine in self.looks.items():
            # The conditions inside of a condition have smaller numbers.
            symbols = self.alphabet.joined(classes, holding)
            condition = self.pattern.conditions[number]
            if condition.kind == "ahead":
                machine.from_right(symbols, 0, len(text), ANYWHERE).mark(holding, 1 << number, condition.holds)
            else:
                machine.mark_behind(symbols, holding, 1 << number, condition.holds)
        return self.alphabet.joined(classes, holding)

    def matches(self, text: str) -> bool:
        """Return whether a text has a match."""
        known = self.ahead.get(text)
        if known is not None:
            return bool(known[1])
        return self.root.is_anywhere(self.symbols_of(text))

    def look_ahead(self, texts: list[str], is_first: bool) -> None:
        """Find the matches of short texts, all at once, for the callers that ask for them next.

        is_first: the first match of each text alone.
        """
        if self.looks:
            return
        offsets = np.cumsum([0, *(len(text) + 1 for text in texts)], dtype=np.int64)
        symbols = self.alphabet.symbols_of_all(texts, offsets)
        counts, places = self.root.matches_of_all(symbols, offsets, self.pattern.shortest, is_first)
        place = 0
        for text, count, begin in zip(texts, counts, offsets.tolist(), strict=False):
            found = [(places[index] - begin, places[index + 1] - begin) for index in range(place, place + 2 * count, 2)]
            self.ahead[text] = symbols[begin : begin + len(text) + 1], found
            place += 2 * count

    def search(self, text: str) -> Search:
        """Return the search for the matches of a text."""
        return Search(self, text)

    def machines_of(self, node: Node) -> tuple[Machine, Machine]:
        """Return the automaton that divides a node's span, and that of one round of a loop without
        an end, which has the same states.
        """
        found = self.machines.get(id(node))
        if found is None:
            plains = [child.plain for child in node.children]
            if node.kind == "branches":
                whole = once = Machine(self.alphabet, branches_automaton(plains))
            elif node.kind == "chain":
                whole = once = Machine(self.alphabet, chain_automaton(plains))
            elif node.high is not None:
                whole = once = Machine(self.alphabet, chain_automaton(plains * node.high, optional=True))
            else:
                whole = Machine(self.alphabet, chain_automaton([Repeat(plains[0], 0, None)]))
                once = Machine(self.alphabet, chain_automaton(plains))
            found = self.machines[id(node)] = whole, once
        return found


def dividing(node: Node) -> int:
    """Return the number of nodes for which machines may be needed."""
    if not node.flags & CAPTURES:
        return 0
    return (node.kind != "group") + sum(map(dividing, node.children))


class Search:
    """The matches of one text."""

    def __init__(self, program: Program, text: str) -> None:
        self.program = program
        self.end = len(text)
        self.known: list[Span] | None = None
        ahead = program.ahead.get(text)
        if ahead is None:
            self.symbols = program.symbols_of(text)
        else:
            self.symbols, self.known = ahead

    @cached_property
    def right(self) -> FromRight:
        """The states from which the end is reached, at each place."""
        return self.program.root.from_right(self.symbols, 0, self.end, ANYWHERE)

    def spans(self, start: int = 0, count: int = MATCHES_AT_ONCE) -> Iterator[Span]:
        """Yield the matches from `start` on: the leftmost, and of those the longest, or the
        shortest where the pattern prefers it.

        count: how many matches are looked for at once. An empty match moves on by a character.
        """
        if self.known is not None and not start:
            yield from self.known
            return
        shortest = self.program.pattern.shortest
        while start <= self.end:
            go_on()
            found, start = self.program.root.matches(self.right, start, shortest, count)
            yield from found
            if len(found) < count:
                return

    def captures(self, span: Span) -> list[Span | None]:
        """Return the spans that the parentheses captured in a match.

        The symbols of the match alone decide; the captures of short matches are remembered.
        """
        start, end = span
        known = self.program.divided
        key = self.symbols[start : end + 1].tobytes() if end - start <= REMEMBERED_CHARACTERS_MAX else b""
        offsets = known.get(key)
        if offsets is None:
            found: list[Span | None] = [None] * (self.program.pattern.groups + 1)
            self.divide(self.program.pattern.root, span, found)
            offsets = [None if one is None else (one[0] - start, one[1] - start) for one in found[1:]]
            if key and len(known) < REMEMBERED_MAX:
                known[key] = offsets
        return [None if one is None else (one[0] + start, one[1] + start) for one in offsets]

    def divide(self, node: Node, span: Span, found: list[Span | None]) -> None:
        """Set the captures below a node that spans `span`."""
        if node.capture:
            found[node.capture] = span
        if not node.flags & CAPTURES:
            return
        match node.kind:
            case "group":
                self.divide(node.children[0], span, found)
            case "chain":
                self.divide_chain(node, span, found)
            case "branches":
                machine = self.program.machines_of(node)[0]
                right = machine.from_right(self.symbols, *span, AT_STOP)
                fitting = next(
                    index for index, start in enumerate(machine.automaton.starts) if right.is_at_begin(start)
                )
                self.divide(node.children[fitting], span, found)
            case "loop":
                last_round = self.last_round(node, span) if span[0] < span[1] else self.empty_round(node, span)
                if last_round is not None:
                    self.divide(node.children[0], last_round, found)

    def divide_chain(self, node: Node, span: Span, found: list[Span | None]) -> None:
        machine = self.program.machines_of(node)[0]
        place, stop = span
        right = machine.from_right(self.symbols, place, stop, AT_STOP)
        for index, child in enumerate(node.children):
            end = stop
            if index + 1 < len(node.children):
                shortest = bool(child.flags & SHORTER)
                wanted = machine.automaton.starts[index + 1]
                _, end = machine.reach(index, right, place, wanted, shortest, place)
            self.divide(child, (place, end), found)
            place = end

    def empty_round(self, node: Node, span: Span) -> Span | None:
        """Return an empty span as a loop's only round if its child may be empty there, and prefers
        no short match.

        Otherwise there is no round, and None is returned.
        """
        if node.children[0].flags & SHORTER:
            return None
        return span if self.program.machines_of(node)[1].covers(0, self.symbols, span) else None

    def last_round(self, node: Node, span: Span) -> Span:
        """Return the span of a loop's last round, the only one whose captures stay.

        No round is empty.
        """
        whole, once = self.program.machines_of(node)
        place, stop = span
        shortest = bool(node.children[0].flags & SHORTER)
        if not shortest and once.covers(0, self.symbols, span):
            return span
        right = whole.from_right(self.symbols, place, stop, AT_STOP)
        starts = whole.automaton.starts
        if node.high is None:
            return once.reach(0, right, place, starts[0], shortest, place + 1, ROUNDS)
        for part in range(node.high):
            is_last = part + 1 == node.high
            wanted = -1 if is_last else starts[part + 1]
            _, end = once.reach(part, right, place, wanted, shortest, stop if is_last else place + 1)
            if end == stop:
                break
            place = end
        return place, stop
