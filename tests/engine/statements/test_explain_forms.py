"""EXPLAIN of continuous views with ANALYZE and VERBOSE, as JSON and as DOT, of a server without a
socket.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.session_client import SessionClient, World


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionClient]:
    folder: Path = tmp_path_factory.mktemp("explained")
    world = World(folder)
    made = world.client()
    made.run(
        "CREATE FOREIGN TABLE s (k int, x int) SERVER stream",
        "CREATE VIEW v AS SELECT k, count(*) AS n, avg(x) AS mean FROM s WHERE x > 0 GROUP BY k",
        "INSERT INTO s VALUES (1, 10), (1, 0), (2, 5)",
        "CREATE TABLE named (k int PRIMARY KEY, name text)",
    )
    yield made
    world.close()


def lines(client: SessionClient, text: str) -> list[str]:
    """Return the column of the answer."""
    rows = [re.fullmatch(r"""D \[b(['"])(.*)\1\]""", row, re.DOTALL) for row in client.rows(text)]
    return [row[2].encode().decode("unicode_escape") for row in rows if row is not None]


def pipelines(plan: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a plan and those below it."""
    return [plan, *(below for part in plan.get("Plans", ()) for below in pipelines(part))]


def test_json_has_a_node_for_each_pipeline(client: SessionClient) -> None:
    (text,) = lines(client, "EXPLAIN (FORMAT JSON) SELECT * FROM v WHERE n > 0")
    query, finish, stream = pipelines(json.loads(text)[0]["Plan"])
    assert [part["Class"] for part in (query, finish, stream)] == ["query", "upper", "stream"]
    assert query["Operators"] == ["Filter: n > 0", "  Scan view v"] and "DuckDB SQL" in query
    assert finish["Operators"] == ["Yields: k, count AS n, avg AS mean"]
    assert stream["Operators"][1:] == ["  Filter: x > 0", "    Scan stream s"]
    assert stream["Bytes per Group"] == 80 and stream["Breaker"] == "first grouping"
    assert [column["Bytes"] for column in stream["State Columns"]] == [8, 8, 32, 32]
    assert re.fullmatch(r"kernels/stream_pipeline_[0-9a-f]{32}\.py", stream["Kernel"])
    assert stream["Groups"] + stream["Groups Waiting"] >= 2 and stream["State Bytes"] > 0


def test_a_view_that_is_not_made_with_its_static_and_upper_pipelines(client: SessionClient) -> None:
    condition = "WHERE name <> ''"
    create = f"""CREATE VIEW z AS SELECT name, n FROM
        (SELECT name, count(*) AS n FROM s JOIN named USING (k) {condition} GROUP BY name) g ORDER BY n DESC LIMIT 2"""
    (text,) = lines(client, f"EXPLAIN (FORMAT JSON) {create.replace(condition, '')}")
    as_stored = pipelines(json.loads(text)[0]["Plan"])[3]
    assert as_stored["Engine"] == "DuckDB" and "Spark SQL" not in as_stored
    (text,) = lines(client, f"EXPLAIN (FORMAT JSON) {create}")
    shown = pipelines(json.loads(text)[0]["Plan"])
    assert [part["Class"] for part in shown] == ["upper", "upper", "stream", "static"]
    assert [part["Engine"] for part in shown] == ["Spark", "kernel", "kernel", "DuckDB"]
    assert "ORDER BY" in shown[0]["Spark SQL"] and "named" in shown[3]["DuckDB SQL"]
    drawing = lines(client, f"EXPLAIN (FORMAT DOT) {create}")
    assert drawing[0] == "digraph plan {" and drawing[-1] == "}"
    colours = [re.search(r'fillcolor="(#\w+)"', line) for line in drawing]
    assert [found[1] for found in colours if found] == ["#fbb4ae", "#fbb4ae", "#ccebc5", "#b3cde3"]
    assert [line.strip() for line in drawing if "->" in line] == ["p3 -> p2;", "p2 -> p1;", "p1 -> p0;"]


def test_analyze_runs_the_query_and_tells_the_refresh(client: SessionClient) -> None:
    client.run(
        "CREATE FOREIGN TABLE measured (k int, x int) SERVER stream",
        "CREATE VIEW m AS SELECT k, count(*) AS n, avg(x) AS mean FROM measured WHERE x > 0 GROUP BY k",
        "INSERT INTO measured VALUES (1, 10), (1, 0), (2, 5)",
        "INSERT INTO measured VALUES (3, 1)",
    )
    known = lines(client, "EXPLAIN ANALYZE SELECT * FROM m")
    (measured,) = (line for line in known if line.startswith("  Stream pipeline: groups"))
    for fact in (
        "groups 3",
        "groups waiting 0",
        "tuples in 4",
        "tuples passed 3",
        "tuples skipped 0",
        "tuples repeated 4",
    ):
        assert fact in measured, measured
    assert re.search(r"time per tuple \d+ ns, swap time [\d.]+ ms, merge time [\d.]+ ms", measured)
    assert any(re.fullmatch(r"  Finish step: hand-over time [\d.]+ ms, store time [\d.]+ ms", line) for line in known)
    assert "Actual Rows: 3" in known and known[-1].startswith("Execution Time: ")
    again = lines(client, "EXPLAIN (ANALYZE) SELECT * FROM m")
    assert "  Finish step: refresh none, the stored version was read" in again
    # The rows that were gone over once more are in no view.
    assert client.rows("SELECT sum(n) FROM m") == ["D [b'3']"]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("SELECT * FROM v", "v"),
        ("SELECT max(n) FROM (SELECT n FROM v) x WHERE n > 1", "v"),
    ],
)
def test_programs_find_what_was_measured_where_postgres_has_it(client: SessionClient, query: str, name: str) -> None:
    (text,) = lines(client, f"EXPLAIN (FORMAT JSON) {query}")
    (plan,) = json.loads(text)
    assert plan["Plan"]["Relation Name"] == name
    assert "Actual Total Time" not in plan["Plan"] and "Execution Time" not in plan
    (text,) = lines(client, f"EXPLAIN (ANALYZE, FORMAT JSON) {query}")
    (plan,) = json.loads(text)
    assert 0 < plan["Plan"]["Actual Total Time"] <= plan["Execution Time"]
    assert isinstance(plan["Plan"]["Actual Rows"], int) and plan["Plan"]["Actual Loops"] == 1


def test_a_query_over_several_relations_is_of_none(client: SessionClient) -> None:
    (text,) = lines(client, "EXPLAIN (FORMAT JSON) SELECT * FROM v, (SELECT count(*) FROM s) AS x")
    assert "Relation Name" not in json.loads(text)[0]["Plan"]


def test_verbose_shows_the_pipelines_and_runs_nothing(client: SessionClient) -> None:
    client.run("SELECT * FROM v", "INSERT INTO s VALUES (4, 1)")
    shown = lines(client, "EXPLAIN VERBOSE SELECT * FROM v")
    assert "Stream pipeline: on each insert, in kernels" in shown and "Now:" in shown
    assert not any("Execution Time" in line for line in shown)
    assert any("groups waiting 1" in line for line in shown)
    assert not any("Stream pipeline" in line for line in lines(client, "EXPLAIN (VERBOSE off) SELECT * FROM v"))


def test_a_replaced_view_shows_what_is_kept(client: SessionClient) -> None:
    client.run(
        "CREATE VIEW r AS SELECT k, sum(x) AS t, count(*) AS n FROM s GROUP BY k",
        "CREATE OR REPLACE VIEW r AS SELECT k, sum(x) AS t, count(*) AS n, avg(x) AS a FROM s GROUP BY k",
    )
    shown = lines(client, "EXPLAIN VERBOSE SELECT * FROM r")
    assert "  Group by k: sum(x) AS sum, count(*) AS count (pipeline breaker)" in shown
    assert "  Yields: k, sum AS t, count AS n, avg AS a" in shown


def test_what_is_above_states_is_an_upper_pipeline(client: SessionClient) -> None:
    client.run(
        "CREATE VIEW p WITH (stream_join = retroactive) AS SELECT name, count(*) FROM s JOIN named USING (k) GROUP BY name",
        "SELECT * FROM p",
    )
    shown = lines(client, "EXPLAIN SELECT * FROM p WHERE count > 0")
    assert shown[2] == "    Scan view p"
    head = "Upper pipeline of view p: for each version of its states and tables, kept, and shared by its readers"
    assert head in shown and '        Scan view "state 1 of p"' in shown
    assert re.fullmatch(r"  The last version has \d+ rows?, and was made in [\d.]+ ms", shown[-1])
    assert not any("which is a grouping of a stream" in line for line in shown)
    ((plan,),) = [json.loads("\n".join(lines(client, "EXPLAIN (FORMAT JSON) SELECT * FROM p")))]
    (upper,) = plan["Plan"]["Plans"]
    assert upper["Class"] == "upper" and upper["Upper Time"].endswith(" ms")
    assert [part["Class"] for part in upper["Plans"]] == ["upper"] and upper["Plans"][0]["Plans"][0][
        "Class"
    ] == "stream"
    drawing = lines(client, "EXPLAIN (FORMAT DOT) SELECT * FROM p")
    assert sum("#fbb4ae" in line for line in drawing) == 2 and sum("#ccebc5" in line for line in drawing) == 1
    client.run("DROP VIEW p")


def test_the_choice_of_the_join_is_shown(client: SessionClient) -> None:
    query = "AS SELECT name, count(*) FROM s JOIN named USING (k) GROUP BY name"
    shown = lines(client, f"EXPLAIN CREATE VIEW j WITH (stream_join = arrival) {query}")
    assert "  Rows meet its tables as they are when the rows are committed (stream_join = arrival)" in shown
    shown = lines(client, f"EXPLAIN CREATE VIEW j {query}")
    assert "  Rows meet its tables as they are at CREATE VIEW, and they can't change (stream_join = frozen)" in shown
    assert any(
        "(stream_join = retroactive)" in line
        for line in lines(client, f"EXPLAIN CREATE VIEW j WITH (stream_join = retroactive) {query}")
    )


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("EXPLAIN (FORMAT yaml) SELECT 1", "0A000: EXPLAIN (FORMAT YAML) is not supported yet"),
        ("EXPLAIN (FORMAT odd) SELECT 1", '22023: unrecognized value for EXPLAIN option "format": "odd"'),
        ("EXPLAIN ANALYZE CREATE VIEW z AS SELECT k FROM s GROUP BY k", "0A000: EXPLAIN ANALYZE CREATE VIEW is not supported yet"),
        ("EXPLAIN ANALYZE SELECT 1 / 0", "22012: division by zero"),
    ],
)  # fmt: skip
def test_refusals(client: SessionClient, statement: str, error: str) -> None:
    answers = [answer for answer, _ in client.ask_in_full(statement)]
    assert answers == [f"E {error}"]


def test_what_is_above_the_states_of_a_view_runs_in_spark(client: SessionClient) -> None:
    client.run(
        "CREATE VIEW parted AS SELECT a.k, b.n FROM s a JOIN (SELECT k, count(*) AS n FROM s GROUP BY k) b ON a.k = b.k GROUP BY a.k, b.n"
    )
    (text,) = lines(client, "EXPLAIN (FORMAT JSON) SELECT * FROM parted")
    upper = next(part for part in pipelines(json.loads(text)[0]["Plan"]) if part.get("View") == "parted")
    assert upper["Engine"] == "Spark" and "`state 1 of parted`" in upper["Spark SQL"]
    assert "  Spark SQL:" in lines(client, "EXPLAIN VERBOSE SELECT * FROM parted")
    assert "  Spark SQL:" not in lines(client, "EXPLAIN SELECT * FROM parted")
    client.run("SET min_spark_groups = -1")
    (text,) = lines(client, "EXPLAIN (FORMAT JSON) SELECT * FROM parted")
    upper = next(part for part in pipelines(json.loads(text)[0]["Plan"]) if part.get("View") == "parted")
    assert upper["Engine"] == "DuckDB" and '"state 1 of parted"' in upper["DuckDB SQL"]
    client.run("RESET min_spark_groups")


@pytest.mark.parametrize("form", ["", "(FORMAT JSON) ", "(FORMAT DOT) ", "ANALYZE "])
def test_a_query_that_asks_for_the_time_is_explained(client: SessionClient, form: str) -> None:
    client.run("CREATE TABLE IF NOT EXISTS timed (at timestamptz)")
    for query in (
        "SELECT now()",
        "SELECT * FROM timed WHERE at > now() - interval '1 day'",
        "SELECT n, (SELECT now()) FROM v",
    ):
        assert lines(client, f"EXPLAIN {form}{query}"), query
