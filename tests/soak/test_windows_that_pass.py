"""Sliding windows and rows with a life under a clock that runs ahead: what has passed is gone from
answers and from memory, hour after hour.

A quarter of --seconds bounds the long run. The first hours fill windows, pools and caches; from
then on neither the groups nor the memory of the process may grow.
"""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.end_to_end.raw_client import COPY_DONE, copy_data, query
from tests.engine.commit.test_passed_groups import HOUR_US, SECOND_US, SetClock, groups_of
from tests.engine.session_client import SessionClient, World
from tests.oracle.evidence import Evidence

SECONDS_SHARE = 4
# The clock moves by so much between two COPYs of so many rows.
STEP_US, ROWS = 60 * SECOND_US, 2000
WARM_STEPS = 400
MEMORY_GROWTH_MAX = 0.05
KEYS = 100
VIEWS = {
    "sliding": "WITH (sw = '1 hour', sw_column = tz) AS SELECT k, count(*) AS n, sum(x) AS s FROM s GROUP BY k",
    "exact": "WITH (sw = '2 minutes', sw_column = tz, step_factor = 0) AS SELECT k, count(*) AS n FROM s GROUP BY k",
    "expiring": "WITH (ttl = '1 hour', ttl_column = m) AS SELECT date_trunc('minute', tz) AS m, k, count(*) AS n, "
    "min(note) AS note FROM s GROUP BY m, k",
    "closing": "WITH (emit = on_close, lateness = '1 minute', ttl = '1 hour', ttl_column = window_end) AS "
    "SELECT k, window_end, count(*) AS n FROM hop(s, tz, '1 minute', '5 minutes') GROUP BY k, window_end",
}


def resident_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no VmRSS")


def step(client: SessionClient, clock: SetClock, number: int, rows_count: int) -> None:
    """Insert the rows of a minute, some of them late."""
    clock.time_us += STEP_US
    now_s = clock.time_us // SECOND_US
    rows = []
    for row in range(rows_count):
        age_s = row * 7 % 60 if row % 20 else row * 7 % 4000
        at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(now_s - age_s))
        rows.append(f"{(row * 13 + number) % KEYS}\t{row}\t{at}+00\ta note that is longer than a few bytes, {number}\n")
    told = client.ask(query("COPY s FROM STDIN"), copy_data("".join(rows).encode()), COPY_DONE)
    assert told[-2] == f"C COPY {rows_count}", told


def check(client: SessionClient, rows_count: int) -> None:
    """Check what any model says: the rows of the newest minutes."""
    assert len(client.rows("SELECT * FROM sliding")) == KEYS
    (counted,) = client.rows("SELECT sum(n) FROM exact")
    assert rows_count <= int(counted.split("'")[1]) <= 3 * rows_count, counted
    assert client.rows("SELECT count(DISTINCT m) FROM expiring") in (["D [b'60']"], ["D [b'59']"])
    assert client.rows("SELECT count(*) > 0 FROM closing") == ["D [b't']"]


def lives(tmp_path: Path, rows_count: int, warm_steps: int, steps_max: int, seconds_max: float) -> list[int]:
    """Return the memory of the process after each hour of the clock from `warm_steps` on."""
    clock = SetClock()
    world = World(tmp_path, clock=clock)
    client = world.client().after(
        "SET TimeZone = 'UTC'",
        "CREATE FOREIGN TABLE s (k int, x int, tz timestamptz, note text) SERVER stream OPTIONS (capacity '65536')",
    )
    client.run(*(f"CREATE VIEW {name} {text}" for name, text in VIEWS.items()))
    began_s, number, sizes = time.monotonic(), 0, list[int]()
    most: dict[str, int] = {}
    while number < steps_max and time.monotonic() - began_s < seconds_max:
        number += 1
        step(client, clock, number, rows_count)
        if number % 10 == 0 and number > 70:
            check(client, rows_count)
        if number % 60 == 0:
            world.database.checkpoints.make()
            if number >= warm_steps:
                sizes.append(resident_bytes())
                for name in VIEWS:
                    groups = groups_of(world, name)
                    assert groups <= 1.5 * most.setdefault(name, groups), (name, groups, most)
    clock.time_us += 30 * HOUR_US
    client.run(f"INSERT INTO s (tz) VALUES (to_timestamp({clock.time_us // SECOND_US}))")
    for name in VIEWS:
        client.rows(f"SELECT * FROM {name}")
        assert groups_of(world, name) <= 5, name
    world.close()
    return sizes


@pytest.mark.slow
def test_groups_stay_as_many(tmp_path: Path) -> None:
    assert len(lives(tmp_path, 100, 120, 180, 300.0)) == 2


@pytest.mark.long
@pytest.mark.timeout(0)  # --seconds is its bound.
def test_memory_stays_flat(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    evidence = Evidence("windows_that_pass", 0)
    began_s = time.monotonic()
    sizes = lives(tmp_path, ROWS, WARM_STEPS, 1 << 40, pytestconfig.getoption("--seconds") / SECONDS_SHARE)
    evidence.seconds, evidence.cases = time.monotonic() - began_s, len(sizes)
    evidence.histogram.update(
        {f"MB after hour {hour}": size >> 20 for hour, size in enumerate(sizes, WARM_STEPS // 60)}
    )
    print([size >> 20 for size in sizes])
    half = len(sizes) // 2
    if not half or max(sizes[half:]) > (1 + MEMORY_GROWTH_MAX) * max(sizes[:half]):
        evidence.failures.append(f"memory grows: {sizes}")
    if pytestconfig.getoption("--write-evidence"):
        evidence.write()
    assert not evidence.failures, evidence.failures[0]
