"""String functions that make strings, for kernels, on the words of text_values.py.

New bytes go to a scratch heap: int64[4] with its address, capacity in bytes, bytes used and bytes
needed. A function that finds too little room returns SCRATCH_FULL and sets what it needs; the
caller grows the heap and runs the row again. Parts of a string point into it and need no scratch.
Results end with an error code. Letters change case in ASCII only, as PostgreSQL does in the C
locale.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import copy_bytes, load_byte, store_byte
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK
from ringbuffer.memory.error_codes import FIELD_ZERO, NEGATIVE_LENGTH, OK, SCRATCH_FULL, TEXT_TOO_LONG, VALUE_TOO_LONG
from ringbuffer.scalar.texts.text_values import count_chars, find_bytes, make_text, skip_chars, text_address

Scratch = npt.NDArray[np.int64]

ADDRESS = 0
CAPACITY = 1
USED = 2
NEEDED = 3

INT32_MAX = 2147483647
# As the embedded engine has it (`engine/embedded/value_limits.py`). Of the gigabyte that PostgreSQL
# allows, a kernel would have several at once, and nothing ends it meanwhile.
TEXT_BYTES_MAX = 64 * 1024 * 1024
SPACE = 32

move_bytes: Any = copy_bytes


class ScratchHeap:
    """Owner of a scratch heap. `words` is what the functions take; it changes when the heap
    grows.
    """

    __slots__ = ("heap", "words")

    def __init__(self, bytes_count: int = 4096) -> None:
        self.words: Scratch = np.zeros(4, dtype=np.int64)
        self.heap = np.zeros(bytes_count, dtype=np.uint8)
        self._locate()

    def clear(self) -> None:
        """Forget the strings; words that point to them are no longer good."""
        self.words[USED] = 0

    def grow(self) -> None:
        """Make room for what the last SCRATCH_FULL asked for.

        The strings are forgotten, as they move.
        """
        self.heap = np.zeros(2 * (len(self.heap) + int(self.words[NEEDED])), dtype=np.uint8)
        self.clear()
        self._locate()

    def _locate(self) -> None:
        self.words[ADDRESS] = self.heap.ctypes.data
        self.words[CAPACITY] = len(self.heap)


@kernel
def reserve(scratch: Scratch, length: int) -> int:
    """Return the address of `length` free bytes, or 0."""
    if scratch[USED] + length > scratch[CAPACITY]:
        scratch[NEEDED] = length
        return 0
    address: int = scratch[ADDRESS] + scratch[USED]
    return address


@kernel
def keep(scratch: Scratch, address: int, length: int) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, OK) of `length` bytes written at a reserved address.

    Short strings give the bytes back.
    """
    if length > INLINE_BYTES_MAX:
        scratch[USED] += length
    w0, w1 = make_text(address, length)
    return w0, w1, 0, OK


@kernel
def text_concat(
    a0: int, a1: int, aheap: int, b0: int, b1: int, bheap: int, scratch: Scratch
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of a || b."""
    a_length = a0 & LENGTH_MASK
    b_length = b0 & LENGTH_MASK
    if a_length == 0:
        return b0, b1, bheap, OK
    if b_length == 0:
        return a0, a1, aheap, OK
    if a_length + b_length > TEXT_BYTES_MAX:
        return 0, 0, 0, TEXT_TOO_LONG
    target = reserve(scratch, a_length + b_length)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    a_address = text_address(a0, a1, aheap)
    b_address = text_address(b0, b1, bheap)
    move_bytes(target, a_address, a_length)
    move_bytes(target + a_length, b_address, b_length)
    return keep(scratch, target, a_length + b_length)


@kernel
def text_lower(w0: int, w1: int, heap: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) with A to Z made small."""
    return change_case(w0, w1, heap, 65, scratch)


@kernel
def text_upper(w0: int, w1: int, heap: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) with a to z made large."""
    return change_case(w0, w1, heap, 97, scratch)


@kernel
def change_case(w0: int, w1: int, heap: int, first: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) with the 26 letters from `first` on in the other case."""
    length = w0 & LENGTH_MASK
    target = reserve(scratch, length)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    address = text_address(w0, w1, heap)
    for i in range(length):
        byte = load_byte(address + i)
        if first <= byte < first + 26:
            byte ^= 32
        store_byte(target + i, byte)
    return keep(scratch, target, length)


@kernel
def text_substring(w0: int, w1: int, heap: int, start: int, count: int) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of substring(s, start, count).

    `start` may lie before the first character.
    """
    if count < 0:
        return 0, 0, 0, NEGATIVE_LENGTH
    end = start + count
    if end > INT32_MAX:
        end = INT32_MAX
    start = max(start, 1)
    if end <= start:
        return 0, 0, 0, OK
    return cut_text(w0, w1, heap, start - 1, end - start)


@kernel
def cut_text(w0: int, w1: int, heap: int, skipped: int, count: int) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, OK) of `count` characters after the first `skipped`.

    The bytes stay where they are.
    """
    address = text_address(w0, w1, heap)
    length = w0 & LENGTH_MASK
    start = skip_chars(address, length, skipped)
    taken = skip_chars(address + start, length - start, count)
    w0, w1 = make_text(address + start, taken)
    return w0, w1, 0, OK


@kernel
def text_left(w0: int, w1: int, heap: int, count: int) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, OK) of the first `count` characters.

    With a negative count, of all but the last ones.
    """
    if count < 0:
        address = text_address(w0, w1, heap)
        count = max(count_chars(address, w0 & LENGTH_MASK) + count, 0)
    return cut_text(w0, w1, heap, 0, count)


@kernel
def text_right(w0: int, w1: int, heap: int, count: int) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, OK) of the last `count` characters.

    With a negative count, of all but the first ones.
    """
    if count < 0:
        return cut_text(w0, w1, heap, -count, INT32_MAX)
    address = text_address(w0, w1, heap)
    return cut_text(w0, w1, heap, max(count_chars(address, w0 & LENGTH_MASK) - count, 0), INT32_MAX)


@kernel
def text_split_part(w0: int, w1: int, heap: int, d0: int, d1: int, dheap: int, field: int) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of the part of a string between two delimiters, from 1, or from
    the end with a negative number.
    """
    if field == 0:
        return 0, 0, 0, FIELD_ZERO
    address = text_address(w0, w1, heap)
    delimiter = text_address(d0, d1, dheap)
    length, step = w0 & LENGTH_MASK, d0 & LENGTH_MASK
    parts_count = 1
    if step > 0:
        parts_count += count_bytes(address, length, delimiter, step)
    if field < 0:
        field += parts_count + 1
    if field < 1 or field > parts_count:
        return 0, 0, 0, OK
    start = 0
    for _ in range(field - 1):
        start = find_bytes(address, length, delimiter, step, start) + step
    end = length if field == parts_count else find_bytes(address, length, delimiter, step, start)
    w0, w1 = make_text(address + start, end - start)
    return w0, w1, 0, OK


@kernel
def text_limit(w0: int, w1: int, heap: int, length_max: int) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of an assignment to varchar(length_max): only spaces may be cut
    off.

    A cast is `text_left`.
    """
    length = w0 & LENGTH_MASK
    if length <= length_max:
        return w0, w1, heap, OK
    address = text_address(w0, w1, heap)
    kept = skip_chars(address, length, length_max)
    for i in range(kept, length):
        if load_byte(address + i) != SPACE:
            return 0, 0, 0, VALUE_TOO_LONG
    w0, w1 = make_text(address, kept)
    return w0, w1, 0, OK


@kernel
def text_trim(
    w0: int, w1: int, heap: int, c0: int, c1: int, cheap: int, left: bool, right: bool
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, OK) without the characters of the second string at the chosen ends."""
    address = text_address(w0, w1, heap)
    length = w0 & LENGTH_MASK
    chars = text_address(c0, c1, cheap)
    chars_length = c0 & LENGTH_MASK
    start = 0
    while left and start < length:
        size = skip_chars(address + start, length - start, 1)
        if not has_char(chars, chars_length, address + start, size):
            break
        start += size
    end = length
    while right and end > start:
        size = 1
        while load_byte(address + end - size) & 0xC0 == 0x80 and end - size > start:
            size += 1
        if not has_char(chars, chars_length, address + end - size, size):
            break
        end -= size
    w0, w1 = make_text(address + start, end - start)
    return w0, w1, 0, OK


@kernel
def has_char(chars: int, length: int, char: int, size: int) -> bool:
    """Return whether some bytes contain a character of `size` bytes.

    No character of UTF-8 begins inside of another.
    """
    return find_bytes(chars, length, char, size, 0) >= 0


@kernel
def text_replace(
    w0: int, w1: int, heap: int, f0: int, f1: int, fheap: int, t0: int, t1: int, theap: int, scratch: Scratch
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) with every occurrence of the second string replaced by the
    third.
    """
    length = w0 & LENGTH_MASK
    from_length = f0 & LENGTH_MASK
    to_length = t0 & LENGTH_MASK
    if from_length == 0 or from_length > length:
        return w0, w1, heap, OK
    address = text_address(w0, w1, heap)
    wanted = text_address(f0, f1, fheap)
    count = count_bytes(address, length, wanted, from_length)
    if count == 0:
        return w0, w1, heap, OK
    new_length = length + count * (to_length - from_length)
    if new_length > TEXT_BYTES_MAX:
        return 0, 0, 0, TEXT_TOO_LONG
    target = reserve(scratch, new_length)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    replacement = text_address(t0, t1, theap)
    source, place = 0, target
    for _ in range(count):
        found = find_bytes(address, length, wanted, from_length, source)
        move_bytes(place, address + source, found - source)
        place += found - source
        move_bytes(place, replacement, to_length)
        place += to_length
        source = found + from_length
    move_bytes(place, address + source, length - source)
    return keep(scratch, target, new_length)


@kernel
def count_bytes(address: int, length: int, wanted: int, wanted_length: int) -> int:
    """Return how often some bytes occur without overlap."""
    count = 0
    start = find_bytes(address, length, wanted, wanted_length, 0)
    while start >= 0:
        count += 1
        start = find_bytes(address, length, wanted, wanted_length, start + wanted_length)
    return count


@kernel
def text_repeat(w0: int, w1: int, heap: int, count: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of the string `count` times."""
    length = w0 & LENGTH_MASK
    if count <= 0 or length == 0:
        return 0, 0, 0, OK
    if length * count > TEXT_BYTES_MAX:
        return 0, 0, 0, TEXT_TOO_LONG
    target = reserve(scratch, length * count)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    address = text_address(w0, w1, heap)
    for i in range(count):
        move_bytes(target + i * length, address, length)
    return keep(scratch, target, length * count)


@kernel
def text_lpad(
    w0: int, w1: int, heap: int, count: int, f0: int, f1: int, fheap: int, scratch: Scratch
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of lpad(s, count, fill)."""
    return pad_text(w0, w1, heap, count, f0, f1, fheap, True, scratch)


@kernel
def text_rpad(
    w0: int, w1: int, heap: int, count: int, f0: int, f1: int, fheap: int, scratch: Scratch
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of rpad(s, count, fill)."""
    return pad_text(w0, w1, heap, count, f0, f1, fheap, False, scratch)


@kernel
def pad_text(
    w0: int, w1: int, heap: int, count: int, f0: int, f1: int, fheap: int, is_before: bool, scratch: Scratch
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of a string with `count` characters: cut, or filled before or
    after it with the second string, again and again.
    """
    address, fill = text_address(w0, w1, heap), text_address(f0, f1, fheap)
    length, step = w0 & LENGTH_MASK, f0 & LENGTH_MASK
    missing = count - count_chars(address, length)
    if missing <= 0 or step == 0:
        return cut_text(w0, w1, heap, 0, max(count, 0))
    fill_chars = count_chars(fill, step)
    added = missing // fill_chars * step + skip_chars(fill, step, missing % fill_chars)
    if length + added > TEXT_BYTES_MAX:
        return 0, 0, 0, TEXT_TOO_LONG
    target = reserve(scratch, length + added)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    place = target if is_before else target + length
    for done in range(0, added, step):
        move_bytes(place + done, fill, min(step, added - done))
    move_bytes(target + added if is_before else target, address, length)
    return keep(scratch, target, length + added)


@kernel
def text_reverse(w0: int, w1: int, heap: int, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of the characters in reverse order."""
    length = w0 & LENGTH_MASK
    target = reserve(scratch, length)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    address = text_address(w0, w1, heap)
    start = 0
    while start < length:
        size = skip_chars(address + start, length - start, 1)
        move_bytes(target + length - start - size, address + start, size)
        start += size
    return keep(scratch, target, length)
