"""Texts as the symbols that the automata of regular expressions read: classes of characters,
together with what holds in the gap before.

Enters: code points. Leaves: uint16[], a symbol for each character and one for the end. Must not
know the patterns.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ringbuffer.compile.jit import entry_of, kernel

SLOT_FACTOR = 0x9E3779B1
ASCII, NEWLINE = 128, 10
# As the bits that `read_symbols` is given.
CONDITION_KINDS = (
    "text_start", "text_end", "line_start", "line_end", "word_start", "word_end", "word_edge", "no_word_edge",
)  # fmt: skip
Words = Any


class Characters(NamedTuple):
    """The classes of the characters of a pattern, as kernels read them.

    Attributes:
        ascii_classes: uint16[128], the class of each character of ASCII.
        borders: int64[], numbers: uint16[], as of `CharacterClasses`, after them the class of the
            end.
        bits: int32[], those of CONDITION_KINDS.
    """

    ascii_classes: Words
    borders: Words
    numbers: Words
    bits: Words


@kernel
def read_symbols(
    codes: Words,
    begin: int,
    stop: int,
    is_first: int,
    is_last: int,
    known: Characters,
    symbols: Words,
    holding: Words,
    target: int,
) -> None:
    """Write the class of each character of codes[begin:stop] from `target` on, and what holds in
    the gap before.

    is_first: the text begins with these; is_last: it ends before the last of them. codes: uint32[].
    holding: int32[], or empty.
    """
    ascii_classes, borders, numbers, bits = known
    for index in range(begin, stop):
        place = target + index - begin
        code = codes[index]
        is_start = index == begin and is_first == 1
        is_end = index == stop - 1 and is_last == 1
        if is_end:
            symbols[place] = numbers[len(numbers) - 1]
        elif code < ASCII:
            symbols[place] = ascii_classes[code]
        else:
            low, high = 0, len(borders) - 1
            while low < high:
                middle = (low + high + 1) >> 1
                if borders[middle] <= code:
                    low = middle
                else:
                    high = middle - 1
            symbols[place] = numbers[low]
        if len(holding):
            before = codes[index - 1]
            held = holding[place]
            if is_start:
                held |= bits[0] | bits[2]
            elif before == NEWLINE:
                held |= bits[2]
            if is_end:
                held |= bits[1] | bits[3]
            elif code == NEWLINE:
                held |= bits[3]
            behind, ahead = not is_start and in_word(before), not is_end and in_word(code)
            if behind != ahead:
                held |= bits[6] | (bits[4] if ahead else bits[5])
            else:
                held |= bits[7]
            holding[place] = held


@kernel
def read_texts(codes: Words, offsets: Words, known: Characters, symbols: Words, holding: Words) -> None:
    """Read texts as `read_symbols` does, with one more character before each and after the last.

    offsets: int64[], where each text, with that character, begins.
    """
    for text in range(len(offsets) - 1):
        begin, stop = offsets[text] + 1, offsets[text + 1] + 1
        read_symbols(codes, begin, stop, 1, 1, known, symbols, holding, begin - 1)


@kernel
def in_word(code: int) -> bool:
    """Return whether a character is a letter or digit of ASCII, or _."""
    return 97 <= code <= 122 or 65 <= code <= 90 or 48 <= code <= 57 or code == 95


@kernel
def join_conditions(
    classes: Words, holding: Words, slots: Words, symbols: Words, start: int, stop: int, count: int
) -> int:
    """Write the symbol of each place from `start` on: of conditions and class.

    Return the place at which it is not known yet, else `stop`.

    slots: int64[], a hash table of conditions * count + class, then the symbol, -1 where nothing
    is. count: of the classes.
    """
    mask = (len(slots) >> 1) - 1
    for place in range(start, stop):
        key = holding[place] * count + classes[place]
        slot = (key * SLOT_FACTOR >> 7) & mask
        while slots[2 * slot] != key:
            if slots[2 * slot] < 0:
                return place
            slot = (slot + 1) & mask
        symbols[place] = slots[2 * slot + 1]
    return stop


@kernel
def add_symbol(slots: Words, key: int, symbol: int) -> None:
    """Put a symbol into the hash table of `join_conditions`."""
    mask = (len(slots) >> 1) - 1
    slot = (key * SLOT_FACTOR >> 7) & mask
    while slots[2 * slot] >= 0:
        slot = (slot + 1) & mask
    slots[2 * slot], slots[2 * slot + 1] = key, symbol


class Entries(NamedTuple):
    """The machine code of the kernels."""

    read_symbols: Any
    read_texts: Any
    join_conditions: Any
    add_symbol: Any


@cache
def entries() -> Entries:
    """Return the kernels, compiled or loaded now."""
    words, holding, symbols = np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.uint16)
    codes, known = np.frombuffer(bytes(4), np.uint32), Characters(symbols, words, symbols, holding)
    return Entries(
        entry_of(read_symbols, codes, 0, 0, 0, 0, known, symbols, holding, 0),
        entry_of(read_texts, codes, words, known, symbols, holding),
        entry_of(join_conditions, symbols, holding, words, symbols, 0, 0, 0),
        entry_of(add_symbol, words, 0, 0),
    )


def warm_up_symbols() -> None:
    """Compile or load the kernels."""
    entries()
