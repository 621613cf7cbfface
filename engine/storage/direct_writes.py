"""Writes to an open file that go past the page cache; for the file of `engine/storage/storage.py` alone.

Enters: positions and bytes. Leaves: whole pages on the disk, or the answer that another way has to be taken. Must not know what bytes mean.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ringbuffer.io.async_write import AsyncWriter

PAGE_BYTES = 4096
# Of one write: what is longer goes in parts.
DIRECT_BYTES_MAX = 1024 * PAGE_BYTES
# More is copied without the interpreter's lock.
MUCH_BYTES = 1 << 15
# Instead of a descriptor: not opened yet, and none to be had.
NOT_YET, NONE = -2, -1
NOT_THIS_WAY = (errno.EINVAL, errno.EOPNOTSUPP)


def nothing() -> None:
    """There is nothing else to do."""


class DirectWrites:
    """Writes to an open file that go past the page cache, where its file system lets them: a sync has less to do then.

    Whole pages around the bytes go to the disk. blank_from: from there on the file has nothing but zeros; None: not known. writer: gives
    who does the writes that are looked for.

    memory uint8[PAGE_BYTES]: the page of the file that was written last, which begins at `page`; -1: no page.

    Only this object changes the file while it is in use, but for the writes that it has sent another way.
    """

    __slots__ = (
        "_address", "_blank_from", "_descriptor", "_file", "_first", "_pages", "_size", "_writer", "memory", "page", "was_displaced",
    )  # fmt: skip

    def __init__(self, descriptor: int, blank_from: int | None, writer: Callable[[], AsyncWriter]) -> None:
        self._file = descriptor
        self._writer = writer
        # Whether the last write was looked for, and somebody else had the processor for so long.
        self.was_displaced = False
        self._descriptor = NOT_YET
        self._size = 0
        self._blank_from = blank_from
        # Memory at an address that direct writes take, which begins with `memory`.
        self._pages = self._first = memoryview(b"")
        self._address = 0
        self.memory = np.zeros(0, dtype=np.uint8)
        self.page = -1

    def write(self, position: int, data: memoryview, flags: int = 0, look_ns: int = 0) -> bool:
        """Write, if this is a way for it. False: it has to go another way, as a whole. Raises OSError.

        flags: as of pwritev; look_ns: look for the end for so long at most, instead of sleeping until then.
        """
        page, end = self.page_at(position), position + len(data)
        if page >= 0 and end <= page + PAGE_BYTES:
            # Every small commit but the first of a page.
            self._first[position - page : end - page] = data
            return self.write_page(flags, look_ns)
        return self.write_pages(position, end, (data,), flags, look_ns)

    def page_at(self, position: int) -> int:
        """Return `page` if `position` is in it, otherwise -1. Who fills `memory` from there on has to call `write_page` next."""
        page = self.page
        return page if 0 <= page <= position < page + PAGE_BYTES else -1

    def write_page(self, flags: int, look_ns: int, meanwhile: Callable[[], None] = nothing) -> bool:
        """Write the page that `memory` has, as `write` does. meanwhile: called while the disk writes, if the end is looked for."""
        page, self.page = self.page, -1
        if self._write(page, self._first, flags, look_ns, meanwhile):
            self.page = page
            return True
        return False

    def close(self) -> None:
        """Close the way, not the file."""
        self.page = -1
        descriptor, self._descriptor = self._descriptor, NONE
        if descriptor >= 0:
            os.close(descriptor)

    def write_pages(
        self, position: int, end: int, pieces: Sequence[memoryview], flags: int = 0, look_ns: int = 0
    ) -> bool:
        """Write pieces up to `end`, as `write` does."""
        if self._descriptor == NOT_YET:
            self._open()
        first = position - position % PAGE_BYTES
        pages_end = end + -end % PAGE_BYTES
        known, self.page = self.page, -1
        fits = self._descriptor >= 0 and end - position <= DIRECT_BYTES_MAX and pages_end <= self._size
        if fits:
            last = pages_end - PAGE_BYTES
            if known != first and (position != first or end < first + PAGE_BYTES):
                self._fill(first, 0)
            if last != first and end != pages_end:
                self._fill(last, last - first)
            pages = self._pages[: pages_end - first]
            at = position - first
            for piece in pieces:
                put(pages, at, piece)
                at += len(piece)
            fits = self._write(first, pages, flags, look_ns, nothing)
        if fits:
            if last != first:
                self._first[:] = pages[last - first :]
            self.page = last
        if self._blank_from is not None:
            self._blank_from = max(self._blank_from, pages_end)
        return fits

    def _open(self) -> None:
        self._size = os.fstat(self._file).st_size
        self._pages = memoryview(mmap.mmap(-1, DIRECT_BYTES_MAX + PAGE_BYTES))
        self._first = self._pages[:PAGE_BYTES]
        memory = np.frombuffer(self._pages, dtype=np.uint8)
        self._address, self.memory = memory.ctypes.data, memory[:PAGE_BYTES]
        try:
            self._descriptor = os.open(f"/proc/self/fd/{self._file}", os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC)
        except OSError:
            self._descriptor = NONE

    def _write(self, first: int, pages: memoryview, flags: int, look_ns: int, meanwhile: Callable[[], None]) -> bool:
        """Write pages that lie at the beginning of our memory."""
        count = len(pages)
        self.was_displaced = False
        try:
            if look_ns and (writer := self._writer()).is_usable:
                written = writer.write(self._descriptor, self._address, count, first, flags, look_ns, meanwhile)
                if written is not None:
                    self.was_displaced = writer.was_displaced
                    return written == count
            return os.pwritev(self._descriptor, (pages,), first, flags) == count
        except OSError as error:
            if error.errno not in NOT_THIS_WAY:
                raise
            # The file system's pages are others, or it knows no such flags.
            self.close()
            return False

    def _fill(self, page: int, offset: int) -> None:
        """Have a page of the file in our memory."""
        target = self._pages[offset : offset + PAGE_BYTES]
        if self._blank_from is not None and page >= self._blank_from:
            target[:] = bytes(PAGE_BYTES)
            return
        target[:] = os.pread(self._file, PAGE_BYTES, page)


def put(target: memoryview, at: int, data: memoryview) -> None:
    """Copy bytes to target[at:]; other threads may run meanwhile if it is much."""
    if len(data) < MUCH_BYTES:
        target[at : at + len(data)] = data
    else:
        np.frombuffer(target, dtype=np.uint8)[at : at + len(data)] = np.frombuffer(data, dtype=np.uint8)
