"""Several large COPYs at once, with a log whose segments are small: the COPY that begins the next
segment does it alone.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

COPIES_COUNT = 3
ROWS_COUNT = 200_000
TEXT = "".join(f"{row}\ta text that does not lie in its slot, number {row}\n" for row in range(ROWS_COUNT)).encode()
PIECE_BYTES = 1 << 18


def copy(server: AntumbraServer) -> None:
    with server.connect() as connection:
        connection.execute("SET synchronous_commit = off")
        with connection.cursor().copy("COPY events FROM STDIN WITH (publish '1ms')") as copy:
            for start in range(0, len(TEXT), PIECE_BYTES):
                copy.write(TEXT[start : start + PIECE_BYTES])


def test_copies_side_by_side_are_all_in_the_log(tmp_path: Path) -> None:
    options = ("--set", "log_segment_bytes=1MB", "--set", "checkpoint_interval_s=0")
    server = AntumbraServer(tmp_path / "data", *options).start()
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE events (k int, t text) SERVER stream")
        connection.execute("CREATE VIEW counted AS SELECT count(*) AS n, sum(k) AS total FROM events")
    with ThreadPoolExecutor(COPIES_COUNT) as pool:
        for copied in [pool.submit(copy, server) for _ in range(COPIES_COUNT)]:
            copied.result()
    with server.connect() as connection:
        # This one waits for the disk, which then has all before it.
        connection.execute("INSERT INTO events VALUES (1, '')")
    server.kill()
    server.start()
    with server.connect() as connection:
        (found,) = connection.execute("SELECT n, total FROM counted").fetchall()
    assert found == (COPIES_COUNT * ROWS_COUNT + 1, COPIES_COUNT * ROWS_COUNT * (ROWS_COUNT - 1) // 2 + 1)
    assert server.stop() == 0
