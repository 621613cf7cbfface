"""Morsels: the columns of k rows on their way from a client to the ring and through the kernels.

Physical forms (n rows): BOOL uint8[n]; INT16 int16[n]; INT32 int32[n]; INT64 int64[n]; FLOAT32
float32[n]; FLOAT64 float64[n]; DATE int32[n], days since 1970-01-01; TIMESTAMP int64[n],
microseconds since then (UTC, or local for a type without zone); NUMERIC int64[n, 2], the unscaled
value as (low word, high word) of a 128-bit two's complement integer, at the column's scale (the
layout of Arrow's decimal128); TEXT int64[n, 2], the 16-byte string: word 0 holds the length in
bytes in bits 0-31 and bytes 0-3 in bits 32-63, word 1 holds bytes 4-11 when the length is at most
12, else the offset of all the bytes in the heap. Unused inline bytes are zero, so short strings are
equal when their words are. Each column has nulls uint8[n], 1 where NULL (its words are 0 then).
Must not know SQL names or views.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.memory.labels import Labels

NUMERIC_DIGITS_MAX = 38
INT64_MIN = -(1 << 63)
INT64_MAX = (1 << 63) - 1
# The bits of a string's first word that are its length.
LENGTH_MASK = 0xFFFFFFFF
INLINE_BYTES_MAX = 12


class PhysicalType(StrEnum):
    """The physical form of a column; the module's docstring describes each."""

    BOOL = "BOOL"
    INT16 = "INT16"
    INT32 = "INT32"
    INT64 = "INT64"
    FLOAT32 = "FLOAT32"
    FLOAT64 = "FLOAT64"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"
    NUMERIC = "NUMERIC"
    TEXT = "TEXT"


DTYPES: dict[PhysicalType, str] = {
    PhysicalType.BOOL: "uint8",
    PhysicalType.INT16: "int16",
    PhysicalType.INT32: "int32",
    PhysicalType.INT64: "int64",
    PhysicalType.FLOAT32: "float32",
    PhysicalType.FLOAT64: "float64",
    PhysicalType.DATE: "int32",
    PhysicalType.TIMESTAMP: "int64",
    PhysicalType.NUMERIC: "int64",
    PhysicalType.TEXT: "int64",
}

WIDE = frozenset({PhysicalType.NUMERIC, PhysicalType.TEXT})


@dataclass(frozen=True, slots=True)
class ColumnLayout:
    """The form of the values of one stream column, and their limits.

    Attributes:
        precision, scale: of a NUMERIC.
        length_max: characters of a TEXT, or None.
        not_null: true if a NULL is an error.
        labels: of an enum, whose numbers are the INT64 values.
        value_form: of a TEXT whose bytes stand for values of another Arrow form than string
            (stored_values).
    """

    name: str
    physical: PhysicalType
    precision: int = 0
    scale: int = 0
    length_max: int | None = None
    not_null: bool = False
    zoned: bool = False
    labels: Labels | None = None
    value_form: pa.DataType | None = None


Layout = tuple[ColumnLayout, ...]


@dataclass(frozen=True, slots=True)
class Morsel:
    """The columns of `rows_count` rows in the forms above.

    Attributes:
        heap: uint8[bytes], the strings of all columns that are not inline.
    """

    rows_count: int
    data: tuple[npt.NDArray[np.generic], ...]
    nulls: tuple[npt.NDArray[np.uint8], ...]
    heap: npt.NDArray[np.uint8]

    @property
    def bytes_count(self) -> int:
        """Bytes of memory that the morsel holds."""
        return sum(a.nbytes for a in self.data) + sum(a.nbytes for a in self.nulls) + self.heap.nbytes


def empty_column(physical: PhysicalType, rows_count: int) -> npt.NDArray[np.generic]:
    """Return zeros for `rows_count` values in the form of `physical`."""
    shape = (rows_count, 2) if physical in WIDE else (rows_count,)
    return np.zeros(shape, dtype=DTYPES[physical])


def new_column(physical: PhysicalType, rows_count: int) -> npt.NDArray[np.generic]:
    """Return an array for `rows_count` values in the form of `physical`.

    The values are not defined.
    """
    shape = (rows_count, 2) if physical in WIDE else (rows_count,)
    return np.empty(shape, dtype=DTYPES[physical])
