"""A disk that is really full, a small file system in memory: whatever needs room is 53100, reading
goes on, and nothing is lost after.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from engine.tables.table_store import CHECKPOINT_LOG_BYTES
from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

DISK_MB = 160
LEFT_BYTES = 4096
MANY = 20_000
PIECE_BYTES = 1 << 20
SETTINGS = ("query_memory_bytes=64MB", "result_memory_bytes=1MB", "stage_memory_bytes_max=1MB")
UPPER = "SELECT n, rank() OVER (ORDER BY n) FROM (SELECT k, count(*) AS n FROM events GROUP BY 1) g"
# An answer, DuckDB's temporary files, rows for a table and a stream, a file of the server, a
# kernel, a checkpoint, and Spark.
NEEDS_ROOM = (
    "SELECT g, md5(g::text) FROM generate_series(1, 200000) g",
    "SELECT m FROM (SELECT md5(g::text) AS m FROM generate_series(1, 2000000) g) q ORDER BY m OFFSET 1999999",
    "INSERT INTO items SELECT g, md5(g::text) FROM generate_series(1, 300000) g",
    "INSERT INTO events SELECT g FROM generate_series(1, 300000) g",
    "COPY (SELECT g FROM generate_series(1, 50000) g) TO 'rows.txt'",
    "CREATE VIEW other AS SELECT k % 7 AS m, count(*), sum(k * 3) FROM events GROUP BY 1",
    "CREATE TABLE copied AS SELECT g, md5(g::text) FROM generate_series(1, 300000) g",
    "SELECT * FROM ranked",
    "CHECKPOINT",
)
READS = (
    "SELECT count(*) FROM items",
    "SELECT sum(n) FROM counted",
    "SELECT count(*) FROM pg_class WHERE relname = 'items'",
)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own."""
    folder = tmp_path / "disk"
    folder.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)], capture_output=True, text=True
    )
    if done.returncode:
        pytest.skip(f"needs the right to mount: {done.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Leave nearly no room; return the file that has it."""
    file = disk / "fill"
    state = os.statvfs(disk)
    left = state.f_bavail * state.f_frsize - LEFT_BYTES
    with file.open("wb") as out:
        while left > 0:
            left -= out.write(bytes(min(left, PIECE_BYTES)))
    return file


def rows_taken(client: psycopg.Connection[tuple[object, ...]]) -> int:
    """Return how many rows of a table were acknowledged before the disk was full, a statement each
    for many and for one.
    """
    taken = 0
    while not (state := outcome(client, f"INSERT INTO items SELECT g, md5(g::text) FROM generate_series(1, {MANY}) g")):
        taken += MANY
    assert state == "53100"
    while not (state := outcome(client, "INSERT INTO items SELECT g, md5(g::text) FROM generate_series(1, 9) g")):
        taken += 9
    assert state == "53100"
    return taken


def outcome(client: psycopg.Connection[tuple[object, ...]], text: str) -> str:
    """Return the SQLSTATE of a statement, '' of one that succeeds."""
    try:
        client.execute(text)
    except psycopg.Error as error:
        return error.sqlstate or str(error)
    return ""


@pytest.mark.turns(3, 1)
def test_a_full_disk(disk: Path) -> None:
    copies = disk / "copies"
    copies.mkdir()
    options = [part for setting in (*SETTINGS, f"copy_directory={copies}") for part in ("--set", setting)]
    server = AntumbraServer(disk / "data", *options).start()
    try:
        with server.connect() as client:
            for text in (
                "SET statement_timeout = '120s'",
                "CREATE TABLE items (a integer, x text)",
                "INSERT INTO items SELECT g, md5(g::text) FROM generate_series(1, 1000) g",
                "CREATE FOREIGN TABLE events (k integer) SERVER stream OPTIONS (string_capacity '1MB')",
                "CREATE VIEW counted AS SELECT k, count(*) AS n FROM events GROUP BY k",
                f"CREATE VIEW ranked AS {UPPER}",
                "INSERT INTO events VALUES (1), (2), (2)",
            ):
                client.execute(text)
            before = [client.execute(text).fetchall() for text in READS]
            filling = fill(disk)
            assert {text: outcome(client, text) for text in NEEDS_ROOM} == dict.fromkeys(NEEDS_ROOM, "53100")
            assert [client.execute(text).fetchall() for text in READS] == before
            filling.unlink()
            assert client.execute("SELECT * FROM ranked ORDER BY 1").fetchall() == [(1, 1), (2, 2)]
            for text in ("CHECKPOINT", "INSERT INTO events VALUES (3)", NEEDS_ROOM[0], NEEDS_ROOM[5]):
                assert outcome(client, text) == ""
        assert server.stop() == 0
        assert "Traceback" not in server.log_path.read_text()
    finally:
        if not server.has_ended:
            server.kill()


@pytest.mark.turns(3, 2)
def test_tables_that_fill_the_disk(disk: Path) -> None:
    """DuckDB's own checkpoints came with a COMMIT: one that found no room failed what was durable,
    and all that followed.
    """
    options = [part for setting in (*SETTINGS, "log_segment_bytes=1MB") for part in ("--set", setting)]
    server = AntumbraServer(disk / "data", *options).start()
    try:
        with server.connect() as client:
            client.execute("CREATE TABLE items (a integer, x text)")
            taken = rows_taken(client)
            assert client.execute("SELECT count(*) FROM items").fetchall() == [(taken,)]
            subprocess.run(["mount", "-o", f"remount,size={4 * DISK_MB}m", str(disk)], check=True)
            assert outcome(client, "INSERT INTO items VALUES (1, 'x')") == ""
            logs = (disk / "data").glob("tables.duckdb.wal")
            assert sum(log.stat().st_size for log in logs) < CHECKPOINT_LOG_BYTES
        server.kill()
        with server.start().connect() as client:
            assert client.execute("SELECT count(*) FROM items").fetchall() == [(taken + 1,)]
    finally:
        if not server.has_ended:
            server.kill()
