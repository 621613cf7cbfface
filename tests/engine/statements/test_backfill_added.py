"""CREATE OR REPLACE VIEW ... WITH (backfill = ...): aggregates that are added count rows that are
there, and what the view has counted stays as it is.

The oracle is a view that has had all aggregates from the beginning.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.ddl.test_view_life_cycle import STREAM, Server, told
from tests.engine.statements.test_backfill import beside, between_morsels

OLD = "SELECT k, count(*) AS n, sum(x) AS t"
NEW = f"{OLD}, max(x) AS m, array_agg(x) AS xs, first(x) AS f, count(x) FILTER (WHERE x < 5) AS c"
HISTORY = "INSERT INTO %s SELECT g %% 4, g %% 11 FROM generate_series(1, 400) g WHERE g %% 11 <> 3"


@pytest.fixture
def server(tmp_path: Path) -> Server:
    made = Server(tmp_path)
    client = made.client
    client.run(STREAM, "CREATE TABLE old (k int, x int)")
    client.run(f"CREATE VIEW v AS {OLD} FROM s GROUP BY k", f"CREATE VIEW whole AS {NEW} FROM s GROUP BY k")
    client.run(HISTORY % "s", HISTORY % "old")
    return made


def test_added_aggregates_count_the_backfill_alone(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    client, other = server.client, server.world.client()
    expected = server.rows("SELECT * FROM v ORDER BY k")
    text = f"CREATE OR REPLACE VIEW v WITH (backfill = old) AS {NEW} FROM s GROUP BY k"
    lines = server.rows(f"EXPLAIN {text}")
    assert any("counts the rows of the backfill in these alone: max(x)" in line for line in lines), lines
    assert server.rows("SELECT * FROM v ORDER BY k") == expected

    def write() -> None:
        beside(other, "BEGIN", "INSERT INTO s VALUES (1, 70), (9, 71)", "INSERT INTO old VALUES (1, 70)", "COMMIT")
        beside(other, "INSERT INTO s VALUES (2, 72)")

    between_morsels(monkeypatch, write)
    answer = told(client, text)
    assert answer[0] == 'N 00000: view "v" keeps what it has counted of stream "s"', answer
    assert answer[1].startswith(
        'N 00000: view "v" counts the rows of the backfill in these alone: max(x), array_agg(x)'
    )
    for checkpoint in (False, True, False):
        assert server.rows("SELECT * FROM v ORDER BY k") == server.rows("SELECT * FROM whole ORDER BY k")
        assert server.rows("SELECT since FROM pg_stat_continuous_views WHERE relname = 'v'") == ["[None]"]
        server.crash(checkpoint=checkpoint)
        server.client.run("INSERT INTO s VALUES (3, 2), (11, 4)")
    assert server.rows("SELECT * FROM v ORDER BY k") == server.rows("SELECT * FROM whole ORDER BY k")
    server.world.close()


def test_a_second_addition_and_a_reset(server: Server) -> None:
    client = server.client
    first = f"{OLD}, max(x) AS m FROM s GROUP BY k"
    client.run(f"CREATE OR REPLACE VIEW v WITH (backfill = old) AS {first}", "INSERT INTO s VALUES (1, 100)")
    client.run("INSERT INTO old VALUES (1, 100)")
    second = f"{OLD}, max(x) AS m, min(x) AS low FROM s GROUP BY k"
    client.run(f"CREATE OR REPLACE VIEW v WITH (backfill = old) AS {second}")
    client.run(f"CREATE VIEW again WITH (backfill = old) AS {second}")
    for _ in range(2):
        assert server.rows("SELECT * FROM v ORDER BY k") == server.rows("SELECT * FROM again ORDER BY k")
        server.crash()
    server.client.run(f"CREATE OR REPLACE VIEW v WITH (backfill = old, reset = true) AS {second}")
    server.crash()
    assert server.rows("SELECT * FROM v ORDER BY k") == server.rows("SELECT * FROM again ORDER BY k")
    server.world.close()


@pytest.mark.parametrize(
    ("text", "state"),
    [
        (f"CREATE OR REPLACE VIEW v WITH (backfill = old) AS {OLD} FROM s GROUP BY k", "22023"),
        (f"CREATE OR REPLACE VIEW v WITH (backfill = old, replace = from_now) AS {NEW} FROM s GROUP BY k", "22023"),
        (f"CREATE OR REPLACE VIEW v WITH (backfill = old) AS {NEW} FROM s WHERE x > 1 GROUP BY k", "55000"),
        (f"CREATE OR REPLACE VIEW v WITH (backfill = nothing) AS {NEW} FROM s GROUP BY k", "42P01"),
        (
            f"CREATE OR REPLACE VIEW v WITH (backfill = 'SELECT x / 0 AS x FROM old') AS {NEW} FROM s GROUP BY k",
            "22012",
        ),
    ],
)
def test_what_is_refused(server: Server, text: str, state: str) -> None:
    before = server.rows("SELECT * FROM v ORDER BY k")
    answers = server.client.ask(text)
    assert any(line.startswith(f"E ERROR {state}") for line in answers), answers
    assert server.rows("SELECT * FROM v ORDER BY k") == before
    assert server.client.ask("SELECT m FROM v")[0].startswith("E ERROR 42703")
    if state != "22012":
        assert server.client.ask(f"EXPLAIN {text}")[0].startswith(f"E ERROR {state}"), "it is told before"
    server.client.run("BEGIN")
    answers = server.client.ask(f"CREATE OR REPLACE VIEW v WITH (backfill = old) AS {NEW} FROM s GROUP BY k")
    assert any(line.startswith("E ERROR 25001") for line in answers)
    server.client.run("ROLLBACK")
    server.world.close()
