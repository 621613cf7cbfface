"""Rows of COPY come back after a crash, row by row, whichever form the log has its
records in.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine.commit import staging
from ringbuffer.pages.packed_rows import PACKED_ROWS_MAX
from tests.end_to_end.raw_client import COPY_DONE, copy_data, query
from tests.engine.session_client import World

ROWS_COUNT = 3000
COLUMNS = "k int, n numeric(30,2), f double precision, b boolean, d date, t text, u varchar(200)"


def lines(rng: random.Random, times: bool) -> bytes:
    """Return rows of COPY's text format, NULLs and long texts among them."""
    found = []
    for number in range(ROWS_COUNT):
        fields = [
            str(number), str(rng.randrange(-(10**rng.choice((3, 25))), 10**3) / 4), repr(rng.random() * 10**9), rng.choice("tf"),
            f"{rng.randrange(1, 9999):04}-03-01", "é" * rng.randrange(30), "word " * rng.choice((0, 1, 3, 40)),
        ]  # fmt: skip
        fields = ["\\N" if rng.random() < 0.1 else field for field in fields]
        found.append("\t".join([*fields, f"2026-05-01 12:00:{number % 60:02}"] if times else fields))
    return "\n".join(found).encode() + b"\n"


@pytest.mark.parametrize(
    ("packed_from", "row_bytes"), [(staging.PACKED_ROWS_MIN, (60, 125)), (PACKED_ROWS_MAX, (125, 250))]
)
def test_every_row_is_there(
    packed_from: int, row_bytes: tuple[int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "PACKED_ROWS_MIN", packed_from)
    rng = random.Random(5)
    world = World(tmp_path)
    client = world.client()
    client.run(f"CREATE FOREIGN TABLE s ({COLUMNS}) SERVER stream")
    client.run("CREATE VIEW v AS SELECT b, count(*) AS c, sum(n) AS s, max(u) AS u FROM s GROUP BY b")
    before = world.database.log.bytes_count
    names = ", ".join(column.split()[0] for column in COLUMNS.split(", "))
    for statement, times in (("COPY s FROM STDIN", False), (f"COPY s ({names}, arrival_timestamp) FROM STDIN", True)):
        data = lines(rng, times)
        assert client.ask(query(statement), copy_data(data), COPY_DONE)[-2:] == [f"C COPY {ROWS_COUNT}", "Z I"]
    written = (world.database.log.bytes_count - before) / (2 * ROWS_COUNT)
    assert row_bytes[0] < written < row_bytes[1]
    asked = ("SELECT *, arrival_timestamp FROM s", "SELECT * FROM v ORDER BY b")
    expected = [client.rows(text) for text in asked]
    assert len(expected[0]) == 2 * ROWS_COUNT
    world.abandon()
    # What was written in either form is read.
    monkeypatch.undo()
    world = World(tmp_path)
    client = world.client()
    assert [client.rows(text) for text in asked] == expected
    world.close()
