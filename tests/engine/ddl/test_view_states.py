"""A view over several streams is one relation, with a state for each grouping of a stream."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.catalog.image import ViewEntry
from engine.catalog.stored_form import catalog_text, plain_form, with_states
from engine.ddl.restore import restore_catalog
from engine.system_catalog.rows.relations import class_rows
from sql.errors import SqlError
from tests.engine.ddl.test_view_life_cycle import Server, told

QUERY = """
SELECT page, c, n FROM (SELECT page, count(*) AS c FROM clicks WHERE m < 'ok' GROUP BY page) AS x
JOIN (SELECT page, sum(n) AS n FROM sales GROUP BY page) AS y USING (page)
"""
DEFINITIONS = (
    "CREATE TYPE mood AS ENUM ('sad', 'ok')",
    "CREATE FOREIGN TABLE clicks (page text, m mood) SERVER stream",
    "CREATE FOREIGN TABLE sales (page text, n int) SERVER stream",
    f"CREATE VIEW pair AS {QUERY}",
)
INSERTS = ("INSERT INTO clicks VALUES ('a', 'sad'), ('a', 'ok'), ('b', 'sad')", "INSERT INTO sales VALUES ('a', 2)")
OPTIONS = ("on_error", "eager_grouping", "stream_join", "refresh_us", "max_groups", "max_bytes")
ROWS = ["[b'a', b'1', b'2']"]


@pytest.fixture
def server(tmp_path: Path) -> Server:
    made = Server(tmp_path)
    made.client.run(*DEFINITIONS)
    return made


def pair(server: Server) -> ViewEntry:
    entry = server.world.database.catalog.image.entries["pair"]
    assert isinstance(entry, ViewEntry)
    return entry


def test_the_view_is_one_relation(server: Server) -> None:
    server.client.run(*INSERTS)
    for checkpoint in (False, True, False):
        image = server.world.database.catalog.image
        assert list(image.entries) == ["clicks", "sales", "pair"]
        assert [row["relname"] for row in class_rows(image) if row["relkind"] == "v" and row["oid"] >= 16384] == [
            "pair"
        ]
        assert len({state.chain.state_oid for state in pair(server).states}) == len(image.states) == 2
        assert server.rows("SELECT * FROM pair") == ROWS
        told_of = "SELECT relname, stream, tuples_in, tuples_passed, groups FROM pg_stat_continuous_views"
        assert server.rows(told_of) == ["[b'pair', b'clicks, sales', b'4', b'3', b'3']"]
        server.crash(checkpoint)


def test_the_stored_definition_is_one(server: Server) -> None:
    relations = plain_form(server.world.database.catalog.image)["relations"]
    assert isinstance(relations, list) and [one["name"] for one in relations] == ["clicks", "sales", "pair"]
    states = relations[-1]["states"]
    assert [state["state"] for state in states] == [one.chain.state_oid for one in pair(server).states]
    assert not any({"name", "text", "on_error"} & state.keys() for state in states), "the view says it"
    assert len({id(one.chain.definition) for one in pair(server).states}) == 1


def test_parts_of_older_catalogs_become_states() -> None:
    parts = [{"kind": "view", "name": "long", "whole": "v", "text": "t", "oid": oid, "part": oid} for oid in (7, 8)]
    other = {"kind": "view", "name": "w", "oid": 9, "part": None}
    view = {"kind": "query", "name": "v", "oid": 10, "parts": [7, 8]}
    found = with_states([*parts, other, view])
    states = [{"oid": 7, "part": 7}, {"oid": 8, "part": 8}]
    assert found == [other, {"kind": "query", "name": "v", "oid": 10, "states": states}]
    assert with_states(found) == found, "what has states keeps them"
    with pytest.raises(SqlError, match='parts of "v" are missing') as caught:
        with_states([parts[0], other, view])
    assert caught.value.sqlstate == "XX001"


def test_states_of_older_catalogs_with_the_options_of_their_view(server: Server) -> None:
    capped = f"CREATE VIEW capped WITH (max_groups = 100, on_error = skip) AS {QUERY}"
    server.client.run(capped, "SELECT truncate_continuous_view('pair')")
    text = catalog_text(server.world.database.catalog.image)
    older = json.loads(text)
    for view in older["relations"][2:]:
        of_view = ("query_text", "query_offset", "column_names")
        options = {name: view.pop(name) for name in (*of_view, *OPTIONS)}
        for number, state in enumerate(view["states"]):
            own = {"oid": 50_000, "state": state["state"]}
            if view["name"] == "capped":
                own = {"oid": state["state"], "state": None}
            state |= options | own | {"part": number, "column_names": ["x", "y"]}
    assert catalog_text(restore_catalog(server.world.database.builders, json.dumps(older))) == text


def test_the_drawing_has_all_pipelines_of_the_view(server: Server) -> None:
    server.client.run(*INSERTS, "SELECT * FROM pair")
    for statement in ("SELECT * FROM pair", f"CREATE VIEW other AS {QUERY}"):
        drawing = server.rows(f"EXPLAIN (FORMAT DOT) {statement}")
        assert sum("#ccebc5" in line for line in drawing) == 2, "stream pipelines"
        assert sum("#fbb4ae" in line for line in drawing) == 3, "two finish steps and what is above them"
    lines = server.rows("EXPLAIN SELECT * FROM pair")
    assert sum("state 1 of pair" in line for line in lines) > 0


def test_all_states_move_together(server: Server) -> None:
    client = server.client
    client.run(*INSERTS, "SELECT deactivate('pair')", *INSERTS, "SELECT activate('pair')")
    assert server.rows("SELECT * FROM pair") == ROWS
    oids = {state.chain.state_oid for state in pair(server).states}
    client.run(
        "ALTER VIEW pair RENAME TO twins", "ALTER FOREIGN TABLE sales RENAME TO sold", "ALTER VIEW twins RENAME TO pair"
    )
    assert {state.chain.state_oid for state in pair(server).states} == oids
    assert {state.stream_name for state in pair(server).states} == {"clicks", "sold"}
    client.run("INSERT INTO sold VALUES ('a', 1)")
    server.crash()
    assert server.rows("SELECT * FROM pair") == ["[b'a', b'1', b'3']"]
    server.client.run("SELECT truncate_continuous_view('pair')", "INSERT INTO sold VALUES ('b', 1)")
    assert oids.isdisjoint(state.chain.state_oid for state in pair(server).states)
    server.crash(checkpoint=True)
    assert server.rows("SELECT * FROM pair") == []
    assert server.rows("SELECT tuples_in FROM pg_stat_continuous_views") == ["[b'1']"]


def test_what_a_dropped_view_had_counted_is_told_by_streams(server: Server) -> None:
    """States of one stream have counted the same tuples, those of several others."""
    client = server.client
    client.run(f"CREATE VIEW twice AS {TWICE}", *INSERTS)
    for view, count in (("twice", "1 tuple, which is"), ("pair", "4 tuples, which are")):
        assert f'N 00000: continuous view "{view}" had counted {count} gone with it' in told(
            client, f"DROP VIEW {view}"
        )


def test_a_type_below_a_grouping_is_in_use(server: Server) -> None:
    (error,) = (line for line in told(server.client, "DROP TYPE mood") if line.startswith("E"))
    assert "2BP01" in error
    server.client.run("ALTER FOREIGN TABLE clicks ADD COLUMN again mood", "DROP VIEW pair")
    assert server.world.database.catalog.image.states == {}


TWICE = """SELECT page, a, b FROM (SELECT page, count(*) AS a, sum(n) FROM sales GROUP BY page) AS x
JOIN (SELECT page, sum(n) AS t, count(*) AS b FROM sales GROUP BY page) AS y USING (page)"""


@pytest.mark.parametrize(
    "definitions",
    [
        [f"CREATE VIEW twice AS {TWICE}"],
        ["CREATE VIEW twice AS SELECT 'c' AS page, 1::bigint AS a", f"CREATE OR REPLACE VIEW twice AS {TWICE}"],
        [
            "CREATE VIEW twice AS SELECT page, sum(n) AS a FROM sales GROUP BY page",
            f"CREATE OR REPLACE VIEW twice WITH (reset = true) AS {TWICE}",
        ],
    ],
)
def test_equal_pipelines_of_one_plan_take_rows_together(server: Server, definitions: list[str]) -> None:
    server.client.run("DROP VIEW pair", *definitions, *INSERTS)
    for checkpoint in (False, True):
        image = server.world.database.catalog.image
        assert len(image.states) == 2 and len(image.chains_of("sales")) == 1
        assert server.rows("SELECT * FROM twice") == ["[b'a', b'1', b'1']"]
        server.crash(checkpoint)
