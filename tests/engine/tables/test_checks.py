"""Checks over a restart: the names by which their texts know the table, and those that an index
has, too.

What they refuse is held to PostgreSQL in `tests/end_to_end/side_by_side/named_checks.sql`.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.catalog.image import TableEntry
from engine.tables.table_expressions import bound_check
from tests.engine.session_client import MemoryConnection, World

SHOWN = "SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint ORDER BY 1"


def table_called(world: World, name: str) -> TableEntry:
    (entry,) = [one for key, one in world.database.catalog.image.entries.items() if key.endswith(name)]
    assert isinstance(entry, TableEntry), entry
    return entry


def test_checks_know_their_table_by_the_name_of_then(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(
        "CREATE SCHEMA q",
        "CREATE TABLE t (a int CONSTRAINT x CHECK (t.a > 0), b int CONSTRAINT y CHECK (public.t.b > t.a), CHECK (b < 9))",
        "ALTER TABLE t RENAME TO renamed",
        "ALTER TABLE renamed SET SCHEMA q",
    )
    shown = client.rows(SHOWN)
    world.close()
    world = World(tmp_path)
    client = world.client()
    assert client.rows(SHOWN) == shown and len(shown) == 3
    for row in ("(0, 1)", "(1, 1)", "(1, 9)"):
        assert any("23514" in line for line in client.ask(f"INSERT INTO q.renamed VALUES {row}")), row
    client.run("ALTER TABLE q.renamed ALTER a TYPE bigint", "INSERT INTO q.renamed VALUES (1, 2)")
    world.close()


def test_checks_of_an_older_folder_know_their_table_by_what_they_say(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run("CREATE TABLE t (a int CHECK (t.a > 0), b int CHECK (public.t.b > 0), c int CHECK (c > 0))")
    client.run("CREATE SCHEMA q", "ALTER TABLE t RENAME TO renamed", "ALTER TABLE renamed SET SCHEMA q")
    entry, image = table_called(world, "renamed"), world.database.catalog.image
    for constraint in entry.description.constraints:
        # In another schema only the text says of which it was.
        source = replace(entry.checks[constraint.name], table="")
        if "public" not in source.text:
            condition, _ = bound_check(source, entry.description, image)
            assert condition == constraint.condition
    source = replace(entry.checks["t_b_check"], table="")
    assert bound_check(source, entry.description, image)[1].table == entry.checks["t_b_check"].table
    world.close()


@pytest.mark.parametrize("check", ["t IS NOT NULL", "(t).a > 0 AND a > 1", "ROW(t.*) IS NOT NULL", "t = t"])
def test_checks_of_an_older_folder_know_their_whole_row(tmp_path: Path, check: str) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run(f"CREATE TABLE t (a int, b int, CONSTRAINT c CHECK ({check}))", "ALTER TABLE t RENAME TO renamed")
    entry = table_called(world, "renamed")
    source = replace(entry.checks["c"], table="")
    condition, found = bound_check(source, entry.description, world.database.catalog.image)
    (constraint,) = entry.description.constraints
    assert condition == constraint.condition and found == entry.checks["c"]
    world.close()


def test_a_check_takes_no_index_of_its_name_along(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run("CREATE TABLE t (a int CONSTRAINT x CHECK (a > 0))", "CREATE UNIQUE INDEX x ON t (a)", "CREATE ROLE r")
    client.run("ALTER TABLE t RENAME CONSTRAINT x TO y", "ALTER TABLE t RENAME CONSTRAINT y TO x")
    world.close()
    world = World(tmp_path)
    client = world.client()
    client.run("ALTER TABLE t DROP CONSTRAINT x", "INSERT INTO t VALUES (-1)", "SET ROLE r")
    assert client.ask("DROP INDEX x")[0] == "E ERROR 42501: must be owner of index x"
    client.run("RESET ROLE")
    assert any("23505" in line for line in client.ask("INSERT INTO t VALUES (-1)"))
    world.close()
    world = World(tmp_path)
    client = world.client()
    assert any("23505" in line for line in client.ask("INSERT INTO t VALUES (-1)"))
    client.run("DROP INDEX x", "INSERT INTO t VALUES (-1)")
    world.close()


def test_cascade_finds_what_several_sessions_call_the_same(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = world.client()
    monkeypatch.setattr(MemoryConnection, "process_id", 8)
    other = world.client()
    client.run("CREATE TYPE mood AS ENUM ('sad')", "CREATE TABLE t (a int, m mood)")
    for one in (client, other):
        one.run("CREATE TEMP VIEW seen AS SELECT a FROM t", "CREATE TEMP TABLE kept (m mood, b int)")
    client.run("DROP TABLE t CASCADE", "DROP TYPE mood CASCADE")
    for one in (client, other):
        assert any("42P01" in line for line in one.ask("SELECT * FROM seen"))
        one.run("INSERT INTO kept VALUES (1)")
