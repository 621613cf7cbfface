"""DROP FOREIGN TABLE, VIEW, TABLE and SEQUENCE."""

from __future__ import annotations

from engine.ddl.dropping import drop
from engine.ddl.schemas import drop_schemas
from engine.execution.defining import finish, table_work, with_tables
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.parse.statements.drop import DropRelation


@handles(DropRelation)
async def drop_relation(statement: DropRelation, work: Work) -> None:
    """Drop relations, with CASCADE their dependents."""
    await with_tables(work, drop, statement)


async def drop_temporary(work: Work) -> None:
    """Drop the session's temporary relations, without a notice."""
    schema = work.temporary.schema
    if schema in (work.transaction.image or work.server.catalog.image).schemas:
        changed = await table_work(work)
        await work.threads.in_worker(drop_schemas, [schema], True, changed)
        changed.notices.clear()
        finish(changed, work)
