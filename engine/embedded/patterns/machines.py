"""Automata of regular expressions laid out in arrays, as kernels (`ringbuffer.patterns`) run them,
with the memory for their rows.

Enters: automata, and texts as symbols. Leaves: the states from which a match goes on at each place,
and the ends of parts of a match. Rows are thrown away when there are too many. The rows of a run
from the right are made block by block, and again when they are needed again, so that a run takes no
more memory than a few blocks, however long the text. Must not know which match PostgreSQL takes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np

from engine.embedded.patterns.alphabet import Alphabet, Holding, Symbols, Words
from engine.embedded.stopping import go_on
from ringbuffer.patterns import automata
from ringbuffer.patterns.automata import (
    ANY_FLAG,
    ANYWHERE,
    BEGIN,
    CAPACITY,
    ENDED,
    EVERYWHERE,
    FOUND,
    FULL,
    HEAD_COUNT,
    LEAST,
    MATCH,
    MATCHES,
    ONCE,
    PLACE,
    ROW,
    ROW_EXTRA,
    SLOTS,
    SPANS,
    USED,
    WIDTH,
    entries,
)
from sql.errors import SqlError
from sql.patterns.automata import STEP_WORDS_MAX, WORD_BITS, Automaton, Guarded
from sql.patterns.character_classes import CharacterClasses
from sql.patterns.character_sets import Ranges
from sql.patterns.trees import TOO_COMPLEX, bad

# The bytes that a whole pattern may take.
PROGRAM_BYTES_MAX = 64 << 20
ROWS_FIRST, ROWS_MIN, GROWTH = 16, 64, 4
CLASS_WORDS_MAX = 1 << 19
# Between two blocks of a run a statement may be told to end.
BLOCK_PLACES_MAX = 65_536
# The bytes that the ends of a run's blocks may take.
ENDS_BYTES_MAX = 64 << 20
MATCHES_AT_ONCE = 512
# Short texts at once; and how often there may be no room for one.
TEXTS_AT_ONCE, TRIES_MAX = 32, 16

Span = tuple[int, int]


class Records:
    """The records of an automaton: its links, the ends of a text and of each part, the parts.

    And their sets of states as words.
    """

    def __init__(self, automaton: Automaton, classes: CharacterClasses, words: int) -> None:
        self.masks: list[Words] = []
        self.size = 0
        links: list[int] = []
        for (conditions, offset), moving in automaton.shifts.items():
            for low, high, place in self.runs(np.array(moving, np.int64)):
                links += (conditions, 0, offset, low, high, place, 0, 0, 0)
        for conditions, states, following in automaton.links:
            ((low, high, place), (first, end, target)) = self.range(states), self.range(following)
            links += (conditions, 1, 0, low, high, place, first, end, target)
        self.lasts = len(links)
        records = links + self.ends(automaton.last)
        self.ends_at = len(records)
        parts: list[int] = []
        for start, part, last in zip(automaton.starts, automaton.parts, automaton.part_last, strict=True):
            begin = len(records)
            records += self.ends(last)
            parts += (start, part.bit_length(), begin, len(records))
        self.parts = len(records)
        self.records = np.array(records + parts, np.int64)
        if classes.count * words > CLASS_WORDS_MAX:
            raise bad(TOO_COMPLEX)
        self.classes = self.size
        states_of: defaultdict[Ranges, list[int]] = defaultdict(list)
        for state, characters in enumerate(automaton.sets):
            if characters is not None:
                states_of[characters].append(state)
        members = np.zeros((classes.count + 1, words), np.int64)
        for ranges, own in states_of.items():
            flags = np.zeros(words * WORD_BITS, np.uint8)
            flags[own] = 1
            mask = np.packbits(flags, bitorder="little").view(np.int64)
            for number in classes.classes_of[ranges]:
                members[number] |= mask
        self.masks += list(members)
        self.words = np.concatenate(self.masks)

    def add(self, mask: Words) -> int:
        self.masks.append(mask)
        self.size += len(mask)
        return self.size - len(mask)

    def range(self, states: int) -> tuple[int, int, int]:
        """Return the words in which a set lies, the first word and the one after the last, and the
        place where they are kept.
        """
        low = ((states & -states).bit_length() - 1) // WORD_BITS
        high = (states.bit_length() - 1) // WORD_BITS + 1
        return low, high, self.add(words_of(states >> low * WORD_BITS, high - low))

    def runs(self, states: Words) -> Iterable[tuple[int, int, int]]:
        """Yield the words in which states are, in runs, as `range` does."""
        mask = np.zeros(int(states.max()) // WORD_BITS + 1, np.int64)
        np.bitwise_or.at(mask, states // WORD_BITS, 1 << states % WORD_BITS)
        filled = np.flatnonzero(mask)
        place = self.add(mask)
        for run in np.split(filled, np.flatnonzero(np.diff(filled) > 1) + 1):
            first, end = int(run[0]), int(run[-1]) + 1
            yield first, end, place + first

    def ends(self, guarded: Guarded) -> list[int]:
        records: list[int] = []
        for conditions, states in guarded.items():
            if states:
                records += (conditions, *self.range(states))
        return records


def words_of(states: int, count: int) -> Words:
    """Return a set of states as words."""
    return np.frombuffer(states.to_bytes(8 * count, "little"), np.int64)


class Machine:
    """An automaton that is run over symbols.

    The attributes that are not listed are those of `Automaton`.

    Attributes:
        step_words: how many words a step reads at most.
    """

    def __init__(self, alphabet: Alphabet, automaton: Automaton) -> None:
        self.alphabet = alphabet
        self.automaton = automaton
        self.words = (len(automaton.sets) + WORD_BITS - 1) // WORD_BITS
        records = Records(automaton, alphabet.classes, self.words)
        links = records.records[: records.lasts].reshape(-1, automata.LINK_FIELDS)
        self.step_words = int((links[:, automata.HIGH] - links[:, automata.LOW]).sum())
        self.step_words += int((links[:, automata.TARGET_HIGH] - links[:, automata.TARGET_LOW]).sum())
        if self.step_words > STEP_WORDS_MAX:
            raise bad(TOO_COMPLEX)
        self.records, self.masks = records.records, records.words
        self.head = np.zeros(HEAD_COUNT, np.int64)
        self.head[automata.WORDS] = self.words
        self.head[automata.LINKS : automata.CLASSES + 1] = (
            0,
            records.lasts,
            records.ends_at,
            records.parts,
            records.classes,
        )
        self.head[automata.START] = automaton.starts[0]
        self.leftward, self.rightward = Rows(self), Rows(self)
        if sum(one.bytes_max for one in (*alphabet.made, self)) > PROGRAM_BYTES_MAX:
            raise bad(TOO_COMPLEX)
        alphabet.made.append(self)
        alphabet.has_grown = True

    @property
    def bytes(self) -> int:
        return self.masks.nbytes + self.leftward.bytes + self.rightward.bytes

    @property
    def bytes_max(self) -> int:
        return self.masks.nbytes + self.leftward.bytes_max + self.rightward.bytes_max

    def from_right(self, symbols: Symbols, start: int, stop: int, kind: int) -> FromRight:
        """Return the states from which the end is reached, for each place from `start` to `stop`.

        The end is at `stop`, or anywhere by `kind`.
        """
        return FromRight(self, symbols, (start, stop), kind)

    def is_anywhere(self, symbols: Symbols) -> bool:
        """Return whether there is a match."""
        return FromRight(self, symbols, (0, len(symbols) - 1), ANYWHERE, until_flag=True).has_flag

    def covers(self, part: int, symbols: Symbols, span: Span) -> bool:
        """Return whether a part takes up a span."""
        reached = self.run_over(symbols, span[0], span[1] + 1, part, NOTHING_HELD)
        rows = self.rightward
        return reached != ENDED and rows.flag(int(rows.head[ROW]))

    def mark_behind(self, symbols: Symbols, holding: Holding, bit: int, holds: bool) -> None:
        """Add a bit to `holding` at places where a match ends, or does not end."""
        self.run_over(symbols, 0, len(symbols), EVERYWHERE, holding, bit, int(holds))

    def run_over(
        self, symbols: Symbols, start: int, stop: int, kind: int, holding: Holding, bit: int = 0, holds: int = 0
    ) -> int:
        rows, place = self.rightward, start
        rows.head[ROW] = rows.start_row(max(kind, 0), kind)
        while place < stop:
            go_on()
            piece = min(stop, place + BLOCK_PLACES_MAX)
            place = entries().run_over(rows.arrays, symbols, holding, place, piece, kind, bit, holds)
            if place == ENDED:
                return ENDED
            if place == FULL:
                rows.head[ROW] = rows.make_room(int(rows.head[ROW]))
                place = int(rows.head[PLACE])
        return place

    def reach(
        self, part: int, right: FromRight, place: int, wanted: int, shortest: bool, least: int, aim: int = ONCE
    ) -> Span:
        """Return the begin and the end of a part, or of its last round, or -1 if there is none.

        The end is the last, or first, place from which the rest of the pattern goes on. wanted: the
        state that the rest needs, -1: any. least: the first place that is allowed.
        """
        head = self.rightward.head
        head[BEGIN], head[LEAST], head[FOUND], head[PLACE] = place, least, -1, place
        self.run_right(part, right, wanted, shortest, aim, NO_SPANS)
        return int(head[BEGIN]), int(head[FOUND])

    def matches(self, right: FromRight, place: int, shortest: bool, count: int) -> tuple[list[Span], int]:
        """Return some matches from a place on, `count` at most, and the place to go on from."""
        head = self.rightward.head
        head[BEGIN], head[FOUND], head[PLACE], head[SPANS] = -1, -1, place, 0
        spans = np.empty(2 * count, np.int64)
        self.run_right(0, right, -1, shortest, MATCHES, spans)
        found = spans[: 2 * int(head[SPANS])].tolist()
        return list(zip(found[::2], found[1::2], strict=True)), int(head[PLACE])

    def matches_of_all(
        self, symbols: Symbols, offsets: Words, shortest: bool, is_first: bool
    ) -> tuple[list[int], list[int]]:
        """Return how many matches each of some short texts has, and the places of these.

        Of the first texts alone if there are many.

        is_first: only the first match of each text is wanted.
        """
        left, right, count = self.leftward, self.rightward, len(offsets) - 1
        last_rows = np.full(self.alphabet.width, -1, np.int32)
        rows = np.empty(int(np.diff(offsets).max()), np.int32)
        spans, counts = np.empty(2 * (count + len(symbols) // 4) + 2, np.int64), np.zeros(count, np.int32)
        right.head[SPANS], text, tries = 0, 0, 0
        while text < count and tries < TRIES_MAX:
            go_on()
            stop = min(count, text + TEXTS_AT_ONCE)
            right.aim_at(right.start_row(0, 0), -1, shortest, MATCH if is_first else MATCHES)
            reached = entries().find_texts(
                right.arrays, left.arrays, symbols, offsets, last_rows, rows, spans, counts, text, stop
            )
            tries = tries + 1 if reached == text else 0
            text = reached
            if reached == stop:
                continue
            symbol = int(symbols[int(offsets[text + 1]) - 1])
            if last_rows[symbol] < 0:
                last_rows[symbol] = left.last_row(symbol, ANYWHERE)
            elif left.head[USED] == left.head[CAPACITY]:
                left.make_room(0)
                last_rows.fill(-1)
            elif right.head[USED] == right.head[CAPACITY]:
                right.make_room(0)
            else:
                break
        return counts[:text].tolist(), spans[: 2 * int(right.head[SPANS])].tolist()

    def run_right(self, part: int, right: FromRight, wanted: int, shortest: bool, aim: int, spans: Words) -> None:
        rows = self.rightward
        head = rows.head
        first_row = rows.start_row(part, part)
        head[ROW] = first_row
        while True:
            begin, stop = right.block_at(int(head[PLACE]), is_searching=head[BEGIN] < 0)
            if head[BEGIN] < 0 and head[PLACE] < begin:
                head[PLACE] = begin
            rows.aim_at(first_row, wanted, shortest, aim)
            status = entries().run_right(
                rows.arrays, right.symbols, right.cache.sets, right.rows, spans, stop, right.stop, begin, part
            )
            if status == ENDED:
                return
            if status == FULL:
                head[ROW] = rows.make_room(int(head[ROW]))
                first_row = rows.start_row(part, part)
            go_on()


NOTHING_HELD = np.zeros(1, np.int32)
NO_SPANS = np.zeros(2, np.int64)


class Rows:
    """The rows of an automaton that are known, for runs in one direction.

    Attributes:
        known: the rows at which runs begin, by kind and symbol or part.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.head = machine.head.copy()
        self.begin(ROWS_FIRST)

    def begin(self, capacity: int) -> None:
        """Begin without rows, and with room for some."""
        machine = self.machine
        self.known: dict[tuple[int, int], int] = {}
        width, stride = machine.alphabet.width, machine.words + ROW_EXTRA
        row_bytes = 8 * stride + 4 * width + 8
        self.rows_max = 1 << max(ROWS_MIN, machine.alphabet.rows_bytes_max // row_bytes).bit_length() - 1
        self.bytes_max = self.rows_max * row_bytes
        capacity = min(capacity, self.rows_max)
        self.sets = np.zeros((capacity + 1) * stride, np.int64)
        self.table = np.full(capacity * width + 2 * capacity, -1, np.int32)
        self.head[WIDTH], self.head[CAPACITY], self.head[USED], self.head[SLOTS] = width, capacity, 0, capacity * width
        self.arrays = automata.Tables(
            self.head, machine.records, machine.masks, machine.alphabet.meanings, self.sets, self.table
        )

    @property
    def bytes(self) -> int:
        return self.sets.nbytes + self.table.nbytes

    @property
    def places_max(self) -> int:
        """How many places a run may pass until there is no room for its rows, from the start."""
        return min(self.rows_max // 2, BLOCK_PLACES_MAX)

    def aim_at(self, first_row: int, wanted: int, shortest: bool, aim: int) -> None:
        """Say what the next run is for."""
        self.head[automata.FIRST_ROW : automata.AIM + 1] = first_row, wanted, shortest, aim

    def forget(self) -> None:
        self.begin(int(self.head[CAPACITY]))

    def make_room(self, row: int) -> int:
        """Make room for more rows, or forget all rows but one. Return the number of that row."""
        machine = self.machine
        capacity, used, words = int(self.head[CAPACITY]), int(self.head[USED]), machine.words
        stride = words + ROW_EXTRA
        sets, table, known = self.sets, self.table, self.known
        if capacity == self.rows_max:
            kept = sets[row * stride : (row + 1) * stride].copy()
            self.forget()
            return self.row(kept[:words], (int(kept[words]) >> 1) + EVERYWHERE, int(kept[words]) & 1)
        machine.alphabet.has_grown = True
        self.begin(capacity * GROWTH)
        self.known = known
        self.sets[: used * stride] = sets[: used * stride]
        width = int(self.head[WIDTH])
        self.table[: used * width] = table[: used * width]
        self.head[USED] = used
        entries().find_slots(self.head, self.sets, self.table)
        return row

    def row(self, words: Words, kind: int, flag: int = 0) -> int:
        """Return the row of a set of states.

        kind: the part that is run over, or one of the kinds of runs.
        """
        if self.head[USED] == self.head[CAPACITY]:
            self.make_room(0)
        place = int(self.head[USED]) * (len(words) + ROW_EXTRA)
        self.sets[place : place + len(words)] = words
        return int(entries().kept_row(self.head, self.sets, self.table, kind, flag))

    def start_row(self, part: int, kind: int) -> int:
        """Return the row at which a run over a part begins."""
        found = self.known.get((kind, part))
        if found is None:
            machine = self.machine
            found = self.row(words_of(1 << machine.automaton.starts[part], machine.words), kind)
            self.known[kind, part] = found
        return found

    def last_row(self, symbol: int, kind: int) -> int:
        """Return the row at which a run from the right begins at a symbol."""
        found = self.known.get((kind, symbol))
        if found is None:
            machine = self.machine
            holding, states = int(machine.alphabet.meanings[2 * symbol]), 0
            for conditions, last in machine.automaton.last.items():
                if conditions & ~holding == 0:
                    states |= last
            flag = states >> machine.automaton.starts[0] & 1
            found = self.known[kind, symbol] = self.row(words_of(states, machine.words), kind, flag)
        return found

    def flag(self, row: int) -> bool:
        return bool(self.sets[row * (self.machine.words + ROW_EXTRA) + self.machine.words] & 1)


class FromRight:
    """A run from the right.

    Attributes:
        rows: of the places of one block, and of the place after it.
        cache: the place where the rows are.
        has_flag: tells whether any row has a flag.
        ends: the states at the ends of blocks.
        flagged: the blocks that have rows with flags.
    """

    def __init__(self, machine: Machine, symbols: Symbols, span: Span, kind: int, until_flag: bool = False) -> None:
        self.symbols = symbols
        self.start, self.stop = span
        self.kind = kind
        self.cache = cache = machine.leftward
        self.words = machine.words
        self.places = min(cache.places_max, max(self.stop - self.start, 1))
        self.count = max(1, -(-(self.stop - self.start) // self.places))
        if self.count * self.words * 8 > ENDS_BYTES_MAX:
            detail = f"A regular expression of {len(machine.automaton.sets)} states is matched with shorter texts."
            raise SqlError("53200", "out of memory", detail=detail)
        self.rows = np.zeros(self.places + 1, np.int32)
        self.ends = np.zeros((self.count if self.count > 1 else 0, self.words), np.int64)
        self.flagged = bytearray(self.count)
        self.block = self.count
        while self.block and not (until_flag and self.has_flag):
            self.make(self.block - 1, until_flag)

    @property
    def has_flag(self) -> bool:
        return any(self.flagged)

    def block_at(self, place: int, is_searching: bool) -> Span:
        """Make the rows of the block that has a place, or of the next block with a flag.

        Return the begin of the block, and the end of its places.
        """
        block = min((place - self.start) // self.places, self.count - 1)
        if is_searching:
            # Where no block has a flag, nothing is to be found in the last.
            found = self.flagged.find(1, block)
            block = found if found >= 0 else self.count - 1
        if block != self.block:
            self.make(block)
        return self.start + block * self.places, self.end_of(block) + (block == self.count - 1)

    def is_at_begin(self, state: int) -> bool:
        """Return whether the run may begin with a state."""
        self.block_at(self.start, is_searching=False)
        first = int(self.rows[0]) * (self.words + ROW_EXTRA)
        return bool(int(self.cache.sets[first + state // WORD_BITS]) >> state % WORD_BITS & 1)

    def end_of(self, block: int) -> int:
        return min(self.stop, self.start + (block + 1) * self.places)

    def make(self, block: int, until_flag: bool = False) -> None:
        """Make the rows of a block."""
        go_on()
        cache, stride = self.cache, self.words + ROW_EXTRA
        begin, place = self.start + block * self.places, self.end_of(block)
        if cache.rows_max - cache.head[USED] <= self.places + 1:
            cache.forget()
        if place == self.stop:
            row = cache.last_row(int(self.symbols[place]), self.kind)
        else:
            states = self.ends[block]
            start = int(cache.head[automata.START])
            row = cache.row(states, self.kind, int(states[start // WORD_BITS]) >> start % WORD_BITS & 1)
        self.rows[place - begin] = row
        cache.head[ANY_FLAG] = cache.flag(row)
        while place > begin:
            place = entries().run_left(
                cache.arrays, self.symbols, self.rows, begin, place, begin, self.kind, int(until_flag)
            )
            if cache.head[ANY_FLAG] and until_flag:
                break
            if place > begin:
                cache.make_room(0)
        self.block = block
        self.flagged[block] = bool(cache.head[ANY_FLAG])
        if block and self.count > 1:
            first = int(self.rows[0]) * stride
            self.ends[block - 1] = cache.sets[first : first + self.words]

    def mark(self, holding: Holding, bit: int, holds: bool) -> None:
        """Add a bit to `holding` at places whose rows have a flag, or have none."""
        for block in range(self.count):
            begin, stop = self.block_at(self.start + block * self.places, is_searching=False)
            entries().mark_flags(
                self.cache.head, self.cache.sets, self.rows, holding, begin, stop - begin, bit, int(holds)
            )
