"""State as pages, its only serial form: named arrays with checksums, one after the other, as a
stream.

Enters: arrays of numbers. Leaves: the same arrays, or DamagedPagesError. Form 1, little endian:
magic u32, form u32, CRC-32 of both u32; for each page its head (HEAD: magic, number from 0 on, name
bytes, dtype as kind and size, dimensions, rows, columns), the name, the CRC-32 of head and name
u32, the array in C order, its CRC-32 u32; at the end a head with the magic of the end mark and the
count of pages, and its CRC-32. Writer and reader hold one chunk beside the arrays. Must not know
what the arrays mean, where they are kept, or SQL.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt

Write = Callable[[bytes | memoryview], object]
Read = Callable[[int], bytes]

MAGIC = int.from_bytes(b"APGS", "little")
PAGE_MAGIC = int.from_bytes(b"PAGE", "little")
END_MAGIC = int.from_bytes(b"PEND", "little")
PAGES_FORM = 1

START = struct.Struct("<II")
# magic, number, name bytes, dtype, dimensions, rows, columns
HEAD = struct.Struct("<IIH2sIQQ")
CHECKSUM = struct.Struct("<I")

DTYPES = {name.encode(): np.dtype(f"<{name}") for name in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8")}
NAME_BYTES_MAX = 0xFFFF
# Small enough that the second to touch a chunk finds it in the cache, large enough that the calls
# do not count.
CHUNK_BYTES = 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """A named array [rows] or [rows, columns] of integers or floats."""

    name: str
    array: npt.NDArray[Any]


class DamagedPagesError(Exception):
    """The bytes read are not the bytes written.

    Attributes:
        name: the page, "" outside of any.
        offset: bytes from the first one read to the part that is wrong.
        problem: what is wrong there.
    """

    def __init__(self, name: str, offset: int, problem: str) -> None:
        super().__init__(f'page "{name}" at byte {offset}: {problem}' if name else f"byte {offset}: {problem}")
        self.name = name
        self.offset = offset
        self.problem = problem


def write_pages(write: Write, pages: Iterable[Page]) -> None:
    """Pass the bytes of pages to `write`, piece by piece; a piece is valid during the call only.

    Raises what `write` raises.
    """
    start = START.pack(MAGIC, PAGES_FORM)
    write(start + CHECKSUM.pack(crc32(start)))
    count = 0
    for page in pages:
        _write_page(write, page, count)
        count += 1
    end = HEAD.pack(END_MAGIC, count, 0, b"\0\0", 0, 0, 0)
    write(end + CHECKSUM.pack(crc32(end)))


def _write_page(write: Write, page: Page, number: int) -> None:
    array, name = page.array, page.name.encode()
    dtype = f"{array.dtype.kind}{array.dtype.itemsize}".encode()
    assert DTYPES.get(dtype) == array.dtype, (page.name, array.dtype)
    assert array.ndim in (1, 2) and len(name) <= NAME_BYTES_MAX, (page.name, array.shape)
    columns = array.shape[1] if array.ndim == 2 else 1
    head = HEAD.pack(PAGE_MAGIC, number, len(name), dtype, array.ndim, array.shape[0], columns) + name
    write(head + CHECKSUM.pack(crc32(head)))
    checksum = 0
    for piece in _pieces(array):
        checksum = crc32(piece, checksum)
        write(piece)
    write(CHECKSUM.pack(checksum))


def _pieces(array: npt.NDArray[Any]) -> Iterator[memoryview]:
    """Yield the bytes of an array in C order; an array in another order is copied piece by
    piece.
    """
    if array.size == 0:
        return
    if array.flags.c_contiguous:
        view = array.data.cast("B")
        for start in range(0, len(view), CHUNK_BYTES):
            yield view[start : start + CHUNK_BYTES]
        return
    rows = max(1, CHUNK_BYTES // (array.nbytes // array.shape[0]))
    for start in range(0, array.shape[0], rows):
        yield np.ascontiguousarray(array[start : start + rows]).data.cast("B")


def read_pages(read: Read) -> Iterator[Page]:
    """Yield the pages in the order of writing, each one verified.

    read(size): returns the next `size` bytes, fewer only at the end. That no page is missing is
    known when the iterator ends. Raises DamagedPagesError, also when bytes follow the end mark.
    """
    source = _Source(read)
    start = source.take(START.size, "", "the start")
    magic, form = START.unpack(start)
    if magic != MAGIC:
        raise DamagedPagesError("", 0, "these are no pages")
    source.checked(0, start, "the start")
    if form != PAGES_FORM:
        raise DamagedPagesError("", START.size - 4, f"pages of form {form}; this server reads form {PAGES_FORM}")
    count = 0
    while True:
        offset = source.offset
        head = source.take(HEAD.size, "", "a page's head")
        magic, number, name_bytes, dtype, dimensions, rows, columns = HEAD.unpack(head)
        if magic not in (PAGE_MAGIC, END_MAGIC):
            raise DamagedPagesError("", offset, "neither a page nor the end mark")
        content = source.checked(name_bytes, head, "a page's head")
        if number != count:
            raise DamagedPagesError("", offset, f"page or count {number} where {count} was expected")
        if magic == END_MAGIC:
            break
        shape = (rows,) if dimensions == 1 else (rows, columns)
        yield _read_page(source, content.decode(), DTYPES[dtype], shape)
        count += 1
    if source.read(1):
        raise DamagedPagesError("", source.offset, "bytes behind the end mark")


def _read_page(source: _Source, name: str, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Page:
    start = source.offset
    size = math.prod(shape) * dtype.itemsize
    array = np.empty(shape, dtype)
    checksum = 0
    if size:
        view = array.data.cast("B")
        for at in range(0, size, CHUNK_BYTES):
            content = source.take(min(CHUNK_BYTES, size - at), name, "its array")
            checksum = crc32(content, checksum)
            view[at : at + len(content)] = content
    if CHECKSUM.unpack(source.take(CHECKSUM.size, name, "its checksum"))[0] != checksum:
        raise DamagedPagesError(name, start, "its array does not have its checksum")
    return Page(name, array)


class _Source:
    """Bytes in order.

    Attributes:
        offset: how many were taken.
    """

    def __init__(self, read: Read) -> None:
        self.read = read
        self.offset = 0

    def take(self, size: int, name: str, part: str) -> bytes:
        """Return exactly `size` bytes of `part`."""
        content = self.read(size)
        if len(content) != size:
            raise DamagedPagesError(name, self.offset + len(content), f"{part} ends too early")
        self.offset += size
        return content

    def checked(self, size: int, before: bytes, part: str) -> bytes:
        """Return `size` bytes, after a check of the checksum that follows them.

        The checksum is of the bytes `before` and the returned ones.
        """
        start = self.offset - len(before)
        content = self.take(size, "", part)
        if CHECKSUM.unpack(self.take(CHECKSUM.size, "", part))[0] != crc32(content, crc32(before)):
            raise DamagedPagesError("", start, f"{part} does not have its checksum")
        return content
