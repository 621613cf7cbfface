"""Series of numerics and of times, as lists: inclusive, up or down, each value the one before plus
the step; and the limit of those of integers.

Strict: callers handle NULL. A step of zero is 22023, a list that memory can't hold 53200.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from engine.embedded import decimals
from engine.embedded.arrow_numerics import one_array
from engine.embedded.decimals import Numeric
from engine.embedded.error_mark import marked
from engine.embedded.value_limits import SERIES_ITEMS_MAX
from sql.errors import SqlError
from sql.times.interval_shift import shifted_us
from sql.times.interval_values import Interval, span_us

VARIABLE = "STRUCT(unscaled DECIMAL(38,0), scale SMALLINT)"

# Each item is a Python object for a while.
ITEMS_MAX = 2_000_000


def too_long() -> SqlError:
    return SqlError("53200", "out of memory", detail=f"A series of numerics or times has at most {ITEMS_MAX:,} values.")


def zero_step() -> SqlError:
    return SqlError("22023", "step size cannot equal zero")


def numeric_series(start: Numeric, stop: Numeric, step: Numeric) -> list[Numeric]:
    """Return start, start + step, ... up to stop."""
    if step[0] == 0:
        raise zero_step()
    scale = max(start[1], stop[1], step[1])
    first, last, width = (decimals.rescaled(value, scale) for value in (start, stop, step))
    shown = max(start[1], step[1])
    count = (last - first) // width + 1 if (last >= first) == (width > 0) or last == first else 0
    if count > ITEMS_MAX:
        raise too_long()
    values = (first + index * width for index in range(1, count))
    rest = [decimals.checked(value // 10 ** (scale - shown), shown) for value in values]
    return [start, *rest] if count > 0 else []


def time_series(start: int, stop: int, step: Interval, zone: str) -> list[int]:
    """Return the times from start to stop, in microseconds.

    Days and months are those of clocks in `zone`.
    """
    way = span_us(step)
    if way == 0:
        raise zero_step()
    out = []
    months, days, micros = step
    if not months and not days:
        times = range(start, stop + (1 if way > 0 else -1), micros)
        # For a range as long as this, len() would not fit.
        if (times.stop - times.start) // micros > ITEMS_MAX:
            raise too_long()
        return list(times)
    current = start
    while (current <= stop) if way > 0 else (current >= stop):
        out.append(current)
        if len(out) > ITEMS_MAX:
            raise too_long()
        current = shifted_us(current, step, zone)
    return out


def series_start(start: pa.ChunkedArray, stop: pa.ChunkedArray, step: pa.ChunkedArray) -> pa.Array:
    """Return the starts of series, if all series together are short enough to be lists.

    Raises 53200.
    """
    first, last, width = (
        one_array(column).cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy() for column in (start, stop, step)
    )
    with np.errstate(all="ignore"):
        counts = np.floor((last - first) / width) + 1
    if float(np.nansum(np.where(counts > 0, counts, 0))) > SERIES_ITEMS_MAX:
        detail = (
            f"A series that is made for each row may have {SERIES_ITEMS_MAX:,} values, all rows of a batch together."
        )
        hint = "A series in FROM whose bounds are constants has no such limit."
        raise ValueError(marked(SqlError("53200", "out of memory", detail=detail, hint=hint)))
    return one_array(start)


SERIES_FUNCTIONS: list[tuple[str, list[str], str, Callable[..., pa.Array]]] = [
    ("series_start", ["BIGINT"] * 3, "BIGINT", series_start)
]
