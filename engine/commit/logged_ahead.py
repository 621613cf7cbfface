"""The records in the log of a statement that goes on, before its transaction commits.

A replay applies nothing of a transaction that is never decided, so they may stay where they are
after an error. Must not know rows.
"""

from __future__ import annotations

from engine.log.commit_log import CommitLog


class LoggedAhead:
    """The records of one statement, under the number that its transaction will have.

    Attributes:
        count: how many records, each of a morsel, in order.
    """

    __slots__ = ("_log", "count", "number")

    def __init__(self, log: CommitLog) -> None:
        self._log = log
        self.count = 0
        with log.lock:
            self.number = log.begin_undecided(ahead=True)

    @property
    def is_kept(self) -> bool:
        """False once the log has forgotten them."""
        return self._log.undecided.is_known(self.number)

    def claim(self) -> bool:
        """Keep them for the commit that goes on; False: the log has forgotten them."""
        with self._log.lock:
            return self._log.undecided.claim(self.number)

    def end(self) -> None:
        """Let the log forget them."""
        with self._log.lock:
            self._log.undecided.end(self.number)
