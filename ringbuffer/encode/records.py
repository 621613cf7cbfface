"""Columns of rows as values, as text and as PostgreSQL's binary form, from the encoded columns of
their fields.

Enters: an Arrow struct array, and its fields encoded as EncodedColumn. Leaves: EncodedColumn.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.compile.jit import kernel
from ringbuffer.encode.arrays import put_word
from ringbuffer.encode.encoded_column import Bytes, EncodedColumn, Offsets, frozen, valid_bytes
from ringbuffer.encode.fields import add_sizes, put_fields
from ringbuffer.encode.text import is_valid

# The number of fields; before each the oid of its type and its length.
HEAD_BYTES = 4
FIELD_HEAD_BYTES = 8

# What makes a field need quotes, and what is doubled inside of them.
SPECIAL = np.zeros(256, dtype=np.uint8)
SPECIAL[list(b'"\\(), \t\n\r\v\f')] = 1
DOUBLED = np.zeros(256, dtype=np.uint8)
DOUBLED[list(b'"\\')] = 1


class RecordFamily(str):
    """The family of rows as values, or of arrays of them, for encoders: 'record' or 'record[]',
    with families and oids of the fields.

    Attributes:
        oid: of the type, which arrays in binary form give for their elements.
    """

    oid: int
    fields: tuple[tuple[str, int], ...]


def record_family(oid: int, fields: Sequence[tuple[str, int]], is_array: bool) -> RecordFamily:
    """Return the family of values, or of arrays of them."""
    family = RecordFamily("record[]" if is_array else "record")
    family.oid, family.fields = oid, tuple(fields)
    return family


def text_records(array: pa.Array, fields: Sequence[EncodedColumn]) -> EncodedColumn:
    """Return rows as text; `fields` are those of all rows as text."""
    sizes = np.full(len(array), 2 + max(len(fields) - 1, 0), dtype=np.int64)
    for field in fields:
        add_text_sizes(field.data, field.ends, field.valid, SPECIAL, DOUBLED, sizes)
    valid, ends = valid_bytes(array), ends_of(sizes)
    out, cursors = np.empty(int(ends[-1]), dtype=np.uint8), ends[:-1].copy()
    put_mark(out, cursors, ord("("))
    for place, field in enumerate(fields):
        if place:
            put_mark(out, cursors, ord(","))
        put_text_fields(field.data, field.ends, field.valid, SPECIAL, DOUBLED, out, cursors)
    put_mark(out, cursors, ord(")"))
    return EncodedColumn(frozen(out), ends, valid)


def binary_records(array: pa.Array, fields: Sequence[EncodedColumn], oids: Sequence[int]) -> EncodedColumn:
    """Return rows in binary form.

    `fields` are those of all rows in binary, of types with these oids.
    """
    sizes = np.full(len(array), HEAD_BYTES + FIELD_HEAD_BYTES * len(fields), dtype=np.int64)
    for field in fields:
        add_sizes(field.ends, field.valid, sizes)
    valid, ends = valid_bytes(array), ends_of(sizes)
    out, cursors = np.empty(int(ends[-1]), dtype=np.uint8), ends[:-1].copy()
    put_words(out, cursors, len(fields))
    for field, oid in zip(fields, oids, strict=True):
        put_words(out, cursors, oid)
        put_fields(field.data, field.ends, field.valid, out, cursors)
    return EncodedColumn(frozen(out), ends, valid)


def ends_of(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where values of these sizes begin and end. int64[n + 1]."""
    ends = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=ends[1:])
    return ends


@kernel
def put_mark(out: Bytes, cursors: npt.NDArray[np.int64], mark: int) -> None:
    """Write a byte at each row's cursor. cursors: int64[n]."""
    for row in range(len(cursors)):
        out[cursors[row]] = mark
        cursors[row] += 1


@kernel
def put_words(out: Bytes, cursors: npt.NDArray[np.int64], value: int) -> None:
    """Write a big-endian int32 at each row's cursor. cursors: int64[n]."""
    for row in range(len(cursors)):
        cursors[row] = put_word(out, cursors[row], value)


@kernel
def is_quoted(data: Bytes, start: int, end: int, special: Bytes) -> bool:
    """Tell whether a field must stand in quotes: it is empty, or has a special byte."""
    for index in range(start, end):
        if special[data[index]] != 0:
            return True
    return start == end


@kernel
def add_text_sizes(
    data: Bytes, ends: Offsets, valid: Bytes, special: Bytes, doubled: Bytes, sizes: npt.NDArray[np.int64]
) -> None:
    """Add the bytes of each field to the size of its row.

    A NULL has none. ends: int64[n + 1]; sizes: int64[n].
    """
    for row in range(len(sizes)):
        if not is_valid(valid, row):
            continue
        start, end = ends[row], ends[row + 1]
        sizes[row] += end - start
        if is_quoted(data, start, end, special):
            sizes[row] += 2
            for index in range(start, end):
                sizes[row] += doubled[data[index]]


@kernel
def put_text_fields(
    data: Bytes,
    ends: Offsets,
    valid: Bytes,
    special: Bytes,
    doubled: Bytes,
    out: Bytes,
    cursors: npt.NDArray[np.int64],
) -> None:
    """Write one field of each row at its cursor, in quotes where it needs them. ends: int64[n + 1];
    cursors: int64[n].
    """
    for row in range(len(cursors)):
        if not is_valid(valid, row):
            continue
        at, start, end = cursors[row], ends[row], ends[row + 1]
        quoted = is_quoted(data, start, end, special)
        if quoted:
            out[at] = 34
            at += 1
        for index in range(start, end):
            if quoted and doubled[data[index]] != 0:
                out[at] = data[index]
                at += 1
            out[at] = data[index]
            at += 1
        if quoted:
            out[at] = 34
            at += 1
        cursors[row] = at
