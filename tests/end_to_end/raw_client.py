"""A client that says exactly what a test tells it, and keeps every word of the answer: protocol 3
by hand over a socket.

Enters: frontend messages built by the functions below. Leaves: the backend's messages as one line
of text each, so that two servers' answers compare with ==. What can't be equal is left out: table
OIDs, process ids, file and line of PostgreSQL's sources.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

WAIT_S_MAX = 60.0
SYNC = b"S\x00\x00\x00\x04"
FLUSH = b"H\x00\x00\x00\x04"
COPY_DONE = b"c\x00\x00\x00\x04"
TERMINATE = b"X\x00\x00\x00\x04"


def frame(kind: bytes, body: bytes) -> bytes:
    """Return a message with its type byte and length."""
    return kind + struct.pack("!i", len(body) + 4) + body


def query(text: str) -> bytes:
    """Return a Query."""
    return frame(b"Q", text.encode() + b"\0")


def parse(text: str, name: str = "", oids: Sequence[int] = ()) -> bytes:
    """Return a Parse."""
    return frame(b"P", f"{name}\0{text}\0".encode() + struct.pack(f"!h{len(oids)}i", len(oids), *oids))


def bind(
    values: Sequence[bytes | None] = (),
    statement: str = "",
    portal: str = "",
    formats: Sequence[int] = (),
    results: Sequence[int] = (),
) -> bytes:
    """Return a Bind."""
    parts = [f"{portal}\0{statement}\0".encode(), struct.pack(f"!h{len(formats)}h", len(formats), *formats)]
    parts.append(struct.pack("!h", len(values)))
    for value in values:
        parts.append(b"\xff\xff\xff\xff" if value is None else struct.pack("!i", len(value)) + value)
    parts.append(struct.pack(f"!h{len(results)}h", len(results), *results))
    return frame(b"B", b"".join(parts))


def describe(kind: str, name: str = "") -> bytes:
    """Return a Describe of a statement ('S') or portal ('P')."""
    return frame(b"D", f"{kind}{name}\0".encode())


def execute(portal: str = "", row_limit: int = 0) -> bytes:
    """Return an Execute."""
    return frame(b"E", f"{portal}\0".encode() + struct.pack("!i", row_limit))


def close(kind: str, name: str = "") -> bytes:
    """Return a Close."""
    return frame(b"C", f"{kind}{name}\0".encode())


def copy_data(data: bytes) -> bytes:
    """Return a CopyData."""
    return frame(b"d", data)


def copy_fail(reason: str) -> bytes:
    """Return a CopyFail."""
    return frame(b"f", reason.encode() + b"\0")


class RawClient:
    """One connection. The startup is done when the constructor returns."""

    def __init__(self, port: int, user: str, database: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), WAIT_S_MAX)
        self._received = b""
        self.process_id = 0
        self.secret_key = 0
        pairs = f"user\0{user}\0database\0{database}\0\0".encode()
        self._socket.sendall(struct.pack("!ii", len(pairs) + 8, 0x30000) + pairs)
        self.read_until_ready()

    def send(self, *messages: bytes) -> None:
        """Send messages in one piece."""
        self._socket.sendall(b"".join(messages))

    def ask(self, *messages: bytes) -> list[str]:
        """Send messages and return the answer up to ReadyForQuery."""
        self.send(*messages)
        return self.read_until_ready()

    def ask_in_full(self, text: str) -> list[Answer]:
        """Send a Query and return its answers, errors and notices with all their fields."""
        self.send(query(text))
        answers = []
        while (received := self._read()) is not None and received[0] != "Z":
            answers.append(in_full(*received))
        return answers

    def say_all(self, messages: Sequence[bytes]) -> list[str]:
        """Send all messages, say goodbye, and return everything that the server answered."""
        self.send(*messages, TERMINATE)
        lines = []
        while (received := self._read()) is not None:
            lines.append(render(*received))
        self._socket.close()
        return lines

    def read_until_ready(self) -> list[str]:
        """Return the server's messages up to and including the next ReadyForQuery."""
        return self.read_until("Z")

    def read_until(self, kinds: str) -> list[str]:
        """Return the server's messages up to and including the first whose type is in `kinds`."""
        lines = []
        while (received := self._read()) is not None:
            kind, body = received
            if kind == "K":
                self.process_id, self.secret_key = struct.unpack("!iI", body)
            lines.append(render(kind, body))
            if kind in kinds:
                return lines
        raise ConnectionError(f"the server hung up after {lines}")

    def read_row(self) -> list[bytes | None]:
        """Return the values of the next message, which is a DataRow."""
        received = self._read()
        assert received is not None and received[0] == "D", received
        return _values(received[1])

    def read_copied(self) -> bytes:
        """Return what a COPY TO STDOUT that has begun carries, and read on until the server is
        ready.
        """
        found = b""
        while (received := self._read()) is not None and received[0] != "c":
            assert received[0] == "d", received
            found += received[1]
        self.read_until_ready()
        return found

    def hang_up(self) -> None:
        """Close the socket without a word."""
        self._socket.close()

    def _read(self) -> tuple[str, bytes] | None:
        head = self._take(5)
        if head is None:
            return None
        body = self._take(struct.unpack("!i", head[1:])[0] - 4)
        return None if body is None else (chr(head[0]), body)

    def _take(self, count: int) -> bytes | None:
        while len(self._received) < count:
            try:
                piece = self._socket.recv(65536)
            except ConnectionResetError:
                return None
            if not piece:
                return None
            self._received += piece
        taken, self._received = self._received[:count], self._received[count:]
        return taken


def cancel(port: int, client: RawClient) -> None:
    """Send a CancelRequest for `client` and wait until the server has taken it."""
    with socket.create_connection(("127.0.0.1", port), WAIT_S_MAX) as connection:
        connection.sendall(struct.pack("!iiiI", 16, 80877102, client.process_id, client.secret_key))
        connection.recv(1)


def render(kind: str, body: bytes) -> str:
    """Return a backend message as text."""
    match kind:
        case "T":
            return " ".join(["T", *_row_description(body)])
        case "t":
            return f"t {struct.unpack(f'!{(len(body) - 2) // 4}i', body[2:])}"
        case "D":
            return f"D {_values(body)}"
        case "C":
            return f"C {_text(body)}"
        case "Z":
            return f"Z {body.decode()}"
        case "S":
            name, value, _ = body.decode().split("\0")
            return f"S {name}={value}"
        case "E" | "N":
            return _error(kind, body)
        case "G" | "H":
            return f"{kind} {body.hex()}"
        case "d":
            return f"d {body!r}"
        case _:
            return kind


# A message as text, and the fields of an error or a notice that PostgreSQL prints beneath it.
Answer = tuple[str, dict[str, str]]
FIELDS = {"P": "position", "D": "detail", "H": "hint", "t": "table", "c": "column", "n": "constraint", "W": "context"}


def in_full(kind: str, body: bytes) -> Answer:
    """Return a backend message as text, and what else there is to an error or a notice."""
    if kind not in "EN":
        return render(kind, body), {}
    found = {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}
    return f"{kind} {found['C']}: {found['M']}", {
        name: found[letter] for letter, name in FIELDS.items() if letter in found
    }


def _error(kind: str, body: bytes) -> str:
    fields = {part[:1].decode(): part[1:].decode() for part in body.split(b"\0") if part}
    position = f" at {fields['P']}" if "P" in fields else ""
    return f"{kind} {fields['V']} {fields['C']}{position}: {fields['M']}"


def _row_description(body: bytes) -> list[str]:
    offset, fields = 2, []
    while offset < len(body):
        end = body.index(b"\0", offset)
        _, _, oid, size, typmod, code = struct.unpack_from("!ihihih", body, end + 1)
        fields.append(f"{body[offset:end].decode()}:{oid}:{size}:{typmod}:{code}")
        offset = end + 19
    return fields


def _values(body: bytes) -> list[bytes | None]:
    offset, values = 2, list[bytes | None]()
    while offset < len(body):
        (length,) = struct.unpack_from("!i", body, offset)
        offset += 4
        values.append(None if length < 0 else body[offset : offset + length])
        offset += max(length, 0)
    return values


def _text(body: bytes) -> str:
    return body.rstrip(b"\0").decode()
