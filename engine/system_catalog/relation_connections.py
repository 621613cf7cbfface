"""Connections of the catalog's database that keep their registered relations: registering takes as
long as a small query.

Enters: the Arrow tables that a query reads, by name. Leaves: a connection that has them, for one
query at a time. Thread-safe.
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
    """A connection, the run on it, and its registered tables, by name."""

    connection: duckdb.DuckDBPyConnection
    run: Run
    registered: dict[str, pa.Table] = field(default_factory=dict)

    def interrupt(self) -> None:
        """Stop the running query, also in the middle of a batch of rows; from another thread."""
        self.run.is_stopped = True
        self.connection.interrupt()

    def register(self, tables: Mapping[str, pa.Table]) -> None:
        """Register the tables that are another object than the one that has their name already."""
        for name, table in tables.items():
            if self.registered.get(name) is not table:
                self.connection.register(name, table)
                self.registered[name] = table


class RelationConnections:
    """The connections to the database. The last few idle ones are kept.

    Attributes:
        open_connection: makes another connection.
    """

    def __init__(self, open_connection: Callable[[], duckdb.DuckDBPyConnection]) -> None:
        self._open = open_connection
        self._lock = threading.Lock()
        self._idle: list[RelationConnection] = []

    @contextmanager
    def taken(self, tables: Mapping[str, pa.Table]) -> Iterator[RelationConnection]:
        """Yield a connection on which these tables are registered, to one caller alone."""
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
        """Close the idle connections; no caller has taken any."""
        with self._lock:
            for found in self._idle:
                found.connection.close()
            self._idle.clear()
