"""Connections of the catalog's database that keep the relations which were read on them: registering takes as long as a small query.

Enters: the Arrow tables that a query reads, by name. Leaves: a connection that has them, for one query at a time. Thread-safe.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import duckdb
import pyarrow as pa

from engine.embedded.stopping import Run

IDLE_MAX = 4


@dataclass(frozen=True, slots=True)
class RelationConnection:
    """A connection, what runs on it, and what is registered on it, by name."""

    connection: duckdb.DuckDBPyConnection
    run: Run
    registered: dict[str, pa.Table] = field(default_factory=dict)

    def interrupt(self) -> None:
        """Stop what runs, also in the middle of a batch of rows; from another thread."""
        self.run.is_stopped = True
        self.connection.interrupt()

    def register(self, tables: Mapping[str, pa.Table]) -> None:
        """Register those that are not the same object as what has their name already."""
        for name, table in tables.items():
            if self.registered.get(name) is not table:
                self.connection.register(name, table)
                self.registered[name] = table


class RelationConnections:
    """open_connection: makes another connection to the database. The last few that are idle are kept."""

    def __init__(self, open_connection: Callable[[], duckdb.DuckDBPyConnection]) -> None:
        self._open = open_connection
        self._lock = threading.Lock()
        self._idle: list[RelationConnection] = []

    @contextmanager
    def taken(self, tables: Mapping[str, pa.Table]) -> Iterator[RelationConnection]:
        """A connection on which these tables are registered, of whoever takes it alone."""
        with self._lock:
            found = self._idle.pop() if self._idle else None
        if found is None:
            connection = self._open()
            found = RelationConnection(connection, Run(connection.execute))
        try:
            found.register(tables)
            yield found
        finally:
            with self._lock:
                is_kept = len(self._idle) < IDLE_MAX
                if is_kept:
                    self._idle.append(found)
            if not is_kept:
                found.connection.close()

    def close(self) -> None:
        """Close those that are idle; nobody has taken any."""
        with self._lock:
            for found in self._idle:
                found.connection.close()
            self._idle.clear()
