"""Whether to look for what will be there at once, instead of sleeping until it is: a client's next statement, the end of a write.

Enters: whether it paid, and whether anybody else wanted the processor. Leaves: for how long to look. On the event loop alone. Must not know
sockets or files.

A processor that sleeps takes 20 to 100 us to wake up; a commit waits for that three times, and takes 130 us. The idea is that of busy
polling in Linux (SO_BUSY_POLL; polled input and output).
"""

from __future__ import annotations

import time

# How long nothing is looked for after somebody else has taken the processor instead: twice as long each time that this happens again within
# as much time, up to a second; otherwise as long as at first.
REST_NS_MIN = 8_000_000
REST_NS_MAX = 1_000_000_000


class Looking:
    """For one server. wait_us: for how long at most, 0: never. pays: the last client sent its next packet so soon after its answer."""

    __slots__ = ("_rest_ns", "_rests_until_ns", "pays", "wait_ns")

    def __init__(self, wait_us: int) -> None:
        self.wait_ns = wait_us * 1000
        self.pays = False
        self._rest_ns = REST_NS_MIN
        self._rests_until_ns = 0

    def due_ns(self, now_ns: int) -> int:
        """Return for how long to look for what is waited for next, 0: not at all. now_ns: of perf_counter_ns."""
        return self.wait_ns if self.pays and now_ns >= self._rests_until_ns else 0

    def rest(self) -> None:
        """Somebody else had the processor for as long as that: not a client, but work that goes on until the next tick, of any priority.

        Who sleeps is given the processor sooner. Once may have been by chance, or a virtual machine that did not run.
        """
        now_ns = time.perf_counter_ns()
        was_lately = self._rests_until_ns > 0 and now_ns - self._rests_until_ns < self._rest_ns
        self._rest_ns = min(2 * self._rest_ns, REST_NS_MAX) if was_lately else REST_NS_MIN
        self._rests_until_ns = now_ns + self._rest_ns
