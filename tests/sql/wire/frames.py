"""Frontend messages as bytes, built by hand for the tests."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from sql.wire.conversation import Conversation
from sql.wire.messages import Bind, CopyData, FrontendMessage

MESSAGE_BYTES_MAX = 1_000_000

SYNC_FRAME = b"S\x00\x00\x00\x04"
FLUSH_FRAME = b"H\x00\x00\x00\x04"
COPY_DONE_FRAME = b"c\x00\x00\x00\x04"
TERMINATE_FRAME = b"X\x00\x00\x00\x04"


def frame(kind: bytes, body: bytes) -> bytes:
    """Return a message with its type byte and length."""
    return kind + struct.pack("!i", len(body) + 4) + body


def opening(code: int, body: bytes = b"") -> bytes:
    """Return a packet without type byte, as connections begin with."""
    return struct.pack("!iI", len(body) + 8, code) + body


def startup(*, version: int = 0x30000, **parameters: str) -> bytes:
    """Return a StartupMessage."""
    pairs = b"".join(f"{name}\0{value}\0".encode() for name, value in parameters.items())
    return opening(version, pairs + b"\0")


def query(text: str) -> bytes:
    """Return a Query."""
    return frame(b"Q", text.encode() + b"\0")


def bind(
    values: Sequence[bytes | None], formats: Sequence[int] = (), results: Sequence[int] = (), statement: str = ""
) -> bytes:
    """Return a Bind of the unnamed portal."""
    fields = b"".join(
        b"\xff\xff\xff\xff" if value is None else struct.pack("!i", len(value)) + value for value in values
    )
    return frame(
        b"B",
        b"\0"
        + statement.encode()
        + b"\0"
        + struct.pack(f"!h{len(formats)}h", len(formats), *formats)
        + struct.pack("!h", len(values))
        + fields
        + struct.pack(f"!h{len(results)}h", len(results), *results),
    )


def ready_conversation() -> Conversation:
    """Return a conversation after its startup."""
    conversation = Conversation(MESSAGE_BYTES_MAX)
    conversation.receive(startup(user="ann", database="antumbra"))
    return conversation


def comparable(messages: Sequence[FrontendMessage]) -> list[object]:
    """Return messages in a form that compares by content: Bind by its values, neighbouring CopyData
    as one.
    """
    plain: list[object] = []
    copied = bytearray()
    for message in messages:
        if isinstance(message, CopyData):
            copied += message.data
            continue
        if copied:
            plain.append(bytes(copied))
            copied = bytearray()
        if isinstance(message, Bind):
            plain.append(
                (
                    message.portal,
                    message.statement,
                    message.parameter_formats,
                    message.parameters(),
                    message.result_formats,
                )
            )
        else:
            plain.append(message)
    if copied:
        plain.append(bytes(copied))
    return plain
