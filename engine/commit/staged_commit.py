"""The commit of staged rows, as the log carries it out.

Enters: the statements of a transaction, whose records are in the log. Leaves: rows in views and
rings. Must not know records.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.commit.staging import StatementStage
from engine.log.commits import Answer, Commit


class StagedCommit(Commit):
    """A commit of the staged rows of a transaction."""

    __slots__ = ("_stages",)

    def __init__(self, stages: Sequence[StatementStage], answer: Answer, waits: bool) -> None:
        super().__init__(answer, waits)
        self._stages = stages

    def apply(self) -> None:
        """Bring the rows into the views; see Commit."""
        for stage in self._stages:
            stage.apply()

    def publish(self) -> None:
        """Bring the rows into the rings; see Commit."""
        for stage in self._stages:
            stage.append_to_ring()
