"""The few fields that kernels leave open, which Python reads one by one.

These are dates that are not ISO, and floats that need exact arithmetic. A kernel notes such a field
in `slow` int64[n, 4]. The caller's `fallback(column, text)` returns the value in the form of its
column (days, microseconds) and raises RowError for a bad one. Must not know what PostgreSQL's date
words mean.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory import error_codes as codes
from ringbuffer.memory.columns import Layout, Morsel, PhysicalType
from ringbuffer.memory.error_codes import NEEDS_FALLBACK, OK, RowError
from ringbuffer.memory.row_block import Array
from ringbuffer.scalar.calendars.time_zones import Zone
from ringbuffer.scalar.numbers.parse_float import exact_float

Fallback = Callable[[int, str], Any]

FALLBACKS_MAX = 1024
# A zone that is not known: timestamps with a zone, but without an offset in their text, go to the
# fallback.
NO_ZONE = Zone(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))

ROW, COLUMN, START, END = range(4)


@kernel
def note_slow_field(slow: Array, used: int, row: int, column: int, start: int, end: int) -> tuple[int, int]:
    """Note a field; return (fields noted, error).

    NEEDS_FALLBACK means no room, which sends the whole statement the slow way.
    """
    if used == slow.shape[0]:
        return used, NEEDS_FALLBACK
    slow[used, ROW] = row
    slow[used, COLUMN] = column
    slow[used, START] = start
    slow[used, END] = end
    return used + 1, OK


def settle_slow_fields(
    slow: Array, buffer: npt.NDArray[np.uint8], morsel: Morsel, layout: Layout, fallback: Fallback | None
) -> None:
    """Fill in the noted fields of a morsel. Raises RowError for the first bad field."""
    for row, column, start, end in slow.tolist():
        text = buffer[start:end].tobytes().decode()
        error = RowError(OK, row, column, text)
        morsel.data[column][row] = slow_value(layout[column].physical, column, text, fallback, error)


def slow_value(physical: PhysicalType, column: int, text: str, fallback: Fallback | None, error: RowError) -> Any:
    """Return the value of a field that a kernel left open.

    Raises `error`, with its code, for a bad text.
    """
    if physical in (PhysicalType.FLOAT64, PhysicalType.FLOAT32):
        value, error.code = exact_float(text, physical == PhysicalType.FLOAT32)
        if error.code != OK:
            raise error
        return value
    error.code = codes.INVALID_DATETIME
    if fallback is None:
        raise error
    try:
        return fallback(column, text)
    except RowError as bad:
        error.code = bad.code
        raise error from None
