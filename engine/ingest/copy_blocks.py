"""The data of a COPY on its way: what the client has sent and no thread has decoded yet, in blocks,
and the rows that one thread stages while another decodes the next block.

Enters: payloads of any size, on the event loop. Leaves: blocks, on a worker thread. Must not know
formats or rows.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any

# With so many blocks the client waits.
BLOCKS_MAX = 4
# After so many blocks a thread asks whether the statement goes on.
BLOCKS_AT_ONCE_MAX = 8

Submit = Callable[..., Future[Any]]


class Blocks:
    """The payloads of one COPY that wait, in order; for any thread.

    Attributes:
        bytes_count: how many bytes wait.
    """

    def __init__(self, block_bytes: int) -> None:
        self.bytes_count = 0
        self._block_bytes = block_bytes
        self._pieces: deque[bytes | memoryview] = deque()
        self._lock = threading.Lock()

    @property
    def is_full(self) -> bool:
        """True when a whole block waits."""
        return self.bytes_count >= self._block_bytes

    @property
    def is_too_full(self) -> bool:
        """True when so much waits that no more is to be taken."""
        return self.bytes_count >= BLOCKS_MAX * self._block_bytes

    def add(self, data: bytes | memoryview) -> None:
        """Add a payload after the others."""
        with self._lock:
            self._pieces.append(data)
            self.bytes_count += len(data)

    def take(self, is_end: bool) -> list[bytes | memoryview]:
        """Remove the payloads of the next block, or what there is of one; all that wait if it is
        the end.
        """
        taken: list[bytes | memoryview] = []
        size = 0
        with self._lock:
            while self._pieces and (is_end or size < self._block_bytes):
                taken.append(self._pieces.popleft())
                size += len(taken[-1])
            self.bytes_count -= size
        return taken


class Beside:
    """Work that another thread does beside the one that asks for it: one call at a time, in order.

    submit: begins a call on another thread as soon as one is free.
    """

    def __init__(self, submit: Submit) -> None:
        self._submit = submit
        self._begun: tuple[Future[Any], Callable[..., object], Any] | None = None

    def do(self, work: Callable[[Any], object], argument: Any) -> None:
        """Begin a call, after the one before. Raises what the one before has raised."""
        self.wait()
        self._begun = self._submit(work, argument), work, argument

    def wait(self) -> None:
        """Wait until nothing is begun. Raises what the call has raised."""
        begun, self._begun = self._begun, None
        if begun is None:
            return
        future, work, argument = begun
        if future.cancel():
            # No thread is free, and this one would wait for one of them.
            work(argument)
        else:
            future.result()

    def end(self) -> None:
        """Wait until nothing is begun, and forget what the call has raised."""
        with suppress(Exception):
            self.wait()
