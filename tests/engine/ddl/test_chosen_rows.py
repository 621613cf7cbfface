"""first, last, arg_min, arg_max and those that are made of them: over streams by words that groups
keep, in the order of arrival, and over tables; PostgreSQL takes them from sorted arrays.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.end_to_end.raw_client import RawClient, query
from tests.engine.ddl.test_collected_lists import answer
from tests.engine.ddl.test_view_life_cycle import Server
from tests.engine.interpreted import interpreted
from tests.oracle.postgres import PostgresCluster

# Columns with values of which some are equal under another text.
VALUES = {
    "x": ("int", ("1", "2", "-7")),
    "t": ("text", ("", "a", "a text that is longer than twelve bytes", "é")),
    "f": ("float8", ("0", "-0", "NaN", "1.5", "-Infinity")),
    "n": ("numeric", ("1.0", "1.00", "NaN", "-123456789.0123")),
    "m": ("numeric(8,2)", ("1.25", "-3", "77.01")),
    "d": ("timestamptz", ("2024-01-01 00:00+00", "infinity")),
    "i": ("interval", ("1 month", "30 days", "-1 hour")),
    "a": ("int[]", ("{}", "{1,2}", "{1,NULL,3,4,5,6,7,8}")),
    "j": ("jsonb", ("1", '{"a": [1, 2]}', '"x"')),
    "u": ("inet", ("10.0.0.1", "10.0.0.0/8", "::1")),
    "c": ("char(4)", ("a", "ab  ", "b")),
    "b": ("bool", ("t", "f")),
}
COLUMNS = f"(k int, id int, {', '.join(f'{name} {kind}' for name, (kind, _) in VALUES.items())})"
PLAIN = {"min": "", "max": " DESC"}
# A view's aggregate, and the array of PostgreSQL that begins with its value.
CHOSEN = {
    **{f"first({name})": f"{name}::text ORDER BY id" for name in VALUES},
    **{f"last({name})": f"{name}::text ORDER BY id DESC" for name in VALUES},
    **{
        f"arg_{end}({value}, {key})": f"{value}::text ORDER BY {key}{word}, id) FILTER (WHERE {key} IS NOT NULL"
        for end, word in PLAIN.items()
        for value, key in zip(VALUES, (*list(VALUES)[5:], *list(VALUES)[:5]), strict=True)
    },
    "first(t ORDER BY n DESC, f)": "t ORDER BY n DESC, f, id",
    "last(t ORDER BY n, f DESC)": "t ORDER BY n DESC, f, id DESC",
    "last(x ORDER BY t) FILTER (WHERE x > 0)": "x::text ORDER BY t DESC, id DESC) FILTER (WHERE x > 0",
    "min_by(t, x) FILTER (WHERE b)": "t ORDER BY x, id) FILTER (WHERE b AND x IS NOT NULL",
    "max_by(id, 100 / x ORDER BY f) FILTER (WHERE x <> 2)": (
        "id::text ORDER BY 100 / x DESC, f, id) FILTER (WHERE x <> 2 AND 100 / x IS NOT NULL"
    ),
    "keyed_min(x, t)": "t ORDER BY x, id) FILTER (WHERE x IS NOT NULL",
    "keyed_max(i, j)": "j::text ORDER BY i DESC, id) FILTER (WHERE i IS NOT NULL",
}
LISTED = {
    "set_agg(x)": "array_agg(DISTINCT x)",
    "first_values(3) WITHIN GROUP (ORDER BY n DESC)": "(array_agg(n ORDER BY n DESC, id))[1:3]",
    "first_values(2) WITHIN GROUP (ORDER BY t) FILTER (WHERE b)": "(array_agg(t ORDER BY t, id) FILTER (WHERE b))[1:2]",
}
# How many aggregates a view has.
BATCH = 11


def inserts(draw: random.Random, start: int, rows: int) -> str:
    def value(name: str) -> str:
        return "NULL" if draw.random() < 0.2 else f"$v${draw.choice(VALUES[name][1])}$v$"

    listed = (f"({draw.randrange(3)}, {start + n}, {', '.join(map(value, VALUES))})" for n in range(rows))
    return f"INSERT INTO s VALUES {', '.join(listed)}"


def queries(items: list[str]) -> str:
    return f"SELECT k, {', '.join(f'({item})::text AS c{place}' for place, item in enumerate(items))} FROM s GROUP BY k"


def ordered(text: str) -> str:
    """Return an aggregate over a table, which has no order of arrival: a last key decides."""
    call, end, condition = text.partition(")")
    return f"{call}{', id' if 'ORDER BY' in call else ' ORDER BY id'}{end}{condition}"


@pytest.mark.slow
def test_values_are_those_of_the_first_row(
    tmp_path: Path, postgres: PostgresCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("views.upkeep.kernels.load_kernel", interpreted)
    draw, server = random.Random(7), Server(tmp_path)
    client, other = server.client, RawClient(postgres.port, "postgres", "postgres")
    wanted = {text: f"(array_agg({array}))[1]" for text, array in CHOSEN.items()} | LISTED
    batches = [list(wanted)[start : start + BATCH] for start in range(0, len(wanted), BATCH)]
    client.run(f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream", f"CREATE TABLE kept {COLUMNS}")
    other.ask(query("BEGIN"))
    other.ask(query(f"CREATE TABLE s {COLUMNS}"))
    for number, batch in enumerate(batches):
        client.run(f"CREATE VIEW v{number} AS {queries(batch)}")
    start = 0
    for rows in (1, 3, 30, 8):
        statement = inserts(draw, start, rows)
        start += rows
        client.run(statement, statement.replace("INTO s", "INTO kept"))
        other.ask(query(statement))
        for number, batch in enumerate(batches):
            told = answer(other, queries([wanted[text] for text in batch]))
            assert sorted(client.rows(f"SELECT * FROM v{number}")) == told, batch
        server.crash(rows == 30)
        client = server.client
    told = answer(other, queries([wanted[text] for text in CHOSEN]))
    assert sorted(client.rows(queries(list(map(ordered, CHOSEN))).replace("FROM s", "FROM kept"))) == told
    other.ask(query("ROLLBACK"))
    other.hang_up()


def test_what_is_asked_of_the_groups_above_a_first_grouping(tmp_path: Path) -> None:
    client = Server(tmp_path).client
    client.run("CREATE FOREIGN TABLE s (k int, x int, t text) SERVER stream")
    client.run(
        "CREATE VIEW v AS SELECT arg_max(k, n) AS busiest, last(k ORDER BY n DESC, k) AS idle, count(*) AS c"
        " FROM (SELECT k, count(*) AS n FROM s GROUP BY k) g"
    )
    client.run("CREATE VIEW w AS SELECT k, count(DISTINCT x) AS n, last(t) AS t FROM s GROUP BY ROLLUP (k)")
    client.run("INSERT INTO s VALUES (1, 1, 'a'), (1, 2, 'b'), (2, 2, 'c'), (3, 7, 'd'), (3, 7, 'e'), (3, 8, 'f')")
    assert client.rows("SELECT * FROM v") == ["D [b'3', b'2', b'3']"]
    assert client.rows("SELECT * FROM w ORDER BY k") == [
        *("D [b'1', b'2', b'b']", "D [b'2', b'1', b'c']", "D [b'3', b'2', b'f']", "D [None, b'4', b'f']"),
    ]


def test_a_view_that_is_replaced_keeps_its_rows(tmp_path: Path) -> None:
    client = Server(tmp_path).client
    client.run("CREATE FOREIGN TABLE s (k int, x int, t text) SERVER stream")
    client.run("CREATE VIEW v AS SELECT k, arg_min(t, x) AS t, last(x) AS x, first(x) AS f FROM s GROUP BY k")
    client.run("INSERT INTO s VALUES (1, 5, 'five'), (1, 2, 'two')")
    client.run(
        "CREATE OR REPLACE VIEW v AS SELECT k, upper(arg_min(t, x)) AS t, last(x) AS x, 0 AS f FROM s GROUP BY k"
    )
    client.run("INSERT INTO s VALUES (1, 2, 'dos'), (1, 9, 'nine')")
    assert client.rows("SELECT * FROM v") == ["D [b'1', b'TWO', b'9', b'0']"]
    (said, *_) = client.ask(
        "CREATE OR REPLACE VIEW v AS SELECT k, arg_max(t, x) AS t, last(x) AS x, 0 AS f FROM s GROUP BY k"
    )
    assert said.startswith("E ERROR 55000"), said


def test_over_union_all_the_first_side_came_before_the_next(tmp_path: Path) -> None:
    client = Server(tmp_path).client
    client.run(*(f"CREATE FOREIGN TABLE {name} (k int, x int, t text) SERVER stream" for name in "sr"))
    both = "(SELECT * FROM s WHERE x > 0 UNION ALL SELECT k, x, upper(t) FROM r) u GROUP BY k"
    client.run(
        f"CREATE VIEW v AS SELECT k, first(t), last(t), arg_max(t, x), first(t) FILTER (WHERE x > 5) AS f FROM {both}",
        f"CREATE VIEW w AS SELECT k, count(DISTINCT x), last(t), approx_count_distinct(t) AS n FROM {both}",
        "INSERT INTO r VALUES (1, 7, 'a'), (2, 7, NULL), (3, 1, 'x')",
        "INSERT INTO s VALUES (1, 0, 'b'), (1, 7, 'c'), (1, 2, 'd'), (2, 7, 'e'), (4, 1, NULL)",
        "INSERT INTO r VALUES (1, 8, 'f'), (2, 7, 'g')",
    )
    assert client.rows("SELECT * FROM v ORDER BY k") == [
        "D [b'1', b'c', b'F', b'F', b'c']",
        "D [b'2', b'e', b'G', b'e', b'e']",
        "D [b'3', b'X', b'X', b'X', None]",
        "D [b'4', None, None, None, None]",
    ]
    told = ["D [b'1', b'3', b'F', b'4']", "D [b'2', b'1', b'G', b'2']", "D [b'3', b'1', b'X', b'1']"]
    assert client.rows("SELECT * FROM w ORDER BY k") == [*told, "D [b'4', b'1', None, b'0']"]


ROWS = "(VALUES (1, 3, 'a', 0.5::float8), (2, 1, NULL, '-0'), (3, 1, 'c', 2), (4, NULL, 'd', 3), (5, 5, 'e', 'NaN')) t(n, y, x, f)"
FRAME = "(ORDER BY n ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"
# Aggregates of the rows of a window, and what they are of its rows n.
WINDOWED = {
    f"first(x) OVER {FRAME}": ("a", "a", "a", None, "c"),
    f"last(x) OVER {FRAME}": ("a", None, "c", "d", "e"),
    f"first(x) FILTER (WHERE n <> 3) OVER {FRAME}": ("a", "a", "a", None, "d"),
    f"last(x) FILTER (WHERE n > 2) OVER {FRAME}": (None, None, "c", "d", "e"),
    f"arg_min(x, y) OVER {FRAME}": ("a", None, None, None, "c"),
    f"max_by(x, f) OVER {FRAME}": ("a", "a", "c", "d", "e"),
    f"keyed_max(y, x) FILTER (WHERE n <> 1) OVER {FRAME}": (None, None, None, None, "e"),
    f"arg_max(ARRAY[f], y) OVER {FRAME}": ("{0.5}", "{0.5}", "{0.5}", "{-0}", "{NaN}"),
    f"approx_count_distinct(y) OVER {FRAME}": ("1", "2", "2", "1", "2"),
    f"approx_percentile(y, 0.5) OVER {FRAME}": ("3", "1", "1", "1", "1"),
    f"approx_percentile(y, ARRAY[0, 1]) OVER {FRAME}": ("{3,3}", "{1,3}", "{1,3}", "{1,1}", "{1,5}"),
    f"approx_frequency(y, 1) OVER {FRAME}": ("0", "1", "2", "2", "1"),
    f"hll_cardinality(hll_agg(y) OVER {FRAME})": ("1", "2", "2", "1", "2"),
}


def test_rows_of_a_window_are_chosen_from(tmp_path: Path) -> None:
    client = Server(tmp_path).client
    for text, wanted in WINDOWED.items():
        rows = client.rows(f"SELECT ({text})::text FROM {ROWS} ORDER BY n")
        assert rows == [f"D {[None if one is None else one.encode()]}" for one in wanted], text
    client.run("CREATE FOREIGN TABLE s (n int, y int, x text, f float8) SERVER stream")
    client.run(f"CREATE VIEW v AS SELECT n, arg_min(x, sum(y)) OVER {FRAME} FROM s GROUP BY n, x")
    client.run(f"INSERT INTO s SELECT * FROM {ROWS}")
    assert client.rows("SELECT * FROM v ORDER BY n")[-1] == "D [b'5', b'c']"


REFUSED = (
    ("set_agg(x) OVER () FROM s", "0A000", "set_agg with OVER"),
    ("first_values(2) WITHIN GROUP (ORDER BY x) OVER () FROM s", "0A000", "OVER is not supported for ordered-set"),
    ("set_agg(DISTINCT x) FROM s", "0A000", "set_agg with DISTINCT"),
    ("last(DISTINCT x) FROM s", "0A000", "last(DISTINCT integer)"),
    ("first(s.x) FROM s JOIN s AS r ON r.k = s.k", "0A000", "first over rows that are grouped before"),
    ("first_values(0) WITHIN GROUP (ORDER BY x) FROM s", "22023", "must be positive"),
    ("first_values(x) WITHIN GROUP (ORDER BY x) FROM s", "0A000", "not constant"),
    ("first_values(2) FROM s", "42809", "WITHIN GROUP is required"),
    ("arg_min(x) FROM s", "42883", "function arg_min(integer) does not exist"),
    (
        "arg_min(x, k) WITHIN GROUP (ORDER BY x) FROM s",
        "42883",
        "function arg_min(integer, integer, integer) does not exist",
    ),
)


def test_what_has_no_meaning_is_refused(tmp_path: Path) -> None:
    client = Server(tmp_path).client
    client.run("CREATE FOREIGN TABLE s (k int, x int) SERVER stream")
    for text, state, what in REFUSED:
        (said, *_) = client.ask(f"CREATE VIEW v AS SELECT {text}")
        assert said.startswith(f"E ERROR {state}"), said
        assert what in said, said
