"""Calls of the C library inside kernels, and a clock.

Enters and leaves: what the calls take and give; the functions can be called from compiled functions only. Must not know who calls.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import types as untyped_types

from ringbuffer.compile.jit import kernel

types: Any = untyped_types

CLOCK_MONOTONIC = 1

system_call = types.ExternalFunction("syscall", types.int64(*[types.int64] * 6))
recv = types.ExternalFunction("recv", types.int64(types.int32, types.int64, types.int64, types.int32))
poll = types.ExternalFunction("poll", types.int32(types.int64, types.uint64, types.int32))
read = types.ExternalFunction("read", types.int64(types.int32, types.int64, types.uint64))
write = types.ExternalFunction("write", types.int64(types.int32, types.int64, types.uint64))
kill = types.ExternalFunction("kill", types.int32(types.int32, types.int32))
exit_at_once = types.ExternalFunction("_exit", types.void(types.int32))
sched_yield = types.ExternalFunction("sched_yield", types.int32())
clock_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.int64))


@kernel
def now_ns(time: npt.NDArray[np.int64]) -> int:
    """-> nanoseconds of the monotonic clock. time int64[2]: where a struct timespec has room."""
    clock_gettime(CLOCK_MONOTONIC, time.ctypes.data)
    now: int = time[0] * 1_000_000_000 + time[1]
    return now
