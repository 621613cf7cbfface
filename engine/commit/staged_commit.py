"""The commit of staged rows, as the log carries it out.

Enters: the statements of a transaction, whose records are in the log. Leaves: rows in views and
rings. Must not know records.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.commit.parts import note_batch
from engine.commit.staging import StatementStage
from engine.commit.transaction import Transaction
from engine.log.batches import Batches
from engine.log.commits import Answer, Commit


class StagedCommit(Commit):
    """A commit of the staged rows of a transaction."""

    __slots__ = ("_batches", "_stages", "_transaction")

    def __init__(
        self, transaction: Transaction, stages: Sequence[StatementStage], answer: Answer, batches: Batches
    ) -> None:
        super().__init__(answer, transaction.waits_for_log)
        self._transaction, self._stages, self._batches = transaction, stages, batches

    def apply(self) -> None:
        """Bring the rows into the views; see Commit."""
        for stage in self._stages:
            stage.apply()
        note_batch(self._transaction, self._batches)

    def publish(self) -> None:
        """Bring the rows into the rings; see Commit."""
        for stage in self._stages:
            stage.append_to_ring()
