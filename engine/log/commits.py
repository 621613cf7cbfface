"""What the log knows of a transaction that commits: where its records are, what is to be done once they are durable, and who waits for it.

Must not know records, files or rows.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

from sql.errors import SqlError


class Place(NamedTuple):
    """A place in the log: the position in bytes and the sequence number of the record that begins there."""

    position: int
    sequence: int


class Mark(NamedTuple):
    """What a checkpoint knows of the log. decided: transactions that were decided before it are in the checkpoint, and no others.

    first: of the first record that may belong to a later one, so that replay begins to read there. oldest_transaction: number below which
    no transaction is decided later; next_transaction: number of the next one to begin.
    """

    decided: Place
    first: Place
    oldest_transaction: int
    next_transaction: int


class Commit(ABC):
    """A transaction whose last record is in the log.

    answer: told None, or why it failed. waits: not before it is durable (synchronous_commit).
    first, last: as of Place, where the transaction's first record is and the one that decides it.
    """

    __slots__ = ("answer", "first", "last", "waits")

    def __init__(self, answer: Callable[[SqlError | None], None], waits: bool) -> None:
        self.answer = answer
        self.waits = waits
        self.first: tuple[int, int] = Place(0, 0)
        self.last: tuple[int, int] = self.first

    @abstractmethod
    def apply(self) -> None:
        """Bring it into the views; the caller holds the commit lock. Can't fail."""

    @abstractmethod
    def publish(self) -> None:
        """Bring it into the rings, once all is applied that comes before it. Can't fail."""


class Waiting:
    """The answer to a commit, for a thread that waits for it."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._error: SqlError | None = None

    def answer(self, error: SqlError | None) -> None:
        """Take the answer."""
        self._error = error
        self._done.set()

    @property
    def is_done(self) -> bool:
        """True when `wait` would not wait."""
        return self._done.is_set()

    def wait(self) -> None:
        """Return when the commit is done. Raises SqlError when it failed."""
        self._done.wait()
        if self._error is not None:
            raise self._error
