"""A client that brings a connection into a state, says something wrong there, and looks at
everything that it gets back.

Rounds go out many at a time. Each begins in the state READY, and ends with messages that lead back
there from anywhere; a marker after them tells that the server has followed. A connection that the
server ends is made anew, and what was not answered is forgotten.
"""

from __future__ import annotations

import random
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterator

from tests.end_to_end.raw_client import SYNC, bind, copy_fail, execute, parse, query
from tests.fuzz.mutations import TYPES, message, opening

WAIT_S_MAX = 30.0
ROUNDS_AT_ONCE = 50
ROUNDS_PER_CONNECTION = 1000
OPENINGS = ("startup", "ssl", "gss", "cancel")
READY = b"Z\0\0\0\x05"
BACKEND_KINDS = frozenset(b"RKSZCDTEN123nstGHdcAIvV")
# How a connection comes into each state from READY.
STATES: dict[str, bytes] = {
    "ready": b"",
    "in block": query("BEGIN"),
    "failed block": query("BEGIN; SELECT 1/0"),
    "pipeline": parse("INSERT INTO fz VALUES ($1, $2)") + bind([b"1", b"x"], "", "c"),
    "skipping": parse("SELEC"),
    "copy": query("COPY fz FROM STDIN"),
    "extended copy": parse("COPY fz FROM STDIN") + bind() + execute(),
}
# What a state may receive; of anything else, which ends the connection, a twentieth is sent.
COPYING = "SHXdcf"
RECEIVED = {state: COPYING if "copy" in state else TYPES.replace("p", "") for state in STATES}
STRANGE_SHARE = 20
# The way back, and a row that tells that it was gone.
BACK = copy_fail("way") + SYNC + query("ROLLBACK") + query("SELECT 'back'")
ROW_OF_BACK = b"\0\0\0\x04back"
CLEAN = query("DEALLOCATE ALL; CLOSE ALL; UNLISTEN *; RESET ALL")
STARTUP = b"user\0fuzz\0database\0antumbra\0\0"


class FindingError(AssertionError):
    """The server did something that it must not do. The text has what was sent."""


class Fuzzer:
    """One fuzzing client. counts: messages sent by (state, type)."""

    def __init__(self, port: int, seed: int) -> None:
        self.port = port
        self.counts: Counter[tuple[str, str]] = Counter()
        self.connections_count = 0
        self._draw = random.Random(seed)
        self._socket: socket.socket | None = None
        self._rounds_left = 0
        self._at_once = ROUNDS_AT_ONCE

    def run(self, per_cell: int, passwords: bool) -> None:
        """Send at least `per_cell` messages of each type in each state. passwords: the user
        'locked' is asked for one.
        """
        for state in STATES:
            for kind in TYPES:
                while self.counts[state, kind] < wanted(state, kind, per_cell):
                    self._converse(state, kind)
        self._hang_up()
        for kind in OPENINGS:
            for _ in range(per_cell):
                self._open_wrongly(kind)
        if passwords:
            for _ in range(per_cell):
                self._authenticate_wrongly()

    # After authentication.

    def _converse(self, state: str, kind: str) -> None:
        """Have up to `_at_once` rounds; what is after the end of a connection does not count."""
        connection = self._connected()
        said = [message(self._draw, kind) for _ in range(self._at_once)]
        before = STATES[state]
        data = CLEAN + b"".join(before + one + BACK for one in said)
        answered = b""
        try:
            connection.sendall(data)
            if any(struct.unpack_from("!i", one, 1)[0] != len(one) - 1 for one in said):
                # A frame that lies about its length may have the server wait for more.
                connection.shutdown(socket.SHUT_WR)
            answered = self._read_rounds(connection, len(said))
        except TimeoutError:
            raise FindingError(f"no answer, no end: {[one.hex() for one in said]}") from None
        except OSError:
            self._hang_up()
        check(answered, said)
        finished = answered.count(ROW_OF_BACK)
        if finished < len(said):
            self._hang_up()
        self.counts[state, kind] += min(finished + 1, len(said))
        self._rounds_left -= len(said)
        self._at_once = max(1, min(ROUNDS_AT_ONCE, 2 * finished))

    def _read_rounds(self, connection: socket.socket, rounds_count: int) -> bytes:
        """Return what the server says up to the end of all rounds, or to its own."""
        received = bytearray()
        finished = 0
        while finished < rounds_count and (piece := connection.recv(1 << 18)):
            start = max(len(received) - len(ROW_OF_BACK) + 1, 0)
            received += piece
            finished += received.count(ROW_OF_BACK, start)
        while finished == rounds_count and not is_over(received) and (piece := connection.recv(1 << 18)):
            received += piece
        return bytes(received)

    def _read_all(self, connection: socket.socket) -> bytes:
        """Return what the server says up to its end."""
        received = bytearray()
        while piece := connection.recv(1 << 18):
            received += piece
        return bytes(received)

    def _connected(self) -> socket.socket:
        if self._socket is None or self._rounds_left <= 0:
            self._hang_up()
            self._socket = self._greet(STARTUP)
            self._socket.settimeout(WAIT_S_MAX)
            greeting = bytearray()
            while greeting[-6:-1] != READY:
                piece = self._socket.recv(65536)
                if not piece:
                    raise FindingError(f"not let in: {bytes(greeting)!r}")
                greeting += piece
            self._rounds_left = ROUNDS_PER_CONNECTION
        return self._socket

    def _hang_up(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    # Before it.

    def _greet(self, pairs: bytes) -> socket.socket:
        self.connections_count += 1
        connection = socket.create_connection(("127.0.0.1", self.port), WAIT_S_MAX)
        connection.sendall(struct.pack("!ii", len(pairs) + 8, 0x30000) + pairs)
        return connection

    def _open_wrongly(self, kind: str) -> None:
        self.connections_count += 1
        self.counts["opening", kind] += 1
        said = opening(self._draw, kind)
        with socket.create_connection(("127.0.0.1", self.port), WAIT_S_MAX) as connection:
            self._last_words(connection, said)

    def _authenticate_wrongly(self) -> None:
        self.counts["password", "p"] += 1
        said = message(self._draw, "p")
        with self._greet(STARTUP.replace(b"fuzz", b"locked")) as connection:
            self._last_words(connection, said)

    def _last_words(self, connection: socket.socket, said: bytes) -> None:
        answered = b""
        try:
            connection.sendall(said)
            connection.shutdown(socket.SHUT_WR)
            answered = self._read_all(connection)
        except TimeoutError:
            raise FindingError(f"no answer, no end: {said.hex()}") from None
        except OSError:
            return
        check(answered.lstrip(b"N"), [said])


def is_over(received: bytearray) -> bool:
    """Tell whether ReadyForQuery follows the last marker, and nothing else but whole notifications,
    which may come at any time.
    """
    ready = received.find(READY, received.rindex(ROW_OF_BACK))
    at = ready + len(READY) + 1
    while ready >= 0 and at + 5 <= len(received):
        at += 1 + int.from_bytes(received[at + 1 : at + 5], "big")
    return ready >= 0 and at == len(received)


def wanted(state: str, kind: str, per_cell: int) -> int:
    """Return how many messages of a type are to be sent in a state."""
    return per_cell if kind in RECEIVED[state] else -(-per_cell // STRANGE_SHARE)


def check(answered: bytes, said: list[bytes]) -> None:
    """Raise FindingError if the server's bytes are no messages, or if it tells of a bug of its
    own.
    """
    for kind, body in messages(answered):
        if kind not in BACKEND_KINDS:
            raise FindingError(f"an answer of type {kind}: {[one.hex() for one in said]}")
        if kind == ord("E"):
            fields = {field[:1]: field[1:] for field in body.split(b"\0") if field}
            if not {b"S", b"V", b"C", b"M"} <= fields.keys() or fields[b"C"] == b"XX000":
                raise FindingError(f"{fields}: {[one.hex() for one in said]}")


def messages(answered: bytes) -> Iterator[tuple[int, bytes]]:
    """Return type and body of each whole message. Raises FindingError for a length that can't
    be.
    """
    offset = 0
    while len(answered) - offset >= 5:
        (length,) = struct.unpack_from("!i", answered, offset + 1)
        if length < 4:
            raise FindingError(f"an answer of {length} bytes: {answered[offset : offset + 50]!r}")
        end = offset + 1 + length
        if end > len(answered):
            return
        yield answered[offset], answered[offset + 5 : end]
        offset = end


def resident_bytes(process_id: int) -> int:
    """Return how much memory a process has."""
    with open(f"/proc/{process_id}/statm") as file:
        return int(file.read().split()[1]) * 4096


def seconds_since(start: float) -> float:
    """Return the seconds since `start` of time.monotonic."""
    return time.monotonic() - start
