"""A write to a file that is looked for until it is done, instead of slept for: Linux' own asynchronous input and output.

Enters: memory at an address, and where it goes. Leaves: how much of it is there, or an errno. A processor that sleeps until the disk says
that it is done takes up to 20 us to wake up, and twice for a write that also has to be durable. Who looks yields the processor each time,
so that whoever else has work for it goes on. What else there is to do is done first, while the disk writes. Must not know what the bytes
mean.

io_submit(2), and the ring of events in the memory that io_setup(2) gives: the kernel's fs/aio.c. C libraries have no functions for these,
so they are called by number; where these are not known, or the system refuses them, there is no such way.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import entry_of, kernel
from ringbuffer.io.system_calls import now_ns, sched_yield, system_call
from ringbuffer.memory.addresses import load_int32

# io_setup, io_submit, io_getevents.
CALLS = {"x86_64": (206, 209, 208), "aarch64": (0, 2, 4)}
NO_CALLS = (-1, -1, -1)
PWRITE = 1

# Where the memory has what the system reads and writes: a request (struct iocb) and its address, an event (struct io_event), a time
# (struct timespec), the context.
REQUEST_ADDRESS, EVENT, TIME, CONTEXT, DISPLACED, WORDS_COUNT = 8, 9, 13, 15, 16, 17
FLAGS, KIND, ADDRESS, SIZE, POSITION = range(1, 6)
RESULT = EVENT + 2
# The ring of events (struct aio_ring) at the context.
HEAD_OFFSET, TAIL_OFFSET, MAGIC_OFFSET = 8, 12, 16
MAGIC = 0xA10A10A1 - (1 << 32)


class AsyncWriter:
    """Writes, one at a time. is_usable: False where the system has no such way."""

    __slots__ = ("_begin", "_context", "_end", "_events", "_submit", "_words", "is_usable")

    def __init__(self) -> None:
        self._words = np.zeros(WORDS_COUNT, dtype=np.int64)
        setup, self._submit, self._events = CALLS.get(platform.machine(), NO_CALLS)
        self.is_usable = setup >= 0 and bool(set_up(setup, self._submit, self._events, self._words))
        self._context = int(self._words[CONTEXT])
        self._begin = entry_of(begin, 0, 0, self._words, 0, 0, 0, 0, 0)
        self._end = entry_of(end, 0, 0, self._words, 0)

    def write(
        self, descriptor: int, address: int, size: int, position: int, flags: int, look_ns: int, meanwhile: Callable[[], None]
    ) -> int | None:  # fmt: skip
        """Write `size` bytes from `address` and return how many are there; None: it could not be begun. flags: as of pwritev.

        Looks for the end for `look_ns` at most, and sleeps after that. meanwhile: called once it has begun. Raises OSError.
        """
        if not self._begin(self._submit, self._context, self._words, descriptor, address, size, position, flags):
            return None
        try:
            meanwhile()
        finally:
            # Until then the memory is the system's.
            result: int = self._end(self._events, self._context, self._words, look_ns)
        if result < 0:
            raise OSError(-result, os.strerror(-result))
        return result

    @property
    def was_displaced(self) -> bool:
        """True when somebody else had the processor for so long that the last write was not looked for any more."""
        return bool(self._words[DISPLACED])


def warm_up_writes() -> None:
    """Compile or load the kernels."""
    words = np.zeros(WORDS_COUNT, dtype=np.int64)
    assert not set_up(*NO_CALLS, words)
    entry_of(begin, 0, 0, words, 0, 0, 0, 0, 0)
    entry_of(end, 0, 0, words, 0)


@kernel
def set_up(setup: int, submit: int, events: int, words: npt.NDArray[np.int64]) -> bool:
    """-> whether all is there; then words[CONTEXT] is a context for one write at a time."""
    address = words.ctypes.data + 8 * CONTEXT
    if system_call(setup, 1, address, 0, 0, 0) != 0 or load_int32(words[CONTEXT] + MAGIC_OFFSET) != MAGIC:
        return False
    # Nothing was submitted, so nothing is there; a call that is forbidden is found out before a write depends on it.
    found = system_call(events, words[CONTEXT], 0, 1, words.ctypes.data + 8 * EVENT, words.ctypes.data + 8 * TIME)
    result: bool = found == 0 and system_call(submit, words[CONTEXT], 0, address, 0, 0) == 0
    return result


@kernel
def begin(
    submit: int, context: int, words: npt.NDArray[np.int64], descriptor: int, address: int, size: int, position: int, flags: int
) -> bool:  # fmt: skip
    """-> whether the write has begun.

    submit: the system's number of this call; words int64[WORDS_COUNT]: memory for it, zeros at first.
    """
    base = words.ctypes.data
    words[REQUEST_ADDRESS] = base
    words[FLAGS] = flags << 32
    words[KIND] = PWRITE | descriptor << 32
    words[ADDRESS] = address
    words[SIZE] = size
    words[POSITION] = position
    is_begun: bool = system_call(submit, context, 1, base + 8 * REQUEST_ADDRESS, 0, 0) == 1
    return is_begun


@kernel
def end(events: int, context: int, words: npt.NDArray[np.int64], look_ns: int) -> int:
    """-> bytes that the write which has begun has written, or an errno below zero.

    events: the system's number of this call; words: as of `begin`. words[DISPLACED]: whether a yield took look_ns or longer.
    """
    words[DISPLACED] = 0
    time = words[TIME : TIME + 2]
    began_ns = before_ns = now_ns(time)
    while load_int32(context + HEAD_OFFSET) == load_int32(context + TAIL_OFFSET):
        sched_yield()
        after_ns = now_ns(time)
        if after_ns - before_ns >= look_ns:
            words[DISPLACED] = 1
        if after_ns - began_ns >= look_ns:
            break
        before_ns = after_ns
    while system_call(events, context, 1, 1, words.ctypes.data + 8 * EVENT, 0) != 1:
        # A signal came. Nothing else can be wrong.
        pass
    result: int = words[RESULT]
    return result
