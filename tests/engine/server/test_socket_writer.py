"""Replies reach the client whole and in order, whichever way they go."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Coroutine
from typing import cast

import pytest

from engine.server.socket_writer import SocketWriter

REPLIES = [bytes([number % 251]) * (number * 97 % 5000 + 1) for number in range(2000)]


class Served(asyncio.Protocol):
    """Keeps the outlet of the one client."""

    def __init__(self) -> None:
        self.outlet: asyncio.Future[SocketWriter] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See asyncio.Protocol."""
        self.transport = cast(asyncio.Transport, transport)
        self.outlet.set_result(SocketWriter(self.transport))


async def connected() -> tuple[Served, socket.socket]:
    """Return the server's side and the client's socket, whose buffers are small."""
    theirs, ours = socket.socketpair()
    for end in (theirs, ours):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        end.setblocking(False)
    served = Served()
    await asyncio.get_running_loop().connect_accepted_socket(lambda: served, ours)
    return served, theirs


def run(main: Coroutine[object, None, None]) -> None:
    """Run on the loop that the server has."""
    uvloop = pytest.importorskip("uvloop")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(main, 60.0))


def test_what_the_socket_does_not_take_at_once_follows_in_order() -> None:
    async def main() -> None:
        served, client = await connected()
        outlet = await served.outlet
        for reply in REPLIES:
            outlet.send(reply)
        # Far more than the buffers hold.
        assert served.transport.get_write_buffer_size() > 0
        wanted = b"".join(REPLIES)
        found = bytearray()
        while len(found) < len(wanted):
            found += await asyncio.get_running_loop().sock_recv(client, 1 << 16)
        assert found == wanted
        outlet.send(b"the end")
        # Already there: no turn of the loop was needed.
        assert client.recv(100) == b"the end"
        client.close()
        served.transport.close()

    run(main())


def test_nothing_goes_to_a_descriptor_that_may_be_anothers() -> None:
    async def main() -> None:
        served, client = await connected()
        outlet = await served.outlet
        served.transport.abort()
        outlet.send(b"lost")
        await asyncio.sleep(0)
        assert client.recv(100) == b""
        client.close()

    run(main())


def test_a_client_that_has_gone_is_the_transports_matter() -> None:
    async def main() -> None:
        served, client = await connected()
        outlet = await served.outlet
        client.close()
        for _ in range(3):
            outlet.send(b"x" * 10_000)
        await asyncio.sleep(0.01)
        assert served.transport.is_closing()

    run(main())
