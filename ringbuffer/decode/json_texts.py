"""A column of JSON texts as jsonb prints them: blanks in their places, the members of an object by
the length of their keys and then by bytes, the last of equal keys, no negative zero.

Enters: a `string` column. Leaves: the texts, and which of them are for the caller to read: numbers
with an exponent or very many digits, `\\u` and `\\/`, escapes in keys, more levels or members than
there is room for, and what is no JSON. Time is linear in the bytes. Must not know the caller's
types.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.compile.jit import entry_of, inlined_kernel, kernel
from ringbuffer.memory.addresses import copy_bytes, load_byte, load_int32, signed_word, store_byte
from ringbuffer.memory.row_block import PADDING_BYTES

Array = npt.NDArray[Any]
move_bytes: Any = copy_bytes

# What one text may have open at once: arrays and objects, and members of objects.
LEVELS_MAX = 32
MEMBERS_MAX = 256
# Of a number. Numeric prints a number of so many digits as it is written.
NUMBER_BYTES_MAX = 1_000
OFFSETS_MAX = 0x7FFFFFFF
# Of a text that is printed alone.
ONE_TEXT_BYTES_MAX = 4096
# Columns of the two stacks: the opening mark of a level and its first member; where a member begins
# in the output, and the bytes of its key.
MARK, FIRST = 0, 1
START, KEY_BYTES = 0, 1

LEFT = -1
QUOTE, BACKSLASH, COMMA, COLON, MINUS, POINT, ZERO, NINE = 34, 92, 44, 58, 45, 46, 48, 57
BLANK, TAB, NEWLINE, RETURN, SMALL_F = 32, 9, 10, 13, 102
OBJECT, ARRAY = 123, 91
# From a bracket to the one that closes it.
CLOSING = 2
# Four bytes as a little-endian word: null, true, and what follows the f of false.
NULL_WORD, TRUE_WORD, ALSE_WORD = (int.from_bytes(word, "little") for word in (b"null", b"true", b"alse"))
# What stands after a backslash and is printed so.
SHORT_ESCAPES = tuple(b'"\\bfnrt')


def jsonb_texts(texts: pa.Array) -> tuple[pa.Array, npt.NDArray[np.bool_]]:
    """Return (the texts of jsonb, left bool[n]); a text that is left is empty, NULL stays NULL."""
    count = len(texts)
    left = np.zeros(count, dtype=np.bool_)
    if count == texts.null_count:
        return texts, left
    known = np.array(texts.is_valid().to_numpy(zero_copy_only=False))
    _, places, content = texts.buffers()
    offsets = np.frombuffer(places, dtype=np.int32)[texts.offset : texts.offset + count + 1].astype(np.int64)
    # A comma and a colon get a blank each; everything else is printed in as many bytes or fewer.
    size = 2 * int(offsets[-1] - offsets[0])
    if size > OFFSETS_MAX:
        return pa.array([""] * count, texts.type, mask=~known), known
    data = np.zeros(size // 2 + PADDING_BYTES, dtype=np.uint8)
    if content is not None:
        data[:-PADDING_BYTES] = np.frombuffer(content, dtype=np.uint8)[offsets[0] : offsets[-1]]
    offsets -= offsets[0]
    printed = np.empty(size, dtype=np.uint8)
    ends = np.zeros(count + 1, dtype=np.int32)
    levels, members = np.empty((LEVELS_MAX, 2), dtype=np.int64), np.empty((MEMBERS_MAX, 2), dtype=np.int64)
    order, moved = np.empty(MEMBERS_MAX, dtype=np.int64), np.empty(2 * int(np.diff(offsets).max()), dtype=np.uint8)
    print_texts(data, offsets, known, printed, ends, left, levels, members, order, moved)
    validity = pa.py_buffer(np.packbits(known, bitorder="little")) if texts.null_count else None
    buffers = [validity, pa.py_buffer(ends), pa.py_buffer(printed[: ends[-1]])]
    return pa.Array.from_buffers(texts.type, count, buffers), left


class OneText(threading.local):
    """A printer of one text at a time, in memory that each thread keeps."""

    def __init__(self) -> None:
        self._data = np.zeros(ONE_TEXT_BYTES_MAX + PADDING_BYTES, dtype=np.uint8)
        self._offsets = np.zeros(2, dtype=np.int64)
        self._printed = np.empty(2 * ONE_TEXT_BYTES_MAX, dtype=np.uint8)
        self._ends, self._left = np.zeros(2, dtype=np.int32), np.zeros(1, dtype=np.bool_)
        levels, members = np.empty((LEVELS_MAX, 2), dtype=np.int64), np.empty((MEMBERS_MAX, 2), dtype=np.int64)
        order, moved = np.empty(MEMBERS_MAX, dtype=np.int64), np.empty_like(self._printed)
        known = np.ones(1, dtype=np.bool_)
        outcome = self._printed, self._ends, self._left
        self._arguments = (self._data, self._offsets, known, *outcome, levels, members, order, moved)
        self._print_texts = entry_of(print_texts, *self._arguments)

    def printed(self, text: bytes) -> bytes | None:
        """Return the text of jsonb, None for a text that is left. text: UTF-8."""
        size = len(text)
        if size > ONE_TEXT_BYTES_MAX:
            return None
        self._data.data[:size] = text
        self._offsets[1] = size
        self._left[0] = False
        self._print_texts(*self._arguments)
        return None if self._left[0] else self._printed[: self._ends[1]].tobytes()


@cache
def one_text() -> OneText:
    """Return the printer of this process."""
    return OneText()


@kernel
def print_texts(
    data: Array,
    offsets: Array,
    known: Array,
    printed: Array,
    ends: Array,
    left: Array,
    levels: Array,
    members: Array,
    order: Array,
    moved: Array,
) -> None:
    """Print the texts that are `known`; see jsonb_texts.

    data: uint8, with padding; offsets: int64[n + 1]; printed: uint8, of twice as many bytes; ends:
    int32[n + 1]; levels, members, order: int64[LEVELS_MAX, 2], [MEMBERS_MAX, 2], [MEMBERS_MAX], and
    moved: uint8 of twice the longest text: room for one text.
    """
    source, target = signed_word(data.ctypes.data), signed_word(printed.ctypes.data)
    room = signed_word(moved.ctypes.data)
    put = target
    for row in range(known.shape[0]):
        if known[row]:
            found = print_text(source + offsets[row], source + offsets[row + 1], put, levels, members, order, room)
            if found == LEFT:
                left[row] = True
            else:
                put = found
        ends[row + 1] = put - target


@kernel
def print_text(at: int, end: int, put: int, levels: Array, members: Array, order: Array, room: int) -> int:
    """Print the text between two addresses to the address `put`.

    Return the end of the print, or LEFT.
    """
    depth = used = 0
    key_first = False
    while True:
        # A value begins here, or its key.
        at = after_blanks(at, end)
        if key_first:
            at, put = print_key(at, end, put, members, used)
            used += 1
        if at == LEFT or at >= end:
            return LEFT
        mark = byte_at(at)
        if mark in (OBJECT, ARRAY):
            if depth == LEVELS_MAX:
                return LEFT
            levels[depth, MARK] = mark
            levels[depth, FIRST] = used
            depth += 1
            put = put_byte(put, mark)
            at = after_blanks(at + 1, end)
            key_first = mark == OBJECT
            if at < end and byte_at(at) != mark + CLOSING:
                continue
        else:
            at, put = print_scalar(at, end, put)
            if at == LEFT:
                return LEFT
        # A value has ended, and perhaps what holds it.
        is_over = False
        while depth > 0 and not is_over:
            at = after_blanks(at, end)
            if at >= end:
                return LEFT
            mark = byte_at(at)
            at += 1
            if mark == levels[depth - 1, MARK] + CLOSING:
                depth -= 1
                if used - levels[depth, FIRST] > 1:
                    put = sort_members(members, levels[depth, FIRST], used, put, order, room)
                used = levels[depth, FIRST]
                put = put_byte(put, mark)
            elif mark == COMMA:
                key_first = levels[depth - 1, MARK] == OBJECT
                put = put_byte(put_byte(put, COMMA), BLANK)
                is_over = True
            else:
                return LEFT
        if depth == 0:
            return put if after_blanks(at, end) == end else LEFT


@kernel
def print_key(at: int, end: int, put: int, members: Array, used: int) -> tuple[int, int]:
    """Print a key and its colon, and note it as the member `used`.

    Return where the value begins, or LEFT, and the end of the print.
    """
    if used == MEMBERS_MAX or at >= end or byte_at(at) != QUOTE:
        return LEFT, put
    after = print_string(at, end, put, True)
    if after == LEFT:
        return LEFT, put
    members[used, START] = put
    members[used, KEY_BYTES] = after - at
    put += after - at
    at = after_blanks(after, end)
    if at >= end or byte_at(at) != COLON:
        return LEFT, put
    return after_blanks(at + 1, end), put_byte(put_byte(put, COLON), BLANK)


@kernel
def print_scalar(at: int, end: int, put: int) -> tuple[int, int]:
    """Print a string, a number or a word.

    Return where it ends, or LEFT, and the end of the print.
    """
    mark = byte_at(at)
    if mark == QUOTE:
        after = print_string(at, end, put, False)
        return after, put + after - at
    if mark == MINUS or ZERO <= mark <= NINE:
        after, is_zero = number_end(at, end)
        if mark == MINUS and is_zero:
            at += 1
    else:
        after = word_end(at, end)
    if after != LEFT:
        move_bytes(put, at, after - at)
        put += after - at
    return after, put


@kernel
def print_string(at: int, end: int, put: int, is_key: bool) -> int:
    """Copy a string with its quotes; return where it ends, or LEFT.

    An escape in a key is left: keys are ordered by what they mean.
    """
    put = put_byte(put, QUOTE)
    at += 1
    while at < end:
        mark = byte_at(at)
        put = put_byte(put, mark)
        at += 1
        if mark == QUOTE:
            return at
        if mark < BLANK:
            return LEFT
        if mark == BACKSLASH:
            if is_key or at >= end or byte_at(at) not in SHORT_ESCAPES:
                return LEFT
            put = put_byte(put, byte_at(at))
            at += 1
    return LEFT


@kernel
def number_end(at: int, end: int) -> tuple[int, bool]:
    """Return where a number ends, or LEFT, and whether it is zero."""
    start = at
    if byte_at(at) == MINUS:
        at += 1
    after, is_zero = digits_end(at, end)
    if after == at or (after > at + 1 and byte_at(at) == ZERO):
        return LEFT, False
    if after < end and byte_at(after) == POINT:
        at = after + 1
        after, is_zero_too = digits_end(at, end)
        is_zero = is_zero and is_zero_too
        if after == at:
            return LEFT, False
    return (after if after - start <= NUMBER_BYTES_MAX else LEFT), is_zero


@kernel
def digits_end(at: int, end: int) -> tuple[int, bool]:
    """Return where digits end, and whether all are 0."""
    is_zero = True
    while at < end and ZERO <= byte_at(at) <= NINE:
        is_zero = is_zero and byte_at(at) == ZERO
        at += 1
    return at, is_zero


@kernel
def word_end(at: int, end: int) -> int:
    """Return where true, false or null ends, or LEFT; what follows is for the caller to see."""
    word = signed_word(load_int32(at))
    after = LEFT
    if word in (NULL_WORD, TRUE_WORD):
        after = at + 4
    elif byte_at(at) == SMALL_F and signed_word(load_int32(at + 1)) == ALSE_WORD:
        after = at + 5
    return after if after <= end else LEFT


@kernel
def sort_members(members: Array, first: int, used: int, put: int, order: Array, room: int) -> int:
    """Order the printed members of an object from `first` to `used`, which end at the address
    `put`; return the end of those that stay.

    room: an address, for as many bytes.
    """
    count = 1
    order[0] = first
    is_ordered = True
    for member in range(first + 1, used):
        # Most keys are in order: the last one is compared first. The place is after equal keys.
        low, high = 0, count
        middle = count - 1
        while low < high:
            if compare_keys(members, order[middle], member) <= 0:
                low = middle + 1
            else:
                high = middle
            middle = (low + high) >> 1
        is_ordered = is_ordered and low == count and compare_keys(members, member - 1, member) < 0
        for place in range(count, low, -1):
            order[place] = order[place - 1]
        order[low] = member
        count += 1
    if is_ordered:
        return put
    at = room
    for place in range(count):
        member = order[place]
        if place + 1 < count and compare_keys(members, member, order[place + 1]) == 0:
            continue
        if at > room:
            at = put_byte(put_byte(at, COMMA), BLANK)
        size = (members[member + 1, START] - 2 if member + 1 < used else put) - members[member, START]
        move_bytes(at, members[member, START], size)
        at += size
    start: int = members[first, START]
    move_bytes(start, room, at - room)
    return start + at - room


@kernel
def compare_keys(members: Array, one: int, other: int) -> int:
    """Return the order of the keys of two members: less than 0, 0 or more."""
    size: int = members[one, KEY_BYTES]
    other_size: int = members[other, KEY_BYTES]
    if size != other_size:
        return size - other_size
    a, b = members[one, START], members[other, START]
    for place in range(size):
        if byte_at(a + place) != byte_at(b + place):
            return byte_at(a + place) - byte_at(b + place)
    return 0


@kernel
def after_blanks(at: int, end: int) -> int:
    """Return the first address that holds no white space of JSON, or `end`."""
    while at < end:
        mark = byte_at(at)
        if mark > BLANK or (mark != BLANK and mark != NEWLINE and mark != TAB and mark != RETURN):
            break
        at += 1
    return at


@inlined_kernel
def byte_at(address: int) -> int:
    """Return a byte as a signed word."""
    byte: int = signed_word(load_byte(address))
    return byte


@inlined_kernel
def put_byte(address: int, byte: int) -> int:
    """Store a byte; return the address after it."""
    store_byte(address, np.uint8(byte))
    return address + 1
