"""Decoded columns of numbers as the columns of other types that they are assigned to.

Enters: arrays of a morsel. Leaves: arrays in the form of another column, as PostgreSQL's assignment
casts the values; or the first value that does not fit, as a RowError. A NULL's zeros stay zeros.
Must not know SQL names.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import entry_of, kernel
from ringbuffer.memory.columns import DTYPES, ColumnLayout, PhysicalType
from ringbuffer.memory.error_codes import BIGINT_RANGE, FLOAT_OVERFLOW, NUMERIC_FIELD_OVERFLOW, OK, RowError
from ringbuffer.scalar.numbers.numeric import numeric_from_int64, numeric_limit
from ringbuffer.scalar.numbers.numeric_floats import numeric_from_float64

Array = npt.NDArray[Any]
Pairs = Annotated[npt.NDArray[np.int64], 2]

_entries: dict[str, Callable[..., int]] = {}


def assigned(data: Array, layout: ColumnLayout, column: int) -> Array:
    """Return integers, or float8 and float4, as the values of a column of numbers.

    data: [n]; not float32 for a NUMERIC. column: its index. Raises RowError.
    """
    if layout.physical == PhysicalType.NUMERIC:
        return _numerics(data, layout, column)
    wanted = np.dtype(DTYPES[layout.physical])
    if data.dtype.kind == "f" and wanted.kind == "i":
        rounded, limit = np.rint(data), 2.0 ** (8 * wanted.itemsize - 1)
        _check(~((rounded >= -limit) & (rounded < limit)), BIGINT_RANGE, column)
        return rounded.astype(wanted)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        values = data.astype(wanted)
    if wanted.itemsize < data.dtype.itemsize and wanted.kind == data.dtype.kind:
        if wanted.kind == "i":
            _check(values != data, BIGINT_RANGE, column)
        else:
            _check((np.isinf(values) & ~np.isinf(data)) | ((values == 0) & (data != 0)), FLOAT_OVERFLOW, column)
    return values


def _check(wrong: Array, code: int, column: int) -> None:
    if wrong.any():
        raise RowError(code, int(np.argmax(wrong)), column)


def _numerics(data: Array, layout: ColumnLayout, column: int) -> Array:
    kind = data.dtype.kind
    wide = data.astype(np.float64 if kind == "f" else np.int64, copy=False)
    words = np.empty((len(data), 2), dtype=np.int64)
    if kind not in _entries:
        _entries[kind] = entry_of(numerics_from_floats if kind == "f" else numerics_from_integers, wide, 0, 0, words)
    done = _entries[kind](np.ascontiguousarray(wide), layout.precision, layout.scale, words)
    if done < len(data):
        raise RowError(NUMERIC_FIELD_OVERFLOW, done, column)
    return words


@kernel
def numerics_from_integers(values: npt.NDArray[np.int64], precision: int, scale: int, words: Pairs) -> int:
    """Fill words int64[n, 2] with values int64[n] as numeric(precision, scale); return how many
    come before the first that does not fit.
    """
    for row in range(len(values)):
        lo, hi = numeric_from_int64(values[row])
        words[row, 0], words[row, 1], error = numeric_limit(lo, hi, 0, precision, scale)
        if error != OK:
            return row
    return len(values)


@kernel
def numerics_from_floats(values: npt.NDArray[np.float64], precision: int, scale: int, words: Pairs) -> int:
    """Do what `numerics_from_integers` does, for values float64[n], of which 15 digits count."""
    for row in range(len(values)):
        lo, hi, digits, error = numeric_from_float64(values[row], scale)
        if error == OK:
            words[row, 0], words[row, 1], error = numeric_limit(lo, hi, digits, precision, scale)
        if error != OK:
            return row
    return len(values)
