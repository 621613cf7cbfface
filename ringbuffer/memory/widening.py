"""Widening: values of smaller types into columns of larger types, without loss or errors.

Enters: arrays of one value. Leaves: other arrays of one value, as numpy's assignment would fill
them. Must not know columns or rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import float32_from_bits, load_byte, load_int32, store_float64, store_int32, store_word

Array = npt.NDArray[Any]

SOURCE, FORM, TARGET, TARGET_FORM = range(4)
INT16, INT32, INT64, FLOAT32, FLOAT64 = range(5)
FORMS = {"int16": INT16, "int32": INT32, "int64": INT64, "float32": FLOAT32, "float64": FLOAT64}
WIDER = {INT16: (INT32, INT64, FLOAT64), INT32: (INT64, FLOAT64), FLOAT32: (FLOAT64,)}


def widenings(pairs: Sequence[tuple[Array, Array]]) -> Array:
    """Return int64[pairs, 4], the work of `widen` for pairs (from, to) of arrays.

    The caller keeps the arrays alive. Raises KeyError for other types.
    """
    table = np.zeros((len(pairs), 4), dtype=np.int64)
    for place, (source, target) in zip(table, pairs, strict=True):
        form, target_form = FORMS[source.dtype.name], FORMS[target.dtype.name]
        if target_form not in WIDER[form]:
            raise KeyError(target.dtype.name)
        place[:] = source.ctypes.data, form, target.ctypes.data, target_form
    return table


@kernel
def widen(table: Array) -> None:
    """Fill the target arrays of a table int64[n, 4], see `widenings`."""
    for index in range(table.shape[0]):
        source, form = table[index, SOURCE], table[index, FORM]
        target, target_form = table[index, TARGET], table[index, TARGET_FORM]
        if form == FLOAT32:
            store_float64(target, np.float64(float32_from_bits(np.uint32(load_int32(source)))))
            continue
        if form == INT16:
            word = np.int64(load_byte(source)) | np.int64(load_byte(source + 1)) << 8
            value = (word ^ 0x8000) - 0x8000
        else:
            value = np.int64(load_int32(source))
        if target_form == INT32:
            store_int32(target, np.int32(value))
        elif target_form == INT64:
            store_word(target, value)
        else:
            store_float64(target, np.float64(value))
