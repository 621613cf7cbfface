"""Values of the most usual spelling, eight characters at a time: integers, decimals, yyyy-mm-dd.

Enter: the address of a field and its bytes; 16 bytes from its start can be read. Leave: the value,
and whether the field was of that spelling. All other fields, bad ones too, are for `store_field`
and `parse_time`. Must not know columns.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import inlined_kernel
from ringbuffer.memory.addresses import load_byte, load_word, signed_word, trailing_zeros
from ringbuffer.scalar.calendars.calendar import days_from_civil, days_of_month

WORD_BYTES = 8
# More digits may not fit a word.
DIGITS_MAX = 16
ZEROS = 0x3030303030303030
HIGHS = -0x7F7F7F7F7F7F7F80
ONES = 0x0101010101010101
# What lifts the bytes over 9 above 0x7F.
OVER_NINE = 0x7676767676767676
POINTS = 0x2E2E2E2E2E2E2E2E
MINUS, POINT = 45, 46
DATE_BYTES = 10
# yyyy-mm- and where its hyphens are.
DATE_FORM = 0x2D30302D30303030
DATE_HYPHENS = -0x00FFFF0100000000
POWERS = np.array([10**k for k in range(19)], dtype=np.int64)


@inlined_kernel
def are_digits(digits: int) -> bool:
    """Return whether all eight bytes, characters less '0', are digits."""
    return ((digits + OVER_NINE) | digits) & HIGHS == 0


@inlined_kernel
def number_of(digits: int) -> int:
    """Return the number of eight digits; the first digit is the lowest byte."""
    digits = (digits * 10 + (digits >> 8)) & 0x00FF00FF00FF00FF
    digits = (digits * 100 + (digits >> 16)) & 0x0000FFFF0000FFFF
    return (digits * 10000 + (digits >> 32)) & 0xFFFFFFFF


@inlined_kernel
def quick_digits(address: int, length: int) -> tuple[int, bool]:
    """Return (number, whether it is one) of 1 to 16 digits."""
    if length <= 0 or length > DIGITS_MAX:
        return 0, False
    if length <= WORD_BYTES:
        # Shifted up, so that zeros stand before the first one.
        digits = (load_word(address) ^ ZEROS) << (8 * (WORD_BYTES - length))
        return number_of(digits), are_digits(digits)
    first = (load_word(address) ^ ZEROS) << (8 * (DIGITS_MAX - length))
    last = load_word(address + length - WORD_BYTES) ^ ZEROS
    return number_of(first) * 10**WORD_BYTES + number_of(last), are_digits(first) and are_digits(last)


@inlined_kernel
def quick_integer(address: int, length: int) -> tuple[int, bool]:
    """Return (value, whether it is one) of 1 to 16 digits, with a minus or without."""
    if load_byte(address) == MINUS:
        value, good = quick_digits(address + 1, length - 1)
        return -value, good
    return quick_digits(address, length)


@inlined_kernel
def point_place(address: int, length: int) -> int:
    """Return how many of at most 16 bytes come before the first point; `length` without a point."""
    word = load_word(address) ^ POINTS
    found = (word - ONES) & ~word & HIGHS
    if found != 0:
        place: int = trailing_zeros(found) >> 3
        return min(length, place)
    word = load_word(address + WORD_BYTES) ^ POINTS
    found = (word - ONES) & ~word & HIGHS
    place = WORD_BYTES + (trailing_zeros(found) >> 3)
    return min(length, place)


@inlined_kernel
def quick_decimal(address: int, length: int, scale: int) -> tuple[int, bool]:
    """Return (value times 10^scale, whether it is one) of at most 16 characters.

    0 to `scale` digits may follow a point.
    """
    negative = load_byte(address) == MINUS
    if negative:
        address += 1
        length -= 1
    if length <= 0 or length > DIGITS_MAX or scale < 0:
        return 0, False
    whole = point_place(address, length)
    places = length - 1 - whole
    if whole == 0 or places == 0 or places > scale or whole + scale >= len(POWERS):
        return 0, False
    if places < 0:
        value, good = quick_digits(address, length)
        value *= POWERS[scale]
    elif length <= WORD_BYTES + 1:
        # The point is left out.
        before = ((1 << (8 * whole)) - 1) if whole < WORD_BYTES else -1
        word = (load_word(address) & before) | (load_word(address + 1) & ~before)
        digits = (word ^ ZEROS) << (8 * (WORD_BYTES + 1 - length))
        value, good = number_of(digits) * POWERS[scale - places], are_digits(digits)
    else:
        value, good = quick_digits(address, whole)
        behind, also_good = quick_digits(address + whole + 1, places)
        value = value * POWERS[scale] + behind * POWERS[scale - places]
        good = good and also_good
    return (-value if negative else value), good


@inlined_kernel
def quick_date(address: int, length: int) -> tuple[int, bool]:
    """Return (days since 1970-01-01, whether it is one) of yyyy-mm-dd."""
    if length != DATE_BYTES:
        return 0, False
    digits = load_word(address) ^ DATE_FORM
    tens = signed_word(load_byte(address + 8)) - 48
    ones = signed_word(load_byte(address + 9)) - 48
    year = (digits & 15) * 1000 + (digits >> 8 & 15) * 100 + (digits >> 16 & 15) * 10 + (digits >> 24 & 15)
    month = (digits >> 40 & 15) * 10 + (digits >> 48 & 15)
    day = tens * 10 + ones
    good = are_digits(digits) and digits & DATE_HYPHENS == 0 and 0 <= tens <= 9 and 0 <= ones <= 9
    if not good or year == 0 or month < 1 or month > 12 or day < 1 or (day > 28 and day > days_of_month(year, month)):
        return 0, False
    return days_from_civil(year, month, day), True
