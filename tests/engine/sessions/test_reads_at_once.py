"""Reads by key that are answered at once: the same as in the general way, which a transaction block
takes, and nothing else is answered so.
"""

from __future__ import annotations

import re
from ast import literal_eval

import pytest

from engine.scans.point_reads import KEYS_AT_ONCE_MAX
from engine.sessions.reads_at_once import FORMATS_KEPT_MAX
from tests.end_to_end.raw_client import SYNC, RawClient, bind, close, describe, execute, parse, query
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

LONG = "a text of more than twelve bytes, é"
COLUMNS = "k, t, n, a, b, c, d, e, f, g, h, i"
VIEW = (
    "CREATE VIEW v AS SELECT k, t, count(*) AS n, count(x) AS a, sum(x) AS b, sum(k) AS c, avg(x) AS d, sum(p) AS e, "
    "avg(p) AS f, min(x) AS g, max(t) AS h, min(u) AS i FROM s GROUP BY k, t"
)
ROWS = (
    f"INSERT INTO s VALUES (1, 'x', 7, 1.25, 'u'), (1, 'x', NULL, -0.50, '{LONG}'), (1, '{LONG}', -8, NULL, NULL), "
    "(-9223372036854775808, '', 2147483647, 99999999.99, ''), (NULL, 'x', 1, 1, 'u'), (2, NULL, 1, 1, 'u'), "
    "(9223372036854775807, 'exactly 12 b', -2147483648, -0.01, 'exactly 12 b'), (9223372036854775807, 'exactly 12 b', 1, 0, '')"
)
KEYS = (
    (b"1", b"x"), (b"1", LONG.encode()), (b"-9223372036854775808", b""), (b"9223372036854775807", b"exactly 12 b"),
    (b"1", b"X"), (b"3", b"x"), (None, b"x"), (b"2", None), (b"1", b"y" * 2000),
)  # fmt: skip


@pytest.fixture
def client(world: World) -> SessionClient:
    client = world.client().after(
        "CREATE FOREIGN TABLE s (k bigint, t text, x int, p numeric(10,2), u text) SERVER stream", VIEW, ROWS
    )
    # A read of the general way has the kernels loaded.
    client.rows(text_of("1", "'x'"))
    return client


def text_of(k: str, t: str, columns: str = COLUMNS) -> str:
    return f"SELECT {columns} FROM v WHERE k = {k} AND t = {t}"


def in_a_block(client: SessionClient, *messages: bytes) -> list[str]:
    """Return the answer of the general way."""
    client.run("BEGIN")
    answer = client.ask(*messages)
    client.run("ROLLBACK")
    return [*answer[:-1], "Z I"]


@pytest.mark.parametrize(
    ("columns", "results"), [(COLUMNS, ()), (COLUMNS, (0,)), ("n, k, t, g, b, t", (1,)), ("h, n", (0, 1))]
)
def test_a_packet_is_answered_as_in_a_block(client: SessionClient, columns: str, results: tuple[int, ...]) -> None:
    client.ask(parse(text_of("$1", "$2", columns), name="p"), SYNC)
    for key in KEYS:
        for described in (b"", describe("P")):
            asked = bind(key, statement="p", results=results) + described + execute() + SYNC
            answer = client.at_once(asked)
            assert answer == in_a_block(client, asked) == client.ask(asked) or (
                answer is None and len(key[1] or b"") > 1000
            )
    asked = bind((b"\0" * 7 + b"\1", b"x"), statement="p", formats=(1, 0), results=results) + execute() + SYNC
    assert client.at_once(asked) == in_a_block(client, asked)


DEFINITION = (
    "k int, a float8, b real, c numeric(10,2), d numeric, e date, f timestamp, g timestamptz, h boolean, i bytea, "
    "j interval, l uuid, m time, o char(3), p smallint, q jsonb"
)
VALUES = (
    (
        "(1, 0.1, 1.5, 2.50, 1.500, '2024-02-29', '2024-02-29 01:02:03.5', '2024-07-01 12:00+00', true, '\\x00ff', "
        "'1 day 2 hours', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '01:02:03', 'ab', -5, '{\"a\": [1]}')"
    ),
    (
        "(1, 0.2, -1e30, -0.01, -77777, '0044-03-15 BC', '1900-01-01', '2024-01-01 12:00+00', false, '\\x01', "
        "'-1 month', 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12', '23:59:59.5', 'c', 7, '2')"
    ),
    "(2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
    (
        "(3, 'NaN', 'Infinity', 0, 'NaN', 'infinity', '-infinity', 'infinity', true, '', '0', "
        "'00000000-0000-0000-0000-000000000000', '24:00', '', 32767, 'null')"
    ),
    "(4, 1e22, 16777216, 99999999.99, 1e20, '-infinity', 'infinity', '-infinity', false, '\\x61', '1 mon', NULL, '0:00', 'x', 0, '[]')",
)
RESULTS = {
    "floats": "sum(a), avg(a), min(a), max(a), sum(b), avg(b), min(b), max(b), count(a)",
    "numerics": "sum(c), avg(c), min(c), max(c), min(d), max(d), sum(p), avg(p), min(p)",
    "times": "min(e), max(e), min(f), max(f), min(g), max(g)",
    "flags": "bool_and(h), bool_or(h), bit_or(p), bit_and(p)",
    "others": "max(j), min(m), max(m), max(o), stddev(p)",
    "lists": "array_agg(a), array_agg(p)",
    "expressions": "sum(p) + count(*), avg(a) > 0, coalesce(max(e), '2000-01-01'), upper(max(o))",
}
TYPED_KEYS = ("c", "e", "f", "g", "h", "l", "m", "o", "p", "d", "a")
# Of results and keys, `make test` takes one of so many parts.
PARTS = 2


@pytest.mark.turns(PARTS)
@pytest.mark.parametrize("part", range(PARTS))
def test_columns_of_every_type_are_answered_at_once_as_postgresql_answers(
    part: int, world: World, postgres: PostgresCluster
) -> None:
    shown, keys = dict(list(RESULTS.items())[part::PARTS]), TYPED_KEYS[part::PARTS]
    client, other = world.client(), RawClient(postgres.port, "postgres", "postgres")
    texts = [
        f"CREATE VIEW v_{name} AS SELECT k, {', '.join(f'{call} AS r{place}' for place, call in enumerate(split(calls)))} "
        f"FROM s {'GROUP BY k HAVING count(*) > 0' if name == 'expressions' else 'GROUP BY k'}"
        for name, calls in shown.items()
    ]
    texts += [f"CREATE VIEW k_{key} AS SELECT {key}, count(*) AS n FROM s GROUP BY {key}" for key in keys]
    texts.append(f"INSERT INTO s VALUES {', '.join(VALUES)}")
    client.run(f"CREATE FOREIGN TABLE s ({DEFINITION}) SERVER stream", *texts)
    for text in ("BEGIN", "SET LOCAL TimeZone = 'UTC'", f"CREATE TABLE s ({DEFINITION})", *texts):
        assert not any(line.startswith("E ") for line in other.ask(query(text))), text
    for name in shown:
        prepared = parse(f"SELECT * FROM v_{name} WHERE k = $1", name=name)
        client.ask(prepared, SYNC)
        other.ask(prepared + SYNC)
        for key in (1, 2, 3, 4, 5):
            for results in ((0,), (1,)):
                asked = bind((b"%d" % key,), statement=name, results=results) + execute() + SYNC
                assert client.at_once(asked) == [*other.ask(asked)[:-1], "Z I"], (name, key, results)
        few = parse(f"SELECT k FROM v_{name} WHERE k = ANY($1)", name=f"few_{name}")
        client.ask(few, SYNC)
        assert client.at_once(bind((b"{1,3,9}",), statement=f"few_{name}") + execute() + SYNC) == [
            "2", "D [b'1']", "D [b'3']", "C SELECT 2", "Z I",
        ]  # fmt: skip
    for name in keys:
        prepared = parse(f"SELECT * FROM k_{name} WHERE {name} = $1", name=f"k_{name}")
        client.ask(prepared, SYNC)
        other.ask(prepared + SYNC)
        found = client.ask(f"SELECT {name} FROM k_{name}")
        values = [literal_eval(line[2:])[0] for line in found if line.startswith("D ")]
        assert len(values) > 1
        for value in values:
            asked = bind((value,), statement=f"k_{name}") + execute() + SYNC
            assert client.at_once(asked) == [*other.ask(asked)[:-1], "Z I"], (name, value)
    other.ask(query("ROLLBACK"))
    other.hang_up()


def split(calls: str) -> list[str]:
    """Return the calls of a list."""
    return [call for call in re.split(r", (?![^(]*\))", calls) if call]


def test_large_lists_and_many_keys_are_left_to_a_worker(client: SessionClient) -> None:
    client.run(
        "CREATE VIEW w AS SELECT k, array_agg(u) AS a FROM s GROUP BY k",
        "INSERT INTO s SELECT 50, 'x', 1, 1, repeat('x', 1000) FROM generate_series(1, 300)",
        "INSERT INTO s VALUES (1, 'x', 1, 1, 'u')",
    )
    client.ask(
        parse("SELECT a FROM w WHERE k = $1", name="p"), parse("SELECT k FROM w WHERE k = ANY($1)", name="q"), SYNC
    )
    large, small = (bind((key,), statement="p") + execute() + SYNC for key in (b"50", b"1"))
    assert client.at_once(large) is None and client.at_once(small) == in_a_block(client, small)
    assert len(client.ask(large)[1]) > 300_000
    many = "{" + ",".join(map(str, range(KEYS_AT_ONCE_MAX + 1))) + "}"
    asked = bind((many.encode(),), statement="q") + execute() + SYNC
    assert client.at_once(asked) is None and client.ask(asked)[-2] == "C SELECT 2"


def test_a_setting_of_forms_counts_at_once(client: SessionClient) -> None:
    client.run(
        "CREATE VIEW w AS SELECT k, sum(x::float8 / 3) AS a FROM s GROUP BY k", "INSERT INTO s VALUES (1, 'x', 1)"
    )
    client.ask(parse("SELECT a FROM w WHERE k = $1", name="p"), SYNC)
    asked = bind((b"1",), statement="p") + execute() + SYNC
    before = client.at_once(asked)
    client.run("SET extra_float_digits = -10")
    assert client.at_once(asked) is None
    after = client.ask(asked)
    assert client.at_once(asked) == after == in_a_block(client, asked) != before


def test_every_commit_before_is_in_the_answer(client: SessionClient, world: World) -> None:
    client.ask(parse(text_of("$1", "$2", "n"), name="p"), SYNC)
    asked = bind((b"5", b"y"), statement="p") + execute() + SYNC
    writer = world.client()
    for count in range(1, 6):
        writer.run("INSERT INTO s VALUES (5, 'y', 1, 1, 'u')")
        assert client.at_once(asked) == ["2", f"D [b'{count}']", "C SELECT 1", "Z I"]
        if count == 3:
            # What was in the local table is merged.
            client.rows("SELECT count(*) FROM v")


@pytest.mark.parametrize(
    "values",
    [(b"x", b"x"), (b"1 ", b"x"), (b"1_0", b"x"), ("٣".encode(), b"x"), (b"9223372036854775808", b"x"), (b"1", b"\xff"), (b"1", b"a\0")],
)  # fmt: skip
def test_unusual_parameters_are_read_as_the_general_way_reads_them(
    client: SessionClient, values: tuple[bytes, bytes]
) -> None:
    client.ask(parse(text_of("$1", "$2"), name="p"), SYNC)
    asked = bind(values, statement="p") + execute() + SYNC
    assert client.at_once(asked) in (None, in_a_block(client, asked))
    assert client.ask(asked) == in_a_block(client, asked) or values == (b"1 ", b"x")


def test_a_length_that_no_value_has_goes_the_general_way(client: SessionClient) -> None:
    client.ask(parse(text_of("$1", "$2"), name="p"), SYNC)
    asked = bind((None, b"x"), statement="p") + execute() + SYNC
    assert client.at_once(asked) is not None
    wrong = asked.replace(b"\xff\xff\xff\xff", b"\xff\xff\xff\xfe")
    assert client.at_once(wrong) is None
    assert any("08P01" in line for line in client.ask(wrong))


def test_a_portal_gives_its_rows_once(client: SessionClient) -> None:
    whole = "SELECT count(*) FROM v"
    client.ask(parse(text_of("$1", "$2", "n"), name="p"), parse(whole, name="q"), SYNC)
    for values, statement in (((b"1", b"x"), "p"), ((), "q")):
        for portal in ("", "c"):
            asked = bind(values, statement, portal) + execute(portal) + execute(portal) + SYNC
            for _ in range(3):
                answer = client.ask(asked)
                assert answer[-3:] == ["C SELECT 1", "C SELECT 0", "Z I"], answer


def test_few_choices_of_formats_are_kept(client: SessionClient) -> None:
    client.ask(parse(text_of("$1", "$2", "n, a, k, n"), name="p"), SYNC)
    kept = [
        client.at_once(
            bind((b"1", b"x"), statement="p", results=tuple(number >> bit & 1 for bit in range(4))) + execute() + SYNC
        )
        for number in range(16)
    ]
    assert None not in kept[:FORMATS_KEPT_MAX] and not any(kept[FORMATS_KEPT_MAX:])


def test_other_packets_are_none(client: SessionClient) -> None:
    client.ask(parse(text_of("$1", "$2"), name="p"), parse("SELECT n FROM v WHERE k = $1", name="q"), SYNC)
    key = (b"1", b"x")
    for packet in (
        bind(key, statement="p") + execute(row_limit=1) + SYNC,
        bind(key, statement="p", portal="c") + execute("c") + SYNC,
        bind(key, statement="p") + SYNC,
        bind(key, statement="p") + execute(),
        bind(key[:1], statement="p") + execute() + SYNC,
        bind(key, statement="r") + execute() + SYNC,
        bind(key[:1], statement="q") + execute() + SYNC,
        bind(key, statement="p", results=(0, 1)) + execute() + SYNC,
    ):
        assert client.at_once(packet) is None
    client.run("BEGIN")
    assert client.at_once(bind(key, statement="p") + execute() + SYNC) is None
    client.run("ROLLBACK", "SET default_transaction_isolation = 'serializable'")
    assert client.at_once(bind(key, statement="p") + execute() + SYNC) is None


def test_a_text_of_a_shape_that_has_come_twice_is_answered_at_once(client: SessionClient) -> None:
    for number, (k, t) in enumerate(
        [("1", "'x'"), ("1", "'q'"), ("-9223372036854775808", "''"), ("7", "'x'"), ("'1'", "'x'")]
    ):
        text = text_of(k, t)
        known = client.at_once(query(text + " ;"))
        assert (known is not None) == (0 < number < 4 and len(k) < 19), text
        answer = client.ask(text)
        assert answer == in_a_block(client, query(text)) and known in (None, answer), text


def test_a_shape_is_still_known_after_another_relation_or_setting(client: SessionClient, world: World) -> None:
    text = text_of("1", "'x'", "n")
    others = iter(range(100, 200))
    for change in ("CREATE TABLE other (a int)", "SET TimeZone = 'Europe/Berlin'", "RESET TimeZone"):
        for _ in range(3):
            # Not an encoded answer.
            known = client.at_once(query(text_of(str(next(others)), "'x'", "n")))
            client.ask(text)
        assert known is not None and "C SELECT 0" in known
        client.run(change)


@pytest.mark.parametrize(
    "text",
    [
        text_of("1", "'x") + "'",
        text_of("1", "'it''s'"),
        text_of("1", "E'x'"),
        text_of("1.0", "'x'"),
        text_of("'y'", "'x'"),
        text_of("1", "2"),
        text_of("1", "'x'") + " -- AND k = 2",
        text_of("1", "'x' OR k = 2"),
        text_of("1", "'x'") + " LIMIT 1",
        "SELECT 'a' AS n FROM v WHERE k = 1 AND t = 'x'",
        "SELECT n + 1 FROM v WHERE k = 1 AND t = 'x'",
        text_of("99999999999999999999", "'x'"),
        text_of("1", "'x'") + "; SELECT 1",
    ],
)
def test_other_texts_are_answered_as_in_a_block(client: SessionClient, text: str) -> None:
    for _ in range(3):
        answer = client.ask(text)
        assert answer == in_a_block(client, query(text)) or "; SELECT" in text
    assert client.at_once(query(text)) in (None, answer)


def test_a_sum_that_is_out_of_range_fails_as_in_a_block(client: SessionClient) -> None:
    client.run(
        "CREATE VIEW big AS SELECT k, count(*) AS n, sum(x) AS b FROM s GROUP BY k",
        "CREATE FOREIGN TABLE r (k int, x bigint) SERVER stream",
        "CREATE VIEW wide AS SELECT k, count(*) AS n, sum(k) AS b, sum(x) AS c FROM r GROUP BY k",
        "INSERT INTO r SELECT 1, 9223372036854775807 FROM generate_series(1, 3)",
    )
    text = "SELECT n, b, c FROM wide WHERE k = 1"
    for _ in range(3):
        assert client.ask(text) == in_a_block(client, query(text))


def test_rights_and_views_change_between_two_packets(client: SessionClient, world: World) -> None:
    client.run("CREATE ROLE reader LOGIN", "GRANT SELECT ON v TO reader")
    reader = world.client().after("SET SESSION AUTHORIZATION reader")
    reader.ask(parse(text_of("$1", "$2", "n"), name="p"), SYNC)
    asked, text = bind((b"1", b"x"), statement="p") + execute() + SYNC, text_of("1", "'x'", "n")
    for _ in range(3):
        assert "D [b'2']" in reader.ask(asked) and "D [b'2']" in reader.ask(text)
    assert reader.at_once(asked) is not None and reader.at_once(query(text)) is not None
    client.run("REVOKE SELECT ON v FROM reader")
    assert reader.at_once(asked) is reader.at_once(query(text)) is None
    assert any("42501" in line for line in reader.ask(text)) and any("42501" in line for line in reader.ask(asked))
    client.run("GRANT SELECT ON v TO reader")
    assert "D [b'2']" in reader.ask(asked)
    client.run("DROP VIEW v")
    assert reader.at_once(asked) is reader.at_once(query(text)) is None
    assert any("42P01" in line for line in reader.ask(text))


def test_names_are_looked_for_in_the_schemas_that_may_be_used_now(client: SessionClient, world: World) -> None:
    texts = "INSERT INTO r VALUES (1)", "SELECT n FROM w WHERE k = 1"
    for schema in ("one", "two"):
        client.run(
            f"CREATE SCHEMA {schema}",
            f"CREATE FOREIGN TABLE {schema}.r (k bigint) SERVER stream",
            f"CREATE VIEW {schema}.w AS SELECT k, count(*) AS n FROM {schema}.r GROUP BY k",
            f"INSERT INTO {schema}.r SELECT 1 FROM generate_series(1, {10 if schema == 'one' else 20})",
        )
    client.run("CREATE ROLE user_of_two", "GRANT ALL ON one.r, one.w, two.r, two.w TO user_of_two")
    client.run("GRANT USAGE ON SCHEMA two TO user_of_two")
    client.rows("SELECT n FROM one.w WHERE k = 1")
    user = world.client().after("SET SESSION AUTHORIZATION user_of_two", "SET search_path = one, two")
    for text in texts * 2:
        user.ask(text)
    client.run("CREATE ROLE other")
    assert user.at_once(query(texts[1])) is not None
    client.run("GRANT USAGE ON SCHEMA one TO user_of_two")
    assert user.at_once(query(texts[0])) is not None
    assert client.rows("SELECT n FROM one.w WHERE k = 1") == ["D [b'11']"]
    client.run("REVOKE USAGE ON SCHEMA one FROM user_of_two")
    user.ask(texts[1])
    client.run("GRANT USAGE ON SCHEMA one TO user_of_two")
    assert "D [b'11']" in (user.at_once(query(texts[1])) or user.ask(texts[1]))


def test_a_read_after_an_insert_of_the_same_pipeline_is_that_of_the_general_way(client: SessionClient) -> None:
    client.ask(
        parse(text_of("$1", "$2", "n"), name="p"), parse("INSERT INTO s VALUES (1, 'x', 1, 1, 'u')", name="i"), SYNC
    )
    read = bind((b"1", b"x"), statement="p") + execute()
    assert "D [b'2']" in client.ask(bind((), statement="i"), execute(), read, SYNC)
    assert "D [b'3']" in client.ask(read, SYNC)


def test_a_packet_of_an_unchanged_view_is_its_kept_answer(client: SessionClient, world: World) -> None:
    client.run("CREATE ROLE reader LOGIN", "GRANT SELECT ON v TO reader")
    reader = world.client().after("SET SESSION AUTHORIZATION reader")
    reader.ask(parse("SELECT count(*) AS n, max(k) AS m FROM v", name="p"), SYNC)
    asked = bind((), statement="p") + describe("P") + execute() + SYNC
    assert reader.at_once(asked) is None
    for _ in range(2):
        answer = reader.ask(asked)
        assert reader.at_once(asked) == answer == in_a_block(reader, asked)
        client.run("INSERT INTO s VALUES (4, 'new', 1, 1, 'u'), (5, 'newer', 1, 1, 'u')")
        assert reader.at_once(asked) is None
    reader.ask(asked)
    assert reader.at_once(asked) is not None
    client.run("REVOKE SELECT ON v FROM reader")
    assert reader.at_once(asked) is None
    assert any("42501" in line for line in reader.ask(asked))


def test_what_a_packet_needs_is_looked_at_anew_after_every_change(client: SessionClient) -> None:
    client.ask(parse(text_of("$1", "$2", "n"), name="p"), SYNC)
    asked = bind((b"1", b"x"), statement="p") + execute() + SYNC
    first = client.at_once(asked)
    assert first == client.at_once(asked) is not None
    client.run("SET application_name = 'other'")
    assert client.at_once(asked) in (None, first)
    assert client.ask(asked) == first == client.at_once(asked)
    client.ask(close("S", "p"), parse(text_of("$1", "$2", "h"), name="p"), SYNC)
    assert client.at_once(asked) == in_a_block(client, asked) != first
    client.ask(close("S", "p"), parse("INSERT INTO s (k, t) VALUES ($1, $2)", name="p"), SYNC)
    for _ in range(3):
        assert "C INSERT 0 1" in client.ask(asked)
    assert [client.at_once(asked) for _ in range(2)] == [["2", "C INSERT 0 1", "Z I"]] * 2
