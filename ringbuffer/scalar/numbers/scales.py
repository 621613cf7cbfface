"""The digits after the point of a numeric, for kernels: of NaN and the infinities -1."""

from __future__ import annotations

from ringbuffer.compile.jit import kernel
from ringbuffer.scalar.numbers.numeric import numeric_normalise


@kernel
def scale_of(lo: int, hi: int, scale: int) -> int:
    """Return the scale."""
    return scale


@kernel
def needed_scale(lo: int, hi: int, scale: int) -> int:
    """Return the scale without zeros at the end."""
    return numeric_normalise(lo, hi, scale)[2]
