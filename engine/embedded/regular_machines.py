"""Automata of regular expressions as they are run: deterministic ones, whose states (`Row`s) are made when they are first reached.

Enters: automata, and texts as symbols. Leaves: from which states a match goes on at each place, and where a part of a match ends. Rows are
thrown away when there are too many. Must not know which match PostgreSQL takes.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

from engine.embedded.stopping import go_on
from sql.character_classes import CharacterClasses
from sql.character_sets import Ranges
from sql.errors import SqlError
from sql.regular_automata import Automaton, Guarded, bits
from sql.regular_expressions import TOO_COMPLEX, Pattern, bad

# What the rows of a pattern may take up together, and what one takes beside a word for each symbol and a bit for each state.
ROWS_BYTES_MAX, ROW_BYTES = 1 << 20, 400
# Moves that many states have alike are done for all of them at once.
ALIKE_MIN, OFFSETS_MAX = 8, 6
SINGLE_STATES_MAX = 2_000
CACHED_CHARACTERS_MAX = 4_096
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
# Kinds of runs from the right: the end may be anywhere, or is where the run begins.
ANYWHERE, AT_STOP = -1, -2


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


class Alphabet:
    """The symbols that a pattern's machines read: what holds before a character, and its class; the last class is the text's end.

    width: how many symbols a row has room for. made: all machines, whose rows take up `room` bytes together at most.
    """

    def __init__(self, pattern: Pattern) -> None:
        self.classes = CharacterClasses(pattern)
        self.letters = Letters(self.classes)
        # Symbols without conditions are the classes.
        self.symbols: list[tuple[int, int]] = [(0, number) for number in range(self.classes.count + 1)]
        self.symbol_of = {symbol: index for index, symbol in enumerate(self.symbols)}
        self.width = len(self.symbols) << min(len(pattern.conditions), 2)
        self.nowhere: Row = [None] * self.width + [False, 0]
        self.made: list[Machine] = []
        self.room = ROWS_BYTES_MAX
        # Threads share programs.
        self.lock = Lock()

    def numbers_of(self, text: str) -> Symbols:
        """Return the classes of a text's characters, and that of its end. Raises 53200."""
        if len(text) > CHARACTERS_MAX:
            detail = f"A regular expression is matched with texts of at most {CHARACTERS_MAX} characters, not with {len(text)}."
            raise SqlError("53200", "out of memory", detail=detail)
        numbers: Symbols = bytearray() if self.classes.count < BYTE_SYMBOLS else []
        for start in range(0, len(text), PIECE_CHARACTERS):
            go_on()
            piece = text[start : start + PIECE_CHARACTERS].translate(self.letters)
            numbers.extend(piece.encode("latin-1") if isinstance(numbers, bytearray) else map(ord, piece))
        numbers.append(self.classes.count)
        return numbers

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

    def make_room(self, sets_bytes: int) -> None:
        """Forget all rows if there is no room for another. Callers hold the lock."""
        self.room -= 8 * self.width + sets_bytes + ROW_BYTES
        if self.room < 0:
            self.forget()

    def forget(self) -> None:
        for machine in self.made:
            machine.rows = {}
        self.room = ROWS_BYTES_MAX


class Machine:
    """An automaton that is run over symbols. starts, wanted bits and sets are those of `Automaton`."""

    def __init__(self, alphabet: Alphabet, automaton: Automaton) -> None:
        self.alphabet = alphabet
        self.automaton = automaton
        self.starts = [1 << start for start in automaton.starts]
        self.moves: dict[int, Moves] = {}
        self.classes = [0] * (alphabet.classes.count + 1)
        states_of: dict[Ranges, int] = {}
        for state, characters in enumerate(automaton.sets):
            if characters is not None:
                states_of[characters] = states_of.get(characters, 0) | 1 << state
        for characters, states in states_of.items():
            for number in alphabet.classes.classes_of[characters]:
                self.classes[number] |= states
        self.rows: dict[tuple[int, int, bool], Row] = {}
        alphabet.made.append(self)

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
            with self.alphabet.lock:
                self.alphabet.make_room(len(self.automaton.sets) // 4)
                found = self.rows[key] = [None] * self.alphabet.width + [flag, states]
        return found

    def forward(self, row: Row, symbol: int, part: int, always: int = 0) -> Row:
        """Return the row behind another in a run over a part. always: states in which the run is at every place."""
        holding, number = self.alphabet.symbols[symbol]
        moves = self.moves_in(holding)
        flag = bool(row[STATES] & moves.part_last[part])
        states = moves.forward(row[STATES]) & self.classes[number] & self.automaton.parts[part] | always
        found = row[symbol] = self.row(part, states, flag)
        return found

    def backward(self, row: Row, symbol: int, kind: int) -> Row:
        """Return the row before another in a run from the right."""
        holding, number = self.alphabet.symbols[symbol]
        moves = self.moves_in(holding)
        states = moves.backward(row[STATES] & self.classes[number])
        if kind == ANYWHERE:
            states |= moves.last
        found = row[symbol] = self.row(kind, states, bool(states & self.starts[0]))
        return found

    def from_right(self, symbols: Symbols, start: int, stop: int, kind: int) -> list[Row]:
        """Return for each place from `start` to `stop` the states from which the end is reached, which is at `stop` or ANYWHERE."""
        row = self.row(kind, self.moves_in(self.alphabet.symbols[symbols[stop]][0]).last, False)
        if row[STATES] & self.starts[0]:
            row = self.row(kind, row[STATES], True)
        found = [row]
        for piece in range(stop, start, -PIECE_CHARACTERS):
            go_on()
            for symbol in reversed(symbols[max(piece - PIECE_CHARACTERS, start) : piece]):
                row = row[symbol] or self.backward(row, symbol, kind)
                found.append(row)
        found.reverse()
        found.append(self.alphabet.nowhere)
        return found

    def is_anywhere(self, symbols: Symbols) -> bool:
        """Return whether there is a match."""
        row = self.row(ANYWHERE, self.moves_in(self.alphabet.symbols[symbols[-1]][0]).last, False)
        if row[STATES] & self.starts[0]:
            return True
        for piece in range(len(symbols) - 1, 0, -PIECE_CHARACTERS):
            go_on()
            for symbol in reversed(symbols[max(piece - PIECE_CHARACTERS, 0) : piece]):
                row = row[symbol] or self.backward(row, symbol, ANYWHERE)
                if row[FLAG]:
                    return True
        return False

    def covers(self, part: int, symbols: Symbols, span: Span) -> bool:
        """Return whether a part takes up a span."""
        start, stop = span
        row = self.row(part, self.starts[part], False)
        for symbol in symbols[start:stop]:
            row = row[symbol] or self.forward(row, symbol, part)
            if not row[STATES]:
                return False
        return bool((row[symbols[stop]] or self.forward(row, symbols[stop], part))[FLAG])

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
