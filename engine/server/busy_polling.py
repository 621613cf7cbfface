"""Looks for a client's next packet instead of sleeping until it comes, where it is expected at once.

Enters: when packets come and when they are answered. Leaves: the packet, straight from the socket to its client; where that can't be, turns
of the event loop that do nothing but look at the sockets. Who waits for an answer and then sends the next statement does so within a few
microseconds. Only a client that goes on by itself is waited for: with several, the loop has work. Must not know messages.
"""

from __future__ import annotations

import asyncio
import os
import time
from typing import Protocol

from engine.server.socket_writer import NO_DESCRIPTOR
from engine.storage.spin_wait import Looking
from ringbuffer.io.packet_look import PacketLook
from ringbuffer.scalar.numbers.fields import Bytes

PACKET_BYTES_MAX = 64 * 1024
# The loop serves others at least so often, who may have sent something too.
LOOK_NS_MAX = 20_000


class Client(Protocol):
    """A client as far as it is looked for."""

    def expect(self) -> int:
        """Get ready for `take`, if nothing else happens before it; return the descriptor of the socket.

        NO_DESCRIPTOR: what is read from that is not what the client has sent.
        """

    def take(self, data: Bytes, size: int) -> None:
        """Take data[:size], which the client has sent. data uint8[n]: as of PacketLook."""


class BusyPolling:
    """The looking for one event loop."""

    __slots__ = ("_answered_ns", "_client", "_is_looking", "_look", "_looking", "_loop")

    def __init__(self, loop: asyncio.AbstractEventLoop, looking: Looking) -> None:
        self._loop = loop
        self._looking = looking
        self._look = PacketLook(PACKET_BYTES_MAX)
        self._client: Client | None = None
        # When the last answer went out, while its client has not sent anything yet; otherwise 0.
        self._answered_ns = 0
        self._is_looking = False

    def received(self) -> None:
        """A packet has come, from any client."""
        if self._answered_ns:
            looking = self._looking
            looking.pays = time.perf_counter_ns() - self._answered_ns < looking.wait_ns
            self._answered_ns = 0

    def answered(self, client: Client) -> None:
        """What the client waited for is on its way; begin to look for its next packet, if that was worth it the last time."""
        looking = self._looking
        if client is not self._client:
            # With several, no more than this.
            self._client, self._answered_ns, looking.pays = client, 0, False
            return
        if not looking.wait_ns:
            return
        self._answered_ns = now_ns = time.perf_counter_ns()
        if not self._is_looking and looking.due_ns(now_ns):
            self._is_looking = True
            self._loop.call_soon(self._look_once)

    def forget(self, client: Client) -> None:
        """The client is gone."""
        if client is self._client:
            self._client = None

    def _look_once(self) -> None:
        client, looking = self._client, self._looking
        began_ns = time.perf_counter_ns()
        if client is not None and self._answered_ns and began_ns - self._answered_ns < looking.wait_ns:
            descriptor = client.expect()
            if descriptor == NO_DESCRIPTOR:
                # With a callback waiting, the loop asks the sockets without sleeping. The client may be waiting for this very processor.
                os.sched_yield()
                is_displaced = time.perf_counter_ns() - began_ns >= looking.wait_ns
            else:
                size = self._look.look(descriptor, LOOK_NS_MAX, looking.wait_ns)
                if size:
                    # It still pays; that need not be found out.
                    self._is_looking, self._answered_ns = False, 0
                    client.take(self._look.packet, size)
                    return
                is_displaced = self._look.was_displaced
            if not is_displaced:
                self._loop.call_soon(self._look_once)
                return
            looking.rest()
        self._is_looking = False
