"""CREATE OR REPLACE VIEW with more aggregates, or other conditions: what is kept goes on, and what
is new counts from then on, through crashes and checkpoints.

The oracle is a list of rows in Python, with the place in it from which each aggregate counts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engine.ddl.test_view_life_cycle import STREAM, VIEW, Server, told

Row = tuple[int, int | None]
KEEPS = 'N 00000: view "v" keeps what it has counted of stream "s"'


@pytest.fixture
def server(tmp_path: Path) -> Server:
    made = Server(tmp_path)
    made.client.run(STREAM)
    return made


def known(values: list[int | None]) -> list[int]:
    return [value for value in values if value is not None]


# What an aggregate is of the values of x in the order of arrival, as the client reads it.
AGGREGATES: dict[str, Callable[[list[int | None]], Any]] = {
    "count(*)": len,
    "count(x)": lambda xs: len(known(xs)),
    # Not of all values, whose sum is kept with the variance.
    "sum(x) FILTER (WHERE x > 2)": lambda xs: sum(x for x in known(xs) if x > 2) or None,
    "max(x)": lambda xs: max(known(xs), default=None),
    "min(x::text)": lambda xs: min(map(str, known(xs)), default=None),
    "max(x) FILTER (WHERE x < 5)": lambda xs: max((x for x in known(xs) if x < 5), default=None),
    "bool_or(x > 7)": lambda xs: "ft"[any(x > 7 for x in known(xs))] if known(xs) else None,
    "first(x)": lambda xs: xs[0] if xs else None,
    "last(x)": lambda xs: xs[-1] if xs else None,
    "(var_pop(x) = 0)": lambda xs: "ft"[len(set(known(xs))) == 1] if known(xs) else None,
    "array_agg(x)": lambda xs: "{" + ",".join("NULL" if x is None else str(x) for x in xs) + "}" if xs else None,
}


def text_of(value: object) -> str:
    return "None" if value is None else f"b'{value}'"


def created(names: list[str], condition: str, how: str = "") -> str:
    items = "".join(f", {name} AS a{number}" for number, name in enumerate(names))
    return f"CREATE OR REPLACE VIEW v{how} AS SELECT k{items} FROM s{condition} GROUP BY k"


class Model:
    """The rows that passed, and from which of them on each aggregate of the view counts."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self.starts = dict.fromkeys(names, 0)
        self.passed: list[Row] = []
        self.least: int | None = None

    @property
    def condition(self) -> str:
        return "" if self.least is None else f" WHERE x >= {self.least}"

    def insert(self, rows: list[Row]) -> None:
        self.passed += [row for row in rows if self.least is None or (row[1] is not None and row[1] >= self.least)]

    def shown(self) -> list[str]:
        lines = []
        for k in sorted({k for k, _ in self.passed}):
            found = [
                AGGREGATES[name]([x for key, x in self.passed[self.starts[name] :] if key == k]) for name in self.names
            ]
            lines.append(f"[{', '.join(map(text_of, (k, *found)))}]")
        return lines


@pytest.mark.turns(3)
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_random_lives(server: Server, seed: int) -> None:
    chance = random.Random(seed)
    names = [name for name in AGGREGATES if name not in ("count(*)", "count(x)")]
    chance.shuffle(names)
    model = Model(["count(*)", "count(x)", *names[:1]])
    left = names[1:]
    server.client.run(created(model.names, ""), created(model.names, "").replace(" v ", " twin "))
    twin = Model(list(model.names))
    for step in range(25):
        action = chance.choice(("rows", "rows", "rows", "many", "grow", "where", "crash", "checkpoint", "read"))
        if action in ("rows", "many"):
            count = chance.randint(1, 4) if action == "rows" else 300
            rows = [(chance.randint(1, 5), chance.choice((None, chance.randint(0, 12)))) for _ in range(count)]
            values = ", ".join(f"({k}, {'NULL' if x is None else x})" for k, x in rows)
            server.client.run(f"INSERT INTO s VALUES {values}")
            model.insert(rows)
            twin.insert(rows)
        elif action == "grow" and left:
            added = [left.pop() for _ in range(min(len(left), chance.randint(1, 2)))]
            model.names = model.names + added
            answer = told(server.client, created(model.names, model.condition))
            assert answer[0] == KEEPS and answer[1].startswith('N 00000: view "v" counts from now on only'), answer
            model.starts |= dict.fromkeys(added, len(model.passed))
        elif action == "where":
            model.least = chance.choice((None, 0, 3, 6))
            answer = told(server.client, created(model.names, model.condition, " WITH (replace = from_now)"))
            assert answer[0] == KEEPS, answer
        elif action in ("crash", "checkpoint"):
            server.crash(checkpoint=action == "checkpoint")
        if action in ("crash", "read"):
            for name, one in (("v", model), ("twin", twin)):
                assert server.rows(f"SELECT * FROM {name} ORDER BY k") == one.shown(), (seed, step, one.names)
    server.crash()
    assert server.rows("SELECT * FROM v ORDER BY k") == model.shown(), (seed, model.names)
    server.world.close()


def test_what_is_told_of_it(server: Server) -> None:
    client = server.client
    client.run(VIEW, "INSERT INTO s VALUES (1, 10)")
    query = "SELECT k, count(*) AS n, sum(x) AS t, max(x) AS m FROM s WHERE x > 0 GROUP BY k"
    ((answer, fields),) = client.ask_in_full(f"CREATE OR REPLACE VIEW v AS {query}")
    assert answer == 'E 55000: cannot replace view "v" without losing what it has counted'
    assert fields["detail"] == "The new query has the condition x > 0, which is not on keys alone."
    assert "WITH (replace = from_now) keeps it and follows the new conditions from now on" in fields["hint"]
    explained = server.rows(f"EXPLAIN CREATE OR REPLACE VIEW v WITH (replace = from_now) AS {query}")
    assert any("keeps what it has counted" in line for line in explained)
    assert any("counts from now on only: max(x), WHERE x > 0. Of the rows before" in line for line in explained)
    since = "SELECT since FROM pg_stat_continuous_views WHERE relname = 'v'"
    assert server.rows(since) == ["[None]"], "EXPLAIN changes nothing"
    client.run(f"CREATE OR REPLACE VIEW v WITH (replace = from_now) AS {query}")
    for _ in range(2):
        (line,) = server.rows(since)
        assert list(json.loads(line[3:-2])) == ["max(x)", "WHERE x > 0"]
        server.crash()
    server.client.run("SELECT truncate_continuous_view('v')", "INSERT INTO s VALUES (1, 4)")
    assert server.rows(since) == ["[None]"]
    for _ in range(2):
        assert server.rows("SELECT * FROM v") == ["[b'1', b'1', b'4', b'4']"]
        server.crash()
    server.world.close()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT k, max(x)::bigint AS n, sum(x) AS t FROM s GROUP BY k",
        "SELECT k, count(*) AS n, sum(x) AS t, max(x) AS m FROM s GROUP BY k HAVING max(x) > 3",
        "SELECT k, count(*) AS n, sum(x) AS t, max(x) - sum(x) AS m FROM s GROUP BY k",
        "SELECT k, count(*) AS n, sum(x) AS t, max(x) AS m, row_number() OVER (ORDER BY max(x), sum(x)) FROM s GROUP BY k",
        "SELECT k, count(*) AS n, sum(x) AS t, count(DISTINCT x) FROM s GROUP BY k",
        "SELECT k, count(*) AS n, sum(x) AS t, string_agg(x::text, ',') || count(*) AS m FROM s GROUP BY k",
    ],
)
def test_what_would_mix_rows_is_refused(server: Server, query: str) -> None:
    server.client.run(VIEW, "INSERT INTO s VALUES (1, 10)")
    ((answer, _),) = server.client.ask_in_full(f"CREATE OR REPLACE VIEW v AS {query}")
    assert answer == 'E 55000: cannot replace view "v" without losing what it has counted'
    assert server.rows("SELECT * FROM v") == ["[b'1', b'1', b'10']"]
    server.world.close()


def test_an_average_that_is_made_of_others_is_of_the_same_rows(server: Server) -> None:
    client = server.client
    client.run(
        "CREATE VIEW v AS SELECT k, count(x) AS n FROM s GROUP BY k", "INSERT INTO s VALUES (1, 10), (1, 20), (2, 5)"
    )
    client.run("CREATE OR REPLACE VIEW v AS SELECT k, count(x) AS n, avg(x) AS a FROM s GROUP BY k")
    client.run("INSERT INTO s VALUES (1, 3), (1, 4)")
    rows = ["[b'1', b'4', b'3.5000000000000000']", "[b'2', b'1', None]"]
    assert server.rows("SELECT * FROM v ORDER BY k") == rows
    query = "CREATE OR REPLACE VIEW v AS SELECT k % 1 AS k, count(x) AS n, avg(x) AS a FROM s GROUP BY k % 1"
    assert told(client, query)[0].startswith("E 55000"), "groups of groups would divide by another count"
    server.world.close()


def test_in_a_transaction(server: Server) -> None:
    client = server.client
    grown = "CREATE OR REPLACE VIEW v AS SELECT k, count(*) AS n, sum(x) AS t, max(x) AS m FROM s GROUP BY k"
    client.run(VIEW, "INSERT INTO s VALUES (1, 10)")
    client.run("BEGIN", "INSERT INTO s VALUES (1, 1)")
    ((answer, fields), *_) = client.ask_in_full(grown)
    assert answer.startswith("E 0A000") and fields["hint"] == "Commit the rows first."
    client.run("ROLLBACK", "BEGIN", grown)
    assert server.rows("SELECT * FROM v") == ["[b'1', b'1', b'10', None]"]
    client.run("INSERT INTO s VALUES (1, 2)", "ALTER VIEW v RENAME TO w")
    other = server.world.client()
    other.run("INSERT INTO s VALUES (1, 30)")
    client.run("COMMIT")
    for _ in range(3):
        assert server.rows("SELECT * FROM w") == ["[b'1', b'3', b'42', b'2']"]
        server.crash()
    client = server.client
    client.run(
        "BEGIN", grown.replace("VIEW v", "VIEW w").replace("max(x) AS m", "max(x) AS m, min(x) AS l"), "ROLLBACK"
    )
    client.run("INSERT INTO s VALUES (2, 2)")
    assert server.rows("SELECT * FROM w WHERE k = 2") == ["[b'2', b'1', b'2', b'2']"]
    server.world.close()


@pytest.mark.slow
def test_a_large_state_in_partitions_and_a_state_that_takes_no_rows(server: Server) -> None:
    client = server.client
    client.run(VIEW, "INSERT INTO s SELECT g, g FROM generate_series(1, 150000) g")
    client.run("SELECT count(*) FROM v", "INSERT INTO s SELECT g, 1 FROM generate_series(1, 100000) g")
    client.run("SELECT deactivate('v')")
    client.run("CREATE OR REPLACE VIEW v AS SELECT k, count(*) AS n, sum(x) AS t, max(x) AS m FROM s GROUP BY k")
    client.run("INSERT INTO s VALUES (1, 1)", "SELECT activate('v')")
    client.run("INSERT INTO s SELECT g, 7 FROM generate_series(150000, 150001) g")
    total = 150000 * 150001 // 2 + 100000 + 14
    for again in range(3):
        found = server.rows("SELECT count(*), sum(n), sum(t), count(m), sum(m) FROM v")
        assert found == [f"[b'150001', b'250002', b'{total}', b'2', b'14']"], again
        server.crash(checkpoint=again == 1)
    server.world.close()


def test_joined_tables_stay_as_they_are(server: Server) -> None:
    client = server.client
    client.run(
        "CREATE TABLE names (k int PRIMARY KEY, name text)",
        "INSERT INTO names VALUES (1, 'a'), (2, 'b')",
        """CREATE VIEW v WITH (stream_join = arrival) AS
        SELECT name, count(*) AS n FROM s JOIN names USING (k) GROUP BY name""",
        "INSERT INTO s VALUES (1, 10), (2, 20)",
        "UPDATE names SET name = 'c' WHERE k = 2",
        "INSERT INTO s VALUES (2, 1)",
        """CREATE OR REPLACE VIEW v WITH (stream_join = arrival) AS
        SELECT name, count(*) AS n, sum(x) AS t FROM s JOIN names USING (k) GROUP BY name""",
        "INSERT INTO s VALUES (1, 5), (2, 6)",
        "UPDATE names SET name = 'd' WHERE k = 1",
        "INSERT INTO s VALUES (1, 7)",
    )
    for again in range(3):
        assert server.rows("SELECT * FROM v ORDER BY name") == [
            "[b'a', b'2', b'5']",
            "[b'b', b'1', None]",
            "[b'c', b'2', b'6']",
            "[b'd', b'1', b'7']",
        ], again
        server.crash(checkpoint=again == 1)
    server.world.close()
