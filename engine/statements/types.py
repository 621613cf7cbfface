"""CREATE TYPE, ALTER TYPE and DROP TYPE."""

from __future__ import annotations

from engine.ddl.types import change_types
from engine.execution.defining import finish, note_built, table_work
from engine.execution.outcome import Outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.parse.statements.types import AlterType, CreateType, DropType, TypeStatement


@handles(CreateType, AlterType, DropType)
async def change_type(statement: TypeStatement, work: Work) -> Outcome:
    """Make, alter or drop types of the database."""
    changed = await table_work(work)
    await work.threads.in_worker(change_types, statement, changed)
    note_built(changed.image, work)
    finish(changed, work)
    return Outcome(statement.tag)
