"""The protocol's texts of a client that does not speak UTF8: received ones to UTF-8, and sent ones
to the client's encoding.

Enters: bodies of frontend messages, whole backend messages in UTF-8. Leaves: the same in the other
encoding; SqlError 22021 and 22P05 for characters without an equivalent there. Rows do not tell
their types, so the caller that makes rows gives the types. Must not know sockets or states.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence

from sql.errors import SqlError
from sql.types.datatypes import SqlType
from sql.values.array_binary import ArrayBytes
from sql.values.encodings import Encoding
from sql.wire import writer

HEAD_BYTES = 5
# Messages whose body is text from some byte on; NULs between texts are the same in all encodings.
TEXT_BEGINS = {ord("E"): 0, ord("N"): 0, ord("S"): 0, ord("C"): 0, ord("A"): 4}
ROW_DESCRIPTION = ord("T")
# The bytes after the name of a column in RowDescription.
FIELD_BYTES = 18
# Frontend messages: the place of their strings, and the number of strings.
STRINGS = {
    ord("Q"): (0, 1),
    ord("P"): (0, 2),
    ord("B"): (0, 2),
    ord("D"): (1, 1),
    ord("C"): (1, 1),
    ord("E"): (0, 1),
    ord("f"): (0, 1),
}
# Types whose binary form is their text.
TEXT_FAMILIES = frozenset({"text", "varchar", "bpchar", "unknown", "name", "json"})
COPY_SIGNATURE = b"PGCOPY\n\xff\r\n\0"
COPY_HEADER_BYTES = len(COPY_SIGNATURE) + 8

Recode = Callable[[bytes], bytes]


def received(kind: int, body: bytes, encoding: Encoding) -> bytes:
    """Return the body of a frontend message with its strings in UTF-8.

    Values of Bind stay as they are: the caller that knows their types reads them.
    """
    if body.isascii() or kind not in STRINGS:
        return body
    at, count = STRINGS[kind]
    parts = [body[:at]]
    for _ in range(count):
        end = body.find(0, at)
        if end < 0:
            break
        parts += (encoding.decoded(body[at:end]).encode(), b"\0")
        at = end + 1
    return b"".join((*parts, body[at:]))


def sent(messages: bytes, encoding: Encoding) -> bytes:
    """Return backend messages in the client's encoding, where the texts tell their own place.

    Rows and COPY data stay as they are.

    Raises SqlError, but not for errors: instead of an error whose own text has no equivalent, the
    error about that text is returned.
    """
    if messages.isascii():
        return messages
    recode = to_client(encoding)
    parts: list[bytes] = []
    for kind, body in split(messages):
        try:
            parts.append(writer.message(bytes((kind,)), _sent_body(kind, body, recode)))
        except SqlError as error:
            if kind != ord("E"):
                raise
            parts.append(writer.error_response(error))
    return b"".join(parts)


def sent_rows(messages: bytes, types: Sequence[SqlType], formats: Sequence[int], encoding: Encoding) -> bytes:
    """Return DataRows with their texts in the client's encoding.

    formats: one for each column.
    """
    if messages.isascii():
        return messages
    recode = to_client(encoding)
    return b"".join(writer.message(b"D", _row(body, types, formats, recode)) for _, body in split(messages))


def sent_copy(messages: bytes, types: Sequence[SqlType] | None, encoding: Encoding) -> bytes:
    """Return CopyData of COPY TO in the client's encoding.

    types: of the columns in the binary format, None in the other formats.
    """
    if messages.isascii():
        return messages
    recode = to_client(encoding)
    if types is None:
        return b"".join(writer.copy_data(recode(body)) for _, body in split(messages))
    formats = [1] * len(types)
    parts: list[bytes] = []
    for _, body in split(messages):
        start = COPY_HEADER_BYTES if body.startswith(COPY_SIGNATURE) else 0
        parts.append(writer.copy_data(body[:start] + _row(body[start:], types, formats, recode)))
    return b"".join(parts)


def split(messages: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield type and body of each message."""
    at = 0
    while at < len(messages):
        (length,) = struct.unpack_from("!i", messages, at + 1)
        yield messages[at], messages[at + HEAD_BYTES : at + 1 + length]
        at += 1 + length


def to_client(encoding: Encoding) -> Recode:
    """Return the function that converts UTF-8 to the encoding."""

    def recode(data: bytes) -> bytes:
        return data if data.isascii() else encoding.encoded(data.decode())

    return recode


def _sent_body(kind: int, body: bytes, recode: Recode) -> bytes:
    if kind in TEXT_BEGINS:
        start = TEXT_BEGINS[kind]
        return body[:start] + recode(body[start:])
    if kind != ROW_DESCRIPTION:
        return body
    parts, at = [body[:2]], 2
    while at < len(body):
        end = body.index(0, at)
        parts += (recode(body[at:end]), body[end : end + 1 + FIELD_BYTES])
        at = end + 1 + FIELD_BYTES
    return b"".join(parts)


def _row(body: bytes, types: Sequence[SqlType], formats: Sequence[int], recode: Recode) -> bytes:
    """Return one row: a count, and the values with their lengths; a negative count ends a COPY."""
    parts, at = [body[:2]], 2
    for kind, code in zip(types, formats, strict=True):
        if at == len(body):
            break
        (length,) = struct.unpack_from("!i", body, at)
        at += 4
        if length < 0:
            parts.append(struct.pack("!i", length))
            continue
        value = body[at : at + length]
        at += length
        value = _binary(value, kind, recode) if code else recode(value)
        parts += (struct.pack("!i", len(value)), value)
    return b"".join(parts)


def _binary(value: bytes, kind: SqlType, recode: Recode) -> bytes:
    """Return a binary form whose texts are recoded."""
    if value.isascii():
        return value
    if kind.is_array:
        return _binary_array(value, kind.element, recode)
    if kind.record is not None:
        return _binary_record(value, kind.record.types, recode)
    if kind.enum is not None or kind.family in TEXT_FAMILIES:
        return recode(value)
    # Before jsonb stands a version.
    return value[:1] + recode(value[1:]) if kind.family == "jsonb" else value


def _binary_record(value: bytes, kinds: Sequence[SqlType], recode: Recode) -> bytes:
    source = ArrayBytes(value)
    source.take(4)
    parts = [value[: source.place]]
    for kind in kinds:
        parts.append(source.take(4))
        length = source.int32()
        item = _binary(source.take(length), kind, recode) if length >= 0 else b""
        parts += (struct.pack("!i", len(item) if length >= 0 else length), item)
    return b"".join(parts)


def _binary_array(value: bytes, element: SqlType, recode: Recode) -> bytes:
    source = ArrayBytes(value)
    dimensions = source.int32()
    source.take(8 + 8 * dimensions)
    parts = [value[: source.place]]
    while source.place < len(value):
        length = source.int32()
        item = _binary(source.take(length), element, recode) if length >= 0 else b""
        parts += (struct.pack("!i", len(item) if length >= 0 else length), item)
    return b"".join(parts)
