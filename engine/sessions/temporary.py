"""The temporary relations of a session: relations of a schema of its own, which goes when the session ends.

Enters: statements that make them, commits, the session's end. Leaves: the schema made and dropped, what ON COMMIT asks for done. They are
relations like all others, in tables, log and checkpoints, too; what a crash leaves behind the next start drops
(`engine.database.Database.open`). Must not know messages.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from engine.catalog.image import TableEntry
from engine.commit.transaction import Transaction
from engine.ddl.schemas import with_schema
from engine.sessions.definition_statements import DefinitionStatements
from sql.errors import SqlError
from sql.names.relation_keys import schema_of, temporary_schema
from sql.parse.statements.create_table import CreateTable
from sql.parse.statements.create_view import CreateView
from sql.parse.statements.declaration import Statement
from sql.parse.statements.drop import DropRelation
from sql.parse.statements.sequences import CreateSequence

if TYPE_CHECKING:
    from engine.sessions.session import Session

log = logging.getLogger(__name__)


class TemporaryRelations:
    """Those of one session."""

    def __init__(self, session: Session, definitions: DefinitionStatements) -> None:
        self._session = session
        self._definitions = definitions
        self._ending: asyncio.Task[None] | None = None
        # What is done with a table of the schema at COMMIT, by its oid, which after ROLLBACK something else may get.
        self._on_commit: dict[int, str] = {}

    @property
    def schema(self) -> str:
        """The session's schema, whether it is there or not."""
        return temporary_schema(self._session.connection.process_id)

    def make_schema(self, statement: Statement, transaction: Transaction) -> None:
        """Make the schema, if it is not there, for a statement that makes a relation in it."""
        image = transaction.image
        assert image is not None
        if not isinstance(statement, CreateTable | CreateSequence | CreateView):
            return
        if schema_of(statement.name) == self.schema and self.schema not in image.schemas:
            role = self._session.identity.current(image.roles)
            transaction.change_catalog(with_schema(image, self.schema, role))
            self._session.settings.note_temporary()

    def note_made(self, statement: Statement, transaction: Transaction) -> None:
        """Note what is to be done at COMMIT with the table that was made."""
        if isinstance(statement, CreateTable) and schema_of(statement.name) == self.schema:
            assert transaction.image is not None
            self._on_commit[transaction.image.entries[statement.name].description.oid] = statement.on_commit

    async def before_commit(self, transaction: Transaction) -> None:
        """Do what ON COMMIT asks for. Raises SqlError."""
        for entry in self._tables(transaction, "drop"):
            name = entry.description.name
            await self._definitions.drop(
                DropRelation("", "table", ((name, 0),), if_exists=False, cascade=True), transaction
            )
            del self._on_commit[entry.description.oid]
        tables = transaction.tables
        if tables is None or not self._on_commit:
            return
        for entry in self._tables(transaction, "delete"):
            if entry.description.name in tables.written:
                await self._session.in_worker(tables.truncate, entry)

    def _tables(self, transaction: Transaction, action: str) -> list[TableEntry]:
        image = transaction.image or self._session.database.image
        entries = [image.by_oid(oid) for oid, asked in self._on_commit.items() if asked == action]
        own = [entry for entry in entries if entry is not None and schema_of(entry.description.name) == self.schema]
        return [entry for entry in own if isinstance(entry, TableEntry)]

    async def discard(self, transaction: Transaction) -> None:
        """Drop all of them. Raises SqlError."""
        if self.schema in (transaction.image or self._session.database.image).schemas:
            await self._definitions.drop_whole_schema(self.schema, transaction)

    def end(self) -> None:
        """The session is over: drop all of them, soon."""
        if self.schema in self._session.database.image.schemas:
            self._ending = asyncio.get_running_loop().create_task(self._end())

    async def _end(self) -> None:
        block = self._session.block
        self._session.begin_message(simple=True)
        try:
            await self.discard(block.current())
            await block.commit()
        except SqlError as error:
            log.warning("temporary relations stay until the next start: %s", error)
            block.roll_back()
