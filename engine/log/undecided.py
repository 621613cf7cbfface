"""The transactions that have records in the log and are not decided yet: from where on the log is
kept for them.

Enters: numbers of transactions and the places of their first records. The caller holds the log's
append lock. A transaction is begun by its commit, or *ahead*, while its statement goes on. A client
may be idle in the middle of a statement, and the log has to be cut some day: records of such a
statement are forgotten, and its commit appends them once more. Must not know records.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.log.commits import Place

# The log is kept for a statement that goes on until so many times as much as it has appended was
# written since its first record.
HELD_SHARE = 16


@dataclass(slots=True)
class Ahead:
    """Bytes that a statement that goes on has in the log: now, and at the last cut."""

    bytes_count: int = 0
    bytes_before: int = 0


class Undecided:
    """The undecided transactions of one log."""

    def __init__(self) -> None:
        self._first: dict[int, Place] = {}
        self._ahead: dict[int, Ahead] = {}

    def begin(self, number: int, place: Place, ahead: bool) -> None:
        """Add a transaction whose first record comes to `place`.

        ahead: its statement goes on, perhaps for long; until `claim` it may be forgotten.
        """
        self._first[number] = place
        if ahead:
            self._ahead[number] = Ahead()

    def note(self, number: int, size: int) -> None:
        """Note that a record of a transaction was appended."""
        if number in self._ahead:
            self._ahead[number].bytes_count += size

    def is_known(self, number: int) -> bool:
        """Tell whether a transaction is undecided, and not forgotten."""
        return number in self._first

    def claim(self, number: int) -> bool:
        """Keep a transaction that was begun ahead until its end; False: it is forgotten."""
        return self._ahead.pop(number, None) is not None

    def end(self, number: int) -> None:
        """Forget a transaction that is decided, or will never be."""
        self._first.pop(number, None)
        self._ahead.pop(number, None)

    def forget_idle(self, position: int) -> None:
        """Forget the transactions begun ahead that have appended nothing since the last call, or by
        far less than the others. position: the end of the log.
        """
        for number, ahead in list(self._ahead.items()):
            held = position - self._first[number].position
            if ahead.bytes_count == ahead.bytes_before or held > HELD_SHARE * ahead.bytes_count:
                self.end(number)
            ahead.bytes_before = ahead.bytes_count

    def first(self, number: int, default: Place) -> Place:
        """Return the place where the records of a transaction began, or `default`."""
        return self._first.get(number, default)

    def places(self) -> Iterable[Place]:
        """Return the places where the records of all of them began."""
        return self._first.values()

    def oldest(self, default: int) -> int:
        """Return the lowest number, or `default`."""
        return min(self._first, default=default)
