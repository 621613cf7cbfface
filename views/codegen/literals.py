"""Constants of expressions as source text.

Enters: a `Literal`. Leaves: its words. The bytes of a long text go to the kernel's constants; its
address is an offset from there.
"""

from __future__ import annotations

import math
from decimal import Decimal

from ringbuffer.memory.columns import INLINE_BYTES_MAX
from sql.errors import SqlError
from sql.tree.expressions import Literal
from sql.types.datatypes import NUMERIC_DIGITS_MAX
from sql.values.special_numbers import special_parts
from views.codegen.values import ALWAYS, Value, is_string, zero_words
from views.model.stored_literals import stored_bytes

CONSTANTS = "constants"  # the variable with the address of the long texts


def literal_value(literal: Literal, long_texts: bytearray) -> Value:
    """Return the words of a constant; the bytes of a long text are appended to `long_texts`."""
    value, family = literal.value, literal.type.family
    if value is None:
        return Value(zero_words(literal.type), ALWAYS)
    if is_string(literal.type):
        return Value(text_words(stored_bytes(value, literal.type), long_texts))
    if family == "numeric":
        assert isinstance(value, Decimal | int)
        return decimal_value(numeric_words(Decimal(value), literal.type.display_scale))
    if family in ("float4", "float8"):
        assert isinstance(value, float | int)
        return Value((float_word(float(value), family),))
    assert isinstance(value, int), f"a constant of type {literal.type.sql_name} is a number"
    return Value((str(bool(value)) if family == "bool" else str(int(value)),))


def decimal_value(words: tuple[str, str, str]) -> Value:
    """Return a constant decimal with its magnitude."""
    lo, hi, scale = words
    return Value(words, most=abs((int(hi) << 64) + int(lo) % (1 << 64)) if scale.isdigit() else None)


def text_words(text: str | bytes, long_texts: bytearray) -> tuple[str, str, str]:
    """Return the words of a text (ringbuffer/scalar/texts/text_values.py)."""
    data = text if isinstance(text, bytes) else text.encode()
    if len(data) <= INLINE_BYTES_MAX:
        w0, w1 = inline_words(data)
        return str(w0), str(w1), "0"
    offset = long_texts.find(data)
    if offset < 0:
        offset = len(long_texts)
        long_texts += data
    w0, _ = inline_words(data)
    return str(w0), str(offset), CONSTANTS


def inline_words(data: bytes) -> tuple[int, int]:
    """Return the length and the first four bytes, and the next eight bytes, as signed words."""
    start = data[:INLINE_BYTES_MAX].ljust(INLINE_BYTES_MAX, b"\0")
    head = len(data).to_bytes(4, "little") + start[:4]
    return int.from_bytes(head, "little", signed=True), int.from_bytes(start[4:], "little", signed=True)


def numeric_words(value: Decimal, scale: int | None) -> tuple[str, str, str]:
    """Return (lo, hi, scale) of a decimal, at `scale` or with its own digits."""
    if not value.is_finite():
        rank, special_scale = special_parts(value)
        return str(rank), str(rank >> 63), str(special_scale)
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    places = max(-exponent, 0) if scale is None else scale
    unscaled = int("".join(map(str, digits))) * 10 ** (places + exponent) if places + exponent >= 0 else None
    assert unscaled is not None, f"{value} has more digits than its type says"
    if unscaled >= 10**NUMERIC_DIGITS_MAX:
        raise SqlError("22003", "numeric value has more than 38 digits")
    word = -unscaled if sign else unscaled
    lo, hi = word & (2**64 - 1), word >> 64
    return str(lo - 2**64 if lo >= 2**63 else lo), str(hi), str(places)


def float_word(value: float, family: str) -> str:
    """Return a float64 constant, or the float32 nearest to it."""
    if math.isnan(value):
        text = "np.nan"
    elif math.isinf(value):
        text = "np.inf" if value > 0 else "-np.inf"
    else:
        text = repr(value)
    return text if family == "float8" else f"real({text})"
