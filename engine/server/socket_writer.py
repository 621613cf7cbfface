"""The way of replies to one client's socket: straight into it where it takes them at once, else through the event loop's transport.

Enters: replies in order. Leaves: bytes on the wire. uvloop's transport sends at the end of the loop's turn; a client that waits for its
COMMIT would wait for all else that the turn does. What is encrypted, or does not fit the socket, the transport has to take.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

NO_DESCRIPTOR = -1


class Outlet:
    """Sends over a transport. On the event loop."""

    __slots__ = ("_descriptor", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        raw = transport.get_extra_info("socket")
        is_plain = raw is not None and transport.get_extra_info("sslcontext") is None
        self._descriptor: int = raw.fileno() if is_plain else NO_DESCRIPTOR

    @property
    def descriptor(self) -> int:
        """Of the socket, while it is open and carries plain bytes; otherwise NO_DESCRIPTOR."""
        # One that was closed may be another client's by now.
        return NO_DESCRIPTOR if self._transport.is_closing() else self._descriptor

    def send(self, data: bytes) -> None:
        """Send `data` behind what was sent before; what the socket does not take now goes out later."""
        transport = self._transport
        sent = 0
        descriptor = self.descriptor
        if descriptor >= 0 and not transport.get_write_buffer_size():
            # What is wrong with the socket, the transport finds out.
            with suppress(OSError):
                sent = os.write(descriptor, data)
        if sent < len(data):
            transport.write(data[sent:])
