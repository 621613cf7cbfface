"""The limits of values that functions make of shorter ones: per value, and for all rows that an
engine hands over at once.

DuckDB counts neither. Half a dozen copies of a text are in memory before the client has it.
PostgreSQL stops at 1 GB for each value.
"""

from __future__ import annotations

from collections.abc import Iterable

from sql.errors import SqlError

VALUES_BYTES_MAX = 64 * 1024 * 1024
# The share of the memory of statements: a statement makes several such batches, and is not alone.
MEMORY_SHARE = 1 / 16
# Rows of an answer that are handed over at once may have so many times as much.
ROWS_SHARE = 4
PIECES_MAX = 4_096
# Bytes of an item of a list, each a Python object for a while.
ITEM_BYTES = 64
# Integers of a series that has to be a list.
SERIES_ITEMS_MAX = 16 * 1024 * 1024


def values_bytes_max(memory_bytes_max: int) -> int:
    """Return the bytes that the values of one call may have, for an engine with so much memory."""
    return min(VALUES_BYTES_MAX, int(memory_bytes_max * MEMORY_SHARE))


def too_long(bytes_max: int = VALUES_BYTES_MAX) -> SqlError:
    """Return the error of values that are too long to be made."""
    detail = f"What a function makes of a batch of rows may have {bytes_max:,} bytes."
    hint = "Let it make less of a row, or of fewer rows at once; query_memory_bytes says how much there is."
    return SqlError("53200", "out of memory", detail=detail, hint=hint)


def rows_too_wide(bytes_max: int) -> SqlError:
    """Return the error of rows of an answer that are too wide to be handed over."""
    detail = f"Some two thousand rows that are computed at once may have {bytes_max:,} bytes of texts."
    hint = "Ask for fewer of these rows at once, or for less of each; query_memory_bytes says how much there is."
    return SqlError("53200", "the answer is too large", detail=detail, hint=hint)


def requested_length() -> SqlError:
    """Return PostgreSQL's error for repeat, lpad and rpad."""
    return SqlError("54000", "requested length too large")


def bytes_of(value: object) -> int:
    """Return about how many bytes a text, bytes, or a list of them takes."""
    if isinstance(value, str):
        return len(value) if value.isascii() else 4 * len(value)
    if isinstance(value, list):
        return sum(ITEM_BYTES + (bytes_of(item) if isinstance(item, str | list) else 0) for item in value)
    return len(value) if isinstance(value, bytes) else 0


def joined(pieces: Iterable[str]) -> str:
    """Return a text of pieces. Raises 53200 before the text is too long."""
    # Millions of pieces at once would hold the interpreter for as long as it takes to join, and to
    # forget, them.
    out: list[str] = []
    waiting: list[str] = []
    left = VALUES_BYTES_MAX
    for piece in pieces:
        left -= len(piece)
        if left < 0:
            raise too_long()
        waiting.append(piece)
        if len(waiting) == PIECES_MAX:
            out.append("".join(waiting))
            waiting.clear()
    return "".join([*out, *waiting])
