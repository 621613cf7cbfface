"""ALTER TABLE and ALTER FOREIGN TABLE; the first may rename and move other relations, too."""

from __future__ import annotations

from collections.abc import Sequence

from engine.catalog.image import SequenceEntry, StreamEntry, TableEntry, ViewEntry
from engine.commit.parts import stages_of
from engine.ddl.schemas import rename_sequence
from engine.ddl.stream_alterations import AlterationTools, alter_stream
from engine.ddl.table_alterations import alter_table as alter
from engine.ddl.view_alterations import renamed
from engine.execution.defining import altered, change_views, move_into_schema, with_tables
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.ingest.insert import default_row
from engine.streams.stream import Stream
from ringbuffer.memory.columns import Morsel
from sql.errors import SqlError
from sql.parse.statements.alter_table import AlterTable
from sql.tree.expressions import Expression


@handles(AlterTable)
async def alter_table(statement: AlterTable, work: Work) -> None:
    """Alter a table or a stream. Raises 42P01, 42809, and the errors of the changes."""
    if statement.new_schema:
        await set_schema(statement, work)
        return
    if not statement.foreign and statement.changes and statement.changes[0].action in ("rename", "rename column"):
        image = work.image
        known, change = image.entries.get(statement.name), statement.changes[0]
        if isinstance(known, ViewEntry):
            change_views(*renamed(known, change, image, work.server.catalog.image), work)
            return
        if isinstance(known, SequenceEntry) and change.action == "rename":
            await with_tables(work, rename_sequence, known, change.new_name)
            return
    entry = table_or_stream(statement, work)
    if isinstance(entry, TableEntry):
        await with_tables(work, alter, statement, entry)
    elif isinstance(entry, StreamEntry):
        await with_tables(work, alter_stream, statement, entry, alteration_tools(work))


async def set_schema(statement: AlterTable, work: Work) -> None:
    """Do SET SCHEMA, by which ALTER TABLE moves views and sequences too."""
    entry = work.image.entries.get(statement.name)
    if entry is None or statement.foreign:
        entry = table_or_stream(statement, work)
    if entry is not None:
        await move_into_schema(entry, statement.new_schema, work)


def table_or_stream(statement: AlterTable, work: Work) -> TableEntry | StreamEntry | None:
    """Return the relation to alter; None: it does not exist, and IF EXISTS was said.

    Raises 42P01 and 42809.
    """
    entry = altered(statement.name, statement.name_position, statement.if_exists, work)
    if entry is None or isinstance(entry, StreamEntry):
        return entry
    if isinstance(entry, TableEntry) and not statement.foreign:
        return entry
    raise SqlError("42809", f'"{statement.name}" is not a {"foreign table" if statement.foreign else "table"}')


def alteration_tools(work: Work) -> AlterationTools:
    """Return the parts that an alteration of a stream needs of its statement."""

    def evaluate(stream: Stream, values: Sequence[Expression | None]) -> Morsel:
        return default_row(stream, values, work.server.engines.tables, work.transaction.now_us, work.settings.time_zone)

    staged = stages_of(work.transaction)
    return AlterationTools(work.server.stream_options, evaluate, staged, work.threads.check_cancelled)
