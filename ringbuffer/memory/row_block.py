"""The memory of a morsel that a decoder fills: one block, and a plan of the columns in it.

Decoders serve every schema with one machine code, so they get the columns as numbers: `columns`
int64[columns, 10], a row per column with the fields KIND to LABELS below. A block for `capacity`
rows (a multiple of 8, which keeps all columns aligned) holds column c at capacity * columns[c,
PREFIX], and its nulls at capacity * (row bytes + c). A morsel is views of the block. Must not know
text, wire formats or SQL.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ringbuffer.memory.columns import DTYPES, WIDE, Layout, Morsel, PhysicalType
from ringbuffer.memory.kept_memory import kept_memory

Array = npt.NDArray[Any]

KIND, WIDTH, PREFIX, PRECISION, SCALE, LENGTH_MAX, NOT_NULL, ZONED, FORCE, LABELS = range(10)
BOOL, INT16, INT32, INT64, FLOAT32, FLOAT64, DATE, TIMESTAMP, NUMERIC, TEXT = range(10)
# How the INT64 column of an enum is read, by the labels whose table is at the address LABELS.
ENUM = 10
KINDS: dict[PhysicalType, int] = {physical: number for number, physical in enumerate(PhysicalType)}

MORSEL_ROWS_MAX = 65_536
# Kernels read strings in words of 8 bytes, so what they read from must go on for this long after
# its last byte.
PADDING_BYTES = 16
CAPACITY_STEP = 8

Plan = TypeVar("Plan")


class RowBlock(NamedTuple):
    """The memory that a kernel writes rows to.

    Attributes:
        columns: see the module.
        block: uint8[n].
        capacity: rows that `block` has room for.
        heap: uint8[n], for strings over 12 bytes.
    """

    columns: Array
    block: npt.NDArray[np.uint8]
    capacity: int
    heap: npt.NDArray[np.uint8]


class RowPlan:
    """A layout as numbers.

    Attributes:
        columns: see the module.
        row_bytes: bytes of one row, without nulls and long strings.
    """

    __slots__ = ("_columns_count", "_views", "columns", "layout", "row_bytes")

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.columns = np.zeros((len(layout), 10), dtype=np.int64)
        self._views: list[tuple[np.dtype[Any], int, bool]] = []
        self._columns_count = len(layout)
        prefix = 0
        for index, column in enumerate(layout):
            wide = column.physical in WIDE
            dtype = np.dtype(DTYPES[column.physical])
            width = dtype.itemsize * (2 if wide else 1)
            length_max = -1 if column.length_max is None else column.length_max
            self.columns[index] = (
                KINDS[column.physical], width, prefix, column.precision, column.scale, length_max, column.not_null, column.zoned, 0, 0,
            )  # fmt: skip
            if column.labels is not None:
                # The layout, which the plan keeps, keeps the table.
                self.columns[index, KIND], self.columns[index, LABELS] = ENUM, column.labels.table.ctypes.data
            self._views.append((dtype, prefix, wide))
            prefix += width
        self.row_bytes = prefix

    def new_block(self, capacity: int) -> npt.NDArray[np.uint8]:
        """Return memory for `capacity` rows, a multiple of 8; its contents are not defined."""
        return kept_memory.take(capacity * (self.row_bytes + self._columns_count))

    def morsel(
        self, block: npt.NDArray[np.uint8], capacity: int, rows_count: int, heap: npt.NDArray[np.uint8]
    ) -> Morsel:
        """Return the first `rows_count` rows of a block as a morsel; it shares the memory."""
        array = np.ndarray
        one = (rows_count,)
        two = (rows_count, 2)
        data = tuple(
            [array(two if wide else one, dtype, block, capacity * prefix) for dtype, prefix, wide in self._views]
        )
        start = capacity * self.row_bytes
        count = self._columns_count
        nulls: Array = array((count, capacity), np.uint8, block, start)
        return Morsel(rows_count, data, tuple(nulls if rows_count == capacity else nulls[:, :rows_count]), heap)


def rounded_capacity(rows_count: int) -> int:
    """Return the smallest capacity for `rows_count` rows, at most that of a full morsel."""
    wanted = max(1, min(rows_count, MORSEL_ROWS_MAX))
    return (wanted + CAPACITY_STEP - 1) // CAPACITY_STEP * CAPACITY_STEP


class PerLayout(Generic[Plan]):
    """A cache by the identity of a layout: to hash ten columns would cost more than decoding a
    row.
    """

    KEPT_MAX = 4096

    def __init__(self, make: Callable[[Layout], Plan]) -> None:
        self._make = make
        self._kept: dict[int, tuple[Layout, Plan]] = {}

    def get(self, layout: Layout) -> Plan:
        """Return the object that was made for `layout`, or make it."""
        kept = self._kept.get(id(layout))
        # The entry holds its layout, so that no other can get its identity.
        if kept is not None:
            return kept[1]
        if len(self._kept) >= self.KEPT_MAX:
            self._kept.clear()
        plan = self._make(layout)
        self._kept[id(layout)] = (layout, plan)
        return plan
