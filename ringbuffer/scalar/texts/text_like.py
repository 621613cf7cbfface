"""LIKE and ILIKE on strings in kernels: `%` is any characters, `_` one, the escape is a backslash.

Strings are the words of text_values.py. A pattern with another escape, or none, is brought
into this form before. ILIKE folds ASCII letters only, as PostgreSQL does in the C locale. Must not
allocate.
"""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_byte
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.memory.error_codes import INVALID_ESCAPE, OK
from ringbuffer.scalar.texts.text_values import text_address

BACKSLASH = 92
PERCENT = 37
UNDERSCORE = 95


@kernel
def text_like(w0: int, w1: int, heap: int, p0: int, p1: int, pheap: int) -> tuple[bool, int]:
    """Return (whether the string matches the pattern, error)."""
    address = text_address(w0, w1, heap)
    pattern = text_address(p0, p1, pheap)
    found, error = match(address, w0 & LENGTH_MASK, pattern, p0 & LENGTH_MASK, False)
    return found != 0, error


@kernel
def text_ilike(w0: int, w1: int, heap: int, p0: int, p1: int, pheap: int) -> tuple[bool, int]:
    """Return (whether the string matches the pattern in any case of ASCII letters, error)."""
    address = text_address(w0, w1, heap)
    pattern = text_address(p0, p1, pheap)
    found, error = match(address, w0 & LENGTH_MASK, pattern, p0 & LENGTH_MASK, True)
    return found != 0, error


@kernel
def match(text: int, text_length: int, pattern: int, pattern_length: int, fold: bool) -> tuple[int, int]:
    """Return (1 or 0, error).

    On a mismatch only the last `%` has to try its next place: an earlier one could find nothing
    better.
    """
    t, p = 0, 0
    retry_t, retry_p = -1, 0
    while True:
        matched = True
        while t < text_length and p < pattern_length:
            byte = load_byte(pattern + p)
            if byte == PERCENT:
                t, p, error = after_percent(text, text_length, t, pattern, pattern_length, p)
                if error != OK:
                    return 0, error
                if t < 0:
                    return 0, OK
                if p == pattern_length:
                    return 1, OK
                retry_t, retry_p = t, p
                continue
            if byte == UNDERSCORE:
                t = next_char(text, text_length, t)
                p += 1
                continue
            if byte == BACKSLASH:
                p += 1
                if p == pattern_length:
                    return 0, INVALID_ESCAPE
                byte = load_byte(pattern + p)
            if not same_byte(byte, load_byte(text + t), fold):
                matched = False
                break
            t += 1
            p += 1
        if matched and t == text_length:
            while p < pattern_length and load_byte(pattern + p) == PERCENT:
                p += 1
            return 1 if p == pattern_length else 0, OK
        if retry_t < 0:
            return 0, OK
        retry_t = next_char(text, text_length, retry_t)
        if retry_t == text_length:
            return 0, OK
        t, p = retry_t, retry_p


@kernel
def after_percent(
    text: int, text_length: int, t: int, pattern: int, pattern_length: int, p: int
) -> tuple[int, int, int]:
    """Return (t, p, error) after a run of `%` and `_`, each `_` having taken a character.

    T is -1 if there were too few.
    """
    while p < pattern_length:
        byte = load_byte(pattern + p)
        if byte == UNDERSCORE:
            if t >= text_length:
                return -1, p, OK
            t = next_char(text, text_length, t)
        elif byte != PERCENT:
            break
        p += 1
    if p == pattern_length - 1 and load_byte(pattern + p) == BACKSLASH:
        return t, p, INVALID_ESCAPE
    if p < pattern_length and t >= text_length:
        return -1, p, OK
    return t, p, OK


@kernel
def next_char(text: int, text_length: int, t: int) -> int:
    """Return the offset of the next character."""
    t += 1
    while t < text_length and load_byte(text + t) & 0xC0 == 0x80:
        t += 1
    return t


@kernel
def same_byte(a: int, b: int, fold: bool) -> bool:
    """Return whether two bytes are equal, with `fold` also as upper and lower case."""
    if a == b:
        return True
    return fold and (a ^ b) == 32 and 97 <= (a | 32) <= 122
