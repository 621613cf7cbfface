"""A transaction that commits, as the log knows it: the places of its records, its effects, its
answer.

Must not know records, files or rows.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

from sql.errors import SqlError

Answer = Callable[[SqlError | None], None]


class Place(NamedTuple):
    """A place in the log: a position in bytes, and the sequence number of the record that begins
    there.
    """

    position: int
    sequence: int


class Mark(NamedTuple):
    """The place of a checkpoint in the log.

    Attributes:
        decided: the checkpoint has the transactions that were decided before this place, and no
            others.
        first: the first record that may belong to a transaction decided later, at which a replay
            begins.
        oldest_transaction: no transaction with a lower number is decided later.
        next_transaction: number of the next transaction to begin.
    """

    decided: Place
    first: Place
    oldest_transaction: int
    next_transaction: int


class Commit(ABC):
    """A transaction whose last record is in the log.

    Attributes:
        answer: a function that gets None, or the reason of the failure.
        waits: true if the answer comes after the commit is durable (synchronous_commit).
        first, last: the places of the first record and of the record that decides.
    """

    __slots__ = ("answer", "first", "last", "waits")

    def __init__(self, answer: Answer, waits: bool) -> None:
        self.answer = answer
        self.waits = waits
        self.first: tuple[int, int] = Place(0, 0)
        self.last: tuple[int, int] = self.first

    @abstractmethod
    def apply(self) -> None:
        """Bring the rows into the views; the caller holds the commit lock. Can't fail."""

    @abstractmethod
    def publish(self) -> None:
        """Bring the rows into the rings, after all earlier commits are applied. Can't fail."""


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
        """True when `wait` returns at once."""
        return self._done.is_set()

    def wait(self) -> None:
        """Return when the commit is done. Raises SqlError when the commit has failed."""
        self._done.wait()
        if self._error is not None:
            raise self._error
