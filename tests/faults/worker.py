"""A process that is to die: one client that runs transactions on durable tables, and tells what was
acknowledged.

Enters: a data folder, a seed, and what is to happen at some COMMIT. Leaves: over a pipe, a message
per event. Every transaction n leaves the same traces in several tables, so that half of one can be
seen.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import duckdb

from engine.ddl.restore import restore_catalog
from engine.storage.storage import DiskStorage, TableConnection
from tests.engine.session_client import SessionClient, World

ACCOUNTS = 8
BALANCE = 100
SETUP = (
    "CREATE TABLE log (n int PRIMARY KEY, rows int, made bool)",
    f"CREATE TABLE account AS SELECT i AS id, {BALANCE} AS balance FROM generate_series(1, {ACCOUNTS}) g(i)",
    "ALTER TABLE account ADD PRIMARY KEY (id)",
    "CREATE TABLE part (n int, i int, text text, UNIQUE (n, i))",
    "CREATE SEQUENCE numbers",
)


@dataclass(frozen=True)
class Fate:
    """Fault at the COMMIT number `at` of the file: 'fails', 'dies before', 'dies after', or
    'nothing'.
    """

    what: str = "nothing"
    at: int = 0


class FatefulStorage(DiskStorage):
    """A disk on which one COMMIT meets its fate; those of the store itself, on its `own`
    connection, do not count.
    """

    def __init__(self, fate: Fate, own: TableConnection) -> None:
        self._fate = fate
        self._own = own
        self._count = 0

    def commit_tables(self, connection: TableConnection) -> None:
        if connection is self._own:
            super().commit_tables(connection)
            return
        self._count += 1
        met = self._count == self._fate.at
        if met and self._fate.what == "fails":
            raise duckdb.IOException("Could not write file: Input/output error")
        if met and self._fate.what == "dies before":
            os._exit(1)
        super().commit_tables(connection)
        if met and self._fate.what == "dies after":
            os._exit(1)


def opened(folder: Path) -> World:
    """Return the database in a folder as a start of the server finds it."""
    world = World(folder)
    text = world.database.store.load()
    if text is not None:
        world.database.catalog.image = restore_catalog(world.database.builders, text)
    return world


def work(folder: Path, seed: int, fate: Fate, pipe: Connection) -> None:
    """Run transactions until the end comes. Messages: ('ready',), ('begun', n, makes table),
    ('done', n), ('failed', n), ('value', v).
    """
    world = opened(folder)
    client = world.client()
    if not world.database.catalog.image.entries:
        client.run(*SETUP)
    store = world.database.store
    store._storage = FatefulStorage(fate, store._log)
    chance = random.Random(seed)
    pipe.send(("ready",))
    n = max((number for (number,) in numbers(client, "SELECT n FROM log")), default=0)
    while True:
        n += 1
        make = chance.random() < 0.15
        pipe.send(("begun", n, make))
        statements = transaction(chance, n, make)
        failed = any(line.startswith("E ") for text in statements for line in client.ask(text))
        pipe.send(("failed" if failed else "done", n))
        pipe.send(("value", numbers(client, "SELECT nextval('numbers')")[0][0]))


def transaction(chance: random.Random, n: int, make: bool) -> list[str]:
    """Return the statements of transaction n; some take several messages, some are undone, some
    define a table.
    """
    rows = chance.choice((1, 3, 50, 3000))
    one, other = chance.sample(range(1, ACCOUNTS + 1), 2)
    amount = chance.randint(1, 50)
    inside = [
        f"INSERT INTO log VALUES ({n}, {rows}, {make})",
        f"UPDATE account SET balance = balance - {amount} WHERE id = {one}",
        f"UPDATE account SET balance = balance + {amount} WHERE id = {other}",
        f"INSERT INTO part SELECT {n}, i, repeat('x', {chance.randint(0, 30)}) FROM generate_series(1, {rows}) g(i)",
    ]
    if make:
        inside.append(f"CREATE TABLE made_{n} AS SELECT {n} AS n")
    chance.shuffle(inside)
    whole = ["BEGIN", *inside, "COMMIT"]
    if chance.random() < 0.2:
        # A transaction that leaves nothing, before the one that counts.
        whole = ["BEGIN", *inside[: chance.randint(1, len(inside))], "DELETE FROM log", "ROLLBACK", *whole]
    return ["; ".join(whole)] if chance.random() < 0.3 else whole


def numbers(client: SessionClient, text: str) -> list[tuple[int, ...]]:
    """Return the rows of a query for integers."""
    return [tuple(int(value) for value in line.split("'")[1::2]) for line in client.rows(text)]
