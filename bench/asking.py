"""A client that asks for one row again and again, in a process of its own, and writes down when it
asked and how long that took.

`python -m bench.asking PORT FILE`; FILE gets pairs of doubles, seconds of the monotonic clock,
which processes share. `Asking` runs it.
"""

from __future__ import annotations

import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAUSE_S = 0.004
PAIR = struct.Struct("dd")
QUESTION = b"Q\0\0\0\x0dSELECT 1\0"
READY = b"Z\0\0\0\x05I"
STARTUP = b"user\0antumbra\0database\0antumbra\0\0"


class Asking:
    """The measurements of such a client so far."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def waits_since(self, since_s: float) -> list[float]:
        """Return how long the questions took that were not answered at `since_s`, in seconds."""
        data = self._path.read_bytes()
        whole = data[: len(data) // PAIR.size * PAIR.size]
        return [took for began, took in PAIR.iter_unpack(whole) if began + took > since_s]


@contextmanager
def asking(port: int, path: Path) -> Iterator[Asking]:
    """Run the client beside what is done inside."""
    path.touch()
    process = subprocess.Popen([sys.executable, "-m", "bench.asking", str(port), str(path)])
    try:
        yield Asking(path)
    finally:
        process.kill()
        process.wait()


def main() -> None:
    """Ask until the server is gone."""
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.sendall(struct.pack("!ii", len(STARTUP) + 8, 196_608) + STARTUP)
    with Path(sys.argv[2]).open("wb", buffering=0) as file:
        is_there = answered(connection)
        while is_there:
            time.sleep(PAUSE_S)
            began = time.monotonic()
            connection.sendall(QUESTION)
            is_there = answered(connection)
            file.write(PAIR.pack(began, time.monotonic() - began))


def answered(connection: socket.socket) -> bool:
    """Wait for the end of an answer; False: there is no server any more."""
    received = b""
    while not received.endswith(READY):
        more = connection.recv(65_536)
        if not more:
            return False
        received += more
    return True


if __name__ == "__main__":
    main()
