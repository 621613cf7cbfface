"""CREATE SEQUENCE and ALTER SEQUENCE, also of their names."""

from __future__ import annotations

from engine.catalog.image import SequenceEntry
from engine.ddl.schemas import rename_sequence
from engine.ddl.sequences import alter_sequence as alter
from engine.ddl.sequences import make_sequence
from engine.execution.defining import altered, is_there, move_into_schema, with_tables
from engine.execution.registry import handles
from engine.execution.work import Work
from sql.errors import SqlError
from sql.parse.statements.sequences import AlterSequence, CreateSequence, RenameSequence


@handles(CreateSequence)
async def create_sequence(statement: CreateSequence, work: Work) -> None:
    """Make a sequence."""
    if not is_there(statement.name, statement.if_not_exists, work):
        await with_tables(work, make_sequence, statement)


@handles(AlterSequence)
async def alter_sequence(statement: AlterSequence, work: Work) -> None:
    """Change a sequence, or move it into another schema. Raises 42P01 and 42809."""
    entry = altered_sequence(statement, work)
    if entry is not None and statement.schema is not None:
        await move_into_schema(entry, statement.schema, work)
    elif entry is not None:
        await with_tables(work, alter, statement, entry)


@handles(RenameSequence)
async def change_name(statement: RenameSequence, work: Work) -> None:
    """Give a sequence another name. Raises 42P01, 42809 and 42P07."""
    entry = altered_sequence(statement, work)
    if entry is not None:
        await with_tables(work, rename_sequence, entry, statement.new_name)


def altered_sequence(statement: AlterSequence | RenameSequence, work: Work) -> SequenceEntry | None:
    """Return the sequence to alter; None: it does not exist, and IF EXISTS was said.

    Raises 42P01 and 42809.
    """
    entry = altered(statement.name, statement.name_position, statement.if_exists, work)
    if entry is not None and not isinstance(entry, SequenceEntry):
        raise SqlError("42809", f'"{statement.name}" is not a sequence')
    return entry
