"""Names of types of one word, as casts and typed constants have them.

Enters: bytes of a statement. Leaves: the number of a type, 0 for all other words. Must not know
what types mean.
"""

from __future__ import annotations

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.scalar.numbers.fields import Bytes, is_space

# Integers, then other numbers.
TYPES = tuple(
    "int2 int4 int8 numeric float4 float8 bool text date timestamp timestamptz json jsonb uuid interval bytea inet".split()
)
INT2, INT4, INT8, NUMERIC, FLOAT4, FLOAT8, BOOL, TEXT, DATE, TIMESTAMP, TIMESTAMPTZ = range(1, 12)
ALSO = {
    "smallint": INT2,
    "int": INT4,
    "integer": INT4,
    "bigint": INT8,
    "decimal": NUMERIC,
    "real": FLOAT4,
    "float": FLOAT8,
    "boolean": BOOL,
    "varchar": TEXT,
}
NUMBERS = {name: number for number, name in enumerate(TYPES, 1)}
LISTED = {**NUMBERS, **ALSO}
NAME_BYTES = 12
NAMES = np.array([list(name.encode().ljust(NAME_BYTES, b"\0")) for name in LISTED], dtype=np.uint8)
TYPE_NUMBERS = np.array(list(LISTED.values()), dtype=np.int64)


@kernel
def read_cast(buffer: Bytes, at: int, size: int) -> tuple[int, int]:
    """Return (type, where the text goes on) of a cast at `at`: 0 if there is none, -1 for another
    type.
    """
    mark = after_space(buffer, at, size)
    if mark + 1 >= size or buffer[mark] != 58 or buffer[mark + 1] != 58:
        return 0, at
    start = after_space(buffer, mark + 2, size)
    end = after_word(buffer, start, size)
    number = type_number(buffer, start, end)
    return (number if number != 0 else -1), end


@kernel
def type_number(buffer: Bytes, start: int, end: int) -> int:
    """Return the number of the type that buffer[start:end] names in any case, else 0."""
    length = end - start
    if length <= 0 or length >= NAME_BYTES:
        return 0
    for index in range(len(NAMES)):
        if NAMES[index, length] != 0:
            continue
        at = 0
        while at < length and lower(buffer[start + at]) == NAMES[index, at]:
            at += 1
        if at == length:
            number: int = TYPE_NUMBERS[index]
            return number
    return 0


@kernel
def after_word(buffer: Bytes, at: int, size: int) -> int:
    """Return the end of the letters, digits and underscores at `at`."""
    while at < size and (97 <= lower(buffer[at]) <= 122 or 48 <= buffer[at] <= 57 or buffer[at] == 95):
        at += 1
    return at


@kernel
def after_space(buffer: Bytes, at: int, size: int) -> int:
    """Return the place of the first byte from `at` on that is not white space."""
    while at < size and is_space(buffer[at]):
        at += 1
    return at


@kernel
def lower(byte: int) -> int:
    """Return a letter in lower case, another byte as it is."""
    return byte + 32 if 65 <= byte <= 90 else int(byte)
