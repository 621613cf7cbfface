"""Answers that a planner got about relations, so that a view is planned the same after a restart.

Enters: statistics. Leaves: the same statistics, and their answers in the order of the questions: a
planner is deterministic, and names of relations may change. Must not know what is asked.
"""

from __future__ import annotations

from collections.abc import Sequence

from views.model.protocols import Statistics

Answers = tuple[int | None, ...]


class Told:
    """Statistics that note their answers, and begin with the answers of an earlier planning.

    Arguments:
        statistics: asked where no earlier answer is left.
        earlier: the answers of the earlier planning of the same query, in order.
    """

    def __init__(self, statistics: Statistics, earlier: Sequence[int | None] = ()) -> None:
        self._statistics = statistics
        self._earlier = iter(earlier)
        self._told: list[int | None] = []

    def rows_count(self, name: str) -> int | None:
        """See `Statistics`."""
        try:
            found = next(self._earlier)
        except StopIteration:
            found = self._statistics.rows_count(name)
        self._told.append(found)
        return found

    @property
    def answers(self) -> Answers:
        """All answers, in order; none where nothing was known."""
        return tuple(self._told) if any(one is not None for one in self._told) else ()
