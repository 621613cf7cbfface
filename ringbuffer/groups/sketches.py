"""Sketches of one kind become one, whatever the kind: states that merge, and the values of a column
that has sketches. A state that was given something else says so in its third word.

The kind is in the first word of a sketch; registers alone have none, but a length of their own.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.groups.aggregates import TOO_LONG, State
from ringbuffer.groups.counters import counters_room, filter_room, merge_words, note_bits, note_counter
from ringbuffer.groups.hash_table import CONTROL_WORDS, HEAP_ADDRESS, HEAP_MAX, HEAP_USED, Words
from ringbuffer.groups.quantiles import HEADER_BYTES, merge_quantiles, note_quantile, place_needed, quantiles_room
from ringbuffer.groups.registers import merge_registers, note_cell, registers_room
from ringbuffer.groups.top_values import MAGIC as TOP_MAGIC
from ringbuffer.groups.top_values import is_top, merge_top, note_top, top_room
from ringbuffer.memory.addresses import load_word
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK
from ringbuffer.scalar.texts.counters import COUNTERS_BYTES, COUNTERS_MAGIC, FILTER_BYTES, FILTER_MAGIC, KIND
from ringbuffer.scalar.texts.quantiles import MAGIC, is_quantiles
from ringbuffer.scalar.texts.sketches import REGISTERS
from ringbuffer.scalar.texts.text_values import text_address

NO_SKETCH, REGISTERS_KIND, QUANTILES_KIND, TOP_KIND, WORDS_KIND = 0, 1, 2, 3, 4
OF_REGISTERS, OF_QUANTILES, OF_COUNTERS = int(State.REGISTERS), int(State.QUANTILES), int(State.COUNTERS)
# So much a first quantile takes beside the bytes of a sketch.
SPARE_BYTES = 128
HEAP_BYTES_FIRST = 1 << 12
NOT_OF_ONE_KIND = "sketches that are combined must be of one kind, over values of one type"


@kernel
def sketch_kind(w0: int, w1: int, heap: int) -> int:
    """Return the kind of a sketch: what merges it, and for counters and bits what they have
    counted.
    """
    length, address = w0 & LENGTH_MASK, text_address(w0, w1, heap)
    if is_quantiles(w0, w1, heap):
        return QUANTILES_KIND
    if is_top(w0, w1, heap):
        return TOP_KIND
    if (length == COUNTERS_BYTES and load_word(address) == COUNTERS_MAGIC) or (
        length == FILTER_BYTES and load_word(address) == FILTER_MAGIC
    ):
        kind: int = WORDS_KIND + (load_word(address + 8 * KIND) << 1 | (length == FILTER_BYTES))
        return kind
    return REGISTERS_KIND if length == REGISTERS else NO_SKETCH


@kernel
def combination_room(rows: Words, at: int, w0: int) -> int:
    """Return how many bytes of the heap it takes to add a sketch."""
    length = w0 & LENGTH_MASK
    if rows[at + 2] == TOO_LONG:
        return 0
    if rows[at] == 0:
        return 2 * (length + SPARE_BYTES)
    mark, room = (rows[at] >> 32) & LENGTH_MASK, 0
    if mark == MAGIC & LENGTH_MASK:
        room = place_needed(rows, at, (max(length, HEADER_BYTES) - HEADER_BYTES) >> 3)
    elif mark == TOP_MAGIC & LENGTH_MASK:
        room = top_room(rows, at, w0)
    return room


@kernel
def combine(control: Words, rows: Words, at: int, w0: int, w1: int, heap: int) -> None:
    """Add a sketch to a state (w0, w1, bytes of its place). The heap of the table has
    `combination_room`.
    """
    if rows[at + 2] == TOO_LONG:
        return
    kind = sketch_kind(w0, w1, heap)
    if kind == NO_SKETCH or (rows[at] != 0 and sketch_kind(rows[at], rows[at + 1], control[HEAP_ADDRESS]) != kind):
        rows[at + 2] = TOO_LONG
        return
    theirs = heap + w1
    if kind == REGISTERS_KIND:
        merge_registers(control, rows, at, w0, theirs)
    elif kind == QUANTILES_KIND:
        merge_quantiles(control, rows, at, w0, theirs)
    elif kind == TOP_KIND:
        merge_top(control, rows, at, w0, theirs)
    else:
        merge_words(control, rows, at, w0, theirs)


@kernel
def note_words(control: Words, rows: Words, kind: int, words: Words, start: int, end: int) -> int:
    """Note words of values, or cells, in a state of a kind at rows[0]; return where the heap has
    no room for the next, or `end`.
    """
    for place in range(start, end):
        if kind == OF_REGISTERS:
            needed = registers_room(rows, 0)
        elif kind == OF_QUANTILES:
            needed = quantiles_room(rows, 0)
        elif kind == OF_COUNTERS:
            needed = counters_room(rows, 0)
        else:
            needed = filter_room(rows, 0)
        if control[HEAP_USED] + needed > control[HEAP_MAX]:
            return place
        if kind == OF_REGISTERS:
            note_cell(control, rows, 0, words[place])
        elif kind == OF_QUANTILES:
            note_quantile(control, rows, 0, words[place])
        elif kind == OF_COUNTERS:
            note_counter(control, rows, 0, words[place])
        else:
            note_bits(control, rows, 0, words[place])
    return end


def string_words(data: bytes) -> tuple[int, int, int, npt.NDArray[np.uint8]]:
    """Return the words of a string, the address of its heap, and what keeps its bytes."""
    kept = np.frombuffer(data.ljust(16, b"\0"), np.uint8)
    w0 = len(data) | int.from_bytes(data[:4].ljust(4, b"\0"), "little", signed=True) << 32
    rest = int.from_bytes(data[4:12].ljust(8, b"\0"), "little", signed=True)
    return (w0, rest, 0, kept) if len(data) <= INLINE_BYTES_MAX else (w0, 0, kept.ctypes.data, kept)


class Sketch:
    """One sketch outside of a table.

    Attributes:
        control, heap: as those of a table.
        rows: the words of the state.
    """

    def __init__(self) -> None:
        self.control, self.rows = np.zeros(CONTROL_WORDS, np.int64), np.zeros(3, np.int64)
        self.heap = np.zeros(0, np.uint8)
        self.grow(HEAP_BYTES_FIRST)

    def grow(self, size: int) -> None:
        """Make room in the heap for so many bytes at least."""
        if self.control[HEAP_USED] + size > len(self.heap):
            self.heap = np.concatenate([self.heap, np.zeros(len(self.heap) + size, np.uint8)])
            self.control[HEAP_MAX], self.control[HEAP_ADDRESS] = len(self.heap), self.heap.ctypes.data

    def note(self, state: State, words: Words) -> None:
        """Note words of values."""
        done = 0
        while done < len(words):
            done = note_words(self.control, self.rows, int(state), words, done, len(words))
            if done < len(words):
                self.grow(max(COUNTERS_BYTES, len(self.heap)))

    def count(self, texts: Iterable[bytes]) -> None:
        """Count texts in a sketch of those that came most often."""
        for text in texts:
            w0, w1, heap, _kept = string_words(text)
            self.grow(int(top_room(self.rows, 0, w0)))
            note_top(self.control, self.rows, 0, w0, w1, heap)

    def add(self, sketch: bytes) -> None:
        """Add a sketch; what is none makes `bytes` None."""
        w0, w1, heap, _kept = string_words(sketch)
        self.grow(int(combination_room(self.rows, 0, w0)))
        combine(self.control, self.rows, 0, w0, w1, heap)

    @property
    def bytes(self) -> bytes | None:
        """The sketch; None where it was given none, or something else."""
        length, begin = int(self.rows[0]) & LENGTH_MASK, int(self.rows[1])
        return self.heap[begin : begin + length].tobytes() if length and self.rows[2] != TOO_LONG else None
