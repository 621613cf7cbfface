"""The batches of producers that were applied last, by which a retry is known.

Enters: the batch of each commit that has one, in the order of the log; at a start those of the
checkpoint, and of the log after it. Leaves: the last one of a producer, and all of them for the
next checkpoint. A producer that has been silent for too long is forgotten. Must not know rows.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

from sql.errors import SqlError

# The oid of the role, the number, the digest, and the bytes of the producer's name after it.
HEAD = struct.Struct("<Iq16sH")
DIGEST_BYTES = 16
# Of all roles together: some 300 bytes of memory each.
PRODUCERS_MAX = 100_000


class Batch(NamedTuple):
    """The writes of one transaction, as their producer names them.

    Attributes:
        role: the oid of the producer's role.
        producer: its name, of at most PRODUCER_BYTES_MAX bytes.
        digest: of the rows, DIGEST_BYTES bytes.
    """

    role: int
    producer: str
    number: int
    digest: bytes

    def to_bytes(self) -> bytes:
        """Return the form in the log and in checkpoints."""
        name = self.producer.encode()
        return HEAD.pack(self.role, self.number, self.digest, len(name)) + name

    @classmethod
    def from_bytes(cls, data: bytes) -> Batch:
        """Return what `to_bytes` was called on. Raises ValueError."""
        if len(data) < HEAD.size:
            raise ValueError("a batch is too short")
        role, number, digest, size = HEAD.unpack_from(data)
        if len(data) != HEAD.size + size:
            raise ValueError("a batch has another length than it says")
        return cls(role, data[HEAD.size :].decode(), number, digest)


class Batches:
    """The last batch of each producer of each role.

    Writing and copying them needs the commit lock; reading one needs no lock.
    """

    def __init__(self, ttl_s: float) -> None:
        """Begin with none. ttl_s: how long a silent producer is remembered, 0: for ever."""
        self._ttl_us = int(ttl_s * 1e6)
        # In the order of their times.
        self._last: dict[tuple[int, str], tuple[Batch, int]] = {}

    def last(self, role: int, producer: str, now_us: int) -> Batch | None:
        """Return the last batch of a producer, None for one that is not remembered."""
        found = self._last.get((role, producer))
        return None if found is None or self._is_over(found[1], now_us) else found[0]

    def require_room(self, now_us: int) -> None:
        """Raise 53400 where no further producer can be remembered."""
        if len(self._last) >= PRODUCERS_MAX:
            oldest_us = next(iter(self._last.values()))[1]
            if not self._is_over(oldest_us, now_us):
                hint = "Let producers keep their names, or forget silent ones earlier (batch_producer_ttl)."
                raise SqlError("53400", f"there are {PRODUCERS_MAX:,} producers of batches", hint=hint)

    def note(self, batch: Batch, time_us: int) -> None:
        """Remember a batch that is applied, at a time that is not before that of another one."""
        self._last.pop((batch.role, batch.producer), None)
        self._last[batch.role, batch.producer] = batch, time_us
        self._forget(time_us)

    def kept(self, now_us: int) -> list[tuple[Batch, int]]:
        """Return all batches with their times, as `note` takes them."""
        self._forget(now_us)
        return list(self._last.values())

    def _forget(self, now_us: int) -> None:
        while self._last:
            oldest = next(iter(self._last))
            if not self._is_over(self._last[oldest][1], now_us):
                return
            del self._last[oldest]

    def _is_over(self, time_us: int, now_us: int) -> bool:
        return 0 < self._ttl_us <= now_us - time_us
