"""Decimal arithmetic on whole columns, for what runs above the pipelines.

A column is words int64[n, 2] (lo, hi), scales int16[n] and nulls uint8[n]; results go to arrays of the same forms that the caller owns.
The functions return (row, code) of the first failure, or (-1, 0). Must not allocate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import OK
from ringbuffer.scalar.numbers.int128 import signed_word
from ringbuffer.scalar.numbers.numeric import numeric_divide

Words = npt.NDArray[np.int64]
Scales = npt.NDArray[np.int16]
Nulls = npt.NDArray[np.uint8]


@kernel
def divide_columns(
    a: Words, ascales: Scales, b: Words, bscales: Scales, nulls: Nulls, out: Words, out_scales: Scales
) -> tuple[int, int]:
    """Divide row by row, at PostgreSQL's scale for each; rows with nulls[row] = 1 give 0."""
    for row in range(len(nulls)):
        out[row, 0], out[row, 1], out_scales[row] = 0, 0, 0
        if nulls[row] == 0:
            lo, hi, scale, error = numeric_divide(
                a[row, 0], a[row, 1], signed_word(ascales[row]), b[row, 0], b[row, 1], signed_word(bscales[row])
            )
            if error != OK:
                return row, error
            out[row, 0], out[row, 1], out_scales[row] = lo, hi, scale
    return -1, OK
