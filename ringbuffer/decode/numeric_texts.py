"""A column of texts as numerics, each with the digits that it is written with.

Enters: a `string` column. Leaves: an unscaled value and a scale for each text, and which texts are
for the caller to read: NaN, infinities, more than 38 digits, and what is no number. Must not know
the caller's types.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import OK
from ringbuffer.memory.row_block import PADDING_BYTES
from ringbuffer.scalar.numbers.fields import parse_numeric

Array = npt.NDArray[Any]


def numeric_texts(texts: pa.Array) -> tuple[Array, Array, Array]:
    """Return (unscaled int64[n, 2], scales int16[n], left bool[n]); what stands for NULL is 0."""
    count = len(texts)
    unscaled, scales = np.zeros((count, 2), dtype=np.int64), np.zeros(count, dtype=np.int16)
    left = np.zeros(count, dtype=np.bool_)
    if count == texts.null_count:
        return unscaled, scales, left
    _, ends, content = texts.buffers()
    offsets = np.frombuffer(ends, dtype=np.int32)[texts.offset : texts.offset + count + 1].astype(np.int64)
    data = np.zeros(int(offsets[-1] - offsets[0]) + PADDING_BYTES, dtype=np.uint8)
    if content is not None:
        data[:-PADDING_BYTES] = np.frombuffer(content, dtype=np.uint8)[offsets[0] : offsets[-1]]
    known = np.array(texts.is_valid().to_numpy(zero_copy_only=False))
    read_texts(data, offsets - offsets[0], known, unscaled, scales, left)
    return unscaled, scales, left


@kernel
def read_texts(data: Array, offsets: Array, known: Array, unscaled: Array, scales: Array, left: Array) -> None:
    """Read the texts that are `known`; see numeric_texts. offsets: int64[n + 1]."""
    for row in range(known.shape[0]):
        if not known[row]:
            continue
        lo, hi, scale, error = parse_numeric(data, offsets[row], offsets[row + 1])
        if error != OK:
            left[row] = True
            continue
        unscaled[row, 0] = lo
        unscaled[row, 1] = hi
        scales[row] = scale
