"""CREATE VIEW ... WITH (backfill = ...): the rows that are there, and then those of the stream,
each once, through kills, checkpoints and writers beside it.

The oracle is a view that has been there all the time, or lists in Python.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.statements import backfill as backfills
from engine.statements.backfill import Backfill
from ringbuffer.memory.columns import Morsel
from tests.end_to_end.raw_client import query, render
from tests.engine.ddl.test_view_life_cycle import STREAM, Server
from tests.engine.session_client import SessionClient
from views.upkeep.chain import Chain

GROUPED = """SELECT k, count(*) AS n, sum(x) AS t, array_agg(x) AS xs, first(x) AS f, max(x) FILTER (WHERE x < 5) AS m
FROM s WHERE x <> 3 GROUP BY k"""
# Columns in another order, and one that the stream does not take from it.
TABLE = "CREATE TABLE old (x int, k int, name text)"
HISTORY = "INSERT INTO old SELECT g % 11, g % 4, CASE g % 2 WHEN 0 THEN 'A' ELSE 'a' END FROM generate_series(1, 500) g"
MINE = "backfill = 'SELECT k, x FROM old WHERE name = ''A'''"


@pytest.fixture
def server(tmp_path: Path) -> Server:
    made = Server(tmp_path)
    made.client.run(STREAM, TABLE, HISTORY)
    return made


def like_inserted(server: Server, source: str, query: str) -> list[str]:
    """Return what a view shows for which the rows were inserted into an empty stream."""
    client = server.client
    client.run("CREATE FOREIGN TABLE other (k int, x int) SERVER stream")
    client.run(f"CREATE VIEW expected AS {query.replace('FROM s ', 'FROM other ')}", f"INSERT INTO other {source}")
    rows = server.rows("SELECT * FROM expected ORDER BY 1")
    client.run("DROP VIEW expected", "DROP FOREIGN TABLE other")
    assert rows
    return rows


@pytest.mark.parametrize("checkpoint", [False, True])
def test_as_if_the_rows_had_been_inserted(server: Server, checkpoint: bool) -> None:
    expected = like_inserted(server, "SELECT k, x FROM old WHERE name = 'A'", GROUPED)
    server.client.run("INSERT INTO s VALUES (1, 100)", f"CREATE VIEW v WITH ({MINE}) AS {GROUPED}")
    server.crash()
    assert server.rows("SELECT * FROM v ORDER BY k") == expected, "killed directly after CREATE VIEW"
    server.client.run("INSERT INTO s VALUES (7, 4), (7, 3)")
    for _ in range(2):
        server.crash(checkpoint=checkpoint)
        found = server.rows("SELECT * FROM v ORDER BY k")
        assert found == [*expected, "[b'7', b'1', b'4', b'{4}', b'4', b'4']"]
    server.client.run("DROP TABLE old", "INSERT INTO s VALUES (7, 8)")
    server.crash()
    assert server.rows("SELECT n FROM v WHERE k = 7") == ["[b'2']"]
    server.world.close()


def test_columns_are_found_by_name_and_the_others_get_their_defaults(server: Server) -> None:
    client = server.client
    client.run("CREATE FOREIGN TABLE d (k int, x int DEFAULT 9) SERVER stream")
    client.run("CREATE VIEW a WITH (backfill = 'SELECT k FROM old') AS SELECT k, sum(x) AS t FROM d GROUP BY k")
    assert server.rows("SELECT * FROM a ORDER BY k") == [f"[b'{k}', b'1125']" for k in range(4)]
    client.run("CREATE TABLE names (k int PRIMARY KEY, name text)", "INSERT INTO names VALUES (1, 'one'), (2, 'two')")
    client.run(
        """CREATE VIEW joined WITH (backfill = 'SELECT k, x FROM old') AS
        SELECT name, count(*) AS n FROM s JOIN names USING (k) GROUP BY name"""
    )
    assert server.rows("SELECT * FROM joined ORDER BY name") == ["[b'one', b'125']", "[b'two', b'125']"]
    client.run("CREATE TABLE pairs AS SELECT k, x FROM old")
    query = "SELECT k, count(DISTINCT x) AS d, percentile_disc(0.5) WITHIN GROUP (ORDER BY x) AS p FROM s GROUP BY k"
    client.run(f"CREATE VIEW above WITH (backfill = pairs) AS {query}")
    expected = server.rows(f"{query.replace('FROM s ', 'FROM pairs ')} ORDER BY k")
    for _ in range(2):
        assert server.rows("SELECT * FROM above ORDER BY k") == expected
        server.crash()
    server.world.close()


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("nope", 'E 42P01: relation "nope" does not exist'),
        ("old", 'E 42703: column "name" of relation "s" does not exist'),
        ("SELECT k FROM s", "E 0A000"),
        ("SELECT k FROM old; DROP TABLE old", 'E 22023: invalid value for option "backfill"'),
        ("DELETE FROM old", "E 42601"),
        ("", "E 42601"),
        ("SELECT ''a'' AS k", "E 22P02"),
        ("SELECT x / 0 AS k FROM old", "E 22012: division by zero"),
        ("SELECT 2147483647 AS x, k FROM old", "E 22003"),
    ],
)
def test_what_fails_leaves_nothing(server: Server, source: str, error: str) -> None:
    client = server.client
    ((answer, _),) = client.ask_in_full(
        f"CREATE VIEW v WITH (backfill = '{source}') AS SELECT k, sum(x + 1) AS t FROM s GROUP BY k"
    )
    assert answer.startswith(error)
    assert "42P01" in client.ask("SELECT * FROM v")[0]
    assert server.rows("SELECT * FROM pg_stat_progress_backfill") == []
    server.world.close()


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("CREATE VIEW v WITH (backfill = 'old') AS SELECT 1", "0A000"),
        (
            "CREATE OR REPLACE VIEW kept WITH (backfill = 'SELECT k FROM old') AS SELECT k, count(*) FROM s GROUP BY k",
            "22023",
        ),
        ("ALTER VIEW kept SET (backfill = 'old')", "0A000"),
        (
            "CREATE VIEW v WITH (backfill = 'SELECT k FROM old') AS SELECT now() - now(), count(*) FROM s GROUP BY 1",
            "0A000",
        ),
        ("CREATE VIEW v WITH (backfill = 'SELECT k FROM old', max_groups = 2) AS SELECT k FROM s GROUP BY k", "53200"),
        (
            """CREATE VIEW v WITH (backfill = 'SELECT k FROM old', stream_join = arrival) AS
            SELECT name, count(*) FROM s JOIN (SELECT DISTINCT name, k FROM old) o USING (k) GROUP BY name""",
            "0A000",
        ),
    ],
)
def test_what_is_refused(server: Server, text: str, state: str) -> None:
    server.client.run("CREATE VIEW kept AS SELECT k, count(*) FROM s GROUP BY k")
    assert server.client.ask(text)[0].startswith(f"E ERROR {state}")
    server.world.close()


def test_not_in_a_transaction_block(server: Server) -> None:
    client = server.client
    client.run("BEGIN")
    answer = client.ask(f"CREATE VIEW v WITH ({MINE}) AS {GROUPED}")[0]
    assert answer == "E ERROR 25001: CREATE VIEW WITH (backfill) cannot run inside a transaction block"
    client.run("ROLLBACK")
    server.world.close()


def test_rights_are_those_of_the_rows(server: Server) -> None:
    client = server.client
    client.run("CREATE ROLE reader", "GRANT SELECT ON s TO reader", "GRANT CREATE ON SCHEMA public TO reader")
    client.run("SET ROLE reader")
    text = f"CREATE VIEW v WITH ({MINE}) AS {GROUPED}"
    assert client.ask(text)[0] == "E ERROR 42501: permission denied for table old"
    client.run("RESET ROLE", "GRANT SELECT ON old TO reader", "SET ROLE reader", text)
    client.run("RESET ROLE")
    server.world.close()


def between_morsels(monkeypatch: pytest.MonkeyPatch, do: Callable[[], object]) -> None:
    """Let other sessions do something once, after the first morsel of a backfill."""
    count, waiting = Backfill._count, [do]

    def counting(self: Backfill, chains: list[Chain], rows: Morsel) -> None:
        count(self, chains, rows)
        if waiting:
            waiting.pop()()

    monkeypatch.setattr(Backfill, "_count", counting)
    monkeypatch.setattr(backfills, "MORSEL_ROWS", 100)


def beside(client: SessionClient, *texts: str) -> list[str]:
    """Return the rows that statements return while the event loop runs."""
    loop = client._runner.get_loop()
    for text in texts:
        asyncio.run_coroutine_threadsafe(client._handle(query(text)), loop).result()
    answer = [render(kind, body) for kind, body in client._taken()]
    assert not any(line.startswith("E ") for line in answer), (texts, answer)
    return [line[2:] for line in answer if line.startswith("D ")]


def test_each_row_once_where_writers_go_on(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction that writes to table and stream meanwhile is counted once."""
    server.client.run("INSERT INTO s VALUES (1, 1)")
    other, seen = server.world.client(), list[str]()

    def write() -> None:
        progress = "SELECT relname, stream, phase, rows_done, rows_total FROM pg_stat_progress_backfill"
        seen.extend(beside(other, progress))
        beside(
            other,
            "INSERT INTO s VALUES (9, 2)",
            "BEGIN",
            "INSERT INTO old VALUES (1, 9, 'A')",
            "INSERT INTO s VALUES (9, 1)",
            "COMMIT",
        )

    between_morsels(monkeypatch, write)
    server.client.run(f"CREATE VIEW v WITH ({MINE}) AS SELECT k, count(*) AS n, sum(x) AS t FROM s GROUP BY k")
    assert seen == ["[b'v', b's', b'counting rows', b'0', b'250']"]
    for _ in range(2):
        assert server.rows("SELECT n, t FROM v WHERE k = 9") == ["[b'2', b'3']"]
        assert server.rows("SELECT sum(n) FROM v") == ["[b'252']"]
        assert server.rows("SELECT * FROM pg_stat_progress_backfill") == []
        server.crash()
    server.world.close()


def test_a_cancelled_one_leaves_nothing(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    client = server.client

    async def cancel() -> None:
        client.session.cancel()

    loop = client._runner.get_loop()
    between_morsels(monkeypatch, lambda: asyncio.run_coroutine_threadsafe(cancel(), loop).result())
    text = f"CREATE VIEW v WITH ({MINE}) AS {GROUPED}"
    assert server.client.ask(text)[0] == "E ERROR 57014: canceling statement due to user request"
    assert server.rows("SELECT * FROM pg_stat_progress_backfill") == []
    server.client.run(text)
    assert len(server.rows("SELECT * FROM v")) == 2
    server.world.close()


def test_more_tuples_than_the_stream_keeps(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    client = server.client
    client.run("CREATE FOREIGN TABLE small (k int, x int) SERVER stream OPTIONS (capacity '64')")
    rows = ", ".join(f"({number}, 1)" for number in range(40))
    other = server.world.client()
    between_morsels(monkeypatch, lambda: beside(other, *[f"INSERT INTO small VALUES {rows}"] * 3))
    answer = client.ask(f"CREATE VIEW v WITH ({MINE}) AS SELECT k, count(*) FROM small GROUP BY k")[0]
    assert answer.startswith('E ERROR 55000: more tuples came into stream "small" than it keeps')
    assert "42P01" in client.ask("SELECT * FROM v")[0]
    server.world.close()
