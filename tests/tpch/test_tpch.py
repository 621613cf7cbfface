"""TPC-H against the golden files that PostgreSQL made: as SELECTs over durable tables, and as views with lineitem as the stream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.tpch.workload import GOLDEN_FOLDER, TABLES, generate, queries, without_order

PIECE_BYTES = 64 * 1024
# lineitem alone in the stream pipeline, and joined there with up to five tables.
STREAMED = ("q01", "q03", "q05", "q06", "q09", "q14")

Connection = psycopg.Connection[tuple[object, ...]]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate(tmp_path_factory.mktemp("tpch"))


@pytest.fixture(scope="module")
def loaded(server: AntumbraServer, data: Path) -> Iterator[Connection]:
    """A connection to a server that holds all tables; lineitem is a table."""
    with server.connect() as connection:
        for table, columns in TABLES.items():
            connection.execute(f"CREATE TABLE {table} ({columns})".encode())
            _copy(connection, table, data)
        yield connection
        connection.execute("DROP FOREIGN TABLE IF EXISTS lineitem CASCADE")
        names = ", ".join(name for name in TABLES if name != "lineitem")
        connection.execute(f"DROP TABLE {names} CASCADE".encode())


@pytest.mark.parametrize("name", queries())
def test_select_over_tables_equals_the_golden_file(loaded: Connection, name: str) -> None:
    assert _rows(loaded, queries()[name]) == _golden(name)


def test_views_over_lineitem_as_a_stream_equal_the_golden_files(loaded: Connection, data: Path) -> None:
    loaded.execute("DROP TABLE lineitem")
    loaded.execute(f"CREATE FOREIGN TABLE lineitem ({TABLES['lineitem']}) SERVER stream".encode())
    for name in STREAMED:
        loaded.execute(f"CREATE VIEW {name} AS {without_order(queries()[name])}".encode())
    _copy(loaded, "lineitem", data)
    for name in STREAMED:
        assert _rows(loaded, f"SELECT * FROM {name}") == _golden(name), name


def _copy(connection: Connection, table: str, data: Path) -> None:
    with (
        (data / f"{table}.csv").open("rb") as file,
        connection.cursor().copy(f"COPY {table} FROM STDIN WITH (FORMAT csv, HEADER true)".encode()) as copy,
    ):
        while piece := file.read(PIECE_BYTES):
            copy.write(piece)


def _rows(connection: Connection, query: str) -> list[str]:
    with connection.cursor().copy(f"COPY ({query}) TO STDOUT WITH (FORMAT csv)".encode()) as copy:
        return sorted(b"".join(bytes(piece) for piece in copy).decode().splitlines())


def _golden(name: str) -> list[str]:
    return (GOLDEN_FOLDER / f"{name}.csv").read_text().splitlines()
