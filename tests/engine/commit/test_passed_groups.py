"""Groups of sliding windows that have passed leave memory and checkpoints, and no answer misses
one, under a clock that the test sets. The oracle is a model in Python.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from engine.catalog.image import ViewEntry
from tests.engine.session_client import SessionClient, World

SECOND_US = 1_000_000
HOUR_US = 3600 * SECOND_US
DAY_US = 24 * HOUR_US
FIRST_US = 1_772_500_000_000_000
COLUMNS = "(k int, x int, tz timestamptz, ts timestamp, d date)"
VIEWS = {
    "recent": "SELECT k, count(*) AS n, sum(x) AS s FROM s WHERE tz > now() - interval '1 hour' GROUP BY k",
    "local": "SELECT k, count(*) AS n, sum(x) AS s FROM s WHERE ts >= localtimestamp - interval '10 min' GROUP BY k",
    "named": "SELECT name, count(*) AS n, sum(x) AS s FROM s JOIN names USING (k) "
    "WHERE tz > now() - interval '1 hour' GROUP BY name",
    "dated": "SELECT k, count(*) AS n, sum(x) AS s FROM s WHERE d > current_date - 3 GROUP BY k",
    # Its stream pipeline is that of the first one.
    "minutes": "SELECT k, date_bin('1 min', tz, timestamptz '1970-01-01 00:00+00') AS m, count(*) AS n, sum(x) AS s "
    "FROM s GROUP BY 1, 2",
}
WINDOWS_US = {"recent": HOUR_US, "local": 600 * SECOND_US, "named": HOUR_US}
NAMES = {0: "a", 1: "b", 2: "a"}
Row = tuple[int, int | None, int | None]


@dataclass
class SetClock:
    """A time of day that stands still until it is set."""

    time_us: int = FIRST_US

    def now_us(self) -> int:
        return self.time_us

    def monotonic_s(self) -> float:
        return self.time_us / SECOND_US


@dataclass
class Model:
    """All rows that were ever inserted, as (k, x, time in microseconds)."""

    rows: list[Row] = field(default_factory=list)

    def answer(self, view: str, now_us: int) -> list[str]:
        """Return the rows of a view as the session renders them, sorted."""
        groups: defaultdict[tuple[object, ...], list[int | None]] = defaultdict(list)
        for k, x, time_us in self.rows:
            if view == "minutes":
                start = None if time_us is None else shown(time_us // (60 * SECOND_US) * (60 * SECOND_US))
                groups[k, start].append(x)
            elif time_us is None:
                continue
            elif view == "dated":
                if time_us // DAY_US > now_us // DAY_US - 3:
                    groups[k,].append(x)
            else:
                size = WINDOWS_US[view]
                step, name = size // 60, NAMES.get(k)
                start_us = time_us // step * step
                inside = start_us >= now_us - size if view == "local" else start_us > now_us - size
                if inside and (view != "named" or name is not None):
                    groups[(name,) if view == "named" else (k,)].append(x)
        return sorted(map(line, groups.items()))


def line(group: tuple[tuple[object, ...], list[int | None]]) -> str:
    keys, values = group
    known = [value for value in values if value is not None]
    fields = (*keys, len(values), sum(known) if known else None)
    return "D [" + ", ".join("None" if one is None else repr(str(one).encode()) for one in fields) + "]"


def shown(time_us: int) -> str:
    return datetime.fromtimestamp(time_us / SECOND_US, UTC).strftime("%Y-%m-%d %H:%M:%S+00")


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


@pytest.fixture
def world(tmp_path: Path, clock: SetClock) -> Iterator[World]:
    made = World(tmp_path, clock=clock)
    yield made
    made.close()


def begun(world: World) -> SessionClient:
    """Return a session after the views were made."""
    client = world.client().after("SET TimeZone = 'UTC'", "CREATE TABLE names (k int, name text)")
    client.run(*(f"INSERT INTO names VALUES ({k}, '{name}')" for k, name in NAMES.items()))
    client.run(f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream")
    return client.after(*(f"CREATE VIEW {name} AS {query}" for name, query in VIEWS.items()))


def insert(client: SessionClient, model: Model, rows: list[Row]) -> None:
    """Insert rows, and tell the model."""
    model.rows += rows
    values = []
    for k, x, time_us in rows:
        time = "NULL" if time_us is None else f"to_timestamp({time_us}::numeric / 1000000)"
        number = "NULL" if x is None else x
        values.append(f"({k}, {number}, {time}, {time} AT TIME ZONE 'UTC', ({time} AT TIME ZONE 'UTC')::date)")
    client.run(f"INSERT INTO s VALUES {', '.join(values)}")


def some(chance: Random, now_us: int, count: int) -> list[Row]:
    """Return rows of about now: most of the last minutes, some late, some early, some without a
    time.
    """
    found: list[Row] = []
    for _ in range(count):
        age_s = chance.choice([chance.randrange(60), chance.randrange(4000), chance.randrange(400_000), -30])
        time_us = None if chance.random() < 0.05 else now_us - age_s * SECOND_US
        found.append((chance.randrange(5), chance.choice([None, chance.randrange(100)]), time_us))
    return found


def check(client: SessionClient, model: Model, clock: SetClock) -> None:
    for name in VIEWS:
        assert sorted(client.rows(f"SELECT * FROM {name}")) == model.answer(name, clock.time_us), name


def groups_of(world: World, name: str) -> int:
    """Return how many groups the state of a view has in memory."""
    entry = world.database.catalog.image.entries[name]
    assert isinstance(entry, ViewEntry)
    counts = entry.states[0].chain.state.groups.counts
    return counts.groups + counts.groups_waiting


@pytest.mark.slow
def test_groups_that_have_passed_are_given_up_and_no_answer_misses_one(tmp_path: Path, clock: SetClock) -> None:
    chance, model = Random(3), Model()
    world = World(tmp_path, clock=clock)
    client = begun(world)
    most = 0
    for round_ in range(18):
        clock.time_us += 1500 * SECOND_US
        insert(client, model, some(chance, clock.time_us, 50))
        if round_ % 7 == 3:
            world.database.checkpoints.make()
        if round_ % 5 == 0:
            check(client, model, clock)
            most = max(most, groups_of(world, "recent"))
        if round_ % 9 == 8:
            # As killed: without a checkpoint, and groups that have passed come back from the log.
            world.close()
            world = World(tmp_path, clock=clock)
            world.database.definitions.follow()
            client = world.client().after("SET TimeZone = 'UTC'")
            check(client, model, clock)
    assert 0 < most < 300 and groups_of(world, "named") < 300, most
    # All is there of the view without a window, whose rows are folded once for both.
    assert groups_of(world, "minutes") > 500
    world.close()


def test_a_checkpoint_alone_gives_groups_up(world: World, clock: SetClock) -> None:
    model = Model()
    client = begun(world)
    for _ in range(5):
        insert(client, model, [(k, 1, clock.time_us - k * 60 * SECOND_US) for k in range(50)])
        clock.time_us += 3 * HOUR_US
        world.database.checkpoints.make()
        assert groups_of(world, "recent") == 0
    assert groups_of(world, "minutes") == 250
    check(client, model, clock)


def test_a_transaction_that_began_before_gets_its_rows_or_an_error(world: World, clock: SetClock) -> None:
    model = Model()
    client, old, older = begun(world), world.client(), world.client()
    insert(client, model, [(k, k, clock.time_us) for k in range(5)])
    before = model.answer("recent", clock.time_us)
    older.run("BEGIN")
    old.run("BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT * FROM names")
    clock.time_us += 3 * HOUR_US
    insert(client, model, [(1, 1, clock.time_us)])
    check(client, model, clock)
    clock.time_us += 2 * HOUR_US
    insert(client, model, [(1, 1, clock.time_us)])
    check(client, model, clock)
    assert groups_of(world, "recent") == 1
    # The first read has fixed what the one sees; the other one has read nothing before.
    assert sorted(old.rows("SELECT * FROM recent")) == before
    assert older.ask("SELECT * FROM recent")[0] == "E ERROR 72000: snapshot too old"
    older.run("ROLLBACK")
    assert sorted(older.rows("SELECT * FROM recent")) == model.answer("recent", clock.time_us)


def test_contents_that_are_not_whole_answer_no_other_query(world: World, clock: SetClock) -> None:
    model = Model()
    client = begun(world)
    insert(client, model, [(k, k, clock.time_us) for k in range(5)])
    whole = VIEWS["recent"].replace("WHERE tz > now() - interval '1 hour' ", "")
    for query in (
        VIEWS["minutes"],
        VIEWS["recent"].replace("> now() - interval '1 hour'", "> now() - interval '2 hour'"),
    ):
        for start in ("", "EXPLAIN "):
            answer = client.ask(f"{start}CREATE OR REPLACE VIEW recent AS {query}")
            assert answer[0].startswith("E ERROR"), answer
    for start in ("EXPLAIN ", ""):
        answer = client.ask(f"{start}CREATE OR REPLACE VIEW recent AS {whole}")
        assert answer[0].startswith("E ERROR 55000"), answer
    # The same window goes on, and so does one over contents that are whole.
    client.run(f"CREATE OR REPLACE VIEW recent AS {VIEWS['recent'].replace('SELECT k', 'SELECT k')}")
    client.run("CREATE OR REPLACE VIEW dated AS " + VIEWS["dated"].replace("GROUP BY", "AND k >= 0 GROUP BY"))
    check(client, model, clock)
    assert client.ask("CREATE OR REPLACE VIEW dated AS " + VIEWS["dated"].replace("- 3", "- 4"))[0].startswith(
        "E ERROR 55000"
    )
    client.run("ALTER VIEW recent RENAME TO young", "ALTER VIEW young RENAME TO recent")
    clock.time_us += 6 * HOUR_US
    insert(client, model, [(1, 1, clock.time_us)])
    check(client, model, clock)
    assert groups_of(world, "recent") == 1
