"""Columns of time, interval, bytea, uuid, oid and "char" as text and as PostgreSQL's binary form,
one kernel per form.

Enters: Arrow arrays in the forms of views. Leaves: EncodedColumn. IntervalStyle is postgres,
bytea_output hex. Must not know message formats.
"""

from __future__ import annotations

import ipaddress
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ringbuffer.compile.jit import kernel
from ringbuffer.encode.encoded_column import (
    Bytes,
    EncodedColumn,
    Offsets,
    fixed_values,
    frozen,
    string_column,
    valid_bytes,
)
from ringbuffer.encode.text import is_valid
from ringbuffer.scalar.calendars.calendar import HOUR_US, MINUTE_US, SECOND_US
from ringbuffer.scalar.numbers.int128 import signed_word, unsigned_word
from ringbuffer.scalar.texts.put_values import put_digits, put_offset, word_digits_count

# '24:00:00.000000'
TIME_BYTES_MAX = 16
# '-178956970 years -8 mons -2147483648 days -2562047788:00:54.775808'
INTERVAL_BYTES_MAX = 80
# As PostgreSQL numbers IPv4 and IPv6.
ADDRESS_FAMILIES = {4: 2, 6: 3}
UUID_BYTES = 16
INTERVAL_BINARY = np.dtype([("micros", ">i8"), ("days", ">i4"), ("months", ">i4")])
JSONB_VERSION = 1
# '24:00:00.000000+15:59:59'
ZONED_TIME_BYTES_MAX = 26
ZONED_TIME_BINARY = np.dtype([("micros", ">i8"), ("west", ">i4")])

U0: Any = np.uint64(0)
HOUR: Any = np.uint64(HOUR_US)

YEAR_WORD = np.frombuffer(b"year", dtype=np.uint8)
MONTH_WORD = np.frombuffer(b"mon", dtype=np.uint8)
DAY_WORD = np.frombuffer(b"day", dtype=np.uint8)


def time_text(array: pa.Array) -> EncodedColumn:
    """Return times of day as text."""
    return _rendered(array, TIME_BYTES_MAX, render_times, fixed_values(array, "int64"))


def interval_text(array: pa.Array) -> EncodedColumn:
    """Return intervals as text."""
    words = (YEAR_WORD, MONTH_WORD, DAY_WORD)
    return _rendered(array, INTERVAL_BYTES_MAX, render_intervals, *interval_parts(array), *words)


def zoned_time_text(array: pa.Array) -> EncodedColumn:
    """Return times of day with their distance from UTC as text."""
    micros, west = (array.field(index) for index in range(2))
    return _rendered(
        array, ZONED_TIME_BYTES_MAX, render_zoned_times, fixed_values(micros, "int64"), fixed_values(west, "int32")
    )


def zoned_time_binary(array: pa.Array) -> EncodedColumn:
    """Return microseconds since midnight as int8 and seconds west of Greenwich as int4."""
    packed = np.empty(len(array), dtype=ZONED_TIME_BINARY)
    packed["micros"], packed["west"] = fixed_values(array.field(0), "int64"), fixed_values(array.field(1), "int32")
    return _fixed(array, packed.view(np.uint8), ZONED_TIME_BINARY.itemsize)


def bytea_text(array: pa.Array) -> EncodedColumn:
    """Return bytes as backslash, x and hexadecimal digits."""
    source = bytes_column(array)
    total = int(source.ends[-1] - source.ends[0])
    out = np.empty(2 * total + 2 * len(array), dtype=np.uint8)
    ends = np.empty(len(array) + 1, dtype=np.int64)
    render_hex(source.data, source.ends, source.valid, out, ends)
    return EncodedColumn(frozen(out), ends, source.valid)


def bytes_column(array: pa.Array) -> EncodedColumn:
    """Return bytes as they lie in Arrow, which is their binary form."""
    # Under the type of strings, whose layout is the same; nothing decodes it.
    return string_column(
        pa.Array.from_buffers(pa.string(), len(array), array.buffers(), array.null_count, array.offset)
    )


def time_binary(array: pa.Array) -> EncodedColumn:
    """Return microseconds since midnight as int8."""
    return _fixed(array, fixed_values(array, "int64").astype(">i8").view(np.uint8), 8)


def interval_binary(array: pa.Array) -> EncodedColumn:
    """Return microseconds, days and months."""
    months, days, micros = interval_parts(array)
    packed = np.empty(len(array), dtype=INTERVAL_BINARY)
    packed["micros"], packed["days"], packed["months"] = micros, days, months
    return _fixed(array, packed.view(np.uint8), INTERVAL_BINARY.itemsize)


def uuid_binary(array: pa.Array) -> EncodedColumn:
    """Return the 16 bytes of each uuid."""
    source = string_column(array)
    out = np.zeros(UUID_BYTES * len(array), dtype=np.uint8)
    read_uuids(source.data, source.ends, source.valid, out)
    return _fixed(array, out, UUID_BYTES)


def jsonb_binary(array: pa.Array) -> EncodedColumn:
    """Return the version byte and the text."""
    source = string_column(array)
    total = int(source.ends[-1] - source.ends[0])
    out = np.empty(total + len(array), dtype=np.uint8)
    ends = np.empty(len(array) + 1, dtype=np.int64)
    prefix_each(source.data, source.ends, source.valid, JSONB_VERSION, out, ends)
    return EncodedColumn(frozen(out), ends, source.valid)


def address_binary(array: pa.Array, is_cidr: bool) -> EncodedColumn:
    """Return family, bits of the network, whether it is a cidr, bytes of the address, and the
    address.
    """
    return bytes_column(
        pa.array([None if text is None else _address(text, is_cidr) for text in array.to_pylist()], pa.binary())
    )


def _address(text: str, is_cidr: bool) -> bytes:
    host, _, bits = text.partition("/")
    address = ipaddress.ip_address(host)
    head = bytes([ADDRESS_FAMILIES[address.version], int(bits or address.max_prefixlen), is_cidr, len(address.packed)])
    return head + address.packed


def oid_binary(array: pa.Array) -> EncodedColumn:
    """Return unsigned words of four bytes; they come as int64."""
    return _fixed(array, fixed_values(array, "int64").astype(">u4").view(np.uint8), 4)


def char_text(array: pa.Array) -> EncodedColumn:
    """Return characters as they are, those that are not ASCII as backslash and octal digits."""
    if pc.all(pc.string_is_ascii(array)).as_py() is not False:
        return string_column(array)
    texts = [f"\\{ord(item):03o}" if item and item > "\x7f" else item for item in array.to_pylist()]
    return string_column(pa.array(texts, pa.string()))


def char_binary(array: pa.Array) -> EncodedColumn:
    """Return one byte for each character; the empty text is the byte 0."""
    return _fixed(array, np.array([ord(item or "\0") for item in array.to_pylist()], dtype=np.uint8), 1)


def interval_parts(array: pa.Array) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return months int32[n], days int32[n] and microseconds int64[n].

    Those of NULLs are arbitrary.
    """
    months, days, micros = (array.field(index) for index in range(3))
    return fixed_values(months, "int32"), fixed_values(days, "int32"), fixed_values(micros, "int64")


def _rendered(array: pa.Array, bytes_max: int, render: Any, *values: npt.NDArray[Any]) -> EncodedColumn:
    valid = valid_bytes(array)
    out = np.empty(bytes_max * len(array), dtype=np.uint8)
    ends = np.empty(len(array) + 1, dtype=np.int64)
    render(*values, valid, out, ends)
    return EncodedColumn(frozen(out), ends, valid)


def _fixed(array: pa.Array, data: Bytes, size: int) -> EncodedColumn:
    ends = np.arange(0, size * len(array) + 1, size, dtype=np.int64)
    return EncodedColumn(frozen(data), ends, valid_bytes(array))


@kernel
def put_clock(out: Bytes, at: int, micros: np.uint64) -> int:
    """Write hh:mm:ss[.ffffff]; the least int64 has a counterpart only as an unsigned word.

    Return where it ends.
    """
    hours = signed_word(micros // HOUR)
    rest = signed_word(micros % HOUR)
    at = put_digits(out, at, hours, max(2, word_digits_count(unsigned_word(hours))))
    out[at] = 58
    at = put_digits(out, at + 1, rest // MINUTE_US, 2)
    out[at] = 58
    at = put_digits(out, at + 1, rest // SECOND_US % 60, 2)
    fraction = rest % SECOND_US
    if fraction != 0:
        out[at] = 46
        at = put_digits(out, at + 1, fraction, 6)
        while out[at - 1] == 48:
            at -= 1
    return at


@kernel
def render_times(values: npt.NDArray[np.int64], valid: Bytes, out: Bytes, ends: Offsets) -> None:
    """Write times of day. values: int64[n], microseconds since midnight; out: uint8[16n]; ends:
    int64[n + 1].
    """
    at = 0
    ends[0] = 0
    for row in range(len(values)):
        if is_valid(valid, row):
            at = put_clock(out, at, unsigned_word(values[row]))
        ends[row + 1] = at


@kernel
def render_zoned_times(
    values: npt.NDArray[np.int64], west: npt.NDArray[np.int32], valid: Bytes, out: Bytes, ends: Offsets
) -> None:
    """Write times of day and +hh[:mm[:ss]]. values: int64[n]; west: int32[n], seconds; out:
    uint8[26n]; ends: int64[n + 1].
    """
    at = 0
    ends[0] = 0
    for row in range(len(values)):
        if is_valid(valid, row):
            at = put_clock(out, at, unsigned_word(values[row]))
            at = put_offset(out, at, -signed_word(west[row]))
        ends[row + 1] = at


@kernel
def put_amount(out: Bytes, at: int, first: int, amount: int, word: Bytes, negative: bool) -> int:
    """Write ' 2 days', with a plus after a negative part; `first` is where the value begins.

    Return where it ends.
    """
    if at > first:
        out[at] = 32
        at += 1
    if amount < 0:
        out[at] = 45
        at += 1
    elif negative:
        out[at] = 43
        at += 1
    magnitude = -amount if amount < 0 else amount
    at = put_digits(out, at, magnitude, word_digits_count(unsigned_word(magnitude)))
    out[at] = 32
    at += 1
    for index in range(len(word)):
        out[at] = word[index]
        at += 1
    if amount != 1:
        out[at] = 115
        at += 1
    return at


@kernel
def render_intervals(
    months: npt.NDArray[np.int32],
    days: npt.NDArray[np.int32],
    micros: npt.NDArray[np.int64],
    year_word: Bytes,
    month_word: Bytes,
    day_word: Bytes,
    valid: Bytes,
    out: Bytes,
    ends: Offsets,
) -> None:
    """Write intervals. months, days: int32[n]; micros: int64[n]; out: uint8[80n]; ends: int64[n +
    1].
    """
    at = 0
    ends[0] = 0
    for row in range(len(micros)):
        if is_valid(valid, row):
            first = at
            negative = False
            total = signed_word(months[row])
            years = total // 12 if total >= 0 else -(-total // 12)
            rest = total - 12 * years
            if years != 0:
                at = put_amount(out, at, first, years, year_word, negative)
                negative = years < 0
            if rest != 0:
                at = put_amount(out, at, first, rest, month_word, negative)
                negative = rest < 0
            count = signed_word(days[row])
            if count != 0:
                at = put_amount(out, at, first, count, day_word, negative)
                negative = count < 0
            time = micros[row]
            if time != 0 or at == first:
                if at > first:
                    out[at] = 32
                    at += 1
                if time < 0:
                    out[at] = 45
                    at += 1
                elif negative:
                    out[at] = 43
                    at += 1
                at = put_clock(out, at, unsigned_word(time) if time >= 0 else U0 - unsigned_word(time))
        ends[row + 1] = at


@kernel
def hex_digit(value: int) -> int:
    """Return the character of 0 to 15."""
    return 48 + value if value < 10 else 87 + value


@kernel
def render_hex(data: Bytes, sources: Offsets, valid: Bytes, out: Bytes, ends: Offsets) -> None:
    """Write \\x and two digits per byte. sources, ends: int64[n + 1]."""
    at = 0
    ends[0] = 0
    for row in range(len(ends) - 1):
        if is_valid(valid, row):
            out[at], out[at + 1] = 92, 120
            at += 2
            for index in range(sources[row], sources[row + 1]):
                out[at] = hex_digit(data[index] >> 4)
                out[at + 1] = hex_digit(data[index] & 15)
                at += 2
        ends[row + 1] = at


@kernel
def read_uuids(data: Bytes, sources: Offsets, valid: Bytes, out: Bytes) -> None:
    """Read texts of 36 characters to 16 bytes each. sources: int64[n + 1]; out: uint8[16n],
    zeros.
    """
    for row in range(len(sources) - 1):
        if is_valid(valid, row):
            half = 0
            for index in range(sources[row], sources[row + 1]):
                byte = data[index]
                if byte != 45:
                    digit = byte - 48 if byte < 58 else byte - 87
                    out[16 * row + half // 2] |= digit << (4 - 4 * (half % 2))
                    half += 1


@kernel
def prefix_each(data: Bytes, sources: Offsets, valid: Bytes, prefix: int, out: Bytes, ends: Offsets) -> None:
    """Write `prefix` and the bytes of each value. sources, ends: int64[n + 1]."""
    at = 0
    ends[0] = 0
    for row in range(len(ends) - 1):
        if is_valid(valid, row):
            out[at] = prefix
            at += 1
            for index in range(sources[row], sources[row + 1]):
                out[at] = data[index]
                at += 1
        ends[row + 1] = at
