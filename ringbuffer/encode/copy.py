"""Rows for COPY TO STDOUT in text and CSV format: one CopyData message per row, as PostgreSQL sends
them (clients rely on it).

Enters: Arrow columns, the families of their types, the options. Leaves: the messages as one piece
of bytes. Two passes per column: sizes, then bytes at one cursor per row; no Python per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ringbuffer.compile.jit import kernel
from ringbuffer.encode.columns import text_column
from ringbuffer.encode.encoded_column import ALL_VALID, Bytes, EncodedColumn, Offsets, frozen
from ringbuffer.encode.fields import put_int32
from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.text import is_valid

COPY_DATA = ord("d")
HEAD_BYTES = 5
NEWLINE = 10

# The letters after the backslash in text format; every other control character stands for itself.
LETTERS = {8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r"}


@dataclass(frozen=True, slots=True)
class CopyFormat:
    """PostgreSQL's COPY TO options.

    Attributes:
        format: 'text' or 'csv'.
        force_quote: names of columns, None for all of them (csv only).
    """

    format: str = "text"
    delimiter: str = "\t"
    null: str = "\\N"
    header: bool = False
    quote: str = '"'
    escape: str = '"'
    force_quote: tuple[str, ...] | None = ()


def encode_copy_rows(
    columns: Sequence[pa.Array | pa.ChunkedArray],
    names: Sequence[str],
    families: Sequence[str],
    form: CopyFormat,
    forms: Forms,
    header: bool,
    rows_count: int,
) -> bytes:
    """Return the rows as framed CopyData messages, each one line. header: these are the first rows,
    so the header goes before them.
    """
    encoded = [text_column(column, family, forms) for column, family in zip(columns, families, strict=True)]
    first = encode_header(names, form) if header and form.header else b""
    if rows_count == 0:
        return first
    if form.format == "text":
        return first + _text_rows(encoded, form, rows_count)
    return first + _csv_rows(encoded, names, form, rows_count)


def encode_header(names: Sequence[str], form: CopyFormat) -> bytes:
    """Return the CopyData message with the names of the columns."""
    columns = []
    for name in names:
        data = frozen(np.frombuffer(name.encode(), dtype=np.uint8))
        columns.append(EncodedColumn(data, np.array([0, len(data)], dtype=np.int64), ALL_VALID))
    if form.format == "text":
        return _text_rows(columns, form, 1)
    return _csv_rows(columns, names, replace(form, force_quote=()), 1)


def _text_rows(encoded: Sequence[EncodedColumn], form: CopyFormat, rows_count: int) -> bytes:
    null = np.frombuffer(form.null.encode(), dtype=np.uint8)
    letters = np.zeros(256, dtype=np.uint8)
    for byte in (ord("\\"), ord(form.delimiter)):
        letters[byte] = byte
    for byte, letter in LETTERS.items():
        letters[byte] = ord(letter)
    sizes = np.full(rows_count, HEAD_BYTES + max(len(encoded), 1), dtype=np.int64)
    for column in encoded:
        add_text_sizes(column.data, column.ends, column.valid, letters, len(null), sizes)
    out, cursors = _messages(sizes)
    for index, column in enumerate(encoded):
        separator = NEWLINE if index == len(encoded) - 1 else ord(form.delimiter)
        put_text_fields(column.data, column.ends, column.valid, letters, null, separator, out, cursors)
    return out.tobytes()


def _csv_rows(encoded: Sequence[EncodedColumn], names: Sequence[str], form: CopyFormat, rows_count: int) -> bytes:
    null = np.frombuffer(form.null.encode(), dtype=np.uint8)
    quote, escape = ord(form.quote), ord(form.escape)
    special = np.zeros(256, dtype=np.uint8)
    for byte in (ord(form.delimiter), quote, NEWLINE, ord("\r")):
        special[byte] = 1
    quoted = [
        _quoted(column, name, form, null, special, len(encoded) == 1)
        for column, name in zip(encoded, names, strict=True)
    ]
    sizes = np.full(rows_count, HEAD_BYTES + max(len(encoded), 1), dtype=np.int64)
    for column, flags in zip(encoded, quoted, strict=True):
        add_csv_sizes(column.data, column.ends, column.valid, flags, quote, escape, len(null), sizes)
    out, cursors = _messages(sizes)
    for index, (column, flags) in enumerate(zip(encoded, quoted, strict=True)):
        separator = NEWLINE if index == len(encoded) - 1 else ord(form.delimiter)
        put_csv_fields(column.data, column.ends, column.valid, flags, quote, escape, null, separator, out, cursors)
    return out.tobytes()


def _quoted(column: EncodedColumn, name: str, form: CopyFormat, null: Bytes, special: Bytes, alone: bool) -> Bytes:
    """Return uint8[n], 1 where a value has to stand in quotes."""
    rows_count = len(column.ends) - 1
    if form.force_quote is None or name in form.force_quote:
        return np.ones(rows_count, dtype=np.uint8)
    flags = np.zeros(rows_count, dtype=np.uint8)
    # As the only value of a line, \. would end the data.
    end_of_data = np.frombuffer(b"\\." if alone else null.tobytes(), dtype=np.uint8)
    mark_quoted(column.data, column.ends, special, null, end_of_data, flags)
    return flags


def _messages(sizes: npt.NDArray[np.int64]) -> tuple[Bytes, npt.NDArray[np.int64]]:
    """Return the buffer of messages of `sizes` bytes, their heads written, and where their lines
    start.
    """
    ends = np.cumsum(sizes)
    out = np.empty(int(ends[-1]), dtype=np.uint8)
    cursors = ends - sizes
    put_message_heads(sizes, out, cursors)
    # A line ends after its last column, or at once where there is none.
    out[ends - 1] = NEWLINE
    return out, cursors


@kernel
def put_message_heads(sizes: npt.NDArray[np.int64], out: Bytes, cursors: npt.NDArray[np.int64]) -> None:
    """Write type and length of each message at its cursor, and move the cursor after them. sizes,
    cursors: int64[n].
    """
    for row in range(len(sizes)):
        at = cursors[row]
        out[at] = COPY_DATA
        cursors[row] = put_int32(out, at + 1, sizes[row] - 1)


@kernel
def add_text_sizes(
    data: Bytes, ends: Offsets, valid: Bytes, letters: Bytes, null_bytes: int, sizes: npt.NDArray[np.int64]
) -> None:
    """Add the escaped bytes of each value to the size of its row. letters: uint8[256], 0 for bytes
    that stand for themselves.
    """
    for row in range(len(sizes)):
        if is_valid(valid, row):
            size = ends[row + 1] - ends[row]
            for index in range(ends[row], ends[row + 1]):
                size += letters[data[index]] != 0
            sizes[row] += size
        else:
            sizes[row] += null_bytes


@kernel
def put_text_fields(
    data: Bytes,
    ends: Offsets,
    valid: Bytes,
    letters: Bytes,
    null: Bytes,
    separator: int,
    out: Bytes,
    cursors: npt.NDArray[np.int64],
) -> None:
    """Write one column in text format, each value and the separator at its row's cursor. ends:
    int64[n + 1]; cursors: int64[n].
    """
    for row in range(len(cursors)):
        at = cursors[row]
        if is_valid(valid, row):
            for index in range(ends[row], ends[row + 1]):
                byte = data[index]
                letter = letters[byte]
                if letter != 0:
                    out[at] = 92
                    at += 1
                    byte = letter
                out[at] = byte
                at += 1
        else:
            at = put_bytes(out, at, null)
        out[at] = separator
        cursors[row] = at + 1


@kernel
def put_bytes(out: Bytes, at: int, source: Bytes) -> int:
    """Copy `source` to out[at:]; return where it ends."""
    for index in range(len(source)):
        out[at + index] = source[index]
    return at + len(source)


@kernel
def equals(data: Bytes, start: int, end: int, other: Bytes) -> bool:
    """Tell whether data[start:end] is `other`."""
    if end - start != len(other):
        return False
    for index in range(len(other)):
        if data[start + index] != other[index]:
            return False
    return True


@kernel
def mark_quoted(data: Bytes, ends: Offsets, special: Bytes, null: Bytes, end_of_data: Bytes, flags: Bytes) -> None:
    """Set flags[row] where the value has a special byte or reads as `null` or `end_of_data`.
    special: uint8[256]; flags: uint8[n].
    """
    for row in range(len(flags)):
        start, end = ends[row], ends[row + 1]
        for index in range(start, end):
            flags[row] |= special[data[index]]
        if equals(data, start, end, null) or equals(data, start, end, end_of_data):
            flags[row] = 1


@kernel
def add_csv_sizes(
    data: Bytes,
    ends: Offsets,
    valid: Bytes,
    quoted: Bytes,
    quote: int,
    escape: int,
    null_bytes: int,
    sizes: npt.NDArray[np.int64],
) -> None:
    """Add the CSV bytes of each value to the size of its row. quoted: uint8[n]; sizes: int64[n]."""
    for row in range(len(sizes)):
        if not is_valid(valid, row):
            sizes[row] += null_bytes
            continue
        size = ends[row + 1] - ends[row]
        if quoted[row] != 0:
            size += 2
            for index in range(ends[row], ends[row + 1]):
                size += data[index] == quote or data[index] == escape
        sizes[row] += size


@kernel
def put_csv_fields(
    data: Bytes,
    ends: Offsets,
    valid: Bytes,
    quoted: Bytes,
    quote: int,
    escape: int,
    null: Bytes,
    separator: int,
    out: Bytes,
    cursors: npt.NDArray[np.int64],
) -> None:
    """Write one column in CSV format, each value and the separator at its row's cursor. quoted:
    uint8[n]; cursors: int64[n].
    """
    for row in range(len(cursors)):
        at = cursors[row]
        if not is_valid(valid, row):
            at = put_bytes(out, at, null)
        elif quoted[row] == 0:
            for index in range(ends[row], ends[row + 1]):
                out[at] = data[index]
                at += 1
        else:
            out[at] = quote
            at += 1
            for index in range(ends[row], ends[row + 1]):
                byte = data[index]
                if byte in (quote, escape):
                    out[at] = escape
                    at += 1
                out[at] = byte
                at += 1
            out[at] = quote
            at += 1
        out[at] = separator
        cursors[row] = at + 1
