"""Columns of one-dimensional arrays as text and as PostgreSQL's binary form, from the encoded
column of their elements.

Enters: an Arrow list array, and its elements encoded as EncodedColumn. Leaves: EncodedColumn.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.compile.jit import kernel
from ringbuffer.encode.binary import put_int16
from ringbuffer.encode.encoded_column import Bytes, EncodedColumn, Offsets, frozen, valid_bytes
from ringbuffer.encode.text import is_valid

# Dimensions, whether there are NULLs, the element's type; then the one dimension: how many
# elements, and its lower bound.
HEAD_BYTES = 12
DIMENSION_BYTES = 8
LENGTH_BYTES = 4

# What makes an element need quotes: its own quote and escape, braces, the delimiter, and white
# space.
SPECIAL = np.zeros(256, dtype=np.uint8)
SPECIAL[list(b'"\\{}, \t\n\r\v\f')] = 1
# Bytes that stand after a backslash in quotes.
ESCAPED = np.zeros(256, dtype=np.uint8)
ESCAPED[list(b'"\\')] = 1


def list_offsets(array: pa.Array) -> npt.NDArray[np.int64]:
    """Return where the elements of each row begin and end, counted in the list's values. int64[n +
    1].
    """
    return np.asarray(array.offsets.to_numpy(zero_copy_only=False), dtype=np.int64)


def text_lists(array: pa.Array, elements: EncodedColumn) -> EncodedColumn:
    """Return array literals; `elements` are all values of `array` as text."""
    offsets, valid = list_offsets(array), valid_bytes(array)
    first, last = int(offsets[0]), int(offsets[-1])
    size = 2 * int(elements.ends[last] - elements.ends[first]) + 7 * (last - first) + 2 * len(array)
    out = np.empty(size, dtype=np.uint8)
    ends = np.empty(len(array) + 1, dtype=np.int64)
    put_text_lists(elements.data, elements.ends, elements.valid, frozen(offsets), valid, SPECIAL, ESCAPED, out, ends)
    return EncodedColumn(frozen(out), ends, valid)


def binary_lists(array: pa.Array, elements: EncodedColumn, element_oid: int, lowest: int = 1) -> EncodedColumn:
    """Return arrays in binary form; `elements` are all values of `array` in binary.

    lowest: the place of an array's first element; of vectors, which have a dimension without
    elements, too, it is 0.
    """
    offsets, valid = list_offsets(array), valid_bytes(array)
    first, last = int(offsets[0]), int(offsets[-1])
    size = int(elements.ends[last] - elements.ends[first]) + LENGTH_BYTES * (last - first)
    out = np.empty(size + (HEAD_BYTES + DIMENSION_BYTES) * len(array), dtype=np.uint8)
    ends = np.empty(len(array) + 1, dtype=np.int64)
    kind = (element_oid, lowest)
    put_binary_lists(elements.data, elements.ends, elements.valid, frozen(offsets), valid, kind, out, ends)
    return EncodedColumn(frozen(out), ends, valid)


@kernel
def needs_quotes(data: Bytes, start: int, end: int, special: Bytes) -> bool:
    """Tell whether an element must stand in quotes: it is empty, looks like NULL, or has a special
    byte.
    """
    if start == end:
        return True
    for index in range(start, end):
        if special[data[index]] != 0:
            return True
    return (
        end - start == 4
        and data[start] | 32 == 110
        and data[start + 1] | 32 == 117
        and data[start + 2] | 32 == 108
        and data[start + 3] | 32 == 108
    )


@kernel
def put_element(data: Bytes, start: int, end: int, special: Bytes, escaped: Bytes, out: Bytes, at: int) -> int:
    """Write one element; return where it ends."""
    quoted = needs_quotes(data, start, end, special)
    if quoted:
        out[at] = 34
        at += 1
    for index in range(start, end):
        if escaped[data[index]] != 0:
            out[at] = 92
            at += 1
        out[at] = data[index]
        at += 1
    if quoted:
        out[at] = 34
        at += 1
    return at


@kernel
def put_text_lists(
    data: Bytes,
    sources: Offsets,
    present: Bytes,
    offsets: Offsets,
    valid: Bytes,
    special: Bytes,
    escaped: Bytes,
    out: Bytes,
    ends: Offsets,
) -> None:
    """Write {a,b,NULL}. sources: int64[m + 1], the elements; present: uint8[m] or empty.

    Offsets, ends: int64[n + 1].
    """
    at = 0
    ends[0] = 0
    for row in range(len(ends) - 1):
        if is_valid(valid, row):
            out[at] = 123
            at += 1
            for item in range(offsets[row], offsets[row + 1]):
                if item > offsets[row]:
                    out[at] = 44
                    at += 1
                if is_valid(present, item):
                    at = put_element(data, sources[item], sources[item + 1], special, escaped, out, at)
                else:
                    out[at], out[at + 1], out[at + 2], out[at + 3] = 78, 85, 76, 76
                    at += 4
            out[at] = 125
            at += 1
        ends[row + 1] = at


@kernel
def put_word(out: Bytes, at: int, value: int) -> int:
    """Write a big-endian int32; return where it ends."""
    return put_int16(out, put_int16(out, at, value >> 16), value)


@kernel
def put_binary_lists(
    data: Bytes,
    sources: Offsets,
    present: Bytes,
    offsets: Offsets,
    valid: Bytes,
    kind: tuple[int, int],
    out: Bytes,
    ends: Offsets,
) -> None:
    """Write arrays in binary. sources: int64[m + 1], the elements; present: uint8[m] or empty;
    kind: the object identifier of the elements' type, and the lower bound.

    Offsets, ends: int64[n + 1].
    """
    element_oid, lowest = kind
    at = 0
    ends[0] = 0
    for row in range(len(ends) - 1):
        if is_valid(valid, row):
            count = offsets[row + 1] - offsets[row]
            nulls = 0
            for item in range(offsets[row], offsets[row + 1]):
                if not is_valid(present, item):
                    nulls = 1
            has_dimension = count > 0 or lowest == 0
            at = put_word(out, at, 1 if has_dimension else 0)
            at = put_word(out, at, nulls)
            at = put_word(out, at, element_oid)
            if has_dimension:
                at = put_word(out, at, count)
                at = put_word(out, at, lowest)
            for item in range(offsets[row], offsets[row + 1]):
                if is_valid(present, item):
                    start, end = sources[item], sources[item + 1]
                    at = put_word(out, at, end - start)
                    for index in range(start, end):
                        out[at] = data[index]
                        at += 1
                else:
                    at = put_word(out, at, -1)
        ends[row + 1] = at
