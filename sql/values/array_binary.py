"""PostgreSQL's binary form of arrays to the values of their elements.

More dimensions than one and other lower bounds are 0A000.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from sql.errors import SqlError, not_supported
from sql.types.datatypes import LiteralValue, SqlType, by_oid
from sql.values.array_text import DIMENSIONS_MAX

BUILT_IN_END = 10_000
INSUFFICIENT = "insufficient data left in message"


class ArrayBytes:
    """A reader of numbers and pieces from the front of a message."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.place = 0

    def int32(self) -> int:
        """Return the next four bytes as a signed number."""
        return int(struct.unpack(">i", self.take(4))[0])

    def take(self, size: int) -> bytes:
        """Return the next `size` bytes."""
        if self.place + size > len(self.data):
            raise SqlError("08P01", INSUFFICIENT)
        self.place += size
        return self.data[self.place - size : self.place]


def array_value(
    data: bytes, element: SqlType, read: Callable[[bytes, SqlType], LiteralValue]
) -> tuple[LiteralValue, ...]:
    """Return the elements of an array; `read` reads one element."""
    source = ArrayBytes(data)
    dimensions = source.int32()
    if dimensions < 0:
        raise SqlError("22P03", f"invalid number of dimensions: {dimensions}")
    if dimensions > DIMENSIONS_MAX:
        message = f"number of array dimensions ({dimensions}) exceeds the maximum allowed ({DIMENSIONS_MAX})"
        raise SqlError("54000", message)
    if source.int32() not in (0, 1):
        raise SqlError("22P03", "invalid array flags")
    check_element(source.int32() & 0xFFFFFFFF, element)
    if dimensions == 0:
        finish(source)
        return ()
    bounds = [(source.int32(), source.int32()) for _ in range(dimensions)]
    if dimensions > 1:
        raise not_supported("an array of more than one dimension")
    count, lower = bounds[0]
    if count < 0:
        raise SqlError("54000", "array size exceeds the maximum allowed (134217727)")
    if lower != 1:
        raise not_supported("an array whose lower bound is not 1")
    values = tuple(element_value(source, index, element, read) for index in range(count))
    finish(source)
    return values


def element_value(
    source: ArrayBytes, index: int, element: SqlType, read: Callable[[bytes, SqlType], LiteralValue]
) -> LiteralValue:
    size = source.int32()
    if size == -1:
        return None
    if size < -1 or source.place + size > len(source.data):
        raise SqlError("22P03", INSUFFICIENT)
    try:
        return read(source.take(size), element)
    except SqlError as error:
        if error.message == "incorrect binary data format":
            raise SqlError("22P03", f"improper binary format in array element {index + 1}") from None
        raise


def check_element(oid: int, element: SqlType) -> None:
    """Raise 42804 when the message is an array of other elements."""
    # A type that is not built in is taken for the wanted one, as PostgreSQL does.
    if oid == element.oid or oid >= BUILT_IN_END:
        return
    found = by_oid(oid)
    name = found.row.sql_name if found is not None else "???" if oid else "-"
    expected = element.row.sql_name
    message = f"binary data has array element type {oid} ({name}) instead of expected {element.oid} ({expected})"
    raise SqlError("42804", message)


def finish(source: ArrayBytes) -> None:
    if source.place < len(source.data):
        raise SqlError("22P03", "incorrect binary data format")
