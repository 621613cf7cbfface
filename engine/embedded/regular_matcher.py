"""PostgreSQL's regular expressions matched in time that is linear in the text: whether, where, and how a match is divided.

A compiled pattern turns a text into symbols, one for each character and what holds before it, and runs deterministic automata over them
whose states (`Row`s) are made when they are first reached, and are thrown away when there are too many. One run from the right finds out
what can still be matched from each place; runs from the left stop where nothing more can be, so that none goes over a character twice. A
match is divided as Spencer's matcher does it: a part of a chain is as long, or short, as the rest of the span allows.

Plain Python, which lets other threads have the interpreter every few milliseconds. Must not know of Arrow or DuckDB.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from threading import Lock
from typing import Any

from sql.character_classes import CharacterClasses
from sql.character_sets import CLASSES, Ranges
from sql.errors import SqlError
from sql.regular_automata import Automaton, Guarded, bits, branches_automaton, chain_automaton
from sql.regular_expressions import (
    CAPTURES,
    SHORTER,
    TOO_COMPLEX,
    Condition,
    Node,
    Pattern,
    Repeat,
    bad,
)

# What the rows of a pattern may take up together, and what one takes beside a word for each symbol and a bit for each state.
ROWS_BYTES_MAX, ROW_BYTES = 1 << 20, 400
# Moves that many states have alike are done for all of them at once.
ALIKE_MIN, OFFSETS_MAX = 8, 6
SINGLE_STATES_MAX = 2_000
CACHED_CHARACTERS_MAX = 4_096
# How many matches a pattern remembers the captures of, and how long these may be.
REMEMBERED_MAX, REMEMBERED_CHARACTERS_MAX = 200, 16
# Texts are made symbols in pieces, between which other threads get their turn.
PIECE_CHARACTERS = 65_536

# The next rows by symbol, then whether the place before the last symbol was an end (or this one is a start), and the set of states.
Row = list[Any]
FLAG, STATES = -2, -1
Span = tuple[int, int]
Symbols = bytearray | list[int]
BYTE_SYMBOLS = 256
# Beside a symbol, a row is remembered for each character of a text.
CHARACTERS_MAX = 50_000_000


class Moves:
    """The moves of an automaton in gaps in which the conditions `holding` hold."""

    def __init__(self, automaton: Automaton, holding: int) -> None:
        ahead: dict[int, int] = {}
        single: dict[int, int] = {}
        for known, target in ((automaton.moves, ahead), (automaton.back, single)):
            for conditions, moves in known.items():
                if conditions & ~holding == 0:
                    for state, following in moves.items():
                        target[state] = target.get(state, 0) | following
        alike: dict[int, list[int]] = {}
        for state, offsets in ahead.items():
            alike.setdefault(offsets, []).append(state)
        self.shifts: list[tuple[int, list[int]]] = []
        for offsets, states in alike.items():
            if len(states) >= ALIKE_MIN and offsets.bit_count() <= OFFSETS_MAX:
                self.shifts.append((sum(1 << state for state in states), list(bits(offsets))))
            else:
                for state in states:
                    single[state] = single.get(state, 0) | offsets << state
        self.single = [(1 << state, following) for state, following in single.items()]
        if len(self.single) > SINGLE_STATES_MAX:
            raise bad(TOO_COMPLEX)
        self.last = under(automaton.last, holding)
        self.part_last = [under(one, holding) for one in automaton.part_last]

    def forward(self, states: int) -> int:
        """Return the states behind some."""
        found = 0
        for sources, offsets in self.shifts:
            moving = states & sources
            if moving:
                for offset in offsets:
                    found |= moving << offset
        for state, following in self.single:
            if states & state:
                found |= following
        return found

    def backward(self, states: int) -> int:
        """Return the states before some."""
        found = 0
        for sources, offsets in self.shifts:
            for offset in offsets:
                found |= states >> offset & sources
        for state, following in self.single:
            if states & following:
                found |= state
        return found


def under(guarded: Guarded, holding: int) -> int:
    """Return the states whose conditions hold."""
    states = 0
    for conditions, some in guarded.items():
        if conditions & ~holding == 0:
            states |= some
    return states


class Letters(dict[int, str]):
    """The class of each character, by code point, as a character whose code is the number of the class; as str.translate wants it."""

    def __init__(self, classes: CharacterClasses) -> None:
        super().__init__()
        self.classes = classes

    def __missing__(self, code: int) -> str:
        found = chr(self.classes.numbers[self.classes.place_of(code)])
        if len(self) < CACHED_CHARACTERS_MAX:
            self[code] = found
        return found


class Machine:
    """An automaton that is run over symbols. starts, wanted bits and sets are those of `Automaton`."""

    def __init__(self, program: Program, automaton: Automaton) -> None:
        self.program = program
        self.automaton = automaton
        self.starts = [1 << start for start in automaton.starts]
        self.moves: dict[int, Moves] = {}
        self.classes = [0] * (program.classes.count + 1)
        states_of: dict[Ranges, int] = {}
        for state, characters in enumerate(automaton.sets):
            if characters is not None:
                states_of[characters] = states_of.get(characters, 0) | 1 << state
        for characters, states in states_of.items():
            for number in program.classes.classes_of[characters]:
                self.classes[number] |= states
        self.rows: dict[tuple[int, int, bool], Row] = {}
        program.made.append(self)

    def moves_in(self, holding: int) -> Moves:
        found = self.moves.get(holding)
        if found is None:
            found = self.moves[holding] = Moves(self.automaton, holding)
        return found

    def row(self, kind: int, states: int, flag: bool) -> Row:
        """Return the row of a set of states. kind: the part that is run over, or one of the kinds of runs from the right."""
        key = (kind, states, flag)
        found = self.rows.get(key)
        if found is None:
            with self.program.lock:
                self.program.make_room(len(self.automaton.sets) // 4)
                found = self.rows[key] = [None] * self.program.width + [flag, states]
        return found

    def forward(self, row: Row, symbol: int, part: int, always: int = 0) -> Row:
        """Return the row behind another in a run over a part. always: states in which the run is at every place."""
        holding, number = self.program.symbols[symbol]
        moves = self.moves_in(holding)
        flag = bool(row[STATES] & moves.part_last[part])
        states = moves.forward(row[STATES]) & self.classes[number] & self.automaton.parts[part] | always
        found = row[symbol] = self.row(part, states, flag)
        return found

    def backward(self, row: Row, symbol: int, kind: int) -> Row:
        """Return the row before another in a run from the right."""
        holding, number = self.program.symbols[symbol]
        moves = self.moves_in(holding)
        states = moves.backward(row[STATES] & self.classes[number])
        if kind == ANYWHERE:
            states |= moves.last
        found = row[symbol] = self.row(kind, states, bool(states & self.starts[0]))
        return found

    def from_right(self, symbols: Symbols, start: int, stop: int, kind: int) -> list[Row]:
        """Return for each place from `start` to `stop` the states from which the end is reached, which is at `stop` or ANYWHERE."""
        row = self.row(kind, self.moves_in(self.program.symbols[symbols[stop]][0]).last, False)
        if row[STATES] & self.starts[0]:
            row = self.row(kind, row[STATES], True)
        found = [row]
        for symbol in reversed(symbols[start:stop]):
            row = row[symbol] or self.backward(row, symbol, kind)
            found.append(row)
        found.reverse()
        found.append(self.program.nowhere)
        return found

    def is_anywhere(self, symbols: Symbols) -> bool:
        """Return whether there is a match."""
        row = self.row(ANYWHERE, self.moves_in(self.program.symbols[symbols[-1]][0]).last, False)
        if row[STATES] & self.starts[0]:
            return True
        for symbol in reversed(symbols[:-1]):
            row = row[symbol] or self.backward(row, symbol, ANYWHERE)
            if row[FLAG]:
                return True
        return False

    def reach(
        self,
        part: int,
        symbols: Symbols,
        span: Span,
        right: list[Row],
        base: int,
        wanted: int,
        shortest: bool,
        least: int,
    ) -> int:
        """Return where a part that begins where a span does ends: at the last, or first, place from which the rest goes on; else -1.

        right: what from_right found from `base` on. wanted: states of which the rest needs one. least: the first place that is good.
        """
        start, stop = span
        row = self.row(part, self.starts[part], False)
        found = -1
        # A slice would be copied, and loops come here for every character.
        for place in range(start, stop + 1):
            symbol = symbols[place]
            row = row[symbol] or self.forward(row, symbol, part)
            if row[FLAG] and place >= least and right[place - base][STATES] & wanted:
                found = place
                if shortest:
                    break
            if not row[STATES] & right[place - base + 1][STATES]:
                break
        return found


ANYWHERE, AT_STOP = -1, -2


class Program:
    """A compiled pattern."""

    def __init__(self, pattern: Pattern) -> None:
        self.pattern = pattern
        self.classes = CharacterClasses(pattern)
        self.letters = Letters(self.classes)
        # Symbols without conditions are the classes, and that of the end.
        self.symbols: list[tuple[int, int]] = [(0, number) for number in range(self.classes.count + 1)]
        self.symbol_of = {symbol: index for index, symbol in enumerate(self.symbols)}
        self.width = len(self.symbols) << min(len(pattern.conditions), 2)
        self.machines: dict[int, tuple[Machine, Machine]] = {}
        # Threads share programs.
        self.lock = Lock()
        self.nowhere: Row = [None] * self.width + [False, 0]
        self.divided: dict[tuple[int, ...], list[Span | None]] = {}
        self.made: list[Machine] = []
        self.room = ROWS_BYTES_MAX
        self.root = Machine(self, chain_automaton([pattern.root.plain]))

    @property
    def states_count(self) -> int:
        """The number of states of all automata that were made."""
        return sum(len(machine.automaton.sets) for machine in self.made)

    def make_room(self, sets_bytes: int) -> None:
        """Forget all rows if there is no room for another. Callers hold the lock."""
        self.room -= 8 * self.width + sets_bytes + ROW_BYTES
        if self.room < 0:
            self.forget()

    def forget(self) -> None:
        for machine in self.made:
            machine.rows = {}
        self.room = ROWS_BYTES_MAX

    @cached_property
    def looks(self) -> dict[int, Machine]:
        """The automata of conditions that look around, by number."""
        return {
            number: Machine(self, chain_automaton([condition.part]))
            for number, condition in enumerate(self.pattern.conditions)
            if condition.part is not None
        }

    def symbols_of(self, text: str) -> Symbols:
        """Return the symbols of a text, and one for its end. Raises 53200."""
        if len(text) > CHARACTERS_MAX:
            detail = f"A regular expression is matched with texts of at most {CHARACTERS_MAX} characters, not with {len(text)}."
            raise SqlError("53200", "out of memory", detail=detail)
        numbers: Symbols = bytearray() if self.classes.count < BYTE_SYMBOLS else []
        for start in range(0, len(text), PIECE_CHARACTERS):
            piece = text[start : start + PIECE_CHARACTERS].translate(self.letters)
            numbers.extend(piece.encode("latin-1") if isinstance(numbers, bytearray) else map(ord, piece))
        numbers.append(self.classes.count)
        holding: dict[int, int] = {}
        symbols = numbers.copy() if self.pattern.conditions else numbers
        for number, condition in enumerate(self.pattern.conditions):
            for place in self.places(number, condition, text, symbols):
                conditions = holding[place] = holding.get(place, 0) | 1 << number
                symbol = self.symbol(conditions, numbers[place])
                if symbol >= BYTE_SYMBOLS and isinstance(symbols, bytearray):
                    symbols = list(symbols)
                symbols[place] = symbol
        return symbols

    def symbol(self, holding: int, number: int) -> int:
        found = self.symbol_of.get((holding, number))
        if found is None:
            with self.lock:
                self.symbols.append((holding, number))
                if len(self.symbols) > self.width:
                    self.widen()
                found = self.symbol_of[holding, number] = len(self.symbols) - 1
        return found

    def widen(self) -> None:
        """Make room in the rows for more symbols."""
        self.width *= 2
        self.nowhere = [None] * self.width + [False, 0]
        self.forget()

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
                whole = once = Machine(self, branches_automaton(plains))
            elif node.kind == "chain":
                whole = once = Machine(self, chain_automaton(plains))
            elif node.high is not None:
                whole = once = Machine(self, chain_automaton(plains * node.high, optional=True))
            else:
                whole = Machine(self, chain_automaton([Repeat(plains[0], 0, None)]))
                once = Machine(self, chain_automaton(plains))
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
        once = self.program.machines_of(node)[1]
        row = once.row(0, once.starts[0], False)
        symbol = self.symbols[span[0]]
        return span if (row[symbol] or once.forward(row, symbol, 0))[FLAG] else None

    def last_round(self, node: Node, span: Span) -> Span:
        """Return the span of a loop's last round, the only one whose captures stay; no round is empty."""
        whole, once = self.program.machines_of(node)
        place, stop = span
        right = whole.from_right(self.symbols, place, stop, AT_STOP)
        shortest = bool(node.children[0].flags & SHORTER)
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
