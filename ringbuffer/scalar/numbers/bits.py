"""Shifts of SQL's integers, which come in and leave as int64, for kernels."""

from __future__ import annotations

from ringbuffer.compile.jit import kernel


@kernel
def shift_left(value: int, count: int, bits: int) -> int:
    """Return value << count in 16, 32 or 64 bits.

    Processors look at the last five bits of the count, of 64 bits at the last six.
    """
    return sign_extended(value << (count & (63 if bits == 64 else 31)), bits)


@kernel
def shift_right(value: int, count: int, bits: int) -> int:
    """Return value >> count with the sign kept."""
    return value >> (count & (63 if bits == 64 else 31))


@kernel
def sign_extended(value: int, bits: int) -> int:
    """Return the number that the last `bits` bits are."""
    return value << (64 - bits) >> (64 - bits)
