"""pg_stat_continuous_views, view_staleness and view_queue_max, of a server without a socket."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.session_client import SessionClient, World

COLUMNS = "tuples_in, tuples_passed, tuples_skipped, groups, groups_waiting, queue, refreshes"
COUNTS = f"SELECT {COLUMNS} FROM pg_stat_continuous_views ORDER BY relname"


class SetClock:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.time_us = 1_000_000_000

    def now_us(self) -> int:
        return self.time_us

    def monotonic_s(self) -> float:
        return self.time_us / 1e6


def made(folder: Path, queue_max: int = 16) -> tuple[World, SessionClient, SetClock]:
    clock = SetClock()
    world = World(folder, clock=clock, view_queue_max=queue_max)
    client = world.client()
    client.run(
        "CREATE FOREIGN TABLE s (k int, x int) SERVER stream",
        "CREATE VIEW a AS SELECT k, count(*) AS n FROM s WHERE x > 0 GROUP BY k",
        "CREATE VIEW b WITH (on_error = skip) AS SELECT count(10 / x) AS n FROM s",
    )
    return world, client, clock


def plain(rows: list[str]) -> list[str]:
    return [row[2:].replace("b'", "").replace("'", "") for row in rows]


def test_what_views_have_taken_and_keep(tmp_path: Path) -> None:
    world, client, clock = made(tmp_path)
    assert plain(client.rows(COUNTS)) == ["[0, 0, 0, 0, 0, 0, 0]", "[0, 0, 0, 1, 1, 0, 0]"]
    client.run("INSERT INTO s VALUES (1, 1), (2, 2), (2, 0), (3, -1)")
    assert plain(client.rows(COUNTS)) == ["[4, 2, 0, 0, 2, 0, 0]", "[4, 3, 1, 1, 1, 0, 0]"]
    client.run("SELECT * FROM a", "INSERT INTO s VALUES (4, 1)")
    assert plain(client.rows(COUNTS)) == ["[5, 3, 0, 2, 1, 0, 1]", "[5, 4, 1, 1, 1, 0, 0]"]
    clock.time_us += 2_500_000
    told = "SELECT version_rows, version_age_ms, swap_ms >= 0, merge_ms >= 0, hand_over_ms > 0, spark_ms, store_ms >= 0, active, stream"
    assert plain(client.rows(f"{told} FROM pg_stat_continuous_views WHERE relname = 'a'")) == [
        "[2, 2500, t, t, t, 0, t, t, s]"
    ]
    assert plain(client.rows(f"{told} FROM pg_stat_continuous_views WHERE relname = 'b'")) == [
        "[None, None, None, None, None, None, None, t, s]"
    ]
    client.run("SELECT deactivate('b')", "INSERT INTO s VALUES (4, 1)")
    assert plain(client.rows("SELECT active, tuples_in FROM pg_stat_continuous_views ORDER BY 1")) == [
        "[f, 5]",
        "[t, 6]",
    ]
    (error,) = (line for line in client.ask("DELETE FROM pg_stat_continuous_views") if line.startswith("E"))
    assert error.startswith("E ERROR 55000")
    world.close()


def test_an_old_answer_is_enough_for_who_says_so(tmp_path: Path) -> None:
    world, client, clock = made(tmp_path)
    client.run("INSERT INTO s VALUES (1, 1)")
    assert plain(client.rows("SELECT n FROM a")) == ["[1]"]
    client.run("SET view_staleness = '1s'", "INSERT INTO s VALUES (1, 1)")
    clock.time_us += 1_000_000
    assert plain(client.rows("SELECT n FROM a")) == ["[1]"]
    assert plain(client.rows("SELECT n FROM a -- again")) == ["[1]"]
    clock.time_us += 1
    assert plain(client.rows("SELECT n FROM a")) == ["[2]"]
    # Two views: only what both answered at one moment.
    client.run("INSERT INTO s VALUES (1, 1)")
    pair = "SELECT a.n, b.n FROM a, b"
    assert plain(client.rows("SELECT n FROM b")) == ["[3]"]
    assert plain(client.rows(pair)) == ["[3, 3]"]
    client.run("INSERT INTO s VALUES (1, 1)")
    assert plain(client.rows(pair)) == ["[3, 3]"]
    # A block sees one moment, and another session the newest.
    client.run("BEGIN")
    assert plain(client.rows(pair)) == ["[4, 4]"]
    client.run("COMMIT", "INSERT INTO s VALUES (1, 1)")
    other = world.client()
    assert plain(other.rows(pair)) == ["[5, 5]"]
    clock.time_us += 5_000_000
    assert plain(client.rows(pair)) == ["[5, 5]"]
    world.close()


@pytest.mark.parametrize("queue_max", [1, 3])
def test_large_statements_wait_up_to_a_bound(tmp_path: Path, queue_max: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("views.upkeep.commit_buffers.MERGED_GROUPS_MAX", 100)
    world, client, _ = made(tmp_path, queue_max)
    client.run("CREATE TABLE t AS SELECT g AS k, 1 AS x FROM generate_series(1, 1500) g")
    found = []
    for _ in range(5):
        client.run("INSERT INTO s SELECT * FROM t")
        found += client.rows("SELECT queue, queue_most <= queue_max FROM pg_stat_continuous_views WHERE relname = 'a'")
    # Who finds the queue full merges it before its own rows come.
    counts = [number % queue_max + 1 for number in range(5)]
    assert plain(found) == [f"[{count}, t]" for count in counts]
    assert plain(client.rows("SELECT count(*), min(n), max(n) FROM a")) == ["[1500, 5, 5]"]
    world.close()
