"""Functions whose values may be much longer than their arguments: each stops before it takes the
server's memory.

Enters: scalar functions, or whole Arrow columns. Leaves: the same functions, with 53200 for too
much.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.compute import binary_join, binary_length, if_else

from engine.embedded.arrow_numerics import one_array
from engine.embedded.error_mark import marked
from engine.embedded.value_limits import bytes_of, too_long
from sql.errors import SqlError

Scalar = Callable[..., Any]
ArrowFunction = Callable[..., pa.Array]

# Types of results that the engine does not count.
GROWING_TYPES = frozenset({"VARCHAR", "BLOB", "VARCHAR[]", "VARCHAR[][]"})


def limited(function: Scalar, result: str, bytes_max: int) -> Scalar | Limited:
    """Return a function with its limit, if its values can be long."""
    if result not in GROWING_TYPES:
        return function
    return Limited(function, bytes_max)


@dataclass(frozen=True)
class Limited:
    """A function whose values may have `bytes_max` together for a batch of rows."""

    function: Scalar
    bytes_max: int

    def begin(self) -> Scalar:
        """Return the function for one batch."""
        left, function = self.bytes_max, self.function

        def run(*row: Any) -> Any:
            nonlocal left
            value = function(*row)
            if value is not None:
                left -= bytes_of(value)
                if left < 0:
                    raise too_long(self.bytes_max)
            return value

        return run


def texts_joined(bytes_max: int) -> ArrowFunction:
    """Return || of many operands, as a list: NULL where one of them is NULL."""

    def run(column: pa.ChunkedArray) -> pa.Array:
        if one_array(column).flatten().nbytes > bytes_max:
            del column
            raise ValueError(marked(too_long(bytes_max)))
        return binary_join(one_array(column), "")

    return run


def texts_separated(bytes_max: int) -> ArrowFunction:
    """Return the texts of lists with separators between those that are not NULL, as concat_ws does.

    NULL where all are.
    """

    def run(separators: pa.ChunkedArray, column: pa.ChunkedArray) -> pa.Array:
        lists = one_array(column)
        items = lists.flatten()
        ends = np.cumsum(lists.value_lengths().fill_null(0).to_numpy())
        places = np.concatenate(([0], np.cumsum(items.is_valid().to_numpy(zero_copy_only=False))))
        offsets = np.concatenate(([0], places[ends])).astype(np.int32)
        counts = np.diff(offsets)
        between = one_array(separators).fill_null("")
        added = binary_length(between).to_numpy() * np.maximum(counts - 1, 0)
        if items.nbytes + int(added.sum()) > bytes_max:
            raise ValueError(marked(too_long(bytes_max)))
        joined = binary_join(pa.ListArray.from_arrays(pa.array(offsets), items.drop_null()), between)
        return if_else(pa.array(counts > 0), joined, None)

    return run


def texts_fit(bytes_max: int, refusal: Callable[[int], SqlError]) -> ArrowFunction:
    """Return true for a batch of rows whose widths, in bytes, are `bytes_max` at most together.

    Else raise 53200.
    """

    def run(widths: pa.ChunkedArray) -> pa.Array:
        if (pc.sum(widths).as_py() or 0) > bytes_max:
            raise ValueError(marked(refusal(bytes_max)))
        return pa.array(np.ones(len(widths), bool))

    return run
