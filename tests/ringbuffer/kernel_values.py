"""Python values to the words that kernels take and back, without the help of kernels: what the
tests of scalar functions share.
"""

from __future__ import annotations

import ctypes
import re
from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from ringbuffer.scalar.numbers import arithmetic
from ringbuffer.scalar.numbers.numeric import NAN_RANK, SPECIAL_SCALE

Words = tuple[int, int]
Text = tuple[int, int, int]

WORD = 1 << 64
WIDE = 1 << 128
INLINE_BYTES = 12
SPECIALS = {"-Infinity": -1, "Infinity": 1, "NaN": NAN_RANK}
EPOCH = date(1970, 1, 1).toordinal()
ERA_DAYS, ERA_YEARS = 146_097, 400
TIMESTAMP = re.compile(r"(\d+)-(\d\d)-(\d\d)(?: (\d\d):(\d\d):(\d\d)(?:\.(\d+))?)?( BC)?")


def integer_kernel(name: str, bits: int) -> Any:
    """Return a kernel of arithmetic in integers of some width."""
    if bits == 64:
        return getattr(arithmetic, f"{name}_int64")
    kernel = getattr(arithmetic, f"{name}_narrow")
    return lambda *operands: kernel(*operands, bits)


def signed(word: int) -> int:
    """Return 64 bits as a signed integer."""
    word %= WORD
    return word - WORD if word >> 63 else word


def words(value: int) -> Words:
    """Return (lo, hi) of 128 bits."""
    return signed(value), signed(value % WIDE >> 64)


def unsigned_value(lo: int, hi: int) -> int:
    """Return the unsigned 128-bit integer of two words."""
    return (hi % WORD << 64) + lo % WORD


def value(lo: int, hi: int) -> int:
    """Return the signed 128-bit integer of two words."""
    result = unsigned_value(lo, hi)
    return result - WIDE if result >> 127 else result


def numeric(text: str) -> tuple[int, int, int]:
    """Return (lo, hi, scale) of a decimal's text, NaN and the infinities included."""
    if text in SPECIALS:
        return (*words(SPECIALS[text]), SPECIAL_SCALE)
    number = Decimal(text).as_tuple()
    assert isinstance(number.exponent, int)
    unscaled = int("".join(map(str, number.digits))) * 10 ** max(number.exponent, 0)
    return (*words(-unscaled if number.sign else unscaled), max(-number.exponent, 0))


def numeric_text(lo: int, hi: int, scale: int) -> str:
    """Return the text of a numeric."""
    unscaled = value(lo, hi)
    if scale == SPECIAL_SCALE:
        return next(text for text, rank in SPECIALS.items() if rank == unscaled)
    digits = str(abs(unscaled)).rjust(scale + 1, "0")
    text = f"{digits[:-scale]}.{digits[-scale:]}" if scale else digits
    return f"-{text}" if unscaled < 0 else text


def days_of(year: int, month: int, day: int) -> int:
    """Return the days since 1970 of an astronomical year, by Python's calendar of one era."""
    era, year_of_era = divmod(year - 1, ERA_YEARS)
    return date(year_of_era + 1, month, day).toordinal() - EPOCH + era * ERA_DAYS


def civil_of(days: int) -> tuple[int, int, int]:
    """Return (astronomical year, month, day) of the days since 1970."""
    era, day_of_era = divmod(days + EPOCH - 1, ERA_DAYS)
    day = date.fromordinal(day_of_era + 1)
    return day.year + era * ERA_YEARS, day.month, day.day


def timestamp(text: str) -> int:
    """Return the microseconds since 1970 of PostgreSQL's text of a date or timestamp."""
    match = TIMESTAMP.fullmatch(text)
    assert match is not None, text
    year, month, day, hour, minute, second = (int(part or 0) for part in match.groups()[:6])
    year = 1 - year if match[8] else year
    fraction = int((match[7] or "").ljust(6, "0"))
    return ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60_000_000 + second * 1_000_000 + fraction


def days(text: str) -> int:
    """Return the days since 1970 of PostgreSQL's text of a date."""
    return timestamp(text) // 86_400_000_000


def timestamp_text(us: int) -> str:
    """Return PostgreSQL's text of a timestamp."""
    day, rest = divmod(us, 86_400_000_000)
    seconds, fraction = divmod(rest, 1_000_000)
    date_part, _, era = date_text(day).partition(" ")
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}" + f".{fraction:06}".rstrip("0").rstrip(
        "."
    )
    return f"{date_part} {clock} {era}".rstrip()


def date_text(day: int) -> str:
    """Return PostgreSQL's text of a date."""
    year, month, day_of_month = civil_of(day)
    era = " BC" if year <= 0 else ""
    return f"{1 - year if year <= 0 else year:04}-{month:02}-{day_of_month:02}{era}"


class Texts:
    """Makes the words of strings, and keeps the bytes of the long ones alive; each lies at an
    offset, as in a column's heap.
    """

    def __init__(self) -> None:
        self.heaps: list[npt.NDArray[np.uint8]] = []

    def words(self, text: str) -> Text:
        """Return (w0, w1, heap address) of a string."""
        data = text.encode()
        w0 = len(data) + (int.from_bytes(data[:4], "little") << 32)
        if len(data) <= INLINE_BYTES:
            return signed(w0), signed(int.from_bytes(data[4:], "little")), 12345
        heap = np.frombuffer(b"before" + data, dtype=np.uint8)
        self.heaps.append(heap)
        return signed(w0), len(b"before"), heap.ctypes.data


def text(w0: int, w1: int, heap: int) -> str:
    """Return the string of three words, after checking the prefix of a long one and the padding of
    a short one.
    """
    length = w0 & 0xFFFFFFFF
    inline = (w0 % WORD >> 32).to_bytes(4, "little") + (w1 % WORD).to_bytes(8, "little")
    if length <= INLINE_BYTES:
        assert not any(inline[length:])
        return inline[:length].decode()
    data = ctypes.string_at(w1 + heap, length)
    assert data[:4] == inline[:4]
    return data.decode()
