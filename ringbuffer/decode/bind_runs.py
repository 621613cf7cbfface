"""Runs of Binds, each followed by its Execute: found in the bytes of a socket in one kernel call.

Enters: bytes that were received. Leaves: how many rows follow each other at a place, where each
row's parameters begin, which heads (statement and formats) they have, and where the run ends. Every
message of a run is checked to be whole and
sound, so that nothing but values is left to be decoded (`parameters`). Must not know statements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import entry_of, kernel
from ringbuffer.decode.parameters import signed_int16, signed_int32
from ringbuffer.memory.row_block import MORSEL_ROWS_MAX
from ringbuffer.scalar.numbers.fields import Bytes

HEAD_BYTES = 5
# The shortest Bind and its Execute.
ROW_BYTES_MIN = 23
DESCRIBE_BYTES = 7
EXECUTE_BYTES = 10

_entries: list[Callable[..., Any]] = []


# What the kernel tells of each row, int64[rows, 3].
MESSAGE, VALUES, HEAD = range(3)
# A run of more heads ends before the next one. psycopg prepares 100 statements, one for each choice
# of types.
HEADS_MAX = 128


class FoundBinds(NamedTuple):
    """A run.

    Attributes:
        places: int64[rows, 3], where the Bind of each row begins, and the first length word of its
            values, from the run's first byte on; and the number of its head.
        heads: the first row of each head, in order.
        bytes_count: of all messages.
        is_described: true if a Describe of the portal stands between each Bind and its Execute.
    """

    places: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int64]
    bytes_count: int
    is_described: bool


def find_binds(data: bytes, offset: int) -> FoundBinds | None:
    """Return the run that begins with the Bind at data[offset], None if it has fewer than two
    rows.
    """
    buffer = np.frombuffer(data, dtype=np.uint8)
    places = np.empty((min((len(data) - offset) // ROW_BYTES_MIN, MORSEL_ROWS_MAX), 3), dtype=np.int64)
    heads = np.empty(HEADS_MAX, dtype=np.int64)
    if not _entries:
        _entries.append(entry_of(bind_run, buffer, 0, places, heads))
    rows_count, end, heads_count, is_described = _entries[0](buffer, offset, places, heads)
    if rows_count < 2:
        return None
    return FoundBinds(places[:rows_count], heads[:heads_count], end - offset, is_described)


@kernel
def bind_run(
    buffer: Bytes, offset: int, places: npt.NDArray[np.int64], heads: npt.NDArray[np.int64]
) -> tuple[int, int, int, bool]:
    """Return (rows, end, heads, whether the rows are described) of the run at buffer[offset:].

    places: int64[n, 3] and heads: int64[m] are filled, see FoundBinds. All Binds make the unnamed
    portal and are alike but for their heads and values; no more than n rows with m heads are found.
    """
    size = len(buffer)
    rows = 0
    heads_count = 0
    head = 0
    is_described = False
    # Of the first Bind: the place after its values.
    tail = 0
    tail_bytes = 0
    at = offset
    while rows < places.shape[0]:
        name = at + HEAD_BYTES + 1
        if name > size or buffer[at] != 66 or buffer[name - 1] != 0:
            break
        end = at + 1 + signed_int32(buffer, at + 1)
        if end > size - EXECUTE_BYTES:
            break
        name_end = name
        while name_end < end and buffer[name_end] != 0:
            name_end += 1
        if name_end + 3 > end or signed_int16(buffer, name_end + 1) < 0:
            break
        head_end = name_end + 5 + 2 * signed_int16(buffer, name_end + 1)
        if head_end > end:
            break
        value = after_values(buffer, head_end, end, signed_int16(buffer, head_end - 2))
        if value < 0:
            break
        if rows == 0:
            tail = value
            tail_bytes = end - value
            is_described = is_describe(buffer, end)
        elif end - value != tail_bytes or not is_same(buffer, value, tail, tail_bytes):
            break
        if is_described:
            if not is_describe(buffer, end):
                break
            end += DESCRIBE_BYTES
        if not is_execute(buffer, end):
            break
        head = head_number(buffer, offset, name, head_end, places, heads, heads_count, head)
        if head == heads_count:
            if heads_count == len(heads):
                break
            heads[heads_count] = rows
            heads_count += 1
        places[rows, MESSAGE] = at - offset
        places[rows, VALUES] = head_end - offset
        places[rows, HEAD] = head
        rows += 1
        at = end + EXECUTE_BYTES
    return rows, at, heads_count, is_described


@kernel
def head_number(
    buffer: Bytes,
    offset: int,
    start: int,
    end: int,
    places: npt.NDArray[np.int64],
    heads: npt.NDArray[np.int64],
    heads_count: int,
    before: int,
) -> int:
    """Return the number of the head buffer[start:end], `heads_count` for a new one.

    before: that of the row before; the one after it is looked at first.
    """
    for index in range(heads_count):
        number = (before + 1 + index) % heads_count
        row = heads[number]
        first = offset + places[row, MESSAGE] + HEAD_BYTES + 1
        if places[row, VALUES] + offset - first == end - start and is_same(buffer, start, first, end - start):
            return number
    return heads_count


@kernel
def after_values(buffer: Bytes, at: int, end: int, columns_count: int) -> int:
    """Return the end of the values at `at` of a Bind, -1 if they are not in order."""
    for _ in range(columns_count):
        if at + 4 > end:
            return -1
        length = signed_int32(buffer, at)
        if length < -1:
            return -1
        at += 4 + max(length, 0)
    return at if columns_count >= 0 and at + 2 <= end else -1


@kernel
def is_same(buffer: Bytes, one: int, other: int, count: int) -> bool:
    """Return whether `count` bytes are equal at two places."""
    for index in range(count):
        if buffer[one + index] != buffer[other + index]:
            return False
    return True


@kernel
def is_describe(buffer: Bytes, at: int) -> bool:
    """Return whether a Describe of the unnamed portal stands at `at`."""
    if at + DESCRIBE_BYTES > len(buffer):
        return False
    same: bool = buffer[at] == 68 and signed_int32(buffer, at + 1) == 6 and buffer[at + 5] == 80 and buffer[at + 6] == 0
    return same


@kernel
def is_execute(buffer: Bytes, at: int) -> bool:
    """Return whether an Execute of the unnamed portal stands at `at`, with any limit of rows."""
    if at + EXECUTE_BYTES > len(buffer):
        return False
    same: bool = buffer[at] == 69 and signed_int32(buffer, at + 1) == 9 and buffer[at + 5] == 0
    return same
