"""The servers of a contest: Antumbra and PostgreSQL, each in a temporary folder, with a connection
and the place to which clients connect.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg

from bench.clients import Client
from bench.wire_clients import Place
from bench.workload import NO_SPARK
from engine.demo.child import Child, child_server
from tests.oracle.postgres import PostgresCluster

ANTUMBRA = "Antumbra"
NOT_WAITING = "Antumbra, synchronous_commit off"
POSTGRES = "PostgreSQL"
UNLOGGED = "PostgreSQL unlogged"
NO_WAIT = "-c synchronous_commit=off"


@dataclass(frozen=True, slots=True)
class Ours:
    """Our server."""

    child: Child
    client: Client

    def place(self, table: str, options: str = "") -> Place:
        """Return where a table or stream is."""
        return Place(self.child.port, "postgres", "antumbra", table, options)


@dataclass(frozen=True, slots=True)
class Theirs:
    """A PostgreSQL with its defaults in all that concerns the disk."""

    cluster: PostgresCluster
    client: Client

    def place(self, table: str) -> Place:
        """Return where a table is."""
        return Place(self.cluster.port, "postgres", "postgres", table)


@contextmanager
def antumbra(folder: Path, statements: Sequence[str] = (), options: Sequence[str] = NO_SPARK) -> Iterator[Ours]:
    """Run our server, whose log is on, and execute statements."""
    with (
        child_server(folder / "antumbra", options=options) as child,
        psycopg.connect(child.dsn, autocommit=True) as client,
    ):
        for statement in statements:
            client.execute(statement.encode())
        yield Ours(child, client)


@contextmanager
def postgres(folder: Path, statements: Sequence[str] = ()) -> Iterator[Theirs]:
    """Run PostgreSQL, and execute statements."""
    cluster = PostgresCluster(folder / "postgres", durable=True)
    cluster.start()
    try:
        with cluster.connect() as client:
            for statement in statements:
                client.execute(statement.encode())
            yield Theirs(cluster, client)
    finally:
        cluster.stop()
