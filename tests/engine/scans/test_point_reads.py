"""Reads of a continuous view by key: answered from the groups, as PostgreSQL answers them."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tests.end_to_end.raw_client import SYNC, RawClient, bind, execute, parse, query
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

# Columns that are keys together, with the values of each row as literals, and values that are
# sought besides.
KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "a int": (("1", "-2147483648", "NULL"), ("2147483648", "'1'", "1::bigint", "1::smallint")),
    "b bigint": (("5", "9223372036854775807", "7"), ("5::smallint", "'9223372036854775807'")),
    "c text": (("'x'", "'a text of more than twelve bytes'", "NULL"), ("'X'", "'a text of more than twelve bytez'")),
    "d numeric(10,2)": (("1.50", "-3.25", "0"), ("1.5", "1.505", "1.500", "1e30", "'NaN'")),
    "e date": (("'2020-01-02'", "'infinity'", "NULL"), ("'20200102'",)),
    "f boolean": (("true", "false", "NULL"), ("'t'", "'no'")),
    "g numeric": (("1.50", "'NaN'", "0.000"), ("1.5", "1.5000", "0", "'-Infinity'")),
    "h double precision": (("0.5", "'NaN'", "'-0'"), ("0.50", "'0'", "'-Infinity'")),
    "i uuid": (
        ("'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "NULL", "'00000000-0000-0000-0000-000000000000'"),
        ("'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'",),
    ),
    "j char(5)": (("'ab'", "'abcde'", "NULL"), ("'ab   '", "'abc'", "'abcdefgh'")),
    "k varchar(4)": (("'ab'", "''", "NULL"), ("'abcdefgh'", "'ab'::text")),
    "l timestamp": (("'2020-01-02 03:04:05.678'", "'-infinity'", "NULL"), ("'2020-01-02 03:04:05.678000'",)),
    "m timestamptz": (("'2020-01-02 03:04:05+02'", "'infinity'", "NULL"), ("'2020-01-02 01:04:05+00'",)),
    "n interval": (("'1 day'", "'-1 month'", "NULL"), ("'24 hours'", "'1 month'")),
    "o bytea": (("'\\x00ff'", "'\\x'", "NULL"), ("'\\x00FF'",)),
    "p time": (("'01:02:03'", "'24:00'", "NULL"), ("'1:02:03.000'",)),
    "q real": (("1.25", "'Infinity'", "NULL"), ("'1.250'",)),
    "r smallint": (("1", "-32768", "NULL"), ("32768", "1::bigint")),
    "s jsonb": (("""'{"a": 1.0}'""", "'[]'", "NULL"), ("""'{"a": 1}'""", """'{"a": 1.00, "b": 2}'""")),
    "t timetz": (("'01:02:03+02'", "'24:00-01'", "NULL"), ("'01:02:03.000+02:00'", "'00:02:03+01'")),
    "u int[]": (("'{1,2,NULL}'", "'{}'", "NULL"), ("'{1,2}'", "'{1,NULL,2}'")),
    "v numeric[]": (("'{1.0,2}'", "'{NULL}'", "NULL"), ("'{1.00,2.0}'", "'{1,3}'")),
    "w inet": (("'10.0.0.1'", "'::1/64'", "NULL"), ("'10.0.0.1/32'", "'::1'")),
}
SPLIT = ("abcde", "fghi", "jklmn", "opqr", "stuvw")
ROWS_COUNT = 3
OTHERS = (
    "SELECT number, a FROM v0 WHERE a IN (1, -2147483648, 1) AND b = 5 AND c = 'x' AND d = 1.5 AND e = '2020-01-02'",
    "SELECT number FROM v0 WHERE a = ANY('{1,NULL}') AND 5 = b AND c = ANY(ARRAY['x', 'y']) AND d IN (1.5, 2) AND e = '2020-01-02'",
    "SELECT number FROM v0 WHERE a = NULL AND b = 5 AND c = 'x' AND d = 1.5 AND e = '2020-01-02'",
)


def rows_of(answer: list[str]) -> list[str]:
    """Return rows, in the order of their texts, or the error."""
    return sorted(line for line in answer if line[0] in "DE")


def name_of(column: str) -> str:
    return column.partition(" ")[0]


@pytest.fixture
def client(world: World) -> SessionClient:
    return world.client().after(
        "CREATE FOREIGN TABLE s (k bigint, x int, t text) SERVER stream",
        "CREATE VIEW v AS SELECT k, count(*) AS n, sum(x) AS total, max(t) AS most FROM s GROUP BY k",
        "INSERT INTO s SELECT i % 10, i, 'text number ' || i FROM generate_series(1, 100) AS r(i)",
    )


def point_reads(client: SessionClient, view: str = "v") -> int:
    (entry,) = (one for one in client.session.runner.image().chains if one.name == view)
    return entry.upkeep.point_reads


def questions() -> Iterator[str]:
    """Yield reads by key: of each row, and of rows with one other value."""
    for number, letters in enumerate(SPLIT):
        columns = [column for column in KEYS if name_of(column) in letters]
        for row in range(ROWS_COUNT):
            values = {name_of(column): KEYS[column][0][row] for column in columns}
            wanted = [values]
            for column in columns:
                wanted += [{**values, name_of(column): other} for other in KEYS[column][1]]
            for one in wanted:
                yield f"SELECT * FROM v{number} WHERE " + " AND ".join(
                    f"{name} = {value}" for name, value in one.items()
                )


@pytest.mark.turns(2, 1)
def test_keys_of_every_type_are_found_as_postgresql_finds_them(world: World, postgres: PostgresCluster) -> None:
    definition = ", ".join(KEYS)
    rows = ", ".join(f"({', '.join(values[row] for values, _ in KEYS.values())})" for row in range(ROWS_COUNT))
    views = [
        f"CREATE VIEW v{number} AS SELECT {', '.join(letters)}, count(*) AS number FROM s GROUP BY {', '.join(letters)}"
        for number, letters in enumerate(SPLIT)
    ]
    inserts = [f"INSERT INTO s VALUES {rows}", f"INSERT INTO s VALUES {rows}"]
    client = world.client().after(f"CREATE FOREIGN TABLE s ({definition}) SERVER stream", *views, *inserts)
    asked = 0
    other = RawClient(postgres.port, "postgres", "postgres")
    for text in ("BEGIN", f"CREATE TABLE s ({definition})", *views, *inserts):
        answer = other.ask(query(text))
        assert not any(line.startswith("E ") for line in answer), (text, answer)
    for text in (*questions(), *OTHERS):
        answer, wanted = client.ask(text), other.ask(query("SAVEPOINT p")) and other.ask(query(text))
        assert rows_of(answer) == rows_of(wanted), text
        other.ask(query("ROLLBACK TO SAVEPOINT p"))
        asked += 1
    other.ask(query("ROLLBACK"))
    other.hang_up()
    views_read = [view.upkeep for view in client.session.runner.image().chains]
    # A value of another type (real = double precision) goes the general way.
    assert sum(one.point_reads for one in views_read) > 0.9 * asked
    assert sum(one.versions_count for one in views_read) < 0.1 * asked


def test_parameters_are_read_as_their_types_say(client: SessionClient) -> None:
    text = "SELECT n, total FROM v WHERE k = $1"
    assert client.ask(parse(text), bind([b"3"]), execute(), SYNC) == [
        "1",
        "2",
        "D [b'10', b'480']",
        "C SELECT 1",
        "Z I",
    ]
    assert client.ask(parse(text), bind([None]), execute(), SYNC) == ["1", "2", "C SELECT 0", "Z I"]
    assert client.ask(parse(text), bind([b"77"]), execute(), SYNC) == ["1", "2", "C SELECT 0", "Z I"]
    (_, error, _) = client.ask(parse(text), bind([b"x"]), execute(), SYNC)
    assert "22P02" in error
    assert client.ask(parse("SELECT n FROM v WHERE k = ANY($1)"), bind([b"{1,2,NULL,77}"]), execute(), SYNC)[2:] == [
        "D [b'10']", "D [b'10']", "C SELECT 2", "Z I",
    ]  # fmt: skip
    # Nothing has to be looked up for a NULL.
    assert point_reads(client) == 3


@pytest.mark.parametrize(
    "text",
    [
        "SELECT n FROM v WHERE k > 3",
        "SELECT n FROM v WHERE k = 3 OR k = 4",
        "SELECT n FROM v WHERE k = 3 AND n = 10",
        "SELECT n FROM v WHERE k + 0 = 3",
        "SELECT n FROM v WHERE k = 3 AND k = 4",
        "SELECT n FROM v WHERE k = 3.0",
        "SELECT n FROM v WHERE k::smallint = 3",
        "SELECT count(*) FROM v WHERE k = 3",
        "SELECT n FROM v WHERE k = (SELECT 3)",
        "SELECT a.n FROM v a JOIN v b ON a.k = b.k WHERE a.k = 3",
        "SELECT n FROM v WHERE NOT k = 3",
    ],
)
def test_other_conditions_go_the_general_way(client: SessionClient, text: str) -> None:
    client.rows(text)
    assert point_reads(client) == 0


def test_a_view_that_does_not_show_all_keys_goes_the_general_way(client: SessionClient) -> None:
    client.run("CREATE VIEW hidden AS SELECT k, count(*) AS n FROM s GROUP BY k, x", "INSERT INTO s VALUES (1, 1, '')")
    assert client.rows("SELECT n FROM hidden WHERE k = 1") == ["D [b'1']"]
    assert point_reads(client, "hidden") == 0


def test_having_and_expressions_are_evaluated(client: SessionClient) -> None:
    client.run(
        "CREATE VIEW w AS SELECT x + 1 AS y, count(*) * 2 AS n, k FROM s GROUP BY x + 1, k HAVING count(*) > 1",
        "INSERT INTO s VALUES (1, 1, ''), (1, 1, ''), (1, 2, '')",
    )
    assert client.rows("SELECT * FROM w WHERE y = 2 AND k = 1") == ["D [b'2', b'4', b'1']"]
    assert client.rows("SELECT * FROM w WHERE y = 3 AND k = 1") == []
    assert point_reads(client, "w") == 2


def test_a_key_may_be_shown_longer_than_it_is_sought(client: SessionClient) -> None:
    client.run(
        "CREATE FOREIGN TABLE s2 (j jsonb) SERVER stream",
        "CREATE VIEW v2 AS SELECT j, count(*) AS n FROM s2 GROUP BY j",
        """INSERT INTO s2 SELECT ('{"a": 1.' || repeat('0', 600) || '}')::jsonb""",
    )
    shown = """D [b'{"a": 1.""" + "0" * 600 + "}', b'1']"
    assert client.rows("""SELECT j, n FROM v2 WHERE j = '{"a": 1}'""") == [shown]
    assert point_reads(client, "v2") == 1


def test_a_group_that_cannot_be_evaluated_fails_as_in_the_general_way(client: SessionClient) -> None:
    client.run("CREATE VIEW w AS SELECT k, 1 / (count(*) - 1) AS q, sum(x) AS n FROM s GROUP BY k")
    client.run("INSERT INTO s VALUES (1, 1, '')")
    assert any("22012" in line for line in client.ask("SELECT q FROM w WHERE k = 1"))
    assert client.rows("SELECT n FROM w WHERE k = 1") == ["D [b'1']"]


def test_every_commit_before_is_seen_and_none_of_a_block(client: SessionClient, world: World) -> None:
    text = "SELECT n FROM v WHERE k = 3"
    writer = world.client()
    assert client.rows(text) == ["D [b'10']"]
    writer.run("BEGIN", "INSERT INTO s VALUES (3, 1, '')")
    assert client.rows(text) == ["D [b'10']"]
    writer.run("COMMIT")
    assert client.rows(text) == ["D [b'11']"]
    # Merged, or not yet, or in a table of its own.
    client.rows("SELECT count(*) FROM v")
    assert client.rows(text) == ["D [b'11']"]
    writer.run(
        "INSERT INTO s SELECT i, 1, 't' FROM generate_series(1, 10000) AS r(i)", "INSERT INTO s VALUES (3, 1, '')"
    )
    assert client.rows(text) == ["D [b'13']"]
    assert point_reads(client) == 5


def test_a_block_reads_as_it_has_begun(client: SessionClient, world: World) -> None:
    text = "SELECT n FROM v WHERE k = 3"
    for begin in ("BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ"):
        client.run(begin)
        before = client.rows(text)
        world.client().run("INSERT INTO s VALUES (3, 1, '')")
        assert client.rows(text) == before
        client.run("COMMIT")
        assert client.rows(text) != before
    assert point_reads(client) == 2


def test_rights_count_at_each_read(client: SessionClient, world: World) -> None:
    client.run("CREATE ROLE reader LOGIN", "GRANT SELECT ON v TO reader")
    reader = world.client().after("SET SESSION AUTHORIZATION reader")
    prepared = parse("SELECT n FROM v WHERE k = $1", name="p")
    asked = (bind([b"3"], statement="p"), execute(), SYNC)
    reader.ask(prepared, SYNC)
    assert "D [b'10']" in reader.ask(*asked)
    client.run("REVOKE SELECT ON v FROM reader")
    assert any("42501" in line for line in reader.ask(*asked))
    assert any("42501" in line for line in reader.ask("SELECT n FROM v WHERE k = 3"))


def test_a_view_that_is_replaced_or_dropped_is_another_one(client: SessionClient) -> None:
    asked = (bind([b"3"], statement="p"), execute(), SYNC)
    client.ask(parse("SELECT n FROM v WHERE k = $1", name="p"), SYNC)
    assert "D [b'10']" in client.ask(*asked)
    client.run(
        "CREATE OR REPLACE VIEW v AS SELECT k, count(*) * 2 AS n, sum(x) AS total, max(t) AS most FROM s GROUP BY k"
    )
    client.run("INSERT INTO s VALUES (3, 1, '')")
    general = client.rows("SELECT n FROM v WHERE k BETWEEN 3 AND 3")
    assert [line for line in client.ask(*asked) if line.startswith("D")] == general
    client.run("DROP VIEW v")
    assert any("42P01" in line for line in client.ask(*asked))


def test_explain_names_it(client: SessionClient) -> None:
    (first, *_) = client.rows("EXPLAIN SELECT n FROM v WHERE k = 3")
    assert "are found by a kernel, without a refresh; a transaction block reads as below" in first
    assert not any("Point Read" in line for line in client.rows("EXPLAIN SELECT n FROM v WHERE k > 3"))
    client.rows("SELECT n FROM v WHERE k = 3")
    counted = "SELECT point_reads, refreshes FROM pg_stat_continuous_views WHERE relname = 'v'"
    assert client.rows(counted) == ["D [b'1', b'0']"]


def test_a_reader_waits_for_a_merge_and_can_be_cancelled(client: SessionClient) -> None:
    (view,) = client.session.runner.image().chains
    client.rows("SELECT n FROM v WHERE k = 3")
    lock = view.state.groups.refresh_lock
    lock.acquire()
    try:
        client.run("SET statement_timeout = 100")
        assert any("57014" in line for line in client.ask("SELECT n FROM v WHERE k = 3"))
        client.run("RESET statement_timeout")
        threading.Timer(0.1, lock.release).start()
        assert client.rows("SELECT n FROM v WHERE k = 3") == ["D [b'10']"]
        lock.acquire()
    finally:
        lock.release()
