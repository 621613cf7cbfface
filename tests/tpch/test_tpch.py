"""TPC-H queries as continuous views over lineitem as a stream, against the golden files that PostgreSQL made."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.tpch.workload import GOLDEN_FOLDER, LINEITEM_COLUMNS, QUERIES, generate_lineitem

PIECE_BYTES = 64 * 1024


@pytest.fixture(scope="module")
def lineitem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate_lineitem(tmp_path_factory.mktemp("tpch"))


def test_views_over_lineitem_equal_the_golden_files(server: AntumbraServer, lineitem: Path) -> None:
    with server.connect() as connection:
        connection.execute(f"CREATE FOREIGN TABLE lineitem ({LINEITEM_COLUMNS}) SERVER stream".encode())
        try:
            for name, query in QUERIES.items():
                connection.execute(f"CREATE VIEW {name} AS {query}".encode())
            _copy(connection, lineitem)
            for name in QUERIES:
                with connection.cursor().copy(
                    f"COPY (SELECT * FROM {name}) TO STDOUT WITH (FORMAT csv)".encode()
                ) as copy:
                    rows = b"".join(bytes(piece) for piece in copy).decode()
                assert sorted(rows.splitlines()) == (GOLDEN_FOLDER / f"{name}.csv").read_text().splitlines(), name
        finally:
            connection.execute("DROP FOREIGN TABLE lineitem CASCADE")


def _copy(connection: psycopg.Connection[tuple[object, ...]], path: Path) -> None:
    with (
        path.open("rb") as data,
        connection.cursor().copy("COPY lineitem FROM STDIN WITH (FORMAT csv, HEADER true)") as copy,
    ):
        while piece := data.read(PIECE_BYTES):
            copy.write(piece)
