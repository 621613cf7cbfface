"""The temporary relations of a session: relations of a schema of its own, which is dropped when the
session ends.

Enters: statements that make them, commits. Leaves: the schema made and dropped, ON COMMIT done.
They are relations like all others, in tables, log and checkpoints, too; the next start drops those
that a crash has left (`engine.database.Database.open`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.catalog.image import CatalogImage, TableEntry
from engine.ddl.schemas import with_schema
from sql.names.relation_keys import schema_of, temporary_schema
from sql.parse.statements.create_table import CreateTable
from sql.parse.statements.create_view import CreateView
from sql.parse.statements.declaration import Statement
from sql.parse.statements.sequences import CreateSequence

if TYPE_CHECKING:
    from engine.commit.transaction import Transaction
    from engine.execution.work import Work


class TemporaryRelations:
    """The temporary relations of the session with a process id.

    Attributes:
        schema: the session's own, whether it exists or not.
    """

    def __init__(self, process_id: int) -> None:
        self.schema = temporary_schema(process_id)
        # What is done with a table of the schema at COMMIT, by its oid, which another relation may
        # get after ROLLBACK.
        self._on_commit: dict[int, str] = {}

    def make_schema(self, statement: Statement, work: Work) -> None:
        """Make the schema, if it is not there, for a statement that makes a relation in it."""
        image = work.image
        if not isinstance(statement, CreateTable | CreateSequence | CreateView):
            return
        if schema_of(statement.name) == self.schema and self.schema not in image.schemas:
            role = work.identity.current(image.roles)
            work.transaction.change_catalog(with_schema(image, self.schema, role))
            work.settings.note_temporary()

    def note_made(self, statement: Statement, work: Work) -> None:
        """Note what is done at COMMIT with a new table."""
        if isinstance(statement, CreateTable) and schema_of(statement.name) == self.schema:
            self._on_commit[work.image.entries[statement.name].description.oid] = statement.on_commit

    def dropped_at_commit(self, transaction: Transaction, committed: CatalogImage) -> list[TableEntry]:
        """Return the tables that COMMIT drops, and forget them."""
        found = self._tables("drop", transaction, committed)
        for entry in found:
            del self._on_commit[entry.description.oid]
        return found

    def emptied_at_commit(self, transaction: Transaction, committed: CatalogImage) -> list[TableEntry]:
        """Return the tables whose rows COMMIT deletes, if they have been written to."""
        tables = transaction.tables
        if tables is None or not self._on_commit:
            return []
        found = self._tables("delete", transaction, committed)
        return [entry for entry in found if entry.description.name in tables.written]

    def _tables(self, action: str, transaction: Transaction, committed: CatalogImage) -> list[TableEntry]:
        image = transaction.image or committed
        entries = [image.by_oid(oid) for oid, asked in self._on_commit.items() if asked == action]
        own = [entry for entry in entries if entry is not None and schema_of(entry.description.name) == self.schema]
        return [entry for entry in own if isinstance(entry, TableEntry)]
