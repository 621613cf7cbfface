"""Views of which the embedded engine computes columns before the kernel, against the same text over
a table in PostgreSQL, however the rows come; and errors of rows, which come only where PostgreSQL
computes the value.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from psycopg import pq

from tests.end_to_end.raw_client import COPY_DONE, SYNC, bind, copy_data, describe, execute, parse, query
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

COLUMNS = "k int, t text, j text, n numeric(10,2), at timestamp"
FIELDS = ("k", "t", "j", "n", "at")
# In the text form of COPY.
LINES = (
    '1\talpha\t{"type":"buy","n":1,"a":[1,2],"o":{"x":"y"}}\t1.25\t2017-09-13 23:45:00',
    '2\tbeta gamma\t{"type":"sell","n":2.50,"a":[]}\t2.50\t2017-09-13 23:49:59',
    '3\ta text that is longer than twelve bytes\t{"type":null}\t\\N\t2017-09-13 23:50:00',
    "\\N\t\\N\t\\N\t-3.00\t\\N",
    '5\t\t[1,"two",{"three":3}]\t99999999.99\t2000-01-01 00:00:00',
    '6\t42\t{"type":"buy","n":"7","deep":"äö☃ a text of more than twelve bytes"}\t0.00\t2024-02-29 12:34:56',
    '7\tx@y.com\t"scalar"\t7.77\t1999-12-31 23:59:59',
)
QUERIES = (
    "SELECT j::json ->> 'type' AS a, count(*) AS b FROM s GROUP BY 1",
    "SELECT upper(j::jsonb ->> 'deep') AS a, j::json #>> '{o,x}' AS b, count(*) AS c FROM s GROUP BY 1, 2",
    "SELECT sum((j::json ->> 'n')::numeric(10,2)) AS a, count(*) FILTER (WHERE j::jsonb @> '{\"type\":\"buy\"}') AS b FROM s",
    "SELECT count(*) AS a FROM s WHERE k = ANY (ARRAY[1, 2]) AND t <> ALL ('{alpha,x}')",
    "SELECT date_trunc('hour', at) + floor(extract(minute FROM at) / 5) * interval '5 minutes' AS a, count(*) AS b FROM s GROUP BY 1",
    (
        "SELECT regexp_replace(t, '[ae]', '*', 'g') AS a, max((string_to_array(t, ' '))[1]) AS b, "
        "min(at - (k || ' days')::interval) AS c FROM s GROUP BY 1"
    ),
    "SELECT format('%s-%L', k, t) AS a, to_char(at, 'FMDay HH12:MI AM') AS b, count(*) AS c FROM s GROUP BY 1, 2",
    "SELECT n::numeric / 3 AS a, sum(round(n::numeric * k::numeric, 3)) AS b FROM s GROUP BY 1",
    "SELECT w, j::json ->> 'n' AS a, count(*) AS b FROM s LEFT JOIN lk ON lk.id = s.j::json ->> 'type' GROUP BY 1, 2",
    (
        "SELECT CASE WHEN t ~ '^[0-9]+$' THEN t::numeric(6,2) END AS a, "
        "sum(CASE WHEN t ~ '4' THEN t::int ELSE k END) AS b FROM s WHERE t ~ '^[0-9a]' GROUP BY 1"
    ),
    "SELECT t::json ->> 'x' AS a, count(*) AS b FROM s JOIN lk ON lk.id = s.t WHERE k > 100 GROUP BY 1",
    "SELECT DISTINCT ON (j::json ->> 'type') j::json ->> 'type' AS a, k FROM s ORDER BY j::json ->> 'type', k",
)
LOOKUP = (
    "CREATE TABLE lk (id text, w int)",
    "INSERT INTO lk VALUES ('buy', 1), ('sell', 2), ('alpha', 3)",
)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[SessionClient]:
    world = World(tmp_path / "data")
    made = world.client()
    made.run(f"CREATE FOREIGN TABLE s ({COLUMNS}) SERVER stream", *LOOKUP)
    yield made
    world.close()


def copy(client: SessionClient, lines: list[str]) -> str:
    data = "".join(line + "\n" for line in lines).encode()
    pieces = [copy_data(data[start : start + 50_000]) for start in range(0, len(data), 50_000)]
    return client.ask(query("COPY s FROM STDIN"), *pieces, COPY_DONE)[-2]


def values(line: str) -> list[bytes | None]:
    return [None if value == "\\N" else value.encode() for value in line.split("\t")]


def insert_packet(line: str) -> bytes:
    return bind(values(line), "ins", results=(0,)) + describe("P") + execute() + SYNC


def answer(client: SessionClient, text: str) -> list[tuple[str | None, ...]]:
    rows = (ast.literal_eval(line[2:]) for line in client.rows(text))
    return in_order([tuple(None if value is None else value.decode() for value in row) for row in rows])


def in_order(rows: list[tuple[str | None, ...]]) -> list[tuple[str | None, ...]]:
    return sorted(rows, key=repr)


def all_answers(client: SessionClient) -> list[list[tuple[str | None, ...]]]:
    return [answer(client, f"SELECT * FROM v{number}") for number in range(len(QUERIES))]


def oracle(postgres: PostgresCluster, lines: list[str]) -> list[list[tuple[str | None, ...]]]:
    with postgres.connect() as connection:
        connection.execute("DROP TABLE IF EXISTS s, lk")
        connection.execute(f"CREATE TABLE s ({COLUMNS})")
        for text in LOOKUP:
            connection.execute(text)
        with connection.cursor().copy("COPY s FROM STDIN") as pipe:
            pipe.write("".join(line + "\n" for line in lines))
        answers = []
        for text in QUERIES:
            found = connection.pgconn.exec_(text.encode())
            assert found.status == pq.ExecStatus.TUPLES_OK, (text, found.error_message)
            cells = [[found.get_value(row, column) for column in range(found.nfields)] for row in range(found.ntuples)]
            answers.append(in_order([tuple(None if cell is None else cell.decode() for cell in row) for row in cells]))
        connection.execute("DROP TABLE s, lk")
        return answers


@pytest.mark.turns(2, 1)
def test_views_are_postgresqls_however_the_rows_come(tmp_path: Path, postgres: PostgresCluster) -> None:
    world = World(tmp_path / "data")
    client = world.client()
    client.run(f"CREATE FOREIGN TABLE s ({COLUMNS}) SERVER stream", *LOOKUP)
    for number, text in enumerate(QUERIES):
        client.run(f"CREATE VIEW v{number} AS {text}")
    lines = list(LINES)
    assert copy(client, lines) == f"C COPY {len(LINES)}"
    client.ask(parse("INSERT INTO s VALUES ($1, $2, $3, $4, $5)", "ins"), SYNC)
    for line in LINES:
        assert client.at_once(insert_packet(line)) is not None
    lines += LINES
    many = list(LINES) * 300
    assert copy(client, many) == f"C COPY {len(many)}"
    lines += many
    client.run("BEGIN", "INSERT INTO s (k, t) SELECT w, id FROM lk WHERE w = 1")
    client.run("INSERT INTO s (k, t) VALUES (1, 'x'), (2, 'y')", "COMMIT")
    lines += ["1\tbuy\t\\N\t\\N\t\\N", "1\tx\t\\N\t\\N\t\\N", "2\ty\t\\N\t\\N\t\\N"]
    wanted = oracle(postgres, lines)
    assert all_answers(client) == wanted
    world.close()
    # The log is replayed.
    again = World(tmp_path / "data")
    assert all_answers(again.client()) == wanted
    again.close()


def test_explain_names_what_is_computed(client: SessionClient) -> None:
    told = client.ask(f"EXPLAIN CREATE VIEW v AS {QUERIES[0]}")
    assert any("Computed before the kernel: j::json ->> 'type'" in line for line in told), told
    client.run(f"CREATE VIEW v AS {QUERIES[0]}")
    told = client.ask("EXPLAIN (FORMAT json) SELECT * FROM v")
    assert any("Computed before the Kernel" in line for line in told), told


@pytest.mark.parametrize("rows_count", [1, 5, 3000])
def test_a_row_that_fails_is_told_and_nothing_is_applied(client: SessionClient, rows_count: int) -> None:
    client.run("CREATE VIEW v AS SELECT j::json ->> 'x' AS x, count(*) AS n FROM s GROUP BY 1")
    good = '1\ta\t{"x":"y"}\t\\N\t\\N'
    assert copy(client, [good] * rows_count) == f"C COPY {rows_count}"
    data = [*[good] * (rows_count - 1), "1\ta\tno json\t\\N\t\\N"]
    pieces = copy_data("".join(line + "\n" for line in data).encode())
    told = client.ask_in_full(query("COPY s FROM STDIN"), pieces, COPY_DONE)
    (error,) = ((text, fields) for text, fields in told if text.startswith("E "))
    assert error[0] == "E 22P02: invalid input syntax for type json"
    assert error[1]["detail"] == 'Token "no" is invalid.'
    client.ask(parse("INSERT INTO s (j) VALUES ($1)", "ins"), SYNC)
    refused = client.ask(bind([b"no json"], "ins", results=(0,)) + describe("P") + execute() + SYNC)
    assert any(line.startswith("E ERROR 22P02") for line in refused), refused
    assert answer(client, "SELECT * FROM v") == [("y", str(rows_count))]


def test_rows_that_fail_are_left_out_if_the_view_wants_that(client: SessionClient) -> None:
    client.run("CREATE VIEW v WITH (on_error = skip) AS SELECT j::json ->> 'x' AS x, count(*) AS n FROM s GROUP BY 1")
    lines = [f"1\ta\t{'no json' if number % 3 else chr(123) + chr(125)}\t\\N\t\\N" for number in range(3000)]
    assert copy(client, lines) == "C COPY 3000"
    assert answer(client, "SELECT * FROM v") == [(None, "1000")]
    counts = answer(client, "SELECT tuples_in, tuples_skipped FROM pg_stat_continuous_views")
    assert counts == [("3000", "2000")]
    took = "SELECT computed_ms > 0 FROM pg_stat_continuous_views"
    assert answer(client, took) == [("t",)]


@pytest.mark.turns(2)
@pytest.mark.parametrize("rows_count", [10, 300])
def test_what_is_not_supported_is_no_row_to_leave_out(client: SessionClient, rows_count: int) -> None:
    """A flag that PostgreSQL has, and we don't, beside a pattern that nobody can read."""
    query = "SELECT count(regexp_replace(t, 'b', 'X', j)) AS n FROM s WHERE k < 5"
    client.run(f"CREATE VIEW v WITH (on_error = skip) AS {query}")
    flags = ["zz" if number % 30 == 7 else "g" for number in range(rows_count)]
    assert copy(client, [f"1\tb\t{flag}\t\\N\t\\N" for flag in flags]) == f"C COPY {rows_count}"
    passed = str(flags.count("g"))
    assert answer(client, "SELECT n FROM v") == [(passed,)]
    for key, told in ((1, "0A000"), (9, f"C COPY {rows_count}")):
        lines = [f"1\tb\t{flag}\t\\N\t\\N" for flag in flags[1:]]
        assert told in copy(client, [*lines, f"{key}\tb\tb\t\\N\t\\N"]), key
    assert answer(client, "SELECT n FROM v") == [(str(2 * flags.count("g") - 1),)]


def test_the_time_of_arrival_is_that_of_the_commit(client: SessionClient) -> None:
    texts = "to_char(arrival_timestamp, 'HH24:MI:SS.US Day')", "regexp_replace(t, 'a', 'b')"
    for number, text in enumerate(texts):
        client.run(f"CREATE VIEW v{number} AS SELECT {text} AS a, max(arrival_timestamp) AS b FROM s GROUP BY 1")
    client.run("BEGIN", "INSERT INTO s (t) VALUES ('banana')")
    assert copy(client, ["1\tbanana\t\\N\t\\N\t\\N"] * 1500) == "C COPY 1500"
    client.run("COMMIT", "INSERT INTO s (t) VALUES ('apple')")
    for number, text in enumerate(texts):
        rows = f"SELECT {text} AS a, max(arrival_timestamp) AS b FROM s GROUP BY 1"
        assert answer(client, f"SELECT * FROM v{number}") == answer(client, rows) != []


def test_what_another_value_has_at_each_call_is_refused(client: SessionClient) -> None:
    told = client.ask("CREATE VIEW v AS SELECT format('%s', random()) AS x, count(*) AS n FROM s GROUP BY 1")
    assert told[0].startswith("E ERROR 0A000"), told


FEW = (
    ("payload ->> 'x'", "payload json"),
    ("payload ->> 'x'", "payload jsonb"),
    ("coalesce(payload::json ->> 'x', payload::jsonb ->> 1)", "payload text"),
    ("json_typeof(payload::json -> 'x')", "payload text"),
)
DOCUMENTS = (
    '{"x": "y"}',
    '{"x": "a text of more than twelve bytes, ä☃"}',
    '{"x": 1, "x": 2.50}',
    '{"x": -0.0e+5}',
    '{"x": true, "y": [1, {"x": 3}]}',
    '{"x": false}',
    '{"x": null}',
    '{"x": {"deep":  [1, 2]}, "y": "\\u00e4"}',
    '{"x": "\\u2603 \\n"}',
    ' [1, "x"] ',
    '"x"',
    "12",
    "{}",
    '{"y": "x"}',
)


# Functions of other families, of columns of their types.
FAMILIES = (
    ("encode(b, 'hex')", ("b bytea", [r"\\x00ff", r"\\x", "a text of more than twelve bytes"])),
    ("set_masklen(a, 9)", ("a inet", ["10.1.2.3/8", "::1"])),
    ("trim_scale(n)", ("n numeric", ["1.500", "NaN", "-Infinity", "123456789012345678901234.50"])),
    ("trim_scale(n)", ("n numeric(9,3)", ["1.500", "-7"])),
    ("power(n, 3)", ("n numeric", ["1.5", "Infinity", "-2"])),
    ("justify_days(i)", ("i interval", ["75 days", "-1 mon 01:02:03"])),
    ("j #> p", ("j jsonb, p text[]", [('{"a": [1, 2.50]}', "{a,1}"), ("[3]", "{0}"), ("{}", "{}")])),
    ("sha256(b)", ("b bytea", ["a"])),
    ("regexp_replace(t, p, 'x', 'g')", ("t text, p text", [("it''s aa", "a|''"), ("bb", "(b)\\\\1"), ("c", "")])),
    ("substring(t from p)", ("t text, p text", [("it''s", "t(.*)"), ("b", "c")])),
    ("t ~* p", ("t text, p text", [("ABC", "^a"), ("b", "c")])),
    ("make_date(y, 2, 3)", ("y int", ["2020", "-5", "9999"])),
    ("make_timestamp(y, 1, 2, 3, 4, s)", ("y int, s float8", [("2020", "5.25"), ("1", "0")])),
    ("sind(f)", ("f float8", ["30", "NaN"])),
    ("(a, b) OVERLAPS (b, c)", ("a timestamptz, b timestamptz, c date", [("2020-01-01", "2020-02-01", "2020-03-01")])),
)


@pytest.mark.turns(3)
@pytest.mark.parametrize(("expression", "given"), FAMILIES)
def test_few_rows_of_other_families(client: SessionClient, expression: str, given: tuple[str, list[object]]) -> None:
    columns, values = given
    rows = [value if isinstance(value, tuple) else (value,) for value in values]
    texts = [", ".join(f"'{field}'" for field in row) for row in rows]
    text = f"SELECT {expression} AS x, count(*) AS n FROM w GROUP BY 1"
    client.run(f"CREATE FOREIGN TABLE w ({columns}) SERVER stream", f"CREATE VIEW v AS {text}")
    client.run(*(f"INSERT INTO w VALUES ({row})" for row in texts), "INSERT INTO w VALUES (NULL)")
    few = answer(client, "SELECT * FROM v")
    assert few == answer(client, text) and len(few) > 1


@pytest.mark.turns(2)
@pytest.mark.parametrize(("expression", "column"), FEW)
def test_few_rows_are_computed_as_many_are(client: SessionClient, expression: str, column: str) -> None:
    query_text = f"SELECT {expression} AS x, count(*) AS n FROM w GROUP BY 1"
    client.run(f"CREATE FOREIGN TABLE w (pad int, {column}) SERVER stream", f"CREATE VIEW v AS {query_text}")
    client.ask(parse("INSERT INTO w VALUES (1, $1)", "ins"), SYNC)
    for document in DOCUMENTS:
        client.ask(bind([document.encode()], "ins", results=(0,)) + describe("P") + execute() + SYNC)
        quoted = document.replace("'", "''")
        client.run(f"INSERT INTO w VALUES (1, '{quoted}'), (2, NULL)")
    few = answer(client, "SELECT * FROM v")
    assert few == answer(client, query_text) and len(few) > 3
    lines = "".join("1\t" + document.replace("\\", "\\\\") + "\n" for document in DOCUMENTS * 40).encode()
    assert client.ask(query("COPY w FROM STDIN"), copy_data(lines), COPY_DONE)[-2] == f"C COPY {len(DOCUMENTS) * 40}"
    assert answer(client, "SELECT * FROM v") == answer(client, query_text)
