"""`python -m bench.unlogged_server serve ...`: our server without its log, to see what the log
costs.

Enters: the arguments of `antumbra`. Leaves: a server that commits rows of streams as if there were
no log: they are applied to the views and written into the rings at once, and a crash loses them.
Definitions and tables are as durable as ever.
"""

from __future__ import annotations

import sys
from unittest.mock import patch

from engine.__main__ import main
from engine.catalog.image import CatalogImage
from engine.commit.committer import Committer
from engine.commit.parts import end, prepare, stages_of
from engine.commit.row_commit import RowCommit, Views
from engine.commit.transaction import Transaction
from engine.log.commits import Answer


class UnloggedCommitter(Committer):
    """Commits rows of streams without the log."""

    def commit(self, transaction: Transaction) -> None:
        """See Committer."""
        if transaction.is_durable:
            super().commit(transaction)
            return
        while not self.commit_soon(transaction, lambda _: None):
            pass
        end(transaction)

    def commit_soon(self, transaction: Transaction, answer: Answer) -> bool | None:
        """See Committer."""
        stages = stages_of(transaction)
        image = self._catalog.image
        prepare(transaction, image)
        with self._catalog.lock:
            if self._catalog.image is not image:
                return None
            for stage in stages:
                stage.apply()
        for stage in stages:
            stage.append_to_ring()
        return True

    def commit_row(
        self, commit: RowCommit, views: Views, image: CatalogImage, waits: bool, answer: Answer
    ) -> bool | None:
        """See Committer."""
        if commit.views is not views:
            commit.meet(views, self._caps)
        commit.arrive(self._clock.now_us(), 0)
        if not commit.passes():
            return None
        with self._catalog.lock:
            if self._catalog.image is not image:
                return None
            commit.apply()
        commit.publish()
        return True


if __name__ == "__main__":
    with patch("engine.database.Committer", UnloggedCommitter):
        sys.exit(main())
