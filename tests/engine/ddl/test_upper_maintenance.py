"""Views whose second grouping is kept by change, and what ends the knowledge of what has changed.

The oracle is a model in Python.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.catalog.image import ViewEntry
from tests.engine.ddl.test_view_life_cycle import Server
from tests.engine.embedded_upper import EmbeddedUpper
from views.model.protocols import BY_CHANGE, MADE_ANEW
from views.upkeep.chain import Chain

GROUPS = "SELECT k, count(*) AS n, sum(x) AS t FROM s GROUP BY k"
QUERY = f"SELECT n, count(*) AS c, sum(t) AS t, max(t) AS m FROM ({GROUPS}) g GROUP BY n"
JOINED = f"SELECT name, sum(n) AS n FROM ({GROUPS}) g JOIN d USING (k) GROUP BY name"
Rows = list[tuple[int, int]]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setattr("engine.database.SparkUpperExecutor", EmbeddedUpper)
    made = Server(tmp_path)
    made.client.run("CREATE FOREIGN TABLE s (k int, x int) SERVER stream", "CREATE TABLE d (k int, name text)")
    return made


def chain(server: Server, name: str = "v") -> Chain:
    entry = server.world.database.catalog.image.entries[name]
    assert isinstance(entry, ViewEntry)
    return entry.states[0].chain


def insert(server: Server, rows: Rows) -> Rows:
    server.client.run(f"INSERT INTO s VALUES {', '.join(map(str, rows))}")
    return rows


def wanted(rows: Rows) -> list[str]:
    """Return the rows of `QUERY`."""
    counts, totals = Counter(k for k, _ in rows), Counter[int]()
    for k, x in rows:
        totals[k] += x
    groups = defaultdict[int, list[int]](list)
    for k, n in counts.items():
        groups[n].append(totals[k])
    return [f"[b'{n}', b'{len(ts)}', b'{sum(ts)}', b'{max(ts)}']" for n, ts in sorted(groups.items())]


def check(server: Server, rows: Rows, how: str, name: str = "v") -> None:
    """Compare a view with the model; how: the way of the refresh."""
    assert server.rows(f"SELECT n, c, t, m FROM {name} ORDER BY n") == wanted(rows)
    assert chain(server, name).upkeep.last_upper == how, chain(server, name).upkeep.upper_reason


def test_what_ends_the_knowledge_of_what_has_changed(server: Server) -> None:
    server.client.run(f"CREATE VIEW v WITH (upper_maintenance = delta) AS {QUERY}")
    rows = insert(server, [(k, k) for k in range(9)])
    check(server, rows, MADE_ANEW)
    rows += insert(server, [(1, -7), (2, 5), (11, 0)])
    check(server, rows, BY_CHANGE)
    for end in (
        "SELECT truncate_continuous_view('v')",
        f"CREATE OR REPLACE VIEW v WITH (reset = true) AS {QUERY}",
        f"DROP VIEW v; CREATE VIEW v AS {QUERY}",
    ):
        server.client.run(*end.split("; "))
        rows = insert(server, [(1, 4), (3, 3)])
        check(server, rows, MADE_ANEW)
        rows += insert(server, [(1, -4), (2, 2)])
        check(server, rows, BY_CHANGE)


def test_views_that_take_no_rows_for_a_while(server: Server) -> None:
    server.client.run(f"CREATE VIEW v AS {QUERY}")
    rows = insert(server, [(1, 4), (3, 3)])
    check(server, rows, MADE_ANEW)
    server.client.run("SELECT deactivate('v')")
    insert(server, [(1, 100)])
    server.client.run("SELECT activate('v')")
    rows += insert(server, [(3, 1)])
    check(server, rows, BY_CHANGE)


def test_a_successor_goes_on_with_the_groups(server: Server) -> None:
    server.client.run(f"CREATE VIEW v AS {QUERY}")
    rows = insert(server, [(1, 4), (3, 3)])
    check(server, rows, MADE_ANEW)
    server.client.run("ALTER VIEW v RENAME TO w")
    rows += insert(server, [(3, 1)])
    check(server, rows, BY_CHANGE, "w")
    server.client.run(
        f"CREATE OR REPLACE VIEW w AS {QUERY.replace('FROM (', 'FROM (SELECT * FROM (', 1).replace(') g', ') h WHERE n < 3) g')}"
    )
    rows += insert(server, [(2, 1)])
    check(server, rows, MADE_ANEW, "w")
    rows += insert(server, [(1, 1)])
    check(server, rows, BY_CHANGE, "w")


def test_a_block_that_ends_leaves_what_was_committed(server: Server) -> None:
    server.client.run(f"CREATE VIEW v AS {QUERY}")
    rows = insert(server, [(1, 4), (3, 3)])
    check(server, rows, MADE_ANEW)
    other = server.world.client()
    other.run("BEGIN", "INSERT INTO s VALUES (5, 5)", "SAVEPOINT a", "INSERT INTO s VALUES (6, 6)", "ROLLBACK TO a")
    check(server, rows, MADE_ANEW)
    other.run("COMMIT")
    check(server, [*rows, (5, 5)], BY_CHANGE)


def test_two_views_over_equal_pipelines(server: Server) -> None:
    server.client.run(f"CREATE VIEW v AS {QUERY}", f"CREATE VIEW w AS {QUERY}")
    rows = insert(server, [(1, 4), (3, 3)])
    check(server, rows, MADE_ANEW)
    rows += insert(server, [(1, 5)])
    check(server, rows, BY_CHANGE)
    check(server, rows, MADE_ANEW, "w")
    rows += insert(server, [(4, 5)])
    check(server, rows, BY_CHANGE, "w")
    check(server, rows, BY_CHANGE)


def test_a_joined_table_may_change(server: Server) -> None:
    server.client.run(f"CREATE VIEW v AS {JOINED}", "INSERT INTO d VALUES (1, 'a'), (2, 'b'), (2, 'a')")
    insert(server, [(1, 4), (2, 3), (2, 3), (9, 9)])
    for change, names, how in (
        ("INSERT INTO s VALUES (1, 1)", {"a": 4, "b": 2}, MADE_ANEW),
        ("INSERT INTO s VALUES (2, 1), (8, 8)", {"a": 5, "b": 3}, BY_CHANGE),
        ("DELETE FROM d WHERE k = 1", {"a": 3, "b": 3}, MADE_ANEW),
        ("INSERT INTO d VALUES (9, NULL)", {"a": 3, "b": 3, None: 1}, MADE_ANEW),
        ("INSERT INTO s VALUES (9, 9)", {"a": 3, "b": 3, None: 2}, BY_CHANGE),
    ):
        server.client.run(change)
        shown = [f"[{None if name is None else name.encode()!r}, b'{n}']" for name, n in names.items()]
        assert server.rows("SELECT * FROM v ORDER BY name") == shown, change
        assert chain(server).upkeep.last_upper == how, change


def test_a_row_that_fails_is_the_readers_who_asks_for_it(server: Server) -> None:
    server.client.run(f"CREATE VIEW v AS SELECT n, sum(10 / t) AS q FROM ({GROUPS}) g GROUP BY n")
    insert(server, [(1, 1), (2, 5)])
    assert server.rows("SELECT * FROM v") == ["[b'1', b'12']"]
    insert(server, [(3, 0)])
    assert server.client.ask("SELECT * FROM v")[0] == "E ERROR 22012: division by zero"
    insert(server, [(3, 5)])
    assert server.rows("SELECT * FROM v ORDER BY n") == ["[b'1', b'12']", "[b'2', b'2']"]


def test_the_second_groups_are_counted_and_told(server: Server) -> None:
    server.client.run(f"CREATE VIEW v AS {QUERY}", f"CREATE VIEW w WITH (upper_maintenance = spark) AS {QUERY}")
    rows = insert(server, [(k, k) for k in range(9)])
    check(server, rows, MADE_ANEW)
    rows += insert(server, [(1, 1)])
    check(server, rows, BY_CHANGE)
    (told,) = server.rows(
        "SELECT refreshes_by_change, refreshes_made_anew, upper_plan, (SELECT sum(state_bytes) FROM "
        "pg_stat_continuous_views WHERE relname = 'w') < state_bytes FROM pg_stat_continuous_views WHERE relname = 'v'"
    )
    assert told == "[b'1', b'1', b'by change', b't']"
    insert(server, [(2, 1), (3, 1)])
    shown = "".join(server.client.ask("EXPLAIN ANALYZE SELECT * FROM v"))
    assert "by change" in shown and "2 of 9 groups have changed" in shown


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"SELECT rank() OVER (ORDER BY n) FROM ({GROUPS}) g", "Window stands above the groups"),
        (f"SELECT n, sum(t::float8) FROM ({GROUPS}) g GROUP BY n", "nothing can be taken away from sum("),
        (f"SELECT n, array_agg(k) FROM ({GROUPS}) g GROUP BY n", "nothing can be taken away from array_agg(k)"),
        (f"SELECT n, max(t) FROM ({GROUPS}) g WHERE now() > '2000-01-01' GROUP BY n", "it uses now()"),
        (f"SELECT g.n, count(*) FROM ({GROUPS}) g JOIN ({GROUPS}) h USING (k) GROUP BY g.n", "a join of streams"),
    ],
)
def test_what_can_not_be_kept_is_refused_where_it_is_demanded(server: Server, query: str, reason: str) -> None:
    def detail(find: Callable[[str], object]) -> str:
        return str(find(f"CREATE VIEW v WITH (upper_maintenance = delta) AS {query}"))

    assert "0A000" in detail(server.client.ask)
    assert reason in detail(server.client.ask_in_full)
    server.client.run(f"CREATE VIEW v AS {query}")
