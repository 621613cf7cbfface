"""The heads of Arrow's IPC messages: where their parts are, and how much they say.

Enters: the metadata of a message, a flatbuffer of a client. Leaves: the kind and the size of its
body, or 22P04 for bytes that are no head, 54000 for one that says too much, 0A000 for a compressed
batch. Must not know what comes after the head.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from sql.errors import SqlError, not_supported

BAD_FORMAT, TOO_LARGE = "22P04", "54000"
# Of all fields and texts of a head, each as often as it is named.
WRITTEN_OUT_BYTES_MAX = 1 << 24
TABLE_BYTES = 64

# Fields of flatbuffers tables: of a message, of a batch of rows, of a batch of a dictionary, of a
# schema, of a field in it, of the types whose length varies, of a pair of texts.
HEADER_TYPE, HEADER, BODY_BYTES, MESSAGE_PAIRS = 1, 2, 3, 4
COMPRESSION = 3
DICTIONARY_DATA = 1
SCHEMA_FIELDS, SCHEMA_PAIRS = 1, 2
NAME, TYPE_KIND, TYPE, CHILDREN, FIELD_PAIRS = 0, 2, 3, 5, 6
ZONE_OR_NUMBERS = 1
KEY, VALUE = 0, 1
# Types of headers, and of fields.
SCHEMA, DICTIONARY, RECORDS = 1, 2, 3
TIMESTAMP, UNION = 10, 14


def message_parts(metadata: bytes) -> tuple[int, int]:
    """Return the kind of a message and the bytes of its body. Raises SqlError."""
    try:
        table = place_after(metadata, 0)
        kind_at, header_at, size_at = (field(metadata, table, one) for one in (HEADER_TYPE, HEADER, BODY_BYTES))
        kind = metadata[kind_at] if kind_at else 0
        size = number(metadata, size_at, "<q") if size_at else 0
        if kind not in (SCHEMA, DICTIONARY, RECORDS) or size < 0 or not header_at or (kind == SCHEMA and size):
            raise ValueError(kind, size)
        header = place_after(metadata, header_at)
        written_out = pairs_bytes(metadata, table, MESSAGE_PAIRS)
        if kind == SCHEMA:
            require_short(metadata, header, written_out)
            return kind, size
        require_room(written_out)
        records = place_after(metadata, field(metadata, header, DICTIONARY_DATA)) if kind == DICTIONARY else header
        if field(metadata, records, COMPRESSION):
            raise not_supported("a compressed Arrow batch", hint="Write the stream without compression.")
    except (struct.error, IndexError, ValueError):
        raise SqlError(BAD_FORMAT, "invalid head of an Arrow message") from None
    return kind, size


def require_short(data: bytes, schema: int, written_out: int) -> None:
    """Raise 54000 for a schema that says too much.

    A few bytes can say millions of fields, or long names of them: what is named twice is kept
    twice. written_out: what the message has said before.
    """
    waiting = [(schema, SCHEMA_FIELDS, SCHEMA_PAIRS)]
    while waiting:
        table, fields, pairs = waiting.pop()
        written_out += pairs_bytes(data, table, pairs)
        for one in tables_in(data, table, fields):
            written_out += TABLE_BYTES + length(data, one, NAME)
            kind_at, type_at = field(data, one, TYPE_KIND), field(data, one, TYPE)
            if kind_at and type_at and data[kind_at] in (TIMESTAMP, UNION):
                written_out += 4 * length(data, place_after(data, type_at), ZONE_OR_NUMBERS)
            require_room(written_out)
            waiting.append((one, CHILDREN, FIELD_PAIRS))


def pairs_bytes(data: bytes, table: int, index: int) -> int:
    """Return the bytes of pairs of texts. Raises 54000."""
    found = 0
    for pair in tables_in(data, table, index):
        found += TABLE_BYTES + length(data, pair, KEY) + length(data, pair, VALUE)
        require_room(found)
    return found


def require_room(written_out: int) -> None:
    """Raise 54000 for a head that says too much."""
    if written_out > WRITTEN_OUT_BYTES_MAX:
        raise SqlError(TOO_LARGE, "the head of an Arrow message is too large")


def tables_in(data: bytes, table: int, index: int) -> Iterator[int]:
    """Yield the places of the tables in a field that is a vector of them."""
    at = field(data, table, index)
    if at:
        start = place_after(data, at)
        for place in range(start + 4, start + 4 + 4 * number(data, start, "<I"), 4):
            yield place_after(data, place)


def length(data: bytes, table: int, index: int) -> int:
    """Return how many elements a field that is a text or a vector has, 0 without one."""
    at = field(data, table, index)
    return number(data, place_after(data, at), "<I") if at else 0


def field(data: bytes, table: int, index: int) -> int:
    """Return the place of a field of a flatbuffers table, 0 if the table has none."""
    entries = table - number(data, table, "<i")
    offset = 4 + 2 * index
    if offset + 2 > number(data, entries, "<H"):
        return 0
    found = number(data, entries + offset, "<H")
    return table + found if found else 0


def place_after(data: bytes, at: int) -> int:
    """Return the place to which the offset at `at` points."""
    return at + number(data, at, "<I")


def number(data: bytes, at: int, form: str) -> int:
    """Return a number. Raises struct.error outside of the data."""
    if at < 0:
        raise struct.error(at)
    (found,) = struct.unpack_from(form, data, at)
    return int(found)
