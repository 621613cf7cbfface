"""Aggregates over streams that need all their values, or sums of pairs, answer as PostgreSQL: by
lists that groups keep in the order of arrival, over commits, crashes and joins.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.end_to_end.raw_client import RawClient, query
from tests.engine.ddl.test_view_life_cycle import Server
from tests.oracle.postgres import PostgresCluster

COLUMNS = "(k int, x int, t text, f float8, n numeric, d date, a jsonb[])"
TABLES = ("CREATE TABLE names (k int, name text)", "INSERT INTO names VALUES (0, 'zero'), (1, 'one'), (1, 'uno')")
# Where an aggregate has an order, PostgreSQL sorts by the keys, and the others lose that of
# arrival.
QUERIES = (
    "SELECT k, array_agg(x) AS xs, array_agg(t) AS ts, array_agg(n) AS ns, array_agg(d) AS ds FROM s GROUP BY k",
    "SELECT k, string_agg(t, ',') AS l, sum(x), count(*) FROM s GROUP BY k",
    "SELECT k, string_agg(t, '; ' ORDER BY x DESC, t) AS o, count(*) FROM s GROUP BY k",
    "SELECT array_agg(DISTINCT x ORDER BY x DESC) AS a, count(DISTINCT t) AS c, array_agg(x) FILTER (WHERE x > 3) AS b FROM s",
    "SELECT k, json_agg(t)::text AS j, json_object_agg(coalesce(t, '?'), x)::text AS o FROM s GROUP BY k",
    "SELECT k, percentile_cont(0.3) WITHIN GROUP (ORDER BY x) AS c, mode() WITHIN GROUP (ORDER BY x) AS m FROM s GROUP BY k",
    "SELECT k, percentile_disc(0.7) WITHIN GROUP (ORDER BY t) AS d FROM s GROUP BY k",
    "SELECT k, round(corr(f, x)::numeric, 9) AS r, regr_count(f, x) AS c, round(covar_samp(f, x)::numeric, 6) AS v FROM s GROUP BY k",
    "SELECT k, min(a) AS least, max(a) AS most, array_agg(x) AS xs FROM s GROUP BY k",
    "SELECT k, stddev(DISTINCT x) AS d, var_pop(DISTINCT n) AS v, sum(x) AS x FROM s GROUP BY k",
    "SELECT k, x % 2 AS odd, array_agg(x ORDER BY x, t) AS xs FROM s GROUP BY ROLLUP (k, x % 2)",
    "SELECT name, array_agg(x ORDER BY x) AS xs, string_agg(name || coalesce(t, ''), '' ORDER BY t) FROM s JOIN names USING (k) GROUP BY 1",
    "SELECT upper(string_agg(t, '')) || count(*) AS u FROM s GROUP BY k HAVING cardinality(array_agg(x)) > 2",
    (
        "SELECT k, array_agg(x) AS xs, array_agg(n) FILTER (WHERE x > 2) AS ns FROM "
        "(SELECT k, x, n FROM s UNION ALL SELECT x, k, 7.10 FROM s) u GROUP BY k"
    ),
    (
        "SELECT k, string_agg(t, ',') AS l, stddev(x) AS d, var_pop(n) AS v, count(*), round(corr(f, x)::numeric, 9) AS r "
        "FROM (SELECT k, t, x, n, f FROM s UNION ALL SELECT x, t, k, 1, 2 FROM s WHERE k < 2) u GROUP BY k"
    ),
    "SELECT x, string_agg(p.t, '-' ORDER BY p.t, q.t DESC) AS l, stddev(q.k) AS d, count(*) FROM s p JOIN s q USING (x) GROUP BY x",
    (
        "SELECT name, mode() WITHIN GROUP (ORDER BY x) AS m, array_agg(DISTINCT d) AS ds FROM names LEFT JOIN s ON s.k = names.k AND x > 4 "
        "GROUP BY 1"
    ),
    "SELECT array_length(array_agg(y), 1) AS n, max(l) AS l FROM (SELECT k, max(x) AS y, string_agg(t, '-') AS l FROM s GROUP BY k) g",
)

# Of these, `make test` takes one of so many parts.
PARTS = 6


def inserts(draw: random.Random, rows: int) -> str:
    """Return a statement with rows that have NULLs, and texts of all lengths."""

    def value(text: str) -> str:
        return "NULL" if draw.random() < 0.15 else text

    found = []
    for _ in range(rows):
        values = (
            str(draw.randrange(9)),
            "".join(draw.choices("abc é", k=draw.choice((0, 1, 4, 9, 30)))),
            f"{draw.gauss(0, 5):.3f}",
            draw.choice(("1.0", "1.00", "NaN", "-123456789.0123", "0")),
            f"2024-01-0{draw.randint(1, 9)}",
            draw.choice(("{}", '{"1", "{\\"a\\": 2}"}', '{"[1]", null}', '{"\\"x\\""}')),
        )
        found.append(f"({draw.randrange(3)}, {', '.join(value(f'$v${text}$v$') for text in values)})")
    return f"INSERT INTO s VALUES {', '.join(found)}"


def answer(client: RawClient, text: str) -> list[str]:
    return sorted(line for line in client.ask(query(text)) if line[0] in "DE")


@pytest.mark.slow
@pytest.mark.turns(2 * PARTS)
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("seed", [1, 2])
def test_answers_are_those_of_postgresql(seed: int, part: int, tmp_path: Path, postgres: PostgresCluster) -> None:
    draw, server = random.Random(seed), Server(tmp_path)
    queries = QUERIES[part::PARTS]
    client, other = server.client, RawClient(postgres.port, "postgres", "postgres")
    client.run(f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream", *TABLES)
    for text in ("BEGIN", f"CREATE TABLE s {COLUMNS}", *TABLES):
        other.ask(query(text))
    for number, text in enumerate(queries):
        client.run(f"CREATE VIEW v{number} AS {text}")
    for rows in (1, 4, 40, 3):
        statement = inserts(draw, rows)
        client.run(statement)
        other.ask(query(statement))
        for number, text in enumerate(queries):
            assert sorted(client.rows(f"SELECT * FROM v{number}")) == answer(other, text), text
        server.crash(rows == 40)
        client = server.client
    other.ask(query("ROLLBACK"))
    other.hang_up()


def test_a_list_is_kept_where_a_view_is_replaced(tmp_path: Path) -> None:
    server = Server(tmp_path)
    client = server.client
    client.run("CREATE FOREIGN TABLE s (k int, x int) SERVER stream")
    client.run("CREATE VIEW v AS SELECT k, array_agg(x) AS xs FROM s GROUP BY k", "INSERT INTO s VALUES (1, 5), (1, 2)")
    client.run("CREATE OR REPLACE VIEW v AS SELECT k, array_agg(x) AS xs FROM s GROUP BY k HAVING k > 0")
    client.run("INSERT INTO s VALUES (1, NULL), (0, 3)")
    assert server.rows("SELECT * FROM v") == ["[b'1', b'{5,2,NULL}']"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("corr(DISTINCT x, k) FROM s", "corr(DISTINCT double precision)"),
        ("first(p.x) FROM s p JOIN s q USING (k)", "first over rows that are grouped before they are joined"),
    ],
)
def test_what_tables_have_not_is_refused_at_create_view(text: str, what: str, tmp_path: Path) -> None:
    client = Server(tmp_path).client
    client.run("CREATE FOREIGN TABLE s (k int, x int) SERVER stream")
    (said, *_) = client.ask(f"CREATE VIEW v AS SELECT {text}")
    assert said.startswith("E ERROR 0A000")
    assert what in said


def test_lists_count_for_caps(tmp_path: Path) -> None:
    client = Server(tmp_path).client
    client.run("CREATE FOREIGN TABLE s (k int, t text) SERVER stream")
    client.run("CREATE VIEW v WITH (max_bytes = '20 kB') AS SELECT k, array_agg(t) AS ts FROM s GROUP BY k")
    client.run("INSERT INTO s SELECT 1, repeat('x', 100) FROM generate_series(1, 50)")
    (said, *_) = client.ask("INSERT INTO s SELECT 1, repeat('x', 100) FROM generate_series(1, 500)")
    assert said.startswith("E ERROR 53200")
    assert client.rows("SELECT cardinality(ts) FROM v") == ["D [b'50']"]


def test_short_values_row_by_row_reach_a_cap(tmp_path: Path) -> None:
    client = Server(tmp_path).client
    client.run("CREATE FOREIGN TABLE s (k int, x int) SERVER stream")
    client.run("CREATE VIEW v WITH (max_bytes = '4 kB') AS SELECT k, array_agg(x) AS xs FROM s GROUP BY k")
    said: list[str] = []
    count = 0
    while not said and count < 2_000:
        said = [line for line in client.ask(f"INSERT INTO s VALUES (1, {count})") if line.startswith("E ")]
        count += not said
    assert said[0].startswith("E ERROR 53200")
    # An element takes eight bytes, and its list at most four times as much.
    assert 64 <= count <= 512
    assert client.rows("SELECT cardinality(xs) FROM v") == [f"D [b'{count}']"]
