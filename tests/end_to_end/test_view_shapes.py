"""Every shape of query that a continuous view may have, against PostgreSQL over tables with the
same rows.

Several connections insert in random order; the views are read in between, and after a crash.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.end_to_end.view_shapes import BASES, SHAPES
from tests.oracle.antumbra import AntumbraServer

Connection = psycopg.Connection[tuple[object, ...]]

STREAMS = {
    "s": "(k integer, v integer, t text, d numeric(10, 2))",
    "r": "(k integer, v integer, t text, d numeric(10, 2))",
    "o": "(k integer, w bigint, c text)",
}
TABLES = (
    "CREATE TABLE a (id integer PRIMARY KEY, name text, g integer)",
    "CREATE TABLE b (k integer, x integer)",
    "INSERT INTO a VALUES (1, 'one', 1), (2, 'two', 1), (3, 'three', 2), (4, NULL, NULL), (9, 'nine', 3)",
    "INSERT INTO b VALUES (1, 10), (1, 11), (2, 20), (NULL, 5), (7, 70), (3, NULL)",
)
TEXTS = ("'a'", "'b'", "'abc'", "NULL", "'a text of more than twelve bytes'")
WRITERS = 3
PARTS = 24


def row(chance: Random, stream: str) -> str:
    key = chance.choice(["1", "2", "3", "4", "5", "NULL"])
    if stream == "o":
        return f"({key}, {chance.randint(0, 9)}, {chance.choice(['NULL', *TEXTS])})"
    number = chance.choice(["1.5", "2.25", "7", "NULL"])
    return f"({key}, {chance.randint(-5, 20)}, {chance.choice(TEXTS)}, {number})"


def insert(chance: Random, writers: list[Connection], oracle: Connection, statements_count: int) -> None:
    """Insert rows by one connection or another, and into PostgreSQL."""
    for _ in range(statements_count):
        stream = chance.choice(list(STREAMS))
        rows = ", ".join(row(chance, stream) for _ in range(chance.randint(1, 7)))
        statement = f"INSERT INTO {stream} VALUES {rows}".encode()
        chance.choice(writers).execute(statement)
        oracle.execute(statement)


def check(ours: Connection, theirs: Connection, views: list[str]) -> None:
    for name in views:
        query = f"SELECT * FROM {name}".encode()
        expected = sorted(map(repr, theirs.execute(query).fetchall()))
        assert sorted(map(repr, ours.execute(query).fetchall())) == expected, (name, SHAPES.get(name))


@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_all_shapes(part: int, tmp_path: Path, oracle: Connection) -> None:
    shapes = dict(list(SHAPES.items())[part::PARTS])
    # A view may read another one.
    read = {word for query in shapes.values() for word in query.split()}
    shapes = {name: query for name, query in SHAPES.items() if name in read} | shapes
    server = AntumbraServer(tmp_path / "data").start()
    chance = Random(6)
    with server.connect() as ours:
        for name, columns in STREAMS.items():
            ours.execute(f"CREATE FOREIGN TABLE {name} {columns} SERVER stream".encode())
            oracle.execute(f"CREATE TABLE {name} {columns}".encode())
        for statement in (*TABLES, *(f"CREATE VIEW {name} AS {query}" for name, query in (BASES | shapes).items())):
            ours.execute(statement.encode())
            oracle.execute(statement.encode())
        views = [*BASES, *shapes]
        writers = [server.connect() for _ in range(WRITERS)]
        for statements_count in (5, 30):
            insert(chance, writers, oracle, statements_count)
            check(ours, oracle, views)
        for writer in writers:
            writer.close()
    server.kill()
    server.start()
    with server.connect() as ours:
        insert(chance, [ours], oracle, 10)
        check(ours, oracle, views)
        for stream in STREAMS:
            ours.execute(f"DROP FOREIGN TABLE {stream} CASCADE".encode())
        assert ours.execute("SELECT relname FROM pg_stat_streams").fetchall() == []
    assert server.stop() == 0
