"""The words of rows of literals: numbers, strings in all quotes, and the few names that stand for
values.

Enters: the bytes of a text, and a place. Leaves: what stands there, and where the text goes on.
Must not know columns.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.scalar.numbers.fields import Bytes

# What a literal is.
STRING, MARKED_STRING, ESCAPED_STRING, INTEGER, DECIMAL, NULL, TRUE, FALSE, NOW, DEFAULT, OTHER = range(11)

# Words, in lower case.
NULL_WORD, TRUE_WORD, FALSE_WORD, DEFAULT_WORD, NOW_WORD, CURRENT_WORD = (
    np.frombuffer(word, dtype=np.uint8)
    for word in (b"null", b"true", b"false", b"default", b"now", b"current_timestamp")
)


@kernel
def read_literal(buffer: Bytes, at: int, size: int) -> tuple[int, int, int, int]:
    """Return (kind, start, end, where the text goes on) of the literal at `at`.

    A string is the bytes between its quotes.
    """
    if at >= size:
        return OTHER, at, at, at
    first = buffer[at]
    if first == 39:
        start = at + 1
        at = start
        kind = STRING
        while at < size:
            if buffer[at] == 39:
                if at + 1 < size and buffer[at + 1] == 39:
                    kind = MARKED_STRING
                    at += 1
                else:
                    return kind, start, at, at + 1
            at += 1
        return OTHER, at, at, at
    if first == 45 or first == 43 or first == 46 or 48 <= first <= 57:
        return read_number(buffer, at, size)
    if (first | 32) == 101 and at + 1 < size and buffer[at + 1] == 39:
        return read_escaped(buffer, at + 2, size)
    if first == 36:
        return read_dollars(buffer, at, size)
    start = at
    while at < size and (97 <= (buffer[at] | 32) <= 122 or buffer[at] == 95):
        at += 1
    if is_word(buffer, start, at, NULL_WORD):
        return NULL, start, at, at
    if is_word(buffer, start, at, TRUE_WORD):
        return TRUE, start, at, at
    if is_word(buffer, start, at, FALSE_WORD):
        return FALSE, start, at, at
    if is_word(buffer, start, at, DEFAULT_WORD):
        return DEFAULT, start, at, at
    if is_word(buffer, start, at, CURRENT_WORD):
        return NOW, start, at, at
    if is_word(buffer, start, at, NOW_WORD) and at + 1 < size and buffer[at] == 40 and buffer[at + 1] == 41:
        return NOW, start, at + 2, at + 2
    return OTHER, start, at, at


@kernel
def read_dollars(buffer: Bytes, at: int, size: int) -> tuple[int, int, int, int]:
    """Return what read_literal does, for a string between two $$, or two $tag$."""
    opens = at
    at += 1
    while at < size and (
        97 <= (buffer[at] | 32) <= 122 or buffer[at] == 95 or (48 <= buffer[at] <= 57 and at > opens + 1)
    ):
        at += 1
    if at >= size or buffer[at] != 36:
        return OTHER, opens, at, at
    start = at + 1
    mark_bytes = start - opens
    at = start
    while at + mark_bytes <= size:
        same = 0
        while same < mark_bytes and buffer[at + same] == buffer[opens + same]:
            same += 1
        if same == mark_bytes:
            return STRING, start, at, at + mark_bytes
        at += 1
    return OTHER, opens, at, at


@kernel
def read_escaped(buffer: Bytes, at: int, size: int) -> tuple[int, int, int, int]:
    """Return what read_literal does, for a string with escapes whose first byte is at `at`."""
    start = at
    while at < size:
        if buffer[at] == 92:
            if at + 1 >= size or escaped_byte(buffer[at + 1]) < 0:
                return OTHER, at, at, at
            at += 2
        elif buffer[at] == 39 and (at + 1 >= size or buffer[at + 1] != 39):
            return ESCAPED_STRING, start, at, at + 1
        else:
            at += 2 if buffer[at] == 39 else 1
    return OTHER, at, at, at


@kernel
def escaped_byte(byte: int) -> int:
    """Return the byte that is meant by one after a backslash, -1 where more than one says it."""
    if byte in (39, 92):
        return int(byte)
    if byte == 98:
        return 8
    if byte == 102:
        return 12
    if byte == 110:
        return 10
    if byte == 114:
        return 13
    return 9 if byte == 116 else -1


@kernel
def is_word(buffer: Bytes, start: int, end: int, word: Bytes) -> bool:
    """Return whether buffer[start:end] is a word in any case. word: in lower case."""
    if end - start != word.shape[0]:
        return False
    for index in range(word.shape[0]):
        if buffer[start + index] != word[index] and (buffer[start + index] ^ 32) != word[index]:
            return False
    return True


@kernel
def read_number(buffer: Bytes, at: int, size: int) -> tuple[int, int, int, int]:
    """Return what read_literal does, for: [sign] digits [. digits] [e [sign] digits]."""
    start = at
    if buffer[at] == 45 or buffer[at] == 43:
        at += 1
    kind = INTEGER
    digits_count = 0
    while at < size and 48 <= buffer[at] <= 57:
        digits_count += 1
        at += 1
    if at < size and buffer[at] == 46:
        kind = DECIMAL
        at += 1
        while at < size and 48 <= buffer[at] <= 57:
            digits_count += 1
            at += 1
    if digits_count == 0:
        return OTHER, start, at, at
    if at < size and (buffer[at] | 32) == 101:
        kind = DECIMAL
        at += 1
        if at < size and (buffer[at] == 45 or buffer[at] == 43):
            at += 1
        first = at
        while at < size and 48 <= buffer[at] <= 57:
            at += 1
        if at == first:
            return OTHER, start, at, at
    return kind, start, at, at
