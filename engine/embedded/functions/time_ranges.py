"""Checks for times that DuckDB has and PostgreSQL does not have: the ranges of the two begin in
different years.

Enters: an Arrow column of dates or timestamps. Leaves: the same column. Raises ValueError with the
mark of 22008.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from engine.embedded.arrow_numerics import one_array
from engine.embedded.error_mark import marked
from sql.errors import SqlError
from sql.times.civil import DATE_DAYS_END, DATE_DAYS_MIN, DATE_INFINITY, TIMESTAMP_INFINITY, TIMESTAMP_US_MIN


def checked_timestamps(column: pa.ChunkedArray) -> pa.Array:
    """Return timestamps; none of them is before PostgreSQL's first."""
    times = one_array(column)
    micros = times.view(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    _check(micros, TIMESTAMP_US_MIN, TIMESTAMP_INFINITY, "timestamp")
    return times


def checked_dates(column: pa.ChunkedArray) -> pa.Array:
    """Return dates; none of them is before PostgreSQL's first or after its last."""
    dates = one_array(column)
    days = dates.view(pa.int32()).fill_null(0).to_numpy(zero_copy_only=False)
    _check(days, DATE_DAYS_MIN, DATE_INFINITY, "date")
    _check(-days, 1 - DATE_DAYS_END, DATE_INFINITY, "date")
    return dates


def _check(values: np.ndarray[tuple[int], np.dtype[np.integer]], first: int, infinity: int, what: str) -> None:
    early = values < first
    if np.any(early) and np.any(values[early] != -infinity):
        raise ValueError(marked(SqlError("22008", f"{what} out of range")))


RANGE_SPECIFICATIONS = [
    ("timestamp_checked", "TIMESTAMP", "TIMESTAMP", checked_timestamps),
    ("timestamptz_checked", "TIMESTAMPTZ", "TIMESTAMPTZ", checked_timestamps),
    ("date_checked", "DATE", "DATE", checked_dates),
]
