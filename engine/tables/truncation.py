"""TRUNCATE: the tables that it empties, and their emptying.

Enters: the statement, the catalog image, a transaction. Leaves: empty tables, a notice for each
referring one.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.catalog.image import CatalogImage, StreamEntry, TableEntry
from engine.catalog.joined_tables import refuse_joined
from engine.tables.foreign_keys import links_to
from engine.tables.table_transaction import TableTransaction
from sql.errors import SqlError
from sql.parse.statements.delete import Truncate


def truncate_tables(
    statement: Truncate,
    tables: TableTransaction,
    require: Callable[[CatalogImage, str, str], None],
    notice: Callable[[str, str], None],
) -> None:
    """Empty the tables and those that refer to them.

    require: raises 42501 where a privilege on a relation is missing.
    """
    image = tables.image
    for entry in with_referring(truncated(statement, image), image, statement.cascade, notice):
        require(image, entry.description.name, "D")
        refuse_joined(entry.description.name, image.entries.values())
        tables.references.refuse_waiting(entry, "TRUNCATE")
        tables.truncate(entry)


def truncated(statement: Truncate, image: CatalogImage) -> list[TableEntry]:
    """Return the tables that the statement names, each once.

    Raises 42P01, 42809, and 0A000 for a stream.
    """
    entries: list[TableEntry] = []
    for name, position in statement.names:
        entry = image.existing(name, position)
        if isinstance(entry, StreamEntry):
            hint = "Streams are append-only; a stream keeps its last rows by itself."
            raise SqlError("0A000", f'cannot truncate stream "{name}"', hint=hint)
        if not isinstance(entry, TableEntry):
            raise SqlError("42809", f'"{name}" is not a table')
        if entry not in entries:
            entries.append(entry)
    return entries


def with_referring(
    entries: list[TableEntry], image: CatalogImage, cascade: bool, notice: Callable[[str, str], None]
) -> list[TableEntry]:
    """Return the tables with those that refer to them, directly or not.

    Raises 0A000 if there are any and CASCADE is missing.
    """
    found = list(entries)
    # The loop goes on with what it finds.
    for entry in found:
        for link in links_to(entry, image):
            if link.child in found:
                continue
            child, parent = link.child.description.name, entry.description.name
            if not cascade:
                raise SqlError(
                    "0A000",
                    "cannot truncate a table referenced in a foreign key constraint",
                    detail=f'Table "{child}" references "{parent}".',
                    hint=f'Truncate table "{child}" at the same time, or use TRUNCATE ... CASCADE.',
                )
            notice("00000", f'truncate cascades to table "{child}"')
            found.append(link.child)
    return found
