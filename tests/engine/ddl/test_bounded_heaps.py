"""Texts that take the place of shorter ones: the room that they leave is given back, whether a view
is read or not.

The oracle is a dictionary in Python.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from engine.catalog.image import states_of
from ringbuffer.groups import merge
from tests.engine.ddl.test_view_life_cycle import Server

STREAM = "CREATE FOREIGN TABLE s (k int, x int, t text, y bytea) SERVER stream"
VIEW = """CREATE VIEW v AS SELECT k, first(t ORDER BY x) AS f, last(t) AS l, last(y) AS y, max(t) AS m, array_agg(x) AS xs,
approx_percentile(x, 0.5) IS NULL AS p, count(*) AS n FROM s GROUP BY k"""


@pytest.mark.parametrize("reads", [0, 40])
def test_a_heap_is_a_bounded_multiple_of_its_texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reads: int) -> None:
    rng = random.Random(reads)
    server = Server(tmp_path)
    client = server.client
    client.run(STREAM, VIEW)
    expected: dict[int, list[str]] = {}
    gathered = 0
    gather = merge.gather_strings

    def counting(*arguments: object) -> int:
        nonlocal gathered
        gathered += 1
        return int(gather(*arguments))  # type: ignore[arg-type]  # passed on as they are

    monkeypatch.setattr(merge, "gather_strings", counting)
    for step in range(60):
        rows = []
        for place in range(60):
            # Each long text comes after a short one.
            key, size = rng.randrange(5), 900 if (step + place) % 2 else 14
            text = f"{rng.randrange(10**9)}".rjust(size, "x")
            rows.append(f"({key}, {rng.randrange(9)}, '{text}', '{text}')")
            expected.setdefault(key, []).append(text)
        client.run("INSERT INTO s VALUES " + ", ".join(rows))
        if reads and step % (60 // reads + 1) == 0:
            server.rows("SELECT count(*) FROM v")
    (state,) = states_of(server.world.database.catalog.image.entries["v"])
    assert gathered or reads
    # Twenty texts and 5 lists; all texts that have come have 2.9 MB in each of three states.
    assert state.chain.state.groups.bytes_count < 1_000_000
    for checkpoint in (False, True):
        found = server.rows("SELECT k, l, m, y, n, cardinality(xs) FROM v ORDER BY k")
        assert found == [
            str([b"%d" % k, texts[-1].encode(), max(texts).encode(), b"\\x" + texts[-1].encode().hex().encode()] + [b"%d" % len(texts)] * 2)
            for k, texts in sorted(expected.items())
        ]  # fmt: skip
        server.crash(checkpoint=checkpoint)
    server.world.close()
