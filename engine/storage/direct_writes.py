"""Writes to an open file that go past the page cache.

For the file of `engine/storage/storage.py` alone.

Enters: positions and bytes. Leaves: whole pages on the disk, or the answer that the caller has to
write in another way. Must not know what bytes mean.
"""

from __future__ import annotations

import errno
import mmap
import os
from collections.abc import Sequence

import numpy as np

PAGE_BYTES = 4096
# Of one write: what is longer goes in parts.
DIRECT_BYTES_MAX = 1024 * PAGE_BYTES
# More is copied without the interpreter's lock.
MUCH_BYTES = 1 << 15
# Instead of a descriptor: not opened yet, and none to be had.
NOT_YET, NONE = -2, -1
NOT_THIS_WAY = (errno.EINVAL, errno.EOPNOTSUPP)


class DirectWrites:
    """A writer to an open file that goes past the page cache, so that a sync has less to do.

    It works where the file system allows it, and writes the whole pages around the bytes. Only this
    object changes the file while it is in use, except for the writes that it has refused.
    blank_from: from there on the file has nothing but zeros; None: not known.
    """

    __slots__ = ("_blank_from", "_descriptor", "_file", "_first", "_page", "_pages", "_size")

    def __init__(self, descriptor: int, blank_from: int | None) -> None:
        self._file = descriptor
        self._descriptor = NOT_YET
        self._size = 0
        self._blank_from = blank_from
        # Memory at an address that direct writes take, which begins with the page that was written
        # last: of the file at `_page`, -1: none.
        self._pages = self._first = memoryview(b"")
        self._page = -1

    def write(self, position: int, data: memoryview, flags: int = 0) -> bool:
        """Write, if direct writes can do it. Raises OSError.

        False: nothing is written, and the caller has to write all of it in another way. flags: as
        of pwritev.
        """
        page, end = self._page, position + len(data)
        if 0 <= page <= position and end <= page + PAGE_BYTES:
            # Every small commit but the first of a page.
            self._first[position - page : end - page] = data
            self._page = -1
            if not self._write(page, self._first, flags):
                return False
            self._page = page
            return True
        return self.write_pages(position, end, (data,), flags)

    def close(self) -> None:
        """Close the descriptor for direct writes, not the file."""
        self._page = -1
        descriptor, self._descriptor = self._descriptor, NONE
        if descriptor >= 0:
            os.close(descriptor)

    def write_pages(self, position: int, end: int, pieces: Sequence[memoryview], flags: int = 0) -> bool:
        """Write pieces from `position` up to `end`, as `write` does."""
        if self._descriptor == NOT_YET:
            self._open()
        first = position - position % PAGE_BYTES
        pages_end = end + -end % PAGE_BYTES
        known, self._page = self._page, -1
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
            fits = self._write(first, pages, flags)
        if fits:
            if last != first:
                self._first[:] = pages[last - first :]
            self._page = last
        if self._blank_from is not None:
            self._blank_from = max(self._blank_from, pages_end)
        return fits

    def _open(self) -> None:
        self._size = os.fstat(self._file).st_size
        self._pages = memoryview(mmap.mmap(-1, DIRECT_BYTES_MAX + PAGE_BYTES))
        self._first = self._pages[:PAGE_BYTES]
        try:
            self._descriptor = os.open(f"/proc/self/fd/{self._file}", os.O_RDWR | os.O_DIRECT | os.O_CLOEXEC)
        except OSError:
            self._descriptor = NONE

    def _write(self, first: int, pages: memoryview, flags: int) -> bool:
        """Write pages from the beginning of our memory."""
        try:
            return os.pwritev(self._descriptor, (pages,), first, flags) == len(pages)
        except OSError as error:
            if error.errno not in NOT_THIS_WAY:
                raise
            # The file system's pages are others, or it knows no such flags.
            self.close()
            return False

    def _fill(self, page: int, offset: int) -> None:
        """Read a page of the file into our memory."""
        target = self._pages[offset : offset + PAGE_BYTES]
        if self._blank_from is not None and page >= self._blank_from:
            target[:] = bytes(PAGE_BYTES)
            return
        target[:] = os.pread(self._file, PAGE_BYTES, page)


def put(target: memoryview, at: int, data: memoryview) -> None:
    """Copy bytes to target[at:]; many bytes release the interpreter."""
    if len(data) < MUCH_BYTES:
        target[at : at + len(data)] = data
    else:
        np.frombuffer(target, dtype=np.uint8)[at : at + len(data)] = np.frombuffer(data, dtype=np.uint8)
