"""The way of replies to one client's socket: straight into the socket where it takes them at once,
else through the transport.

Enters: replies in order. Leaves: bytes on the wire. The transport of uvloop sends at the end of the
loop's turn; a client that waits for its COMMIT would wait for all other work of the turn. The
transport takes encrypted replies, and bytes that do not fit the socket.
"""

from __future__ import annotations

import asyncio
import os

NO_DESCRIPTOR = -1


class SocketWriter:
    """The writer of replies over a transport. On the event loop."""

    __slots__ = ("_descriptor", "_transport")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        raw = transport.get_extra_info("socket")
        is_plain = raw is not None and transport.get_extra_info("sslcontext") is None
        self._descriptor: int = raw.fileno() if is_plain else NO_DESCRIPTOR

    def send(self, data: bytes) -> None:
        """Send `data` after all data before; bytes that the socket does not take now go out
        later.
        """
        transport, sent = self._transport, 0
        # The descriptor of a closed socket may be another client's by now.
        if self._descriptor >= 0 and not transport.is_closing() and not transport.get_write_buffer_size():
            try:
                sent = os.write(self._descriptor, data)
            except OSError:
                # The transport finds out what is wrong with the socket.
                sent = 0
        if sent < len(data):
            # Not a copy of what may be a hundred megabytes.
            transport.write(memoryview(data)[sent:])
