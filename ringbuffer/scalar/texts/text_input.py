"""Casts of text to values in kernels: PostgreSQL's input functions on the words of text_values.py.

Every function returns the value's words and an error code. Dates and timestamps are read in ISO
form; other spellings, of which PostgreSQL takes some, are DATETIME_SPELLING. The parsers of
fields.py, parse_float.py and parse_time.py do the work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import I64
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.memory.error_codes import (
    DATETIME_OVERFLOW,
    DATETIME_SPELLING,
    FLOAT_OVERFLOW,
    INTEGER_RANGE,
    INVALID_DATETIME,
    INVALID_TEXT,
    NEEDS_FALLBACK,
    NUMERIC_SPECIAL,
    OK,
    REAL_RANGE,
    SMALLINT_RANGE,
)
from ringbuffer.scalar.calendars.calendar import (
    check_timestamp,
    days_of_month,
)
from ringbuffer.scalar.calendars.parse_time import parse_date, parse_timestamp, two_digits
from ringbuffer.scalar.calendars.time_zones import Offsets, Transitions
from ringbuffer.scalar.numbers.any_numeric import special_words
from ringbuffer.scalar.numbers.fields import Bytes, parse_bool, parse_int64, parse_integer, parse_numeric, trim
from ringbuffer.scalar.numbers.narrow import real
from ringbuffer.scalar.numbers.parse_float import parse_float32, parse_float64
from ringbuffer.scalar.texts.text_values import (
    POINTER,
    bytes_at,
    copy_memory,
    insert_function,
    reserve_stack,
    text_address,
)

# Longer numbers are cut; only digits far after the seventeenth are lost.
NUMBER_BYTES_MAX = 1023

# 'yyyy-mm-dd' and 'yyyy-mm-dd hh:mm'.
DATE_BYTES = 10
DATE_MINUTE_BYTES = 16
DASH, COLON = 45, 58


def c_number_intrinsic(function: str, result: Any, form: Any) -> Any:
    """Return an intrinsic (address, length) -> (value, bytes read) by `function`, strtod or strtof.

    At most NUMBER_BYTES_MAX.
    """

    def generate(context: Any, builder: Any, signature: Any, words: Any) -> Any:
        kind = ir.FunctionType(form, [POINTER, POINTER.as_pointer()])
        read = insert_function(builder.module, kind, function)
        room = reserve_stack(builder, ir.IntType(8), size=NUMBER_BYTES_MAX + 1)
        end = reserve_stack(builder, POINTER)
        copy_memory(builder, room, builder.inttoptr(words[0], POINTER), words[1], 1)
        builder.store(ir.Constant(ir.IntType(8), 0), builder.gep(room, [words[1]]))
        value = builder.call(read, [room, end])
        count = builder.sub(builder.ptrtoint(builder.load(end), I64), builder.ptrtoint(room, I64))
        return context.make_tuple(builder, signature.return_type, [value, count])

    pair: Any = types.Tuple
    return intrinsic(lambda typing, address, length: (pair((result, types.int64))(types.int64, types.int64), generate))


read_float64: Any = c_number_intrinsic("strtod", types.float64, ir.DoubleType())
read_float32: Any = c_number_intrinsic("strtof", types.float32, ir.FloatType())


@kernel
def text_to_bool(w0: int, w1: int, heap: int) -> tuple[int, int]:
    """Return (0 or 1, error)."""
    address = text_address(w0, w1, heap)
    length = w0 & LENGTH_MASK
    return parse_bool(bytes_at(address, length), 0, length)


@kernel
def text_to_int16(w0: int, w1: int, heap: int) -> tuple[int, int]:
    """Return (integer, error)."""
    address = text_address(w0, w1, heap)
    length = w0 & LENGTH_MASK
    return parse_integer(bytes_at(address, length), 0, length, -32768, 32767, SMALLINT_RANGE)


@kernel
def text_to_int32(w0: int, w1: int, heap: int) -> tuple[int, int]:
    """Return (integer, error)."""
    address = text_address(w0, w1, heap)
    length = w0 & LENGTH_MASK
    return parse_integer(bytes_at(address, length), 0, length, -2147483648, 2147483647, INTEGER_RANGE)


@kernel
def text_to_int64(w0: int, w1: int, heap: int) -> tuple[int, int]:
    """Return (integer, error)."""
    address = text_address(w0, w1, heap)
    length = w0 & LENGTH_MASK
    return parse_int64(bytes_at(address, length), 0, length)


@kernel
def text_to_numeric(w0: int, w1: int, heap: int) -> tuple[int, int, int, int]:
    """Return (lo, hi, scale, error), the scale as written."""
    text = bytes_at(text_address(w0, w1, heap), w0 & LENGTH_MASK)
    lo, hi, scale, error = parse_numeric(text, 0, len(text))
    if error == NUMERIC_SPECIAL:
        value, _ = parse_float64(text, 0, len(text))
        lo, hi, scale = special_words(value)
        error = OK
    return lo, hi, scale, error


@kernel
def text_to_float64(w0: int, w1: int, heap: int) -> tuple[float, int]:
    """Return (float64, error); the C library reads what the fast parser can't decide."""
    address = text_address(w0, w1, heap)
    length = w0 & LENGTH_MASK
    value, error = parse_float64(bytes_at(address, length), 0, length)
    if error == NEEDS_FALLBACK:
        start, end = trim(bytes_at(address, length), 0, length)
        kept = min(end - start, NUMBER_BYTES_MAX)
        value, count = read_float64(address + start, kept)
        error = FLOAT_OVERFLOW if np.isinf(value) else OK if count == kept else INVALID_TEXT
    return value if error == OK else 0.0, error


@kernel
def text_to_float32(w0: int, w1: int, heap: int) -> tuple[float, int]:
    """Return (float32, error)."""
    address = text_address(w0, w1, heap)
    length = w0 & LENGTH_MASK
    wide, error = parse_float32(bytes_at(address, length), 0, length)
    value = real(wide)
    if error == NEEDS_FALLBACK:
        start, end = trim(bytes_at(address, length), 0, length)
        kept = min(end - start, NUMBER_BYTES_MAX)
        value, count = read_float32(address + start, kept)
        error = REAL_RANGE if np.isinf(value) else OK if count == kept else INVALID_TEXT
    return value if error == OK else real(0.0), error


@kernel
def text_to_date(w0: int, w1: int, heap: int) -> tuple[int, int]:
    """Return (days, error)."""
    address = text_address(w0, w1, heap)
    length = w0 & LENGTH_MASK
    days, error = parse_date(bytes_at(address, length), 0, length)
    if error == NEEDS_FALLBACK:
        return 0, spelling_error(bytes_at(address, length))
    return days, error


@kernel
def text_to_timestamp(w0: int, w1: int, heap: int, transitions: Transitions, offsets: Offsets) -> tuple[int, int]:
    """Return (local microseconds, error); an offset in the text is read over."""
    return text_to_moment(w0, w1, heap, False, transitions, offsets)


@kernel
def text_to_timestamptz(w0: int, w1: int, heap: int, transitions: Transitions, offsets: Offsets) -> tuple[int, int]:
    """Return (microseconds UTC, error); a text without an offset is in the zone."""
    return text_to_moment(w0, w1, heap, True, transitions, offsets)


@kernel
def text_to_moment(
    w0: int, w1: int, heap: int, zoned: bool, transitions: Transitions, offsets: Offsets
) -> tuple[int, int]:
    """Return (microseconds, error)."""
    address = text_address(w0, w1, heap)
    length = w0 & LENGTH_MASK
    us, error = parse_timestamp(bytes_at(address, length), 0, length, zoned, transitions, offsets)
    if error == NEEDS_FALLBACK:
        return 0, spelling_error(bytes_at(address, length))
    if error == OK:
        error = check_timestamp(us)
    return us if error == OK else 0, error


@kernel
def spelling_error(text: Bytes) -> int:
    """Return why a text is not read: no digits, fields of the ISO form that are out of range, or a
    form that is not read here.
    """
    start, end = trim(text, 0, len(text))
    digits_count = 0
    for i in range(start, end):
        if 48 <= text[i] <= 57:
            digits_count += 1
    if digits_count == 0:
        return INVALID_DATETIME
    if end - start < DATE_BYTES or text[start + 4] != DASH or text[start + 7] != DASH:
        return DATETIME_SPELLING
    century, years = two_digits(text, start), two_digits(text, start + 2)
    month, day = two_digits(text, start + 5), two_digits(text, start + 8)
    if century < 0 or years < 0 or month < 0 or day < 0:
        return DATETIME_SPELLING
    year = century * 100 + years
    if year == 0 or month < 1 or month > 12 or day < 1 or day > days_of_month(year, month):
        return DATETIME_OVERFLOW
    if end - start < DATE_MINUTE_BYTES or text[start + DATE_BYTES + 3] != COLON:
        return DATETIME_SPELLING
    hour, minute = two_digits(text, start + DATE_BYTES + 1), two_digits(text, start + DATE_BYTES + 4)
    return DATETIME_OVERFLOW if hour > 24 or minute > 59 else DATETIME_SPELLING
