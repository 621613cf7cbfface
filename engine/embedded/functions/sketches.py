"""What a sketch of the values that came most often tells (`ringbuffer.groups.top_values`)."""

from __future__ import annotations

from ringbuffer.groups.sketches import string_words
from ringbuffer.groups.top_values import (
    ENTRIES,
    ENTRIES_MAX,
    ENTRY_BYTES,
    HEADER_BYTES,
    LOST,
    entry_bytes,
    is_top,
)
from ringbuffer.memory.error_codes import MESSAGES, NOT_A_SKETCH
from sql.errors import SqlError


def top_values(sketch: bytes, count: int) -> list[str]:
    """Return the texts that came most often, first those with the largest counts, of equal ones in
    the order of their bytes.
    """
    return [text for _, text in _entries(sketch, count)]


def top_counts(sketch: bytes, count: int) -> list[int]:
    """Return how often they came: never too few."""
    return [-times for times, _ in _entries(sketch, count)]


def _entries(sketch: bytes, count: int) -> list[tuple[int, str]]:
    """Return (count below 0, text) in order. Raises SqlError 22023."""
    if not 0 < count <= ENTRIES_MAX:
        raise SqlError("22023", f"the number of values must be between 1 and {ENTRIES_MAX}")
    w0, w1, heap, _kept = string_words(sketch)
    if not is_top(w0, w1, heap):
        raise SqlError(*MESSAGES[NOT_A_SKETCH])
    lost, entries = _word(sketch, 8 * LOST), _word(sketch, 8 * ENTRIES)
    found, at = [], HEADER_BYTES
    for _ in range(entries):
        size = _word(sketch, at + 16)
        text = sketch[at + ENTRY_BYTES : at + ENTRY_BYTES + size].decode(errors="replace")
        found.append((-_word(sketch, at) - lost, text))
        at += entry_bytes(size)
    return sorted(found, key=lambda entry: (entry[0], entry[1].encode()))[:count]


def _word(sketch: bytes, at: int) -> int:
    return int.from_bytes(sketch[at : at + 8], "little", signed=True)
