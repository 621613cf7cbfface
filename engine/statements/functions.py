"""CREATE FUNCTION, ALTER FUNCTION and DROP FUNCTION."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.ddl.functions.defining import alter_function, create_function, replaced_function
from engine.ddl.functions.dropping import drop_function
from engine.ddl.table_work import TableWork
from engine.execution.defining import table_work, with_tables
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.parse.statements.declaration import Statement
from sql.parse.statements.functions import AlterFunction, CreateFunction, DropFunction

CHANGES: dict[type[Statement], Callable[[Any, TableWork], None]] = {
    CreateFunction: create_function,
    AlterFunction: alter_function,
    DropFunction: drop_function,
}


@handles(CreateFunction, AlterFunction, DropFunction)
async def change_function(statement: CreateFunction | AlterFunction | DropFunction, work: Work) -> None:
    """Make, alter or drop functions of users."""
    if isinstance(statement, CreateFunction) and not work.identity.bypasses():
        known = replaced_function(statement, await table_work(work))
        if known is not None:
            work.identity.checks(work.image).function_owner(known.oid)
    await with_tables(work, CHANGES[type(statement)], statement)
