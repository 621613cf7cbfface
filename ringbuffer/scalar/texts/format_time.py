"""to_char of timestamps, for kernels: a template is a program of numbers, a few for each field or
byte of text.

program int64[5 n], n parts of five: kind, two arguments, the width that a number is filled up to
with zeros or a name with spaces (0: neither), and the letters of the ordinal's ending after a
number (0: none). What the kinds mean is said where they are named. A program that a template asks
for is made by `views/codegen/functions/templates.py`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.addresses import load_byte, store_byte
from ringbuffer.memory.columns import LENGTH_MASK
from ringbuffer.memory.error_codes import SCRATCH_FULL
from ringbuffer.scalar.calendars.calendar import DAY_US, HOUR_US, JULIAN_EPOCH_DAYS, SECOND_US, is_infinite_timestamp
from ringbuffer.scalar.calendars.fields import DAY, DOW, DOY, ISODOW, MONTH, WEEK, YEAR, date_field
from ringbuffer.scalar.calendars.time_zones import Offsets, Transitions, zone_offset_us
from ringbuffer.scalar.texts.text_functions import Scratch, keep, move_bytes, reserve
from ringbuffer.scalar.texts.text_values import text_address

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
# AM or PM, BC or AD: whether in small letters; whether with points.
HALF = 10
ERA = 11
# Names: letters of it, 0 for all; 0 as it is, 1 in capitals, 2 in small letters.
MONTH_NAME = 12
DAY_NAME = 13
ROMAN_MONTH = 14
# The thousands of the year.
THOUSANDS = 15
# How far the zone is east of UTC: its hours with a sign, with 1 the minutes as well where there are
# some; the minutes; what the zone's time is called, whether in small letters.
ZONE_HOUR = 16
ZONE_MINUTE = 17
ZONE_NAME = 18

NAMES_WIDTH = 9
MONTHS = "January February March April May June July August September October November December".split()
DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split()
ROMAN = "I Ii Iii Iv V Vi Vii Viii Ix X Xi Xii".split()
# One name after the other, filled up with zeros.
NAMES = np.frombuffer(
    "".join(name.ljust(NAMES_WIDTH, "\0") for name in (*MONTHS, *DAYS, *ROMAN)).encode(), dtype=np.uint8
)
MONTHS_COUNT, NAMES_COUNT = len(MONTHS), len(MONTHS) + len(DAYS)
PART_WORDS = 5
# Of one part at most, but for the name of a zone's time: a number of 19 digits with its sign and
# its ending.
PART_BYTES_MAX = 22
CAPITALS, SMALL = 1, 2
CASE_BIT = 32
HOURS = 12


def template_program(*parts: tuple[int, int, int, int, int]) -> Program:
    """Return a program of these parts."""
    return np.array(parts, dtype=np.int64).reshape(-1)


@kernel
def format_timestamp(us: int, program: Program, scratch: Scratch) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of a finite timestamp's text."""
    return format_local(us, 0, program, 0, 0, 0, scratch)


@kernel
def format_timestamptz(
    us: int,
    program: Program,
    name_w0: int,
    name_w1: int,
    name_heap: int,
    scratch: Scratch,
    transitions: Transitions,
    offsets: Offsets,
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of the local time's text of a finite instant.

    The name is what the zone's time is called then.
    """
    offset = zone_offset_us(us, transitions, offsets)
    return format_local(us + offset, offset // SECOND_US, program, name_w0, name_w1, name_heap, scratch)


@kernel
def format_zoned(
    us: int, program: Program, scratch: Scratch, transitions: Transitions, offsets: Offsets
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) as `format_timestamptz`, by a program without a zone's name."""
    return format_timestamptz(us, program, 0, 0, 0, scratch, transitions, offsets)


@kernel
def shows_nothing(us: int, program: Program) -> bool:
    """Return whether to_char is NULL: of an infinite time, or by an empty program."""
    return len(program) == 0 or is_infinite_timestamp(us)


@kernel
def format_local(
    us: int, offset: int, program: Program, name_w0: int, name_w1: int, name_heap: int, scratch: Scratch
) -> tuple[int, int, int, int]:
    """Return (w0, w1, heap, error) of a local time's text, so many seconds east of UTC."""
    name, name_length = text_address(name_w0, name_w1, name_heap), name_w0 & LENGTH_MASK
    target = reserve(scratch, (PART_BYTES_MAX + name_length) * len(program) // PART_WORDS)
    if target == 0:
        return 0, 0, 0, SCRATCH_FULL
    days = us // DAY_US
    clock = us - days * DAY_US
    used = 0
    for place in range(0, len(program), PART_WORDS):
        kind, first, second = program[place], program[place + 1], program[place + 2]
        width, ending = program[place + 3], program[place + 4]
        if kind == ZONE_NAME:
            move_bytes(target + used, name, name_length)
            if first != 0:
                make_small(target + used, name_length)
            used += name_length
        elif kind == ZONE_HOUR:
            used += write_offset(target + used, offset, width, first != 0)
        else:
            used += write_part(target + used, kind, first, second, width, ending, days, clock, offset)
    return keep(scratch, target, used)


@kernel
def write_part(
    target: int, kind: int, first: int, second: int, width: int, ending: int, days: int, clock: int, offset: int
) -> int:
    """Write one part of a program at an address; return the bytes written."""
    if kind == BYTE:
        store_byte(target, np.uint8(first))
        return 1
    if kind == HALF:
        return write_pair(target, 80 if clock >= HOURS * HOUR_US else 65, 77, first, second)
    if kind == ERA:
        is_before = date_field(YEAR, days) < 0
        return write_pair(target, 66 if is_before else 65, 67 if is_before else 68, first, second)
    if kind == MONTH_NAME:
        return write_name(target, date_field(MONTH, days) - 1, first, second, width)
    if kind == DAY_NAME:
        return write_name(target, MONTHS_COUNT + date_field(DOW, days), first, second, width)
    if kind == ROMAN_MONTH:
        return write_name(target, NAMES_COUNT + date_field(MONTH, days) - 1, first, second, width)
    number = abs(offset) // 60 % 60 if kind == ZONE_MINUTE else number_of(kind, first, second, days, clock)
    used = write_number(target, number, width)
    return used if ending == 0 else used + write_ending(target, used, ending)


@kernel
def number_of(kind: int, first: int, second: int, days: int, clock: int) -> int:
    """Return the number of a part that is one."""
    if kind == CLOCK:
        return clock // first % second
    if kind == HALF_CLOCK:
        return (clock // HOUR_US + HOURS - 1) % HOURS + 1
    if kind == FIELD:
        value = abs(date_field(first, days))
        return value % second if second != 0 else value
    if kind == SIGNED_FIELD:
        return date_field(first, days)
    if kind == THOUSANDS:
        return abs(date_field(YEAR, days)) // 1000
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
def write_ending(target: int, length: int, case: int) -> int:
    """Write st, nd, rd or th after a number of so many digits; return the bytes written."""
    last = load_byte(target + length - 1) - 48
    first, second = 116, 104
    if not (length > 1 and load_byte(target + length - 2) == 49):
        if last == 1:
            first, second = 115, 116
        elif last == 2:
            first, second = 110, 100
        elif last == 3:
            first, second = 114, 100
    shift = CASE_BIT if case == CAPITALS else 0
    store_byte(target + length, np.uint8(first - shift))
    store_byte(target + length + 1, np.uint8(second - shift))
    return 2


@kernel
def write_offset(target: int, offset: int, width: int, has_minutes: bool) -> int:
    """Write the hours of an offset with its sign, and minutes after them; return the bytes
    written.
    """
    store_byte(target, np.uint8(45 if offset < 0 else 43))
    used = 1 + write_number(target + 1, abs(offset) // 3600, width)
    minutes = abs(offset) // 60 % 60
    if has_minutes and minutes != 0:
        store_byte(target + used, np.uint8(58))
        used += 1 + write_number(target + used + 1, minutes, 2)
    return used


@kernel
def make_small(address: int, length: int) -> int:
    """Make the capitals of some bytes small."""
    for place in range(address, address + length):
        byte = load_byte(place)
        if 65 <= byte <= 90:
            store_byte(place, np.uint8(byte + CASE_BIT))
    return 0


@kernel
def write_pair(target: int, first: int, second: int, is_small: int, has_points: int) -> int:
    """Write two letters; return the bytes written."""
    case = CASE_BIT if is_small != 0 else 0
    size = 2 if has_points != 0 else 1
    store_byte(target, np.uint8(first + case))
    store_byte(target + size, np.uint8(second + case))
    if has_points != 0:
        store_byte(target + 1, np.uint8(46))
        store_byte(target + 3, np.uint8(46))
    return 2 * size
