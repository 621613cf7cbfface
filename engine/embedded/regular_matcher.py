"""PostgreSQL's regular expressions matched in time that is linear in the text: whether, where, and how a match is divided.

One run from the right finds out what can still be matched from each place; runs from the left stop where nothing more can be, so that
none goes over a character twice. A match is divided as Spencer's matcher does it: a part of a chain is as long, or short, as the rest of
the span allows.

Plain Python, which lets other threads have the interpreter every few milliseconds. Must not know of Arrow or DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from engine.embedded.regular_machines import (
    ANYWHERE,
    AT_STOP,
    BYTE_SYMBOLS,
    FLAG,
    STATES,
    Alphabet,
    Machine,
    Span,
    Symbols,
)
from sql.character_sets import CLASSES
from sql.regular_automata import branches_automaton, chain_automaton
from sql.regular_expressions import CAPTURES, SHORTER, Condition, Node, Pattern, Repeat

# How many matches a pattern remembers the captures of, and how long these may be.
REMEMBERED_MAX, REMEMBERED_CHARACTERS_MAX = 200, 16


class Program:
    """A compiled pattern."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.alphabet = Alphabet(pattern)
        self.machines: dict[int, tuple[Machine, Machine]] = {}
        self.divided: dict[tuple[int, ...], list[Span | None]] = {}
        self.root = Machine(self.alphabet, chain_automaton([pattern.root.plain]))

    @property
    def states_count(self) -> int:
        """The number of states of all automata that were made."""
        return sum(len(machine.automaton.sets) for machine in self.alphabet.made)

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
        numbers = self.alphabet.numbers_of(text)
        holding: dict[int, int] = {}
        symbols = numbers.copy() if self.pattern.conditions else numbers
        for number, condition in enumerate(self.pattern.conditions):
            for place in self.places(number, condition, text, symbols):
                conditions = holding[place] = holding.get(place, 0) | 1 << number
                symbol = self.alphabet.symbol(conditions, numbers[place])
                if symbol >= BYTE_SYMBOLS and isinstance(symbols, bytearray):
                    symbols = list(symbols)
                symbols[place] = symbol
        return symbols

    def places(self, number: int, condition: Condition, text: str, symbols: Symbols) -> Iterable[int]:
        """Return where a condition holds, of which those with smaller numbers are in the symbols."""
        match condition.kind:
            case "text_start":
                return (0,)
            case "text_end":
                return (len(text),)
            case "line_start":
                return [0, *(place + 1 for place, character in enumerate(text) if character == "\n")]
            case "line_end":
                return [*(place for place, character in enumerate(text) if character == "\n"), len(text)]
            case "ahead" | "behind":
                return self.looked(number, condition, symbols)
        edges = word_edges(text)
        match condition.kind:
            case "word_start":
                return edges[::2]
            case "word_end":
                return edges[1::2]
            case "word_edge":
                return edges
        known = set(edges)
        return [place for place in range(len(text) + 1) if place not in known]

    def looked(self, number: int, condition: Condition, symbols: Symbols) -> list[int]:
        machine = self.looks[number]
        if condition.kind == "ahead":
            rows = machine.from_right(symbols, 0, len(symbols) - 1, ANYWHERE)
            return [place for place in range(len(symbols)) if rows[place][FLAG] == condition.holds]
        always = machine.starts[0]
        row = machine.row(0, always, False)
        found = []
        for place, symbol in enumerate(symbols):
            row = row[symbol] or machine.forward(row, symbol, 0, always)
            if row[FLAG] == condition.holds:
                found.append(place)
        return found

    def matches(self, text: str) -> bool:
        """Return whether a text has a match."""
        return self.root.is_anywhere(self.symbols_of(text))

    def search(self, text: str) -> Search:
        """Return the search for the matches of a text."""
        return Search(self, text)

    def machines_of(self, node: Node) -> tuple[Machine, Machine]:
        """Return the automaton that divides a node's span, and that of one round of a loop without an end, which has the same states."""
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


def word_edges(text: str) -> list[int]:
    """Return where words of ASCII letters, digits and _ begin and end in turn."""
    edges: list[int] = []
    inside = False
    for place, character in enumerate(text):
        if (character in WORD) != inside:
            edges.append(place)
            inside = not inside
    if inside:
        edges.append(len(text))
    return edges


WORD = frozenset(chr(code) for low, high in CLASSES["word"] for code in range(low, high + 1))


class Search:
    """The matches of one text."""

    def __init__(self, program: Program, text: str) -> None:
        self.program = program
        self.symbols = program.symbols_of(text)
        self.end = len(text)
        self.right = program.root.from_right(self.symbols, 0, self.end, ANYWHERE)

    def find(self, start: int = 0) -> Span | None:
        """Return the leftmost match from `start` on, and of those the longest, or the shortest where the pattern prefers it."""
        right = self.right
        for place in range(start, self.end + 1):
            if right[place][FLAG]:
                shortest = self.program.pattern.shortest
                end = self.program.root.reach(
                    0, self.symbols, (place, self.end), right, 0, wanted=-1, shortest=shortest, least=place
                )
                assert end >= 0
                return place, end
        return None

    def captures(self, span: Span) -> list[Span | None]:
        """Return what the parentheses captured of a match. Its symbols alone decide; what short ones gave is remembered."""
        start, end = span
        known = self.program.divided
        key = tuple(self.symbols[start : end + 1]) if end - start <= REMEMBERED_CHARACTERS_MAX else ()
        offsets = known.get(key)
        if offsets is None:
            found: list[Span | None] = [None] * (self.program.pattern.groups + 1)
            self.divide(self.program.pattern.root, span, found)
            offsets = [None if one is None else (one[0] - start, one[1] - start) for one in found[1:]]
            if key and len(known) < REMEMBERED_MAX:
                known[key] = offsets
        return [None if one is None else (one[0] + start, one[1] + start) for one in offsets]

    def divide(self, node: Node, span: Span, found: list[Span | None]) -> None:
        """Set the captures below a node that takes up a span."""
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
                states = machine.from_right(self.symbols, *span, AT_STOP)[0][STATES]
                fitting = next(index for index, start in enumerate(machine.starts) if states & start)
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
                end = machine.reach(
                    index, self.symbols, (place, stop), right, span[0], machine.starts[index + 1], shortest, place
                )
            self.divide(child, (place, end), found)
            place = end

    def empty_round(self, node: Node, span: Span) -> Span | None:
        """Return an empty span as a loop's only round if its child may be empty there, and prefers no short match: that is no round."""
        if node.children[0].flags & SHORTER:
            return None
        return span if self.program.machines_of(node)[1].covers(0, self.symbols, span) else None

    def last_round(self, node: Node, span: Span) -> Span:
        """Return the span of a loop's last round, the only one whose captures stay; no round is empty."""
        whole, once = self.program.machines_of(node)
        place, stop = span
        shortest = bool(node.children[0].flags & SHORTER)
        if not shortest and once.covers(0, self.symbols, span):
            return span
        right = whole.from_right(self.symbols, place, stop, AT_STOP)
        rounds = 0
        while True:
            is_last = node.high is not None and rounds + 1 == node.high
            part = rounds if node.high is not None else 0
            wanted = -1 if is_last else whole.starts[part + 1 if node.high is not None else 0]
            end = once.reach(
                part, self.symbols, (place, stop), right, span[0], wanted, shortest, stop if is_last else place + 1
            )
            assert end > place
            if end == stop:
                return place, end
            place = end
            rounds += 1
