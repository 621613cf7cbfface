"""Durable tables as views read them: the `Source`s of `views.model.protocols`.

Enters: names. Leaves: Arrow tables with versions, of the committed tables, or as one transaction
sees them.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence

from engine.catalog.image import CatalogImage, TableEntry
from engine.tables.table_sizes import index_bytes, memory_bytes, rows_count, table_bytes
from engine.tables.table_store import TableStore, export, table_entry, version_of
from engine.tables.table_transaction import TableTransaction
from views.model.protocols import TableExport

# Versions inside transactions, which nothing else has.
UNCOMMITTED = itertools.count(-1, -1)


class CommittedTables:
    """The committed tables. image: returns the present catalog."""

    def __init__(self, store: TableStore, image: Callable[[], CatalogImage]) -> None:
        self._store = store
        self._image = image

    def versions(self, names: Iterable[str]) -> dict[str, Hashable]:
        """Return the committed version of each table."""
        image = self._image()
        return {name: version_of(table_entry(image, name)) for name in names}

    def bytes_of(self, physical: str) -> int:
        """Return the bytes of a table by its name in the file."""
        return table_bytes(self._store.engine, physical)

    def memory_bytes_of(self, physical: str) -> int:
        """Return about how many bytes a table takes in memory, by its name in the file."""
        return memory_bytes(self._store.engine, physical)

    def rows_count(self, physical: str) -> int:
        """Return how many rows a table has by its name in the file."""
        return rows_count(self._store.engine, physical)

    def read_once(self, entry: TableEntry) -> TableExport:
        """Return a table, which is not kept. Raises SqlError 42P01 where another catalog has taken
        the place of the entry's.
        """
        return self._store.read_once(self._image, entry)

    def index_bytes_of(self, physical: str, numbers: Sequence[int]) -> int:
        """Return about how many bytes the index over columns of such a table has."""
        return index_bytes(self._store.engine, physical, numbers)

    def read_all(self, names: Iterable[str]) -> dict[str, TableExport]:
        """Return the tables as one read transaction sees them."""
        wanted = tuple(names)
        return self._store.read_all(self._image, wanted) if wanted else {}


class TransactionTables:
    """The tables as a transaction that makes a view sees them.

    A table that the transaction has written itself has a version of its own.
    """

    def __init__(self, tables: TableTransaction) -> None:
        self._tables = tables

    def versions(self, names: Iterable[str]) -> dict[str, Hashable]:
        """Return the version of each table."""
        return {name: self._version(name) for name in names}

    def read_all(self, names: Iterable[str]) -> dict[str, TableExport]:
        """Return the tables with the transaction's own changes."""
        return {
            name: TableExport(self._version(name), export(self._tables, table_entry(self._tables.image, name)))
            for name in names
        }

    def _version(self, name: str) -> Hashable:
        entry = table_entry(self._tables.image, name)
        committed = entry.data.committed
        changed = name in self._tables.written or committed > self._tables.snapshot
        return next(UNCOMMITTED) if changed or not committed else version_of(entry)
