"""Windows by the options sw and ttl of CREATE VIEW, under a clock that the test sets; the oracle is
a model in Python.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from random import Random

import pytest

from tests.engine.commit.test_passed_groups import (
    COLUMNS,
    DAY_US,
    HOUR_US,
    SECOND_US,
    Model,
    SetClock,
    groups_of,
    insert,
    line,
    some,
)
from tests.engine.session_client import SessionClient, World

MINUTE_US = 60 * SECOND_US
COUNTS = "SELECT k, count(*) AS n, sum(x) AS s FROM s GROUP BY k"
# The options of views that slide, their size, and the width of their steps.
SLIDING = {
    "plain": ("sw = '1 hour', sw_column = tz", HOUR_US, MINUTE_US),
    "five": ("sw = '1 hour', sw_column = 'tz', step_factor = 5", HOUR_US, 3 * MINUTE_US),
    "exact": ("sw = '60 minutes', sw_column = ts, step_factor = 0", HOUR_US, 1),
    "days": ("sw = '2 days', sw_column = d", 2 * DAY_US, DAY_US),
    "whole_days": ("sw = '2 days', sw_column = d, step_factor = 0", 2 * DAY_US, DAY_US),
}
EXPIRING = (
    "VIEW old (minute, n, s) WITH (ttl = '{} minutes', ttl_column = minute) AS "
    "SELECT date_bin('1 min', tz, timestamptz '1970-01-01 00:00+00'), count(*), sum(x) FROM s GROUP BY 1"
)
REFUSED = {
    "sw = '1 hour', ttl = '1 hour', ttl_column = k": '22023: parameters "sw" and "ttl" exclude each other',
    "sw = 'an hour'": '22023: invalid value for option "sw": "an hour"',
    "sw = '-1 hour'": '22023: invalid value for option "sw": "-1 hour"',
    "sw_column = tz": '22023: parameter "sw_column" needs "sw"',
    "step_factor = 5": '22023: parameter "step_factor" needs "sw"',
    "sw = '1 hour', step_factor = 51": '22023: invalid value for option "step_factor": "51"',
    "sw = '1 hour', step_factor = x": '22023: invalid value for option "step_factor": "x"',
    "sw = '1 hour', sw_column = \"TZ\"": '42703 at 57: column "TZ" does not exist',
    "sw = '1 hour', sw_column = k": "42883 at 54: operator does not exist: integer > timestamp with time zone",
    "ttl = '1 hour'": '22023: parameter "ttl" needs "ttl_column"',
    "ttl_column = k": '22023: parameter "ttl_column" needs "ttl"',
    "ttl = '1 hour', ttl_column = last": "0A000: ttl_column other than a time by which the view groups a stream "
    "is not supported yet",
    "sw = '1 hour', action = transform, outputstream = s": '22023: parameter "sw" is none of transforms',
}


def expected(model: Model, now_us: int, size_us: int, step_us: int) -> list[str]:
    groups: defaultdict[tuple[object, ...], list[int | None]] = defaultdict(list)
    for k, x, time_us in model.rows:
        if time_us is not None and time_us // step_us * step_us > now_us - size_us:
            groups[k,].append(x)
    return sorted(map(line, groups.items()))


def expected_minutes(model: Model, now_us: int, age_us: int) -> list[str]:
    groups: defaultdict[tuple[object, ...], list[int | None]] = defaultdict(list)
    for _, x, time_us in model.rows:
        if time_us is not None and time_us // MINUTE_US * MINUTE_US > now_us - age_us:
            groups[time_us // MINUTE_US * MINUTE_US,].append(x)
    return sorted(map(line, groups.items()))


def check(client: SessionClient, model: Model, arrivals_us: list[int], clock: SetClock, ttl: int) -> None:
    for name, (_, size_us, step_us) in SLIDING.items():
        assert sorted(client.rows(f"SELECT * FROM {name}")) == expected(model, clock.time_us, size_us, step_us), name
    young = [at for at in arrivals_us if at // MINUTE_US * MINUTE_US > clock.time_us - HOUR_US]
    assert client.rows("SELECT * FROM arrived") == [f"D [b'{len(young)}']"]
    minutes = client.rows("SELECT (extract(epoch FROM minute) * 1000000)::bigint, n, s FROM old")
    assert sorted(minutes) == expected_minutes(model, clock.time_us, ttl * MINUTE_US)


@pytest.mark.slow
def test_windows_by_options_are_those_of_a_model(tmp_path: Path) -> None:
    chance, clock, model, arrivals_us = Random(8), SetClock(), Model(), list[int]()
    world = World(tmp_path, clock=clock)
    client = world.client().after("SET TimeZone = 'UTC'", f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream")
    client.run(*(f"CREATE VIEW {name} WITH ({options}) AS {COUNTS}" for name, (options, _, _) in SLIDING.items()))
    client.run("CREATE VIEW arrived WITH (sw = '1 hour') AS SELECT count(*) FROM s", f"CREATE {EXPIRING.format(90)}")
    ttl = 90
    for round_ in range(6):
        clock.time_us += 1500 * SECOND_US
        insert(client, model, some(chance, clock.time_us, 30))
        arrivals_us += [clock.time_us] * 30
        if round_ == 2:
            # A shorter life goes on with what is kept.
            ttl = 40
            client.run(f"CREATE OR REPLACE {EXPIRING.format(ttl)}")
        if round_ == 3:
            world.database.checkpoints.make()
        if round_ == 4:
            world.close()
            world = World(tmp_path, clock=clock)
            world.database.definitions.follow()
            client = world.client().after("SET TimeZone = 'UTC'")
        check(client, model, arrivals_us, clock, ttl)
    assert groups_of(world, "old") < 60
    world.close()


def test_a_longer_life_shows_what_is_there(tmp_path: Path) -> None:
    clock, model = SetClock(), Model()
    world = World(tmp_path, clock=clock)
    client = world.client().after("SET TimeZone = 'UTC'", f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream")
    client.run(f"CREATE {EXPIRING.format(30)}")

    def minutes() -> list[str]:
        return sorted(client.rows("SELECT (extract(epoch FROM minute) * 1000000)::bigint, n, s FROM old"))

    for _ in range(8):
        clock.time_us += 600 * SECOND_US
        insert(client, model, [(1, 1, clock.time_us)])
        assert minutes() == expected_minutes(model, clock.time_us, 30 * MINUTE_US)
    began_us = clock.time_us
    client.run(f"CREATE OR REPLACE {EXPIRING.format(29)}")
    longer = client.ask(f"CREATE OR REPLACE {EXPIRING.format(60)}")
    assert longer[1] == 'N NOTICE 00000: view "old" has given up rows that it would show now', longer
    kept = [row for row in model.rows if row[2] is not None and row[2] > began_us - 29 * MINUTE_US]
    for _ in range(8):
        clock.time_us += 600 * SECOND_US
        insert(client, model, [(1, 1, clock.time_us)])
        kept += model.rows[-1:]
        assert set(minutes()) >= set(expected_minutes(Model(kept), clock.time_us, 60 * MINUTE_US))
    # As all do that came before.
    assert minutes() == expected_minutes(model, clock.time_us, 60 * MINUTE_US)
    without = EXPIRING.format(60).replace("WITH (ttl = '60 minutes', ttl_column = minute) ", "")
    assert client.ask(f"CREATE OR REPLACE {without}")[0].startswith('E ERROR 55000: cannot replace view "old"')
    client.run(f"CREATE OR REPLACE {without.replace(' AS', ' WITH (replace = from_now) AS', 1)}")
    clock.time_us += 5 * HOUR_US
    assert set(minutes()) >= set(expected_minutes(model, clock.time_us, 6 * HOUR_US))
    world.close()


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> SessionClient:
    return World(tmp_path_factory.mktemp("data")).client().after(f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream")


@pytest.mark.parametrize("options", REFUSED)
def test_options_that_do_not_fit(client: SessionClient, options: str) -> None:
    query = "SELECT k, max(tz) AS last FROM s GROUP BY k"
    assert client.ask(f"CREATE VIEW v WITH ({options}) AS {query}")[0] == f"E ERROR {REFUSED[options]}"


def test_queries_that_do_not_slide(client: SessionClient) -> None:
    union = f"CREATE VIEW v WITH (sw = '1 hour') AS {COUNTS} UNION ALL {COUNTS}"
    told = "sw of a query that is not a single SELECT is not supported yet"
    assert client.ask(union)[0] == f"E ERROR 0A000 at 39: {told}"
    client.run("CREATE TABLE t (k int, arrival_timestamp timestamptz)")
    ordinary = client.ask("CREATE VIEW v WITH (sw = '1 hour') AS SELECT k FROM t")
    assert ordinary[0] == 'E ERROR 22023: unrecognized parameter "sw"'
