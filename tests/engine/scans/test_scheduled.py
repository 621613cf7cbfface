"""Views that make versions by themselves: `refresh_every`, its ALTER, who is told of changes, what
a restart leaves of it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.engine.session_client import SessionClient, World

WAIT_S_MAX = 60.0
EVERY = "WITH (refresh_every = '20 ms')"
STATISTICS = (
    "SELECT refresh_every_ms, refreshes_by_schedule > 0, last_reason FROM pg_stat_continuous_views WHERE relname = "
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = started(tmp_path)
    yield world
    ended(world)


def started(folder: Path) -> World:
    """Return a world whose schedules run."""
    world = World(folder)
    world.database.definitions.follow()
    world.database.scheduled.periodic.start()
    return world


def ended(world: World) -> None:
    world.database.scheduled.periodic.stop()
    world.close()


def rows(client: SessionClient, text: str) -> list[str]:
    found = [ast.literal_eval(line.removeprefix("D ")) for line in client.rows(text)]
    return [",".join("-" if value is None else value.decode() for value in row) for row in found]


def until(holds: Callable[[], bool]) -> None:
    """Wait until something holds; a machine that is busy may take its time."""
    end_s = monotonic() + WAIT_S_MAX
    while not holds():
        assert monotonic() < end_s, "it never came to that"
        sleep(0.01)


def refreshes(client: SessionClient) -> int:
    """Return how many versions the view v has had."""
    return int(rows(client, "SELECT refreshes FROM pg_stat_continuous_views WHERE relname = 'v'")[0])


def told(client: SessionClient) -> bool:
    """Tell whether a notification has come."""
    return notices(client) > 0


def notices(client: SessionClient) -> int:
    """Return how many notifications have come."""
    return client.ask("SELECT 1").count("A")


def version_of(world: World, name: str) -> list[dict[str, object]] | None:
    """Return the rows of the stored version of a view, which nobody has to read for that."""
    (view,) = [one for one in world.database.catalog.image.chains if one.definition.name == name]
    return None if view.latest is None else view.latest.table.to_pylist()


def test_versions_are_made_without_a_reader(world: World) -> None:
    client = world.client()
    client.run(
        "CREATE FOREIGN TABLE s (k int) SERVER stream",
        f"CREATE VIEW v {EVERY} AS SELECT k, count(*) AS n FROM s GROUP BY k",
    )
    client.run("CREATE VIEW lazy AS SELECT k + 1 AS j, sum(k) AS n FROM s GROUP BY k + 1")
    for count in (1, 2):
        client.run("INSERT INTO s VALUES (7)")
        until(lambda: version_of(world, "v") == [{"k": 7, "n": count}])  # noqa: B023
    assert rows(client, STATISTICS + "'v'") == ["20,t,schedule"]
    assert version_of(world, "lazy") is None
    # A reader gets the newest rows, whatever the schedule has made.
    client.run("INSERT INTO s VALUES (7)")
    assert rows(client, "SELECT n FROM v") == ["3"]


def test_listeners_hear_of_changes_alone(world: World) -> None:
    client, other = world.client(), world.client()
    client.run("CREATE SCHEMA sales", "CREATE FOREIGN TABLE s (k int) SERVER stream")
    client.run(f"CREATE VIEW sales.v {EVERY} AS SELECT count(*) AS n FROM s WHERE k > 0")
    client.run(f"CREATE VIEW plain {EVERY} AS SELECT sum(k) AS n FROM s WHERE k > 5")
    other.run('LISTEN "sales.v"')
    until(lambda: version_of(world, "\0sales\0v") == [{"n": 0}])
    assert not told(other)
    client.run("INSERT INTO s VALUES (1)")
    until(lambda: told(other))
    # What the view does not count makes a version, and changes nothing.
    made = refreshes(client)
    client.run("INSERT INTO s VALUES (-1)")
    until(lambda: refreshes(client) > made)
    sleep(0.1)
    assert not told(other)
    client.run("INSERT INTO s VALUES (9)")
    until(lambda: told(other))
    until(lambda: version_of(world, "plain") == [{"n": 9}])
    other.run('UNLISTEN "sales.v"', "LISTEN plain", "LISTEN v")
    client.run("INSERT INTO s VALUES (2)")
    until(lambda: version_of(world, "\0sales\0v") == [{"n": 3}])
    sleep(0.1)
    assert not told(other)


def test_listeners_hear_of_versions_that_readers_have_made(world: World) -> None:
    client, other = world.client(), world.client()
    client.run("CREATE FOREIGN TABLE s (k int) SERVER stream", "CREATE FOREIGN TABLE r (k int) SERVER stream")
    client.run("CREATE VIEW v AS SELECT sum(k) AS n FROM s WHERE k > 5")
    client.run("CREATE VIEW timed AS SELECT sum(k) AS n, now() > '2000-01-01' AS late FROM s WHERE k > 5")
    client.run("CREATE VIEW two AS SELECT (SELECT count(*) FROM s) AS n, (SELECT count(*) FROM r) AS m")
    views = ("v", "timed", "two")
    for view in views:
        client.rows(f"SELECT * FROM {view}")
        other.run(f"LISTEN {view}")
    for view in views:
        client.rows(f"SELECT * FROM {view}")
    assert not told(other)
    client.run("INSERT INTO s VALUES (1)", "INSERT INTO r VALUES (1)")
    for view in views:
        client.rows(f"SELECT * FROM {view}")
    assert notices(other) == 1
    client.run("INSERT INTO s VALUES (9)")
    assert not told(other)
    for view in (*views, *views):
        client.rows(f"SELECT * FROM {view}")
    assert notices(other) == 3
    other.run("UNLISTEN v")
    client.run("INSERT INTO s VALUES (7)")
    client.rows("SELECT * FROM v")
    other.run("LISTEN v")
    client.rows("SELECT * FROM v")
    assert not told(other)


def test_the_interval_is_changed_and_lasts(tmp_path: Path) -> None:
    world = started(tmp_path)
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (k int) SERVER stream", "CREATE VIEW v AS SELECT count(*) AS n FROM s")
    client.run("ALTER VIEW v SET (refresh_every = '30 ms')", "INSERT INTO s VALUES (1)")
    until(lambda: version_of(world, "v") == [{"n": 1}])
    assert rows(client, "SELECT reloptions FROM pg_class WHERE relname = 'v'") == ['{"refresh_every=0.03 s"}']
    world.database.scheduled.periodic.stop()
    world.abandon()
    world = started(tmp_path)
    client = world.client()
    until(lambda: version_of(world, "v") == [{"n": 1}])
    client.run("ALTER VIEW v RENAME TO w")
    until(lambda: version_of(world, "w") == [{"n": 1}])
    client.run("ALTER VIEW w RESET (refresh_every)")
    assert rows(client, "SELECT reloptions FROM pg_class WHERE relname = 'w'") == ["-"]
    until(lambda: not world.database.scheduled.periodic._paces and not world.database.scheduled.periodic._running)
    client.run("INSERT INTO s VALUES (1)")
    sleep(0.1)
    assert version_of(world, "w") in (None, [{"n": 1}])
    client.run(f"CREATE OR REPLACE VIEW w {EVERY} AS SELECT count(*) AS n FROM s")
    until(lambda: version_of(world, "w") == [{"n": 2}])
    client.run("DROP VIEW w")
    until(lambda: not world.database.scheduled.periodic._paces)
    ended(world)


@pytest.mark.turns(2)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("CREATE VIEW v WITH (refresh_every = '9 ms') AS SELECT count(*) FROM s", "22023"),
        ("CREATE VIEW v WITH (refresh_every = 'often') AS SELECT count(*) FROM s", "22023"),
        ("CREATE VIEW v WITH (refresh_every = '-1 s') AS SELECT count(*) FROM s", "22023"),
        ("CREATE VIEW v WITH (refresh_every = '2 years') AS SELECT count(*) FROM s", "22023"),
        ("CREATE VIEW v WITH (refresh_every = '1 s') AS SELECT * FROM t", "22023"),
        ("ALTER VIEW known SET (refresh_every = 0)", "22023"),
        ("ALTER VIEW known SET (on_error = skip)", "0A000"),
        ("ALTER VIEW known SET (nonsense = 1)", "22023"),
        ("ALTER VIEW ordinary SET (refresh_every = '1 s')", "22023"),
        ("ALTER VIEW nowhere SET (refresh_every = '1 s')", "42P01"),
        ("ALTER VIEW t SET (refresh_every = '1 s')", "42809"),
    ],
)
def test_what_is_refused(text: str, code: str, world: World) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (k int) SERVER stream", "CREATE TABLE t (k int)")
    client.run("CREATE VIEW known AS SELECT count(*) FROM s", "CREATE VIEW ordinary AS SELECT * FROM t")
    (error,) = [line for line in client.ask(text) if line.startswith("E ")]
    assert code in error, error
