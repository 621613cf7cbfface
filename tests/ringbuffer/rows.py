"""Reading DataRow and CopyData messages back in plain Python."""

from __future__ import annotations

import struct


def messages(data: bytes, kind: bytes) -> list[bytes]:
    """Return the bodies of framed messages that all have the type byte `kind`."""
    bodies = []
    at = 0
    while at < len(data):
        assert data[at : at + 1] == kind
        (length,) = struct.unpack_from("!i", data, at + 1)
        bodies.append(data[at + 5 : at + 1 + length])
        at += 1 + length
    assert at == len(data)
    return bodies


def data_row(body: bytes) -> list[bytes | None]:
    """Return the fields of a DataRow's body."""
    (count,) = struct.unpack_from("!h", body)
    fields: list[bytes | None] = []
    at = 2
    for _ in range(count):
        (length,) = struct.unpack_from("!i", body, at)
        at += 4
        if length < 0:
            fields.append(None)
        else:
            fields.append(body[at : at + length])
            at += length
    assert at == len(body)
    return fields
