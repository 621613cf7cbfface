"""CREATE INDEX, DROP INDEX and ALTER INDEX."""

from __future__ import annotations

from engine.ddl import table_indexes
from engine.execution.defining import with_tables
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.parse.statements.indexes import AlterIndex, CreateIndex, DropIndex, RenameIndex


@handles(CreateIndex)
async def create_index(statement: CreateIndex, work: Work) -> None:
    """Make an index."""
    if statement.concurrently:
        work.require_alone(f"{statement.tag} CONCURRENTLY")
    await with_tables(work, table_indexes.create_index, statement)


@handles(DropIndex)
async def drop_index(statement: DropIndex, work: Work) -> None:
    """Drop indexes."""
    if statement.concurrently:
        work.require_alone(f"{statement.tag} CONCURRENTLY")
    await with_tables(work, table_indexes.drop_index, statement)


@handles(RenameIndex)
async def rename_index(statement: RenameIndex, work: Work) -> None:
    """Rename an index."""
    await with_tables(work, table_indexes.rename_index, statement)


@handles(AlterIndex)
async def alter_index(statement: AlterIndex, work: Work) -> None:
    """Change how an index is kept."""
    await with_tables(work, table_indexes.alter_index, statement)
