"""The narrow types of numbers for kernels: single precision, and integers of 16 and of 32 bits,
which come in and leave as int64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ringbuffer.compile.jit import kernel
from ringbuffer.memory.error_codes import INTEGER_RANGE, OK, SMALLINT_RANGE

real: Any = np.float32


@kernel
def limit_int16(value: int) -> tuple[int, int]:
    """Return (value, error): SMALLINT_RANGE outside of 16 bits."""
    if value < -32768 or value > 32767:
        return 0, SMALLINT_RANGE
    return value, OK


@kernel
def limit_int32(value: int) -> tuple[int, int]:
    """Return (value, error): INTEGER_RANGE outside of 32 bits."""
    if value < -2147483648 or value > 2147483647:
        return 0, INTEGER_RANGE
    return value, OK


@kernel
def limited(value: int, bits: int) -> tuple[int, int]:
    """Return (value, error) in 16 or 32 bits."""
    return limit_int16(value) if bits == 16 else limit_int32(value)
