"""A view's life after CREATE: replaced, renamed, emptied, left and taken up again, commented on;
what a crash makes of it.

The oracle of what views hold is a dictionary in Python that is told of each statement.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.catalog.image import ViewEntry
from tests.engine.session_client import SessionClient, World

STREAM = "CREATE FOREIGN TABLE s (k int, x int) SERVER stream"
VIEW = "CREATE VIEW v AS SELECT k, count(*) AS n, sum(x) AS t FROM s GROUP BY k"
COUNTED = "SELECT k, count(*) AS n"
NOT_KEPT = "which can't be told from what is kept."
GROUPED = "The new query groups the stream in another way;"
OTHER_STREAM = "It has not counted the rows of the stream that the new query reads."


class Server:
    """A world that can be left as by kill -9, with or without a checkpoint before."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.world = World(folder)
        self.client = self.world.client()

    def crash(self, checkpoint: bool = False) -> None:
        if checkpoint:
            self.world.database.checkpoints.make()
        self.world.abandon()
        self.world = World(self.folder)
        self.client = self.world.client()

    def rows(self, text: str) -> list[str]:
        return [line[2:] for line in self.client.rows(text)]


@pytest.fixture
def server(tmp_path: Path) -> Server:
    made = Server(tmp_path)
    made.client.run(STREAM, VIEW)
    return made


def told(client: SessionClient, text: str) -> list[str]:
    """Return the notices and errors of a statement: kind, SQLSTATE and message."""
    return [answer for answer, _ in client.ask_in_full(text) if answer[0] in "EN"]


def test_a_covered_query_keeps_the_contents(server: Server) -> None:
    client = server.client
    client.run("INSERT INTO s VALUES (1, 10), (1, 21), (2, 5)", "CREATE VIEW above AS SELECT k, t FROM v WHERE n > 0")
    both = ["[b'1', b'2', b'31', b'15.5000000000000000']", "[b'2', b'1', b'5', b'5.0000000000000000']"]
    for more, rows in (
        ("avg(x) AS a FROM s GROUP BY k", both),
        ("avg(x) AS a FROM s GROUP BY k HAVING sum(x) > 10", both[:1]),
        ("count(x) * 1.0 FROM s WHERE k > 1 GROUP BY k", None),
        ("avg(x) AS a FROM s WHERE k > 1 GROUP BY k", both[1:]),
        (
            "avg(x) * 2 AS a, count(x) c FROM s GROUP BY k",
            ["[b'1', b'2', b'31', b'31.0000000000000000', b'2']", "[b'2', b'1', b'5', b'10.0000000000000000', b'1']"],
        ),
    ):
        query = f"SELECT k, count(*) AS n, sum(x) AS t, {more}"
        answer = told(client, f"CREATE OR REPLACE VIEW v AS {query}")
        if rows is None:
            assert answer == ['E 42P16: cannot change name of view column "a" to "?column?"']
            continue
        assert answer == ['N 00000: view "v" keeps what it has counted of stream "s"'], query
        assert server.rows("SELECT * FROM v ORDER BY k") == rows
        assert len(server.rows("SELECT * FROM above")) == len(rows)
        assert server.world.database.catalog.image.entries["v"].description.oid == 16385
    server.crash()
    server.client.run("INSERT INTO s VALUES (2, 1)")
    assert server.rows("SELECT k, n, t FROM v ORDER BY k") == ["[b'1', b'2', b'31']", "[b'2', b'2', b'6']"]
    server.crash(checkpoint=True)
    assert server.rows("SELECT k, n, t FROM v ORDER BY k") == ["[b'1', b'2', b'31']", "[b'2', b'2', b'6']"]
    server.world.close()


@pytest.mark.turns(2)
@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (f"{COUNTED}, max(x)::bigint AS t FROM s GROUP BY k", f"The new query needs max(x), {NOT_KEPT}"),
        ("SELECT x AS k, count(*) AS n, sum(x) AS t FROM s GROUP BY x", f"{GROUPED} it is grouped by k."),
        (
            f"{COUNTED}, sum(x) AS t FROM s WHERE x > 0 GROUP BY k",
            "The new query has the condition x > 0, which is not on keys alone.",
        ),
        (f"{COUNTED}, sum(x + 1) AS t FROM s GROUP BY k", f"The new query needs sum(x + 1), {NOT_KEPT}"),
        ("SELECT 1 AS k, 2::bigint AS n, 3::bigint AS t", "The new query reads no stream."),
        (f"{COUNTED}, sum(x) AS t FROM other GROUP BY k", OTHER_STREAM),
    ],
)
def test_any_other_query_needs_a_reset(server: Server, query: str, reason: str) -> None:
    client = server.client
    client.run("CREATE FOREIGN TABLE other (k int, x int) SERVER stream", "INSERT INTO s VALUES (1, 10)")
    ((error, fields),) = client.ask_in_full(f"CREATE OR REPLACE VIEW v AS {query}")
    assert error == 'E 55000: cannot replace view "v" without losing what it has counted'
    assert fields["detail"] == reason
    assert server.rows("SELECT * FROM v") == ["[b'1', b'1', b'10']"]
    client.run(f"CREATE OR REPLACE VIEW v WITH (reset = true) AS {query}")
    assert server.rows("SELECT * FROM v WHERE t = 10") == []
    server.crash()
    assert server.rows("SELECT * FROM v WHERE t = 10") == []
    server.world.close()


def test_a_view_over_two_streams_keeps_each_part_that_is_covered(server: Server) -> None:
    client = server.client
    client.run(
        "CREATE FOREIGN TABLE other (k int, y int) SERVER stream",
        """CREATE VIEW pair AS SELECT a.k, a.n, b.m FROM (SELECT k, count(*) AS n FROM s GROUP BY k) a
        JOIN (SELECT k, sum(y) AS m FROM other GROUP BY k) b USING (k)""",
        "INSERT INTO s VALUES (1, 10), (2, 20)",
        "INSERT INTO other VALUES (1, 3), (1, 4)",
    )
    assert server.rows("SELECT * FROM pair") == ["[b'1', b'1', b'7']"]
    answer = told(
        client,
        """CREATE OR REPLACE VIEW pair AS SELECT a.k, a.n, b.m FROM (SELECT k, count(*) AS n FROM s GROUP BY k) a
        LEFT JOIN (SELECT k, sum(y) AS m FROM other GROUP BY k HAVING sum(y) > 6) b USING (k)""",
    )
    assert len(answer) == 2 and all("keeps what it has counted" in line for line in answer)
    server.crash()
    server.client.run("INSERT INTO s VALUES (2, 1)")
    assert server.rows("SELECT * FROM pair ORDER BY k") == ["[b'1', b'1', b'7']", "[b'2', b'2', None]"]
    server.client.run("SELECT truncate_continuous_view('pair')")
    assert server.rows("SELECT * FROM pair") == []
    server.crash(checkpoint=True)
    # One of the two groupings, and what was a part is the view itself.
    assert told(server.client, "CREATE OR REPLACE VIEW pair AS SELECT k, count(*) AS n, NULL::bigint AS m FROM s GROUP BY k") == [
        'N 00000: view "pair" keeps what it has counted of stream "s"'
    ]  # fmt: skip
    server.client.run("INSERT INTO s VALUES (7, 1)")
    server.crash()
    assert server.rows("SELECT * FROM pair") == ["[b'7', b'1', None]"]
    server.world.close()


def test_the_first_row_of_each_group_is_kept(server: Server) -> None:
    client = server.client
    first = "SELECT DISTINCT ON (k) k, x FROM s ORDER BY k, x DESC"
    client.run(
        f"CREATE VIEW firsts AS {first}",
        "INSERT INTO s VALUES (1, 10), (1, 30), (2, 5)",
        f"CREATE OR REPLACE VIEW firsts AS SELECT k, x, x + k AS more FROM ({first}) AS f",
        "INSERT INTO s VALUES (2, 7)",
    )
    assert server.rows("SELECT * FROM firsts ORDER BY k") == ["[b'1', b'30', b'31']", "[b'2', b'7', b'9']"]
    server.crash(checkpoint=True)
    assert server.rows("SELECT * FROM firsts ORDER BY k") == ["[b'1', b'30', b'31']", "[b'2', b'7', b'9']"]
    (error,) = told(
        server.client, "CREATE OR REPLACE VIEW firsts AS SELECT DISTINCT ON (k) k, x, 1 AS more FROM s ORDER BY k, x"
    )
    assert error.startswith("E 55000")
    server.world.close()


def test_columns_that_the_stream_got_and_lost_do_not_matter(server: Server) -> None:
    server.client.run(
        "INSERT INTO s VALUES (1, 10)",
        "ALTER FOREIGN TABLE s ADD COLUMN z int DEFAULT 4, ALTER COLUMN k SET DEFAULT 1",
        "ALTER FOREIGN TABLE s RENAME COLUMN x TO amount",
        "ALTER FOREIGN TABLE s RENAME TO renamed",
        "CREATE OR REPLACE VIEW v AS SELECT k, count(*) AS n, sum(amount) AS t, avg(amount) AS a FROM renamed GROUP BY k",
        "INSERT INTO renamed VALUES (1, 20, 5)",
    )
    for checkpoint in (False, True):
        assert server.rows("SELECT * FROM v") == ["[b'1', b'2', b'30', b'15.0000000000000000']"]
        server.crash(checkpoint)
    (answer,) = told(
        server.client,
        "CREATE OR REPLACE VIEW v AS SELECT k, count(*) AS n, sum(z) AS t, avg(amount) AS a FROM renamed GROUP BY k",
    )
    assert answer == 'E 55000: cannot replace view "v" without losing what it has counted'
    server.world.close()


def test_names_follow(server: Server) -> None:
    client = server.client
    client.run(
        "CREATE VIEW above AS SELECT k, n, t AS total FROM v",
        "CREATE VIEW top AS SELECT * FROM above",
        "INSERT INTO s VALUES (1, 10)",
        "ALTER VIEW v RENAME TO vv",
        "ALTER VIEW vv RENAME COLUMN t TO amount",
        "ALTER TABLE above RENAME COLUMN total TO sum",
        "ALTER VIEW above RENAME TO over",
        "CREATE VIEW v AS SELECT 1 AS other",
    )
    for _ in range(2):
        assert server.rows("SELECT amount FROM vv") == ["[b'10']"]
        assert server.rows("SELECT sum FROM over") == ["[b'10']"]
        assert server.rows("SELECT total FROM top") == ["[b'10']"]
        assert server.rows("SELECT other FROM v") == ["[b'1']"]
        server.crash()
    server.client.run("CREATE OR REPLACE VIEW over AS SELECT k, n, -amount AS sum, 2 AS more FROM vv")
    assert server.rows("SELECT * FROM over") == ["[b'1', b'1', b'-10', b'2']"]
    assert server.rows("SELECT * FROM top") == ["[b'1', b'1', b'-10']"]
    server.crash(checkpoint=True)
    assert server.rows("SELECT * FROM top") == ["[b'1', b'1', b'-10']"]
    server.world.close()


@pytest.mark.parametrize(
    ("states", "query"),
    [
        (1, VIEW.partition(" AS ")[2]),
        (
            2,
            "SELECT * FROM (SELECT k, count(*) AS n FROM s GROUP BY k) a JOIN (SELECT k, sum(x) AS t FROM s GROUP BY k) b USING (k)",
        ),
    ],
)
def test_what_is_exchanged_with_an_equal_view_has_its_options(server: Server, states: int, query: str) -> None:
    server.client.run(
        f"CREATE VIEW model WITH (max_groups = {states}, refresh_every = '1 h') AS {query}",
        "INSERT INTO s VALUES (1, 10)",
    )

    def options(*names: str) -> list[str]:
        return [
            told
            for name in names
            for told in server.rows(f"SELECT reloptions FROM pg_class WHERE relname = '{name}' AND relkind = 'v'")
        ]

    (before,) = options("model")
    server.client.run(
        "BEGIN",
        f"CREATE VIEW made WITH (max_groups = {3 * states}, max_bytes = '1 GB') AS {query}",
        "ALTER VIEW model RENAME TO aside",
    )
    (wanted,) = options("made")
    server.client.run("ALTER VIEW made RENAME TO model", "COMMIT")
    assert wanted != before
    for checkpoint in (False, True):
        assert options("model", "aside") == [wanted, before]
        assert server.rows("SELECT * FROM model") == ["[b'1', b'1', b'10']"]
        server.crash(checkpoint)
    server.client.run("DROP VIEW aside", "INSERT INTO s VALUES (2, 5), (3, 5)")
    assert told(server.client, "INSERT INTO s VALUES (4, 5)") == [
        f'E 53200: view "model" would have {4 * states} groups, more than its max_groups of {3 * states}'
    ]
    server.world.close()


def test_a_block_that_has_read_goes_on_under_the_old_name(server: Server) -> None:
    server.client.run("INSERT INTO s VALUES (1, 10)", "CREATE TABLE there (a int)")
    reader = server.world.client()
    reader.run("BEGIN", "SELECT k FROM v")
    server.client.run(
        "ALTER VIEW v RENAME TO w",
        "CREATE OR REPLACE VIEW w AS SELECT k, count(*) AS n, sum(x) AS t FROM s GROUP BY k HAVING count(*) > 1",
        "INSERT INTO s VALUES (1, 20)",
    )
    assert server.rows("SELECT * FROM w") == ["[b'1', b'2', b'30']"]
    assert reader.rows("SELECT * FROM v") == ["D [b'1', b'1', b'10']"]
    reader.run("COMMIT")
    assert reader.ask("SELECT * FROM v")[0].startswith("E ERROR 42P01")
    server.world.close()


def test_a_block_is_undone_as_a_whole(server: Server) -> None:
    server.client.run(
        "INSERT INTO s VALUES (1, 10)",
        "BEGIN",
        "ALTER VIEW v RENAME TO w",
        "CREATE OR REPLACE VIEW w AS SELECT k, count(*) AS n, sum(x) AS t, avg(x) AS a FROM s GROUP BY k",
        "INSERT INTO s VALUES (1, 20)",
        "SELECT * FROM w",
        "SELECT truncate_continuous_view('w')",
        "INSERT INTO s VALUES (1, 30)",
        "SELECT deactivate('w')",
        "COMMENT ON VIEW w IS 'gone'",
        "ROLLBACK",
    )
    assert server.rows("SELECT * FROM v") == ["[b'1', b'1', b'10']"]
    server.client.run("INSERT INTO s VALUES (1, 20)")
    assert server.rows("SELECT * FROM v") == ["[b'1', b'2', b'30']"]
    assert not server.world.database.catalog.image.comments
    server.crash()
    assert server.rows("SELECT * FROM v") == ["[b'1', b'2', b'30']"]
    server.world.close()


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("CREATE OR REPLACE VIEW s AS SELECT 1", '42809: "s" is not a view'),
        ("CREATE OR REPLACE VIEW v AS SELECT k FROM s GROUP BY k", "42P16: cannot drop columns from view"),
        ("CREATE OR REPLACE VIEW v AS SELECT k, n FROM above", '42P17: infinite recursion detected in rules for relation "v"'),
        ("CREATE VIEW x WITH (reset = true) AS SELECT 1", '22023: parameter "reset" is one of CREATE OR REPLACE VIEW'),
        ("ALTER VIEW s RENAME TO x", '42809: "s" is not a view'),
        ("ALTER VIEW x RENAME TO y", '42P01: relation "x" does not exist'),
        ("ALTER VIEW v RENAME TO s", '42P07: relation "s" already exists'),
        ("ALTER VIEW v RENAME COLUMN x TO y", '42703: column "x" does not exist'),
        ("ALTER VIEW v RENAME n TO k", '42701: column "k" of relation "v" already exists'),
        ("SELECT activate('x')", '42P01: relation "x" does not exist'),
        ("SELECT activate('above')", '42809: "above" is not a continuous view'),
        ("SELECT activate('v'), 1", "0A000: function activate(text) is not supported yet"),
        ("SELECT activate('v') FROM v", "0A000: function activate(text) is not supported yet"),
        ("COMMENT ON TABLE v IS 'x'", '42809: "v" is not a table'),
        ("COMMENT ON COLUMN v.x IS 'x'", '42703: column "x" of relation "v" does not exist'),
        ("COMMENT ON VIEW x IS 'x'", '42P01: relation "x" does not exist'),
        ("COMMENT ON LANGUAGE d IS 'x'", "0A000: COMMENT ON LANGUAGE is not supported yet"),
        ("DROP VIEW v", "2BP01: cannot drop view v because other objects depend on it"),
        ("DROP VIEW v RESTRICT", "2BP01: cannot drop view v because other objects depend on it"),
    ],
)  # fmt: skip
def test_refusals(server: Server, statement: str, error: str) -> None:
    server.client.run("CREATE VIEW above AS SELECT k, n FROM v")
    assert told(server.client, statement)[-1] == f"E {error}"
    assert server.rows("SELECT * FROM above") == []
    server.world.close()


def test_activate_among_other_things_is_told_to_be_alone(server: Server) -> None:
    ((_, fields),) = server.client.ask_in_full("SELECT activate('v'), 1")
    assert fields["hint"] == "Call it in a SELECT of nothing else."


def test_comments_outlive_a_crash_and_go_with_what_they_are_on(server: Server) -> None:
    server.client.run(
        "CREATE TABLE kept (a int)",
        "COMMENT ON VIEW v IS 'counts'",
        "COMMENT ON COLUMN v.n IS 'how many'",
        "COMMENT ON FOREIGN TABLE s IS 'events'",
        "COMMENT ON COLUMN s.x IS 'gone soon'",
        "COMMENT ON COLUMN s.x IS NULL",
        "COMMENT ON TABLE kept IS 'rows'",
        "CREATE OR REPLACE VIEW v AS SELECT k, count(*) AS n, sum(x) AS t, 1 AS one FROM s GROUP BY k",
        "ALTER VIEW v RENAME TO w",
    )
    server.crash()
    oids = {name: entry.description.oid for name, entry in server.world.database.catalog.image.entries.items()}
    wanted = {(oids["w"], 0): "counts", (oids["w"], 2): "how many", (oids["s"], 0): "events", (oids["kept"], 0): "rows"}
    assert server.world.database.catalog.image.comments == wanted
    server.client.run("DROP VIEW w", "DROP TABLE kept")
    assert server.world.database.catalog.image.comments == {(oids["s"], 0): "events"}
    server.world.close()


@pytest.mark.turns(4)
@pytest.mark.parametrize("seed", range(4))
def test_random_lives(tmp_path: Path, seed: int) -> None:
    """Whatever happens to a view and to its server, it holds the rows that it was to take."""
    print("seed", seed)
    chance = random.Random(seed)
    server = Server(tmp_path)
    server.client.run(STREAM, VIEW)
    wanted: dict[int, tuple[int, int]] = {}
    state: dict[str, Any] = {"name": "v", "active": True, "number": 0}

    def insert() -> None:
        rows = [(chance.randrange(4), chance.randrange(100)) for _ in range(chance.randrange(1, 4))]
        server.client.run(f"INSERT INTO s VALUES {', '.join(map(str, rows))}")
        for key, value in rows if state["active"] else ():
            count, total = wanted.get(key, (0, 0))
            wanted[key] = (count + 1, total + value)

    def rename() -> None:
        state["number"] += 1
        server.client.run(f"ALTER VIEW {state['name']} RENAME TO v{state['number']}")
        state["name"] = f"v{state['number']}"

    def replace() -> None:
        more = chance.choice(("", ", avg(x) AS a", ", count(x) AS a", ", k + 1 AS a", ", -sum(x) AS a"))
        having = chance.choice(("", " HAVING count(*) > 0", " HAVING k >= 0"))
        answer = server.client.ask(
            f"CREATE OR REPLACE VIEW {state['name']} AS SELECT k, count(*) AS n, sum(x) AS t{more} FROM s GROUP BY k{having}"
        )
        assert answer[0].startswith(("N NOTICE 00000", "E ERROR 42P16")), answer

    def truncate() -> None:
        server.client.run(f"SELECT truncate_continuous_view('{state['name']}')")
        wanted.clear()

    def toggle() -> None:
        state["active"] = not state["active"]
        server.client.run(f"SELECT {'activate' if state['active'] else 'deactivate'}('{state['name']}')")

    def undone() -> None:
        known, before = dict(state), dict(wanted)
        server.client.run("BEGIN")
        for change in chance.choices((insert, rename, truncate, toggle), k=3):
            change()
        server.client.run("ROLLBACK")
        state.update(known)
        wanted.clear()
        wanted.update(before)

    changes: list[Callable[[], None]] = [insert, insert, insert, rename, replace, truncate, toggle, undone]
    changes += [server.crash, lambda: server.crash(checkpoint=True)]
    for _ in range(40):
        chance.choice(changes)()
        rows = server.rows(f"SELECT k, n, t FROM {state['name']} ORDER BY k")
        assert rows == [f"[b'{key}', b'{count}', b'{total}']" for key, (count, total) in sorted(wanted.items())]
    server.world.close()


def test_an_answer_that_a_replacing_query_gets_of_kept_groups_alone_is_stored_so(tmp_path: Path) -> None:
    """The query has an aggregate of a constant, for which a new view would keep one state more."""
    server = Server(tmp_path)
    server.client.run(
        "CREATE FOREIGN TABLE s (k int, x int) SERVER stream",
        "CREATE VIEW v AS SELECT k, count(*) AS n, sum(x) FROM s GROUP BY k",
        "INSERT INTO s VALUES (1, 2), (1, 3), (2, 4)",
        "CREATE OR REPLACE VIEW v AS SELECT k, count(*) AS n, sum(x), max(n)"
        " FROM (SELECT k, x, 1 AS n FROM s) q GROUP BY k",
    )
    for checkpoint in (False, True, False):
        assert server.rows("SELECT * FROM v ORDER BY k") == ["[b'1', b'2', b'5', b'1']", "[b'2', b'1', b'4', b'1']"]
        server.crash(checkpoint)
    server.world.close()


def test_what_a_constant_names_is_not_dropped_without_the_view(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.client.run(
        "CREATE FOREIGN TABLE s (k int) SERVER stream",
        "CREATE FOREIGN TABLE other (k int) SERVER stream",
        "CREATE TABLE t (a int, b int)",
        "CREATE VIEW v AS SELECT k, count(*) FILTER (WHERE 't'::regclass::oid > 0) AS n FROM s"
        " WHERE 'other'::regclass::oid > 0 GROUP BY k",
        "INSERT INTO s VALUES (1)",
    )
    entry = server.world.database.catalog.image.entries["v"]
    assert isinstance(entry, ViewEntry) and entry.is_state
    for checkpoint in (False, True):
        for kind, name in (("TABLE", "t"), ("FOREIGN TABLE", "other")):
            assert "2BP01" in server.client.ask(f"DROP {kind} {name}")[0]
        assert server.rows("SELECT * FROM v") == ["[b'1', b'1']"]
        server.crash(checkpoint)
    server.client.run("ALTER TABLE t RENAME TO u", "ALTER TABLE u DROP COLUMN b", "DROP TABLE u CASCADE")
    assert server.world.database.catalog.image.states == {}
    server.world.close()
