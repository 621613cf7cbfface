"""The alphabet of a pattern's automata: texts as symbols, each a class of characters with the
conditions of the gap before.

Raises 2201B where there would be too many symbols, and 53200 for texts that are too long. Must not
know which match PostgreSQL takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from engine.embedded.stopping import go_on
from ringbuffer.patterns.automaton_symbols import ASCII, CONDITION_KINDS, Characters, entries
from sql.errors import SqlError
from sql.patterns.character_classes import CharacterClasses
from sql.patterns.trees import TOO_COMPLEX, Pattern, bad

if TYPE_CHECKING:
    from engine.embedded.patterns.machines import Machine

# The bytes that the rows of a pattern's automata may take.
ROWS_BYTES_MAX = 8 << 20
SYMBOLS_MAX = 4_096
# Texts are read in pieces; between two pieces a statement may be told to end.
PIECE_CHARACTERS = 65_536
CHARACTERS_MAX = 50_000_000

Symbols = npt.NDArray[np.uint16]
Holding = npt.NDArray[np.int32]
Words = npt.NDArray[np.int64]


class Alphabet:
    """The symbols that a pattern's machines read: conditions before a character, and its class.

    The last class is the text's end.

    Attributes:
        width: how many symbols a row has room for.
        made: all machines.
        has_grown: more memory was taken since the flag was reset.
        rows_bytes_max: the bytes that the rows of one direction of one machine may take.
    """

    def __init__(self, pattern: Pattern, machines_count: int) -> None:
        self.classes = CharacterClasses(pattern)
        self.classes_count = self.classes.count + 1
        if self.classes_count > SYMBOLS_MAX:
            raise bad(TOO_COMPLEX)
        borders = np.array(self.classes.borders, np.int64)
        numbers = np.array([*self.classes.numbers, self.classes.count], np.uint16)
        bits = np.zeros(len(CONDITION_KINDS), np.int32)
        for number, condition in enumerate(pattern.conditions):
            if condition.part is None:
                bits[CONDITION_KINDS.index(condition.kind)] = 1 << number
        ascii_classes = numbers[np.searchsorted(borders, np.arange(ASCII), "right") - 1]
        self.known = Characters(ascii_classes, borders, numbers, bits)
        self.has_conditions = bool(pattern.conditions)
        self.meanings = np.zeros(0, np.int64)
        self.count, self.width = 0, self.classes_count << min(len(pattern.conditions), 2)
        self.slots = np.zeros(0, np.int64)
        self.made: list[Machine] = []
        self.has_grown = True
        self.rows_bytes_max = ROWS_BYTES_MAX // (2 * max(machines_count, 1))
        # Symbols without conditions are the classes.
        self.widen()
        for number in range(self.classes_count):
            self.add(0, number)

    def classified(self, text: str) -> tuple[Symbols, Holding]:
        """Return the classes of a text's characters and of its end, and the conditions that hold
        before them.

        Raises 53200.
        """
        count = len(text) + 1
        if count > CHARACTERS_MAX:
            detail = f"A regular expression is matched with texts of at most {CHARACTERS_MAX} characters, not with {len(text)}."
            raise SqlError("53200", "out of memory", detail=detail)
        classes = np.empty(count, np.uint16)
        holding = np.zeros(count if self.has_conditions else 0, np.int32)
        for start in range(0, count, PIECE_CHARACTERS):
            go_on()
            is_last = start + PIECE_CHARACTERS >= count
            # With the character before, and one for the end.
            piece = text[start - 1 : start + PIECE_CHARACTERS] if start else "\0" + text[:PIECE_CHARACTERS]
            codes = np.frombuffer((piece + "\0" * is_last).encode("utf-32-le"), np.uint32)
            entries().read_symbols(
                codes, 1, len(codes), int(start == 0), int(is_last), self.known, classes, holding, start
            )
        return classes, holding

    def symbols_of_all(self, texts: list[str], offsets: Words) -> Symbols:
        """Return the symbols of short texts one after the other, each with one for its end.

        offsets: the begin of each text.
        """
        codes = np.frombuffer(("\0" + "\0".join(texts) + "\0").encode("utf-32-le"), np.uint32)
        classes = np.empty(int(offsets[-1]), np.uint16)
        holding = np.zeros(len(classes) if self.has_conditions else 0, np.int32)
        entries().read_texts(codes, offsets, self.known, classes, holding)
        return self.joined(classes, holding)

    def joined(self, classes: Symbols, holding: Holding) -> Symbols:
        """Return the symbols of classes and of the conditions that hold before them."""
        if not self.has_conditions:
            return classes
        symbols, place, count = np.empty(len(classes), np.uint16), 0, len(classes)
        while place < count:
            stop = min(count, place + PIECE_CHARACTERS)
            reached = entries().join_conditions(classes, holding, self.slots, symbols, place, stop, self.classes_count)
            if reached < stop:
                self.add(int(holding[reached]), int(classes[reached]))
            else:
                go_on()
            place = reached
        return symbols

    def add(self, holding: int, number: int) -> None:
        """Make a symbol known."""
        if self.count == self.width:
            if self.count > SYMBOLS_MAX:
                raise bad(TOO_COMPLEX)
            self.width *= 2
            self.widen()
        self.meanings[2 * self.count : 2 * self.count + 2] = holding, number
        entries().add_symbol(self.slots, holding * self.classes_count + number, self.count)
        self.count += 1

    def widen(self) -> None:
        """Make room for more symbols; the rows are forgotten."""
        known = self.meanings
        self.meanings = np.zeros(2 * self.width, np.int64)
        self.meanings[: len(known)] = known
        self.slots = np.full(4 << (self.width - 1).bit_length(), -1, np.int64)
        for symbol in range(self.count):
            key = int(known[2 * symbol]) * self.classes_count + int(known[2 * symbol + 1])
            entries().add_symbol(self.slots, key, symbol)
        for machine in self.made:
            machine.leftward.forget()
            machine.rightward.forget()
