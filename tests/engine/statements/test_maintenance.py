"""VACUUM and ANALYZE by roles that do not own a table, and with options that there are not."""

from __future__ import annotations

import pytest

from tests.engine.session_client import World


@pytest.mark.parametrize("verb", ["VACUUM", "ANALYZE"])
def test_tables_of_others_are_left_out_with_a_warning(world: World, verb: str) -> None:
    client = world.client({"user": "ann", "database": "antumbra"})
    client.ask('CREATE ROLE bob; CREATE TABLE "T" (a int); SET ROLE bob')
    warning = f'N WARNING 01000: skipping "T" --- only table or database owner can {verb.lower()} it'
    assert client.ask(f'{verb} "T"')[:2] == [warning, f"C {verb}"]
    client.ask("RESET ROLE")
    assert client.ask(f'{verb} "T"')[0] == f"C {verb}"


def test_options_are_those_of_postgres(world: World) -> None:
    client = world.client()
    assert client.ask("VACUUM (FULL, ANALYZE false, PARALLEL 2)")[0] == "C VACUUM"
    assert client.ask("ANALYZE (VERBOSE, SKIP_LOCKED)")[0] == "C ANALYZE"
    for statement, verb in (("VACUUM (foo)", "VACUUM"), ("ANALYZE (foo 1)", "ANALYZE")):
        assert client.ask(statement)[0] == f'E ERROR 42601 at {len(verb) + 3}: unrecognized {verb} option "foo"'


@pytest.mark.parametrize("verb", ["ANALYZE", "VACUUM ANALYZE", "VACUUM (ANALYZE)"])
def test_columns_are_there_and_named_once(world: World, verb: str) -> None:
    client = world.client()
    client.ask("CREATE TABLE t (i int, x text)")
    assert client.ask(f"{verb} t (i, x)")[0] == f"C {verb.split()[0]}"
    missing = 'E ERROR 42703: column "nosuch" of relation "t" does not exist'
    assert client.ask(f"{verb} t (i, nosuch)")[0] == missing
    assert client.ask(f"{verb} t (i, i)")[0] == 'E ERROR 42701: column "i" of relation "t" appears more than once'


def test_columns_are_analyzed_alone(world: World) -> None:
    client = world.client()
    client.ask("CREATE TABLE t (i int)")
    refused = "E ERROR 0A000: ANALYZE option must be specified when a column list is provided"
    assert client.ask("VACUUM t (i)")[0] == refused
