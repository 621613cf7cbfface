"""Pipelines that need no Spark: static ones, and upper ones that Spark could not run. The databases
here have none.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import views.plan.first_groupings
from engine.catalog.image import ViewEntry
from tests.engine.ddl.test_view_life_cycle import Server

STREAM = "CREATE FOREIGN TABLE s (k int, t text, n int) SERVER stream"
INSERT = "INSERT INTO s VALUES (1, 'a', 1), (2, 'A', 2), (3, 'b', 3), (3, 'c', 3)"
# Functions that Spark does not have, between two groupings in it.
BETWEEN = """SELECT format('<%s>', lower(m)) AS f, count(*) AS c FROM
    (SELECT n, max(t) AS m FROM (SELECT k, n, max(t) AS t FROM s GROUP BY k, n) i GROUP BY n) g
    GROUP BY f ORDER BY f LIMIT 9"""
FOUND = ["[b'<a>', b'2']", "[b'<c>', b'1']"]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    made = Server(tmp_path)
    made.client.run(STREAM)
    yield made
    made.world.close()


@pytest.mark.parametrize("stream_join", ["frozen", "arrival"])
def test_static_pipelines_run_in_the_embedded_engine(server: Server, stream_join: str) -> None:
    server.client.run(
        "CREATE TABLE names (k int PRIMARY KEY, name text, price numeric(8,2))",
        "INSERT INTO names VALUES (1, 'one', 1.5), (2, 'Two', 2.25), (3, 'three', NULL)",
        f"""CREATE VIEW v WITH (stream_join = '{stream_join}') AS SELECT name, count(*), sum(price) FROM s
            JOIN (SELECT a.k, initcap(a.name) AS name, a.price + 1 AS price FROM names a JOIN names b ON a.k = b.k
                  WHERE regexp_replace(a.name, '[A-Z]', '') <> 'wo') n USING (k) GROUP BY name""",
        INSERT,
    )
    for checkpoint in (False, True):
        assert server.rows("SELECT * FROM v ORDER BY 1") == ["[b'One', b'1', b'2.50']", "[b'Three', b'2', None]"]
        server.crash(checkpoint)


@pytest.mark.parametrize("is_above", [True, False])
def test_a_view_keeps_the_form_in_which_it_is_stored(
    server: Server, is_above: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Views of older servers may be chains, or have a query above, where today's are not."""
    with monkeypatch.context() as older:
        older.setattr(views.plan.first_groupings, "_is_beyond_spark", lambda root: is_above)
        # By change a chain would be enough.
        made = f"CREATE VIEW v WITH (upper_maintenance = spark) AS {BETWEEN}"
        server.client.run(made, "CREATE VIEW plain AS SELECT k, count(*) FROM s GROUP BY k")
    server.client.run(INSERT)
    for checkpoint in (False, True, False):
        for name in ("v", "plain"):
            entry = server.world.database.catalog.image.entries[name]
            assert isinstance(entry, ViewEntry) and entry.is_state is not is_above
        assert server.rows("SELECT * FROM v") == FOUND
        assert server.rows("SELECT * FROM plain ORDER BY 1") == ["[b'1', b'1']", "[b'2', b'1']", "[b'3', b'2']"]
        server.crash(checkpoint)


def test_what_spark_does_not_have_is_replaced_with_its_rows(server: Server) -> None:
    server.client.run(f"CREATE VIEW v AS {BETWEEN.replace('lower', 'upper')}", INSERT)
    assert server.rows("SELECT * FROM v") == ["[b'<A>', b'2']", "[b'<C>', b'1']"]
    server.client.run(f"CREATE OR REPLACE VIEW v AS {BETWEEN}")
    assert server.rows("SELECT * FROM v") == FOUND


def test_a_dropped_type_takes_no_column_of_a_table_that_a_pipeline_has(server: Server) -> None:
    server.client.run(
        "CREATE TYPE mood AS ENUM ('sad')",
        "CREATE TABLE names (k int PRIMARY KEY, name text, m mood)",
        "INSERT INTO names VALUES (1, 'one', 'sad'), (2, 'two', NULL)",
        """CREATE VIEW v AS SELECT name, c FROM (SELECT names.name, count(*) AS c FROM s JOIN names ON s.k = names.k
            GROUP BY names.name) g, (SELECT count(*) AS n FROM s) h WHERE c < n""",
    )
    answers = server.client.ask("DROP TYPE mood CASCADE")
    assert any("0A000" in line and 'continuous view "v" reads it' in line for line in answers), answers
    server.client.run(INSERT)
    for checkpoint in (False, True):
        assert server.rows("SELECT * FROM v") == ["[b'one', b'1']", "[b'two', b'1']"]
        server.crash(checkpoint)
    server.client.run("DROP VIEW v", "DROP TYPE mood CASCADE")
    assert server.rows("SELECT * FROM names ORDER BY 1") == ["[b'1', b'one']", "[b'2', b'two']"]
