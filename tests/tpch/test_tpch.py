"""TPC-H against the golden files that PostgreSQL made: as SELECTs over durable tables, as views
with lineitem as the stream, and as SELECTs over that stream while it is filled.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.tpch.workload import GOLDEN_FOLDER, SCANNED_ONCE, TABLES, generate, queries, without_order

SEED = 6
PIECE_BYTES = 64 * 1024
# Those that group lineitem before anything that needs all of its rows.
STREAMED = ("q01", "q03", "q05", "q06", "q07", "q08", "q09", "q10", "q12", "q14", "q15", "q19", "q20")
# lineitem is grouped below a join with what compares with it or reads it once more, or below a
# subquery.
EAGER = ("q04", "q17", "q18", "q21")
# All of these are views over both streams, too.
BRIEFLY = ("q01", "q20", "q21")
# Of the views over both, and of the scans, `make test` takes one of so many parts.
VIEW_PARTS, SCAN_PARTS = 8, 6
WRITERS = 3
COMMITS = 12
# Rows come at least so often while scans begin, which is less than they wait for more.
PAUSE_S = 0.2
STREAM_TIMEOUT = "3s"
WAIT_S_MAX = 200.0

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
        _drop_lineitem(connection)
        names = ", ".join(name for name in TABLES if name != "lineitem")
        connection.execute(f"DROP TABLE {names} CASCADE".encode())


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", queries())
def test_select_over_tables_equals_the_golden_file(loaded: Connection, name: str) -> None:
    assert _rows(loaded, queries()[name]) == _golden(name)


@pytest.mark.turns(2, 0)
@pytest.mark.parametrize(
    "names", [BRIEFLY, pytest.param((*STREAMED, *EAGER), marks=pytest.mark.long)], ids=["some", "all"]
)
def test_views_over_lineitem_as_a_stream_equal_the_golden_files(
    loaded: Connection, server: AntumbraServer, data: Path, names: tuple[str, ...]
) -> None:
    _drop_lineitem(loaded)
    loaded.execute(f"CREATE FOREIGN TABLE lineitem ({TABLES['lineitem']}) SERVER stream".encode())
    for name in names:
        option = "" if name in EAGER else " WITH (eager_grouping = off)"
        loaded.execute(f"CREATE VIEW {name}{option} AS {without_order(queries()[name])}".encode())
    _copy_in_random_order(server, "lineitem", data)
    for name in names:
        assert _rows(loaded, f"SELECT * FROM {name}") == _golden(name), name


@pytest.mark.turns(VIEW_PARTS)
@pytest.mark.parametrize("part", range(VIEW_PARTS))
def test_views_over_lineitem_and_orders_as_streams_equal_the_golden_files(
    part: int, loaded: Connection, server: AntumbraServer, data: Path
) -> None:
    names = list(queries())[part::VIEW_PARTS]
    _drop_lineitem(loaded)
    loaded.execute("ALTER TABLE orders RENAME TO orders_table")
    try:
        for stream in ("lineitem", "orders"):
            columns = TABLES[stream].replace("PRIMARY KEY", "NOT NULL")
            loaded.execute(f"CREATE FOREIGN TABLE {stream} ({columns}) SERVER stream".encode())
        for name in names:
            loaded.execute(f"CREATE VIEW {name} AS {without_order(queries()[name])}".encode())
        for stream in ("lineitem", "orders"):
            _copy_in_random_order(server, stream, data)
        for name in names:
            assert _rows(loaded, f"SELECT * FROM {name}") == _golden(name), name
    finally:
        loaded.execute("DROP FOREIGN TABLE orders CASCADE")
        loaded.execute("ALTER TABLE orders_table RENAME TO orders")


@pytest.mark.turns(SCAN_PARTS)
@pytest.mark.parametrize("part", range(SCAN_PARTS))
def test_selects_over_lineitem_while_it_is_filled_equal_the_golden_files(
    part: int, loaded: Connection, server: AntumbraServer, data: Path
) -> None:
    _drop_lineitem(loaded)
    options = "OPTIONS (capacity '1000000')"
    loaded.execute(f"CREATE FOREIGN TABLE lineitem ({TABLES['lineitem']}) SERVER stream {options}".encode())
    names = SCANNED_ONCE[part::SCAN_PARTS]
    end_s = time.monotonic() + WAIT_S_MAX
    all_run = False

    def wait_for_scans() -> None:
        nonlocal all_run
        if not all_run and time.monotonic() < end_s:
            time.sleep(PAUSE_S)
            (row,) = loaded.execute("SELECT scans_running FROM pg_stat_streams WHERE relname = 'lineitem'").fetchall()
            all_run = row == (len(names),)

    with ThreadPoolExecutor(len(names)) as pool, server.connect() as writer:
        answers = {name: pool.submit(_selected, server, queries()[name]) for name in names}
        _copy(writer, "lineitem", data, ", publish '100ms'", wait_for_scans)
        are_running = not any(answer.done() for answer in answers.values())
        for name, answer in answers.items():
            with (GOLDEN_FOLDER / f"{name}.csv").open(newline="") as golden:
                assert answer.result() == sorted(csv.reader(golden)), name
    assert all_run and are_running, "the COPY did not go on under all queries"


def _drop_lineitem(connection: Connection) -> None:
    """Drop it, whatever the test before has made of it."""
    try:
        connection.execute("DROP TABLE lineitem CASCADE")
    except psycopg.errors.WrongObjectType:
        connection.execute("DROP FOREIGN TABLE lineitem CASCADE")


def _selected(server: AntumbraServer, query: str) -> list[list[str]]:
    """Return the sorted rows of a SELECT that waits for the rows of streams, its values as text."""
    with server.connect() as connection:
        connection.execute(f"SET stream_timeout = '{STREAM_TIMEOUT}'".encode())
        result = connection.execute(query.encode()).pgresult
        assert result is not None
        columns = range(result.nfields)
        rows = [[result.get_value(row, column) or b"" for column in columns] for row in range(result.ntuples)]
        return sorted([value.decode() for value in row] for row in rows)


def _copy(
    connection: Connection,
    table: str,
    data: Path,
    options: str = "",
    between_pieces: Callable[[], None] = lambda: None,
) -> None:
    with (
        (data / f"{table}.csv").open("rb") as file,
        connection.cursor().copy(f"COPY {table} FROM STDIN WITH (FORMAT csv, HEADER true{options})".encode()) as copy,
    ):
        while piece := file.read(PIECE_BYTES):
            copy.write(piece)
            between_pieces()


def _copy_in_random_order(server: AntumbraServer, table: str, data: Path) -> None:
    """Insert a table's rows in random order, by several connections at the same time, each in
    several commits.
    """
    _, *lines = (data / f"{table}.csv").read_bytes().splitlines(keepends=True)
    Random(SEED).shuffle(lines)

    def write(number: int) -> None:
        with server.connect() as connection:
            for part in range(number, COMMITS, WRITERS):
                with connection.cursor().copy(f"COPY {table} FROM STDIN WITH (FORMAT csv)".encode()) as copy:
                    copy.write(b"".join(lines[part::COMMITS]))

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(write, range(WRITERS)))


def _rows(connection: Connection, query: str) -> list[str]:
    with connection.cursor().copy(f"COPY ({query}) TO STDOUT WITH (FORMAT csv)".encode()) as copy:
        return sorted(b"".join(bytes(piece) for piece in copy).decode().splitlines())


def _golden(name: str) -> list[str]:
    return (GOLDEN_FOLDER / f"{name}.csv").read_text().splitlines()
