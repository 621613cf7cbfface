"""CREATE FUNCTION, ALTER FUNCTION and DROP FUNCTION."""

from __future__ import annotations

from engine.ddl.functions.defining import alter_function, create_function, replaced_function
from engine.ddl.functions.dropping import drop_function
from engine.ddl.table_work import TableWork
from engine.execution.defining import finish, table_work
from engine.execution.outcome import Outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.parse.statements.functions import AlterFunction, CreateFunction, DropFunction


@handles(CreateFunction, AlterFunction, DropFunction)
async def change_function(statement: CreateFunction | AlterFunction | DropFunction, work: Work) -> Outcome:
    """Make, alter or drop functions of users."""
    changed = await table_work(work)
    if isinstance(statement, CreateFunction) and not work.identity.bypasses():
        known = replaced_function(statement, changed)
        if known is not None:
            work.identity.checks(changed.image).function_owner(known.oid)
    await work.threads.in_worker(done, statement, changed)
    finish(changed, work)
    return Outcome(statement.tag)


def done(statement: CreateFunction | AlterFunction | DropFunction, work: TableWork) -> None:
    """Do the statement on the work's image."""
    match statement:
        case CreateFunction():
            create_function(statement, work)
        case AlterFunction():
            alter_function(statement, work)
        case DropFunction():
            drop_function(statement, work)
