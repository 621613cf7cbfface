"""CREATE TYPE, ALTER TYPE and DROP TYPE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine.ddl.table_work import TableWork
from engine.ddl.types import alter_type, create_type, drop_type
from engine.execution.defining import with_tables
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.parse.statements.types import AlterType, CreateType, DropType, TypeStatement

CHANGES: dict[type[TypeStatement], Callable[[Any, TableWork], None]] = {
    CreateType: create_type,
    AlterType: alter_type,
    DropType: drop_type,
}


@handles(CreateType, AlterType, DropType)
async def change_type(statement: TypeStatement, work: Work) -> None:
    """Make, alter or drop types of the database."""
    await with_tables(work, CHANGES[type(statement)], statement)
