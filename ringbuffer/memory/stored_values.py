"""Values of every Arrow form as bytes, and back: what a TEXT column of a stream holds where its
type has no physical form.

Enters: Arrow columns. Leaves: `binary` columns, and columns again. Equal values of one type have
equal bytes, up to what makes them look different. A number, date or moment is its bytes, little
endian; a struct the bytes of its fields, one after the other; a numeric, which is a struct of an
unscaled decimal and its scale, the scale int16 and then as few bytes of the unscaled value, in
two's complement, as hold it; a list is its elements, each an int32 length (-1: NULL) and its bytes.
Must not know SQL.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.compile.jit import inlined_kernel, kernel
from ringbuffer.memory.addresses import load_int32, load_word, signed_word
from ringbuffer.memory.columns import INLINE_BYTES_MAX, LENGTH_MASK

Array = npt.NDArray[Any]

LENGTH_BYTES = 4
SCALE_BYTES = 2
DECIMAL_BYTES = 16
OFFSETS_MAX = 0x7FFFFFFF


def bytes_of(values: pa.Array) -> pa.Array:
    """Return a column as `binary`; NULL stays NULL. Raises OverflowError over 2 GiB."""
    kind = values.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return values.view(pa.binary())
    mask = _mask(values)
    if pa.types.is_list(kind):
        return _list_bytes(values, mask)
    if is_numeric(kind):
        unscaled = _fixed_bytes(values.field(0)).view(np.int64)
        return _numeric_bytes(unscaled, _fixed_bytes(values.field(1)).view(np.int16).reshape(-1), mask)
    rows = _fixed_bytes(values)
    width = rows.shape[1]
    offsets = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(np.where(mask, 0, width), out=offsets[1:])
    return _binary(offsets, rows[~mask] if mask.any() else rows, mask)


def values_of(data: pa.Array, kind: pa.DataType) -> pa.Array:
    """Return the values of `kind` whose bytes are a `binary` column."""
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return data.view(kind)
    mask = _mask(data)
    if pa.types.is_list(kind):
        return _list_values(data, mask, kind)
    if is_numeric(kind):
        offsets, content = _buffers(data)
        unscaled = np.zeros((len(data), 2), dtype=np.int64)
        scales = np.zeros(len(data), dtype=np.int16)
        read_numerics(offsets, content, unscaled, scales)
        decimals = pa.Array.from_buffers(kind.field(0).type, len(data), [None, pa.py_buffer(unscaled)])
        return pa.StructArray.from_arrays([decimals, pa.array(scales)], fields=list(kind), mask=pa.array(mask))
    width = _width(kind)
    rows = np.zeros((len(data), width), dtype=np.uint8)
    offsets, content = _buffers(data)
    rows[~mask] = content[offsets[0] : offsets[-1]].reshape(-1, width)
    return _fixed_values(rows, mask, kind)


def is_numeric(kind: pa.DataType) -> bool:
    """Tell whether values have an unscaled decimal and a scale."""
    return bool(pa.types.is_struct(kind) and pa.types.is_decimal(kind.field(0).type))


def _mask(values: pa.Array) -> npt.NDArray[np.bool_]:
    """Return where a column is NULL."""
    if values.null_count == 0:
        return np.zeros(len(values), dtype=bool)
    return np.asarray(values.is_null().to_numpy(zero_copy_only=False))


def _binary(offsets: Array, content: Array, mask: npt.NDArray[np.bool_]) -> pa.Array:
    """Return a `binary` column. offsets: int64[n + 1] into content uint8[bytes]."""
    if offsets[-1] > OFFSETS_MAX:
        raise OverflowError("values of one column over 2 GiB")
    validity = pa.py_buffer(np.packbits(~mask, bitorder="little")) if mask.any() else None
    places, data = pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(content).reshape(-1))
    return pa.Array.from_buffers(pa.binary(), len(mask), [validity, places, data])


def _buffers(data: pa.Array) -> tuple[Array, Array]:
    """Return (offsets int32[n + 1], content uint8[bytes]) of a `binary` column, both writable."""
    _, offsets, content = data.buffers()
    if len(data) == 0 or offsets is None:
        return np.zeros(1, dtype=np.int32), np.zeros(0, dtype=np.uint8)
    places = np.frombuffer(offsets, dtype=np.int32)[data.offset : data.offset + len(data) + 1]
    found = np.zeros(0, dtype=np.uint8) if content is None or content.size == 0 else np.frombuffer(content, np.uint8)
    # Kernels are compiled for writable arrays only.
    return _writable(places), _writable(found)


def _width(kind: pa.DataType) -> int:
    """Return the bytes of a value of a fixed size."""
    if pa.types.is_struct(kind):
        return sum(_width(field.type) for field in kind)
    return 1 if pa.types.is_boolean(kind) else kind.bit_width // 8


def _fixed_bytes(values: pa.Array) -> Array:
    """Return values of a fixed size as uint8[n, bytes]; what stands for NULL is not defined."""
    kind, count = values.type, len(values)
    if pa.types.is_struct(kind):
        parts = [_fixed_bytes(values.field(index)) for index in range(kind.num_fields)]
        return np.ascontiguousarray(np.concatenate(parts, axis=1))
    if pa.types.is_boolean(kind):
        bits: Array = values.fill_null(False).cast(pa.uint8()).to_numpy(zero_copy_only=False)
        return bits.reshape(-1, 1)
    width = _width(kind)
    if count == 0:
        return np.zeros((0, width), dtype=np.uint8)
    content = np.frombuffer(values.buffers()[1], dtype=np.uint8)
    return content[width * values.offset : width * (values.offset + count)].reshape(-1, width)


def _fixed_values(rows: Array, mask: npt.NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """Return the values of a fixed size that uint8[n, bytes] hold."""
    if pa.types.is_struct(kind):
        parts, start = [], 0
        for field in kind:
            width = _width(field.type)
            parts.append(_fixed_values(rows[:, start : start + width], np.zeros_like(mask), field.type))
            start += width
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=pa.array(mask))
    if pa.types.is_boolean(kind):
        return pa.array(rows[:, 0] != 0, pa.bool_(), mask=mask)
    validity = pa.py_buffer(np.packbits(~mask, bitorder="little")) if mask.any() else None
    return pa.Array.from_buffers(kind, len(mask), [validity, pa.py_buffer(np.ascontiguousarray(rows))])


def _numeric_bytes(unscaled: Array, scales: Array, mask: npt.NDArray[np.bool_]) -> pa.Array:
    unscaled, scales = np.ascontiguousarray(unscaled), np.ascontiguousarray(scales)
    content = np.empty((SCALE_BYTES + DECIMAL_BYTES) * len(mask), dtype=np.uint8)
    offsets = np.zeros(len(mask) + 1, dtype=np.int64)
    write_numerics(_writable(unscaled), _writable(scales), mask.view(np.uint8), offsets, content)
    return _binary(offsets, content, mask)


def _list_bytes(values: pa.Array, mask: npt.NDArray[np.bool_]) -> pa.Array:
    elements = values.flatten()
    counts = values.value_lengths().fill_null(0).to_numpy(zero_copy_only=False)
    ends = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(counts, out=ends[1:])
    nulls = _mask(elements)
    offsets, content = _buffers(bytes_of(elements))
    total = len(elements) * LENGTH_BYTES + int(offsets[-1]) - int(offsets[0])
    places, joined = np.zeros(len(elements) + 1, dtype=np.int64), np.empty(total, dtype=np.uint8)
    join_elements(offsets, content, nulls.view(np.uint8), places, joined)
    return _binary(places[ends], joined, mask)


def _list_values(data: pa.Array, mask: npt.NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    offsets, content = _buffers(data)
    ends = np.zeros(len(data) + 1, dtype=np.int32)
    count = count_elements(offsets, content, ends)
    places, nulls = np.zeros(count + 1, dtype=np.int64), np.zeros(count, dtype=np.uint8)
    found = np.empty(len(content), dtype=np.uint8)
    split_elements(offsets, content, places, nulls, found)
    elements = values_of(_binary(places, found, nulls != 0), kind.value_type)
    return pa.ListArray.from_arrays(pa.array(ends), elements, type=kind, mask=pa.array(mask))


def _writable(array: Array) -> Array:
    return array if array.flags.writeable else array.copy()


@kernel
def write_numerics(unscaled: Array, scales: Array, nulls: Array, offsets: Array, content: Array) -> None:
    """Write the bytes of numerics one after the other to content uint8[18 * n], and where each
    ends.

    unscaled: int64[n, 2]; scales: int16[n]; nulls: uint8[n]; offsets: int64[n + 1].
    """
    at = 0
    for row in range(nulls.shape[0]):
        if nulls[row] == 0:
            scale, lo, hi = scales[row], unscaled[row, 0], unscaled[row, 1]
            content[at] = scale & 0xFF
            content[at + 1] = (scale >> 8) & 0xFF
            at += 2
            if hi == lo >> 63:
                while True:
                    content[at] = lo & 0xFF
                    at += 1
                    if -128 <= lo <= 127:
                        break
                    lo >>= 8
            else:
                for index in range(8):
                    content[at + index] = (lo >> (8 * index)) & 0xFF
                at += 8
                while True:
                    content[at] = hi & 0xFF
                    at += 1
                    if -128 <= hi <= 127:
                        break
                    hi >>= 8
        offsets[row + 1] = at


@kernel
def read_numerics(offsets: Array, content: Array, unscaled: Array, scales: Array) -> None:
    """Read the numerics of `write_numerics`; no bytes are NULL, and stay as they are.

    offsets: int32[n + 1].
    """
    for row in range(scales.shape[0]):
        start, end = offsets[row], offsets[row + 1]
        if end - start < 3:
            continue
        scales[row] = np.int16(signed_word(content[start]) | (signed_word(content[start + 1]) << 8))
        start += 2
        negative = content[end - 1] >= 128
        lo, hi = (-1, -1) if negative else (0, 0)
        for index in range(end - start):
            byte = signed_word(content[start + index])
            if index < 8:
                shift = 8 * index
                lo = (lo & ~(0xFF << shift)) | (byte << shift)
            else:
                shift = 8 * (index - 8)
                hi = (hi & ~(0xFF << shift)) | (byte << shift)
        unscaled[row, 0] = lo
        unscaled[row, 1] = hi


@inlined_kernel
def stored_numeric(first: int, second: int, heap: int) -> tuple[int, int, int]:
    """Return (lo, hi, scale) of a numeric in a 16-byte string of two words.

    heap: the address from which the offset of a long one counts.
    """
    size = (first & LENGTH_MASK) - SCALE_BYTES
    if size <= INLINE_BYTES_MAX - SCALE_BYTES:
        scale = (first << 16) >> 48
        lo = ((first >> 48) & 0xFFFF) | (second << 16)
        if size <= 8:
            unused = 64 - 8 * size
            lo = (lo << unused) >> unused
            return lo, lo >> 63, scale
        unused = 128 - 8 * size
        return lo, ((second >> 48) << unused) >> unused, scale
    address = heap + second
    scale = (signed_word(load_int32(address)) << 48) >> 48
    return load_word(address + 2), load_word(address + size - 6) >> (8 * (16 - size)), scale


@kernel
def join_elements(offsets: Array, content: Array, nulls: Array, places: Array, joined: Array) -> None:
    """Write each element with its length to joined uint8[bytes], and where it ends to places
    int64[n + 1].

    offsets: int32[n + 1]; nulls: uint8[n].
    """
    at = 0
    for element in range(nulls.shape[0]):
        start, end = offsets[element], offsets[element + 1]
        length = -1 if nulls[element] != 0 else end - start
        for index in range(4):
            joined[at + index] = (length >> (8 * index)) & 0xFF
        at += 4
        for index in range(start, end):
            joined[at] = content[index]
            at += 1
        places[element + 1] = at


@kernel
def length_at(content: Array, at: int) -> int:
    """Return the int32 length at a place."""
    length: int = signed_word(load_int32(content.ctypes.data + at))
    return length


@kernel
def count_elements(offsets: Array, content: Array, ends: Array) -> int:
    """Return the elements of all lists, and write how many come up to each: ends int32[n + 1]."""
    count = 0
    for row in range(ends.shape[0] - 1):
        at = offsets[row]
        while at + 4 <= offsets[row + 1]:
            count += 1
            at += 4 + max(length_at(content, at), 0)
        ends[row + 1] = count
    return count


@kernel
def split_elements(offsets: Array, content: Array, places: Array, nulls: Array, found: Array) -> None:
    """Write the bytes of all elements to found, where each ends to places int64[count + 1], and
    whether it is NULL to nulls uint8[count].
    """
    count = used = 0
    for row in range(offsets.shape[0] - 1):
        at = offsets[row]
        while at + 4 <= offsets[row + 1]:
            length = length_at(content, at)
            at += 4
            nulls[count] = 1 if length < 0 else 0
            for index in range(length):
                found[used] = content[at + index]
                used += 1
            at += max(length, 0)
            count += 1
            places[count] = used
