"""CREATE INDEX, DROP INDEX and ALTER INDEX."""

from __future__ import annotations

from engine.ddl import table_indexes
from engine.execution.defining import finish, table_work
from engine.execution.outcome import Outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.parse.statements.indexes import CreateIndex, DropIndex, RenameIndex


@handles(CreateIndex)
async def create_index(statement: CreateIndex, work: Work) -> Outcome:
    """Make an index."""
    if statement.concurrently:
        work.require_alone(f"{statement.tag} CONCURRENTLY")
    changed = await table_work(work)
    await work.threads.in_worker(table_indexes.create_index, statement, changed, work.transaction.now_us)
    finish(changed, work)
    return Outcome(statement.tag)


@handles(DropIndex)
async def drop_index(statement: DropIndex, work: Work) -> Outcome:
    """Drop indexes."""
    if statement.concurrently:
        work.require_alone(f"{statement.tag} CONCURRENTLY")
    changed = await table_work(work)
    table_indexes.drop_index(statement, changed)
    finish(changed, work)
    return Outcome(statement.tag)


@handles(RenameIndex)
async def rename_index(statement: RenameIndex, work: Work) -> Outcome:
    """Rename an index."""
    changed = await table_work(work)
    table_indexes.rename_index(statement, changed)
    finish(changed, work)
    return Outcome(statement.tag)
