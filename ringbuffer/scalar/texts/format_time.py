"""to_char of timestamps, for kernels: a template is a program of numbers, one row per field or byte
of text.

program int64[n, 4]: kind, two arguments, and the width that a number is filled up to with zeros or
a name with spaces (0: neither). What the kinds mean is said where they are named. A program that a
template asks for is made by `views/codegen/functions/templates.py`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import store_byte
from ringbuffer.memory.error_codes import SCRATCH_FULL
from ringbuffer.scalar.calendars.calendar import (
    DAY,
    DAY_US,
    DOW,
    DOY,
    HOUR_US,
    ISODOW,
    JULIAN_EPOCH_DAYS,
    MONTH,
    WEEK,
    date_field,
)
from ringbuffer.scalar.calendars.time_zones import Offsets, Transitions, zone_offset_us
from ringbuffer.scalar.texts.text_functions import Scratch, keep, reserve

Program = npt.NDArray[np.int64]

# A byte: its value.
BYTE = 0
# A field of the day, by `date_field`, without its sign: the field; what it is taken modulo, 0: as a
# whole.
FIELD = 1
# A part of the day: microseconds of one; how many there are of the next larger one.
CLOCK = 2
# The same of the hours, from 1 to 12.
HALF_CLOCK = 3
# Numbers of the day: Sunday is 1; in the ISO year; weeks in the year and the month; days since 4714
# BC; the century with its sign.
WEEKDAY = 4
ISO_DAY = 5
YEAR_WEEK = 6
MONTH_WEEK = 7
JULIAN_DAY = 8
SIGNED_FIELD = 9
# AM or PM: whether in small letters; whether with points.
HALF = 10
# Names: letters of it, 0 for all; 0 as it is, 1 in capitals, 2 in small letters.
MONTH_NAME = 11
DAY_NAME = 12

NAMES_WIDTH = 9
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split()
# One name after the other, filled up with zeros.
NAMES = np.frombuffer("".join(name.ljust(NAMES_WIDTH, "\0") for name in (*MONTHS, *DAYS)).encode(), dtype=np.uint8)
MONTHS_COUNT = len(MONTHS)
# Of one row at most: a number of 19 digits with its sign.
ROW_BYTES_MAX = 20
CAPITALS, SMALL = 1, 2
CASE_BIT = 32
HOURS = 12


def template_program(*rows: tuple[int, int, int, int]) -> Program:
    """Return a program of these rows."""
    return np.array(rows, dtype=np.int64)


@kernel
def format_timestamp(us: int, program: Program, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of a finite timestamp's text."""
    target = reserve(scratch, ROW_BYTES_MAX * program.shape[0])
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    days = us // DAY_US
    clock = us - days * DAY_US
    used = 0
    for row in range(program.shape[0]):
        used += write_part(
            target + used, program[row, 0], program[row, 1], program[row, 2], program[row, 3], days, clock
        )
    return keep(scratch, target, used)


@kernel
def format_timestamptz(
    us: int, transitions: Transitions, offsets: Offsets, program: Program, scratch: Scratch
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of the local time's text of a finite instant."""
    return format_timestamp(us + zone_offset_us(us, transitions, offsets), program, scratch)


@kernel
def write_part(target: int, kind: int, first: int, second: int, width: int, days: int, clock: int) -> int:
    """Write one row of a program at an address; return the bytes written."""
    if kind == BYTE:
        store_byte(target, np.uint8(first))
        return 1
    if kind == HALF:
        return write_half(target, clock >= HOURS * HOUR_US, first, second)
    if kind == MONTH_NAME:
        return write_name(target, date_field(MONTH, days) - 1, first, second, width)
    if kind == DAY_NAME:
        return write_name(target, MONTHS_COUNT + date_field(DOW, days), first, second, width)
    return write_number(target, number_of(kind, first, second, days, clock), width)


@kernel
def number_of(kind: int, first: int, second: int, days: int, clock: int) -> int:
    """Return the number of a row that is one."""
    if kind == CLOCK:
        return clock // first % second
    if kind == HALF_CLOCK:
        return (clock // HOUR_US + HOURS - 1) % HOURS + 1
    if kind == FIELD:
        value = abs(date_field(first, days))
        return value % second if second != 0 else value
    if kind == SIGNED_FIELD:
        return date_field(first, days)
    if kind == WEEKDAY:
        return date_field(DOW, days) + 1
    if kind == ISO_DAY:
        return (date_field(WEEK, days) - 1) * 7 + date_field(ISODOW, days)
    if kind == YEAR_WEEK:
        return (date_field(DOY, days) - 1) // 7 + 1
    if kind == MONTH_WEEK:
        return (date_field(DAY, days) - 1) // 7 + 1
    return days + JULIAN_EPOCH_DAYS


@kernel
def write_number(target: int, value: int, width: int) -> int:
    """Write the digits of a number, filled up with zeros; return the bytes written."""
    start = target
    if value < 0:
        store_byte(target, np.uint8(45))
        target += 1
        value = -value
    digits = 1
    rest = value // 10
    while rest > 0:
        digits += 1
        rest //= 10
    digits = max(digits, width)
    for place in range(digits - 1, -1, -1):
        store_byte(target + place, np.uint8(48 + value % 10))
        value //= 10
    return target + digits - start


@kernel
def write_name(target: int, index: int, letters: int, case: int, width: int) -> int:
    """Write a month's or a day's name; return the bytes written."""
    length = 0
    for place in range(letters if letters != 0 else NAMES_WIDTH):
        byte = int(NAMES[index * NAMES_WIDTH + place])
        if byte == 0:
            break
        if case == CAPITALS and place > 0:
            byte -= CASE_BIT
        elif case == SMALL and place == 0:
            byte += CASE_BIT
        store_byte(target + place, np.uint8(byte))
        length += 1
    for place in range(length, width):
        store_byte(target + place, np.uint8(32))
    return max(length, width)


@kernel
def write_half(target: int, is_late: bool, is_small: int, has_points: int) -> int:
    """Write AM or PM; return the bytes written."""
    case = CASE_BIT if is_small != 0 else 0
    size = 2 if has_points != 0 else 1
    store_byte(target, np.uint8((80 if is_late else 65) + case))
    store_byte(target + size, np.uint8(77 + case))
    if has_points != 0:
        store_byte(target + 1, np.uint8(46))
        store_byte(target + 3, np.uint8(46))
    return 2 * size
