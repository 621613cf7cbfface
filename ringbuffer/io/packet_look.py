"""Looks for a packet on a socket for a short while, without sleeping.

Enters: a socket. Leaves: bytes that it has received. Whoever else has work for the processor gets it between two looks. Must not know what
the bytes mean.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ringbuffer.compile.jit import entry_of, kernel
from ringbuffer.io.system_calls import now_ns, recv, sched_yield
from ringbuffer.memory.row_block import PADDING_BYTES

MSG_DONTWAIT = 0x40
# What `look` gives instead of a packet's size, which is 0 at the end of a connection.
NOTHING, DISPLACED = -1, -2
NO_SOCKET = -1


class PacketLook:
    """The looking of one thread. bytes_max: of one packet; more is left for the next.

    packet uint8[bytes_max + PADDING_BYTES]: what was received last. was_displaced: somebody else had the processor for so long that the
    last look ended.
    """

    __slots__ = ("_look", "_time", "packet", "was_displaced")

    def __init__(self, bytes_max: int) -> None:
        self.packet = np.zeros(bytes_max + PADDING_BYTES, dtype=np.uint8)
        self._time = np.zeros(2, dtype=np.int64)
        self._look = entry_of(look, NO_SOCKET, self.packet, self._time, 0, 0)
        self.was_displaced = False

    def look(self, descriptor: int, look_ns: int, yield_ns_max: int) -> int:
        """Have in `packet` what the socket receives within `look_ns`, and return its size.

        0: nothing was received, or there is something to be said about the socket. A yield of the processor that takes `yield_ns_max` or
        longer ends it.
        """
        size: int = self._look(descriptor, self.packet, self._time, look_ns, yield_ns_max)
        if size > 0:
            return size
        self.was_displaced = size == DISPLACED
        return 0


def warm_up_looks() -> None:
    """Compile or load the kernel."""
    PacketLook(1)


@kernel
def look(
    descriptor: int, packet: npt.NDArray[np.uint8], time: npt.NDArray[np.int64], look_ns: int, yield_ns_max: int
) -> int:
    """-> bytes received into packet uint8[bytes_max + PADDING_BYTES], 0 at the end of the connection, NOTHING or DISPLACED.

    time int64[2]: room for a struct timespec.
    """
    began_ns = before_ns = now_ns(time)
    while True:
        size: int = recv(descriptor, packet.ctypes.data, packet.shape[0] - PADDING_BYTES, MSG_DONTWAIT)
        if size >= 0:
            return size
        sched_yield()
        after_ns = now_ns(time)
        if after_ns - before_ns >= yield_ns_max:
            return DISPLACED
        if after_ns - began_ns >= look_ns:
            return NOTHING
        before_ns = after_ns
