"""One value as the bytes that stand for it in a TEXT column of a stream or a string of a kernel.

Enters: a `LiteralValue`. Leaves: the bytes that `ringbuffer.memory.stored_values` makes of a whole
column of such values.
"""

from __future__ import annotations

import struct
from decimal import Decimal

from sql.types.datatypes import LiteralValue, SqlType
from sql.values.special_numbers import special_parts

WORDS = {
    "bool": "<?", "int2": "<h", "int4": "<i", "int8": "<q", "float4": "<f", "float8": "<d", "date": "<i", "time": "<q", "timestamp": "<q",
    "timestamptz": "<q", "oid": "<q", "interval": "<iiq", "timetz": "<qi",
}  # fmt: skip
NULL_ELEMENT = struct.pack("<i", -1)


def stored_bytes(value: LiteralValue, kind: SqlType) -> bytes:
    """Return the bytes of a value that is not NULL."""
    if kind.is_array:
        assert isinstance(value, tuple), value
        return b"".join(NULL_ELEMENT if item is None else element_bytes(item, kind.element) for item in value)
    form = "<q" if kind.is_enum else WORDS.get(kind.family)
    if form is not None:
        return struct.pack(form, *value) if isinstance(value, tuple) else struct.pack(form, value)
    if kind.family == "numeric":
        assert isinstance(value, Decimal | int), value
        return numeric_bytes(Decimal(value))
    assert isinstance(value, str | bytes), value
    return value if isinstance(value, bytes) else value.encode()


def element_bytes(value: LiteralValue, kind: SqlType) -> bytes:
    """Return the bytes of an element of an array, after their length."""
    data = stored_bytes(value, kind)
    return struct.pack("<i", len(data)) + data


def numeric_bytes(value: Decimal) -> bytes:
    """Return the scale of a numeric, and as few bytes of its unscaled value as hold it."""
    sign, digits, exponent = value.as_tuple()
    if isinstance(exponent, int):
        unscaled: int = int("".join(map(str, digits))) * 10 ** max(exponent, 0) * (-1 if sign else 1)
        scale = max(-exponent, 0)
    else:
        unscaled, scale = special_parts(value)
    size = (unscaled + (unscaled < 0)).bit_length() // 8 + 1
    return struct.pack("<h", scale) + unscaled.to_bytes(size, "little", signed=True)
