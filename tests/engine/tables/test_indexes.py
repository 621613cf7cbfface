"""Indexes over a restart, and under rows that come side by side."""

from __future__ import annotations

import ast
from pathlib import Path

from tests.engine.session_client import World


def test_indexes_are_there_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.ask("CREATE TABLE t (a int, b text)")
    client.ask("CREATE UNIQUE INDEX t_key ON t (a)")
    client.ask("CREATE INDEX t_plain ON t (b)")
    client.ask("INSERT INTO t VALUES (1, 'x')")
    world.close()
    again = World(tmp_path)
    client = again.client()
    refused = client.ask("INSERT INTO t VALUES (1, 'y')")
    assert any("23505" in text and "t_key" in text for text in map(str, refused)), refused
    taken = client.ask("CREATE INDEX t_plain ON t (a)")
    assert any("42P07" in text for text in map(str, taken)), taken
    client.ask("DROP INDEX t_key, t_plain")
    client.ask("INSERT INTO t VALUES (1, 'y')")
    again.close()
    last = World(tmp_path)
    rows = last.client().ask("SELECT b FROM t WHERE a = 1 ORDER BY b")
    assert [text for text in map(str, rows) if "x" in text or "y" in text], rows
    last.close()


# As PostgreSQL 15 shows them.
ORDERS = {
    "a": "a",
    "a ASC NULLS LAST, b DESC": "a, b DESC",
    "a DESC NULLS FIRST, b NULLS FIRST": "a DESC, b NULLS FIRST",
    "b DESC NULLS LAST, a ASC": "b DESC NULLS LAST, a",
}


def test_the_order_of_columns_is_shown_after_a_restart_and_in_copies(tmp_path: Path) -> None:
    world = World(tmp_path)
    client = world.client()
    client.run("CREATE TABLE t (a int, b text)")
    for number, columns in enumerate(ORDERS):
        client.run(f"CREATE {'UNIQUE ' * (number == 1)}INDEX i{number} ON t USING btree ({columns})")
    client.run("ALTER TABLE t ADD COLUMN c int", "CREATE TABLE u (LIKE t INCLUDING INDEXES)")
    world.close()
    again = World(tmp_path)
    client = again.client()
    shown = client.rows("SELECT indexdef FROM pg_indexes WHERE tablename = 't' ORDER BY indexname")
    unique = ("", "UNIQUE ", "", "")
    assert [value_of(line) for line in shown] == [
        f"CREATE {word}INDEX i{number} ON public.t USING btree ({columns})"
        for number, (word, columns) in enumerate(zip(unique, ORDERS.values(), strict=True))
    ]
    options = "SELECT indoption FROM pg_index WHERE indrelid = '{}'::regclass"
    assert sorted(client.rows(options.format("t"))) == sorted(client.rows(options.format("u")))
    again.close()


def value_of(line: str) -> str:
    """Return the one value of a row."""
    (value,) = ast.literal_eval(line.removeprefix("D "))
    return str(value.decode())


def test_computed_keys_are_there_after_a_restart(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.client().run(
        "CREATE TABLE t (a int, b text)",
        "CREATE UNIQUE INDEX t_lower ON t (lower(b) text_pattern_ops) WITH (fillfactor = 50)",
        "CREATE UNIQUE INDEX t_part ON t (a) WHERE a > 10",
        "CREATE INDEX t_failing ON t ((100 / (a - 7)))",
        "COMMENT ON INDEX t_lower IS 'kept'",
        "ALTER TABLE t CLUSTER ON t_lower",
        "ALTER TABLE t ALTER b SET STATISTICS 7",
        "INSERT INTO t VALUES (11, 'x')",
    )
    shown = "SELECT indexdef FROM pg_indexes ORDER BY 1"
    kept = "SELECT indisclustered, attstattarget FROM pg_index, pg_attribute WHERE attname = 'b' AND attnum = 2"
    before = world.client().rows(shown), world.client().rows(kept)
    world.close()
    again = World(tmp_path)
    client = again.client()
    assert (client.rows(shown), client.rows(kept)) == before and len(before[0]) == 3
    for values, error in (("(12, 'X')", "t_lower"), ("(11, 'y')", "t_part"), ("(7, 'y')", "22012")):
        refused = client.ask(f"INSERT INTO t VALUES {values}")
        assert any(error in text for text in map(str, refused)), refused
    client.run("INSERT INTO t VALUES (1, 'y'), (1, 'z'), (12, 'a')")
    assert len(client.rows("SELECT a FROM t WHERE a = 1")) == 2
    again.close()
