"""The bytes of whole packets of clients, as one read of the socket brings them.

Enters: packets. Leaves: their parts, without messages made of them. Must not know sessions.
"""

from __future__ import annotations

QUERY = ord("Q")
# The type byte and the length.
HEAD_OFFSET = 5
# Describe of the portal without a name.
DESCRIBE = b"D\0\0\0\x06P\0"
# Execute of the portal without a name, up to its row limit.
EXECUTE = b"E\0\0\0\x09\0"
NO_LIMIT = b"\0\0\0\0"
SYNC = b"S\0\0\0\x04"


def query_text(data: bytes, is_conforming: bool) -> bytes | None:
    """Return the text of a packet that is one Query, None where the text has to be checked or
    decoded first.

    is_conforming: a backslash in a plain constant is itself.
    """
    text = data[HEAD_OFFSET:-1]
    if data[-1] != 0 or int.from_bytes(data[1:HEAD_OFFSET], "big") != len(data) - 1 or not text.isascii() or 0 in text:
        return None
    return None if b"\\" in text and not is_conforming else text
