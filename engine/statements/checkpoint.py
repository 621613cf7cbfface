"""The statement CHECKPOINT."""

from __future__ import annotations

from engine.execution.registry import handles
from engine.execution.work import Work
from sql.parse.statements.checkpoint import Checkpoint


@handles(Checkpoint)
async def checkpoint(statement: Checkpoint, work: Work) -> None:
    """Make a checkpoint.

    In a transaction too, as in PostgreSQL: uncommitted changes have no part in it.
    """
    await work.threads.in_worker(work.server.checkpoints.make, work.threads.check_cancelled)
