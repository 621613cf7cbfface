"""Looks for a client's next packet instead of sleeping until it comes, where it is expected at once.

Enters: when packets come and when they are answered. Leaves: turns of the event loop that do nothing but look at the sockets, for `wait_us`
after an answer at most. Who waits for a COMMIT and then sends the next statement does so within a few microseconds, but a processor that
sleeps meanwhile takes a hundred to wake up, half as long as a sync of the disk. Only a client that goes on by itself is waited for: with
several, the loop has work. Must not know connections.

The idea is that of the sockets' busy polling in Linux (SO_BUSY_POLL), above the sockets.
"""

from __future__ import annotations

import asyncio
import os
import time

# How long nothing is looked for after somebody else has taken the processor instead.
REST_NS = 1_000_000_000


class BusyPolling:
    """The looking for one event loop. wait_us: for how long after an answer, 0: never."""

    __slots__ = ("_answered_ns", "_client", "_is_looking", "_loop", "_pays", "_rests_until_ns", "_wait_ns")

    def __init__(self, loop: asyncio.AbstractEventLoop, wait_us: int) -> None:
        self._loop = loop
        self._wait_ns = wait_us * 1000
        self._client = 0
        # When the last answer went out, while its client has not sent anything yet; otherwise 0.
        self._answered_ns = 0
        # Whether the last answer was followed by a packet within `wait_us`.
        self._pays = False
        self._is_looking = False
        self._rests_until_ns = 0

    def received(self) -> None:
        """A packet has come, from any client."""
        if self._answered_ns:
            self._pays = time.perf_counter_ns() - self._answered_ns < self._wait_ns
            self._answered_ns = 0

    def answered(self, client: int) -> None:
        """What the client of this number waited for is on its way; begin to look, if that was worth it the last time."""
        if not self._wait_ns:
            return
        if client != self._client:
            self._client, self._pays = client, False
        self._answered_ns = time.perf_counter_ns()
        if self._pays and not self._is_looking and self._answered_ns >= self._rests_until_ns:
            self._is_looking = True
            self._loop.call_soon(self._look)

    def _look(self) -> None:
        # With a callback waiting, the loop asks the sockets without sleeping. It lets go of the interpreter meanwhile.
        began_ns = time.perf_counter_ns()
        if self._answered_ns and began_ns - self._answered_ns < self._wait_ns:
            # The client may be waiting for this very processor.
            os.sched_yield()
            if time.perf_counter_ns() - began_ns < self._wait_ns:
                self._loop.call_soon(self._look)
                return
            # It was no client, but work that goes on until the next tick, of any priority. Who sleeps is given the processor sooner.
            self._rests_until_ns = began_ns + REST_NS
        self._is_looking = False
