"""Outputs of views: whatever happens between two of them, the changes that a stream has add up to
the view, against a plain-Python model; and what depends on an output.
"""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.catalog.image import ViewEntry
from engine.storage.storage import DiskStorage, TableConnection
from tests.engine.session_client import SessionClient, World
from views.upkeep.refresh import Reader

Row = tuple[str | None, ...]
# Each with its query, and the number of its keys, which are its first columns; None: whole rows.
VIEWS: dict[str, tuple[str, int | None]] = {
    "sums": ("SELECT k, count(*) AS n, sum(x) AS total, avg(x) AS mean, max(t) AS last FROM s GROUP BY k", 1),
    "odd": ("SELECT k, t, sum(x) AS total FROM s GROUP BY k, t HAVING sum(x) % 3 > 0", 2),
    "one": ("SELECT count(*) AS n FROM s", 0),
    "unkeyed": ("SELECT total FROM (SELECT k, sum(x) / 4 AS total FROM s GROUP BY k) q", None),
    "named": ("SELECT k, count(*) AS n, min(label) AS label FROM s JOIN labels ON k = id GROUP BY k", 1),
}
SETUP = (
    "CREATE FOREIGN TABLE s (k int, x int, t text) SERVER stream",
    "CREATE TABLE labels (id int PRIMARY KEY, label text)",
    "INSERT INTO labels SELECT i, 'label ' || i FROM generate_series(1, 5) g(i)",
    *(f"CREATE VIEW {name} WITH (refresh_every = '1 h', output = on) AS {query}" for name, (query, _) in VIEWS.items()),
    "CREATE VIEW added AS SELECT k, sum(coalesce(new_n, 0) - coalesce(old_n, 0)) AS n FROM output_of('sums') GROUP BY k",
)


class Crash(BaseException):
    """The end of the process."""


class DyingDisk(DiskStorage):
    """A disk on which the process ends at a COMMIT of the tables, before or after it is durable."""

    def __init__(self) -> None:
        self.dies = ""

    def commit_tables(self, connection: TableConnection) -> None:
        if self.dies == "before":
            raise Crash
        super().commit_tables(connection)
        if self.dies == "after":
            raise Crash


def rows(client: SessionClient, text: str) -> list[Row]:
    found = [ast.literal_eval(line.removeprefix("D ")) for line in client.rows(text)]
    return [tuple(None if value is None else value.decode() for value in row) for row in found]


def emit(world: World, name: str) -> None:
    """Make the next version of a view, as its schedule does."""
    image, clock = world.database.catalog.image, world.database.clock
    entry = image.entries[name]
    assert isinstance(entry, ViewEntry)
    world.database.outputs.emit(entry, image, Reader(clock.now_us(), lambda: None, name))


def applied(before: Counter[Row], changes: list[Row], keys: int | None) -> Counter[Row]:
    """Return the rows of a view after changes of one version, each of which fits."""
    now, seen = Counter(before), set()
    for change, *values in changes:
        if keys is None:
            now[tuple(values)] += 1 if change == "insert" else -1
            continue
        key = tuple(values[:keys])
        old, new = tuple(values[keys::2]), tuple(values[keys + 1 :: 2])
        assert key not in seen and (change != "update" or old != new)
        seen.add(key)
        if change != "insert":
            now[key + old] -= 1
        if change != "delete":
            now[key + new] += 1
    assert min(now.values(), default=0) >= 0
    return +now


def told(client: SessionClient, name: str, keys: int | None) -> Counter[Row]:
    """Return what all changes of a view add up to, version by version."""
    known: Counter[Row] = Counter()
    by_version: dict[int, list[Row]] = {}
    for *values, version in rows(client, f"SELECT * FROM output_of('{name}')"):
        assert version is not None
        by_version.setdefault(int(version), []).append(tuple(values))
    assert list(by_version) == sorted(by_version)
    for changes in by_version.values():
        known = applied(known, changes, keys)
    return known


def check(client: SessionClient) -> None:
    """Compare the sums of all changes with the views."""
    for name, (_, keys) in VIEWS.items():
        assert told(client, name, keys) == Counter(rows(client, f"SELECT * FROM {name}")), name
    counts = rows(client, "SELECT k, n FROM sums ORDER BY k")
    assert rows(client, "SELECT k, n FROM added ORDER BY k") == counts


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    world = World(tmp_path)
    yield world
    world.close()


@pytest.mark.parametrize("seed", [1])
def test_the_sum_of_all_changes_is_the_view(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    disk = DyingDisk()
    world = World(tmp_path, disk)
    client = world.client()
    client.run(*SETUP)
    counts: Counter[int] = Counter()
    for step in range(10):
        added = [(rng.randint(1, 5), rng.randint(-3, 3), rng.choice("abc")) for _ in range(rng.randint(0, 4))]
        if added:
            client.run(f"INSERT INTO s VALUES {', '.join(map(str, added))}")
        counts.update(k for k, _, _ in added)
        for name in rng.sample(sorted(VIEWS), 3):
            emit(world, name)
        disk.dies = rng.choice(("", "", "before", "after"))
        try:
            emit(world, rng.choice(sorted(VIEWS)))
        except Crash:
            disk.dies = ""
            world.abandon()
            world = World(tmp_path, disk)
            client = world.client()
        disk.dies = ""
        if step == 5:
            client.run("CHECKPOINT")
        if step % 3 == 0:
            for name in VIEWS:
                emit(world, name)
            check(client)
            assert rows(client, "SELECT k, n FROM sums ORDER BY k") == [
                (str(k), str(n)) for k, n in sorted(counts.items())
            ]
    world.close()


def test_a_version_that_changes_nothing_tells_nothing(world: World) -> None:
    client = world.client()
    client.run(*SETUP, "INSERT INTO s VALUES (1, 1, 'a')")
    for _ in range(3):
        emit(world, "sums")
    client.run("INSERT INTO s VALUES (2, 1, 'a')")
    emit(world, "sums")
    emit(world, "sums")
    assert [row[:2] for row in rows(client, "SELECT * FROM output_of('sums')")] == [("insert", "1"), ("insert", "2")]
    client.run("SELECT truncate_continuous_view('sums')")
    emit(world, "sums")
    changes = rows(client, "SELECT change, k, old_n, new_n FROM output_of('sums') ORDER BY version, k")
    assert changes[2:] == [("delete", "1", "1", None), ("delete", "2", "1", None)]


REFUSED = (
    ("CREATE VIEW a WITH (output = on) AS SELECT count(*) FROM s", "22023"),
    ("CREATE VIEW a WITH (output = maybe, refresh_every = '1 s') AS SELECT count(*) FROM s", "22023"),
    ("CREATE VIEW a WITH (output = on, refresh_every = '1 s') AS SELECT * FROM labels", "22023"),
    (
        "CREATE VIEW a WITH (output = on, refresh_every = '1 s') AS SELECT k AS change, count(*) FROM s GROUP BY k",
        "42701",
    ),
    (
        "CREATE VIEW a WITH (output = on, refresh_every = '1 s') AS SELECT k AS version, 1 AS b, count(*) FROM s GROUP BY k",
        "42701",
    ),
    ("ALTER VIEW sums RESET (refresh_every)", "22023"),
    ("ALTER VIEW sums RESET (output)", "2BP01"),
    ("ALTER VIEW sums SET (output = off)", "2BP01"),
    ("DROP VIEW sums", "2BP01"),
    ("SELECT * FROM output_of('added')", "55000"),
    ("SELECT * FROM output_of('labels')", "42809"),
    ("SELECT * FROM output_of('nowhere')", "42P01"),
    ("SELECT * FROM output_of('pg_stat_streams')", "42809"),
    ("SELECT * FROM output_of('s', 1)", "42883"),
    ("INSERT INTO output_of('sums') VALUES (1)", "42601"),
    ("CREATE VIEW a WITH (action = transform, outputstream = 'output_of(16390)') AS SELECT k FROM s", "42602"),
)


def test_refused(world: World) -> None:
    client = world.client()
    client.run(*SETUP)
    for text, sqlstate in REFUSED:
        errors = [line for line in client.ask(text) if line.startswith("E ")]
        assert len(errors) == 1 and errors[0].startswith(f"E ERROR {sqlstate}"), (text, errors)


def test_what_belongs_to_an_output_goes_with_its_view(world: World, tmp_path: Path) -> None:
    client = world.client()
    client.run(*SETUP)
    assert rows(client, "SELECT count(*) FROM pg_class WHERE relname LIKE '%output%' OR relname LIKE '%emitted%'") == [
        ("0",)
    ]
    client.run("DROP VIEW sums CASCADE", "DROP VIEW odd, one, unkeyed, named")
    assert sorted(world.database.catalog.image.entries) == ["labels", "s"]
    client.run(SETUP[3], "ALTER VIEW sums RESET (output)")
    assert sorted(world.database.catalog.image.entries) == ["labels", "s", "sums"]
    client.run(
        "ALTER VIEW sums SET (output = on)", "BEGIN", "DROP VIEW sums", "ROLLBACK", "INSERT INTO s VALUES (1, 2, 'x')"
    )
    emit(world, "sums")
    assert rows(client, "SELECT change, k, new_n FROM output_of('sums')") == [("insert", "1", "1")]
    client.run("DROP FOREIGN TABLE s CASCADE")
    assert sorted(world.database.catalog.image.entries) == ["labels"]


def test_names_change_and_readers_go_on(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(
        *SETUP,
        "CREATE VIEW most AS SELECT max(n) AS n FROM (SELECT k, sum(new_n) AS n FROM output_of('sums') GROUP BY k) q",
        "CREATE FOREIGN TABLE s2 (k int, n bigint) SERVER stream",
        "CREATE VIEW t WITH (action = transform, outputstream = s2) AS SELECT k, new_n FROM output_of('sums')",
        "CREATE VIEW through AS SELECT count(n) AS n FROM s2",
        "CREATE SCHEMA other",
        "INSERT INTO s VALUES (1, 1, 'a'), (2, 2, 'b')",
    )
    emit(world, "sums")
    client.run("ALTER VIEW sums RENAME TO counts", "ALTER VIEW counts RENAME COLUMN n TO number")
    client.run("ALTER VIEW counts SET SCHEMA other", "SET search_path = other, public")
    asked = ("SELECT k, n FROM added ORDER BY k", "SELECT n FROM most", "SELECT n FROM through")
    for number in range(3):
        client.run(f"INSERT INTO s VALUES (1, {number}, 'a')")
        emit(world, "\0other\0counts")
        count = str(number + 2)
        assert [rows(client, text) for text in asked] == [
            [("1", count), ("2", "1")],
            [(str(sum(range(number + 3))),)],
            [(str(number + 3),)],
        ]
        columns = "old_number, new_number"
        assert rows(client, f"SELECT {columns} FROM output_of('counts') WHERE change = 'update'")[-1] == (
            str(number + 1),
            count,
        )
        for view in ("added", "most", "t"):
            (text,) = rows(client, f"SELECT pg_get_viewdef('{view}'::regclass)")
            assert "output_of('counts')" in str(text) and "new_number" in str(text)
        world.close()
        world = World(tmp_path)
        client = world.client()
        client.run("SET search_path = other, public")
        options = "SELECT count(*) FROM pg_class WHERE reloptions @> '{output=true}'"
        assert rows(client, options) == [(str(len(VIEWS)),)]
    world.close()


def test_who_may_read_the_view_may_read_its_output(world: World) -> None:
    client = world.client()
    client.run(*SETUP, "CREATE ROLE alice", "CREATE SCHEMA hers AUTHORIZATION alice")
    definition = "SELECT change, count(*) AS n FROM output_of('sums') GROUP BY change"
    for right, refused in (("GRANT SELECT ON sums TO alice", False), ("REVOKE SELECT ON sums FROM alice", True)):
        client.run(right, "SET ROLE alice")
        for text in ("SELECT * FROM output_of('sums')", f"CREATE VIEW hers.v{refused:d} AS {definition}"):
            assert any(line.startswith("E ERROR 42501") for line in client.ask(text)) == refused, (text, right)
        client.run("RESET ROLE")


def test_another_query_under_the_same_name(world: World) -> None:
    client = world.client()
    query = VIEWS["sums"][0].replace(" FROM", "{} FROM")
    replaced = f"CREATE OR REPLACE VIEW sums WITH (refresh_every = '1 h'{{}}) AS {query}"
    client.run(*SETUP, "INSERT INTO s VALUES (1, 1, 'a')")
    emit(world, "sums")
    client.run(replaced.format(", output = on", ""), "INSERT INTO s VALUES (1, 1, 'a')")
    emit(world, "sums")
    assert rows(client, "SELECT n FROM added") == [("2",)]
    for text, sqlstate in (
        (replaced.format("", ""), "2BP01"),
        (replaced.format(", output = on", ", min(x) AS y"), "0A000"),
    ):
        assert any(line.startswith(f"E ERROR {sqlstate}") for line in client.ask(text)), text
    client.run("DROP VIEW added", replaced.format("", ", min(x) AS y"))
    assert any(line.startswith("E ERROR 55000") for line in client.ask("SELECT * FROM output_of('sums')"))
