"""The fast ways of an INSERT stage exactly what the general way stages, and refuse exactly what it
refuses.
"""

from __future__ import annotations

import random
from datetime import datetime
from typing import Any, cast

import pytest

from engine.execution.parameter_rows import ParameterRows, parameter_row
from engine.sessions.long_texts import done_at_once
from engine.sessions.staged_inserts import StagedInserts
from ringbuffer.encode.output_forms import Forms
from ringbuffer.encode.rows import encode_data_rows
from ringbuffer.memory.columns import Morsel
from tests.end_to_end.raw_client import SYNC, RawClient, bind, close, describe, execute, parse, query
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

CASES = 150
SEED = 7
COLUMNS = {
    "b": "boolean",
    "i2": "smallint",
    "i4": "integer",
    "i8": "bigint",
    "f4": "real",
    "f8": "double precision",
    "n": "numeric(12,3)",
    "t": "text",
    "v": "varchar(5)",
    "d": "date",
    "ts": "timestamp",
    "tz": "timestamptz",
}
TEXTS = {
    "b": ["t", "f", "true", "off", "yes", "x"],
    "i2": ["0", "-32768", "32767", "32768", " 12 ", "1.5", ""],
    "i4": ["0", "2147483647", "-2147483648", "2147483648", "007", "1e3"],
    "i8": ["9223372036854775807", "-9223372036854775808", "9223372036854775808", "5"],
    "f4": ["1.5", "-0", "nan", "Infinity", "3.5e38", "1e-50", "0.1"],
    "f8": ["1.5", "-0", "NaN", "-inf", "1e309", "2.2250738585072014e-308", "0.1", "123456789012345678"],
    "n": ["1.5", "123456789.1234", "-0.0005", "1234567890", "999999999.9999", "1e3", "0"],
    "t": ["", "a", "äöü", "a string longer than twelve bytes", "it's", "\\N", "1"],
    "v": ["", "abcde", "äöüäö", "abcdef", "ab   ", "abcde  "],
    "d": ["2020-02-29", "2021-02-29", "1999-12-31", "0001-01-01", "20200101", "Jan 1, 2020"],
    "ts": ["2020-01-01 12:34:56.789", "2020-01-01", "2020-01-01T00:00:00", "2020-01-01 24:00:01", "epoch"],
    "tz": [
        "2020-01-01 12:00:00+02",
        "2020-06-01 12:00:00",
        "2020-03-29 02:30:00",
        "2020-10-25 02:30:00",
        "2020-01-01 00:00:00 Europe/Paris",
        "2020-01-01 00:00:00Z",
    ],
}
# Columns whose fields no kernel reads.
LATE_COLUMNS = {
    "j": "json",
    "jb": "jsonb",
    "u": "uuid",
    "np": "numeric",
    "iv": "interval",
    "t0": "timestamp(0)",
    "by": "bytea",
    "c": "char(3)",
    "ai": "integer[]",
}
LATE_TEXTS = {
    "j": ['{"a": "it\'s"}', "1", "{", '{"a":  1}'],
    "jb": ['{"b": 1, "a": "it\'s"}', "null", "x"],
    "u": ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "A0EEBC999C0B4EF8BB6D6BB9BD380A12", "u"],
    "np": ["1.50", "1e3", " 7 ", "-0.000", "x"],
    "iv": ["1 day", "-3 hours", "1 mon 2 days", "x"],
    "t0": ["2020-01-01 12:34:56.5", "2020-01-01", "x"],
    "by": ["\\x0102", "abc", "\\xzz"],
    "c": ["a", "abc", "abcd", "a    "],
    "ai": ["{1,2}", "{}", "{NULL}", "{x}"],
}
# Written without quotes.
NUMBERS = ["0", "-1", "1.5", "2.5", "-0.0005", "1e2", "32768", "3000000000", "123456789012345678901", "+4", "- 5", ".5"]
WORDS = ["TRUE", "false", "NULL", "null"]


def make_client(world: World, **defaults: str) -> SessionClient:
    client = world.client()
    columns = ", ".join(
        f"{name} {kind}" + (f" DEFAULT {defaults[name]}" if name in defaults else "")
        for name, kind in {**COLUMNS, **LATE_COLUMNS}.items()
    )
    client.run(f"CREATE FOREIGN TABLE everything ({columns}) SERVER stream", "SET TimeZone = 'Europe/Berlin'")
    return client


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


# Types of one word, and of more.
CASTS = (
    "int2",
    "integer",
    "BIGINT",
    "numeric",
    "real",
    "float8",
    "boolean",
    "text",
    "varchar",
    "date",
    "timestamp",
    "timestamptz",
    "json",
    "jsonb",
    "uuid",
    "interval",
    "bytea",
    "numeric(5,1)",
    "varchar(3)",
    "int[]",
    "char",
    "name",
    "nosuch",
)
OWN = {
    "d": "date",
    "ts": "TimeStamp",
    "tz": "timestamptz",
    "t": "text",
    "v": "varchar",
    "n": "numeric",
    "b": "bool",
    "i2": "smallint",
    "i4": "int",
    "i8": "int8",
    "f4": "float4",
    "f8": "float8",
    "j": "json",
    "jb": "jsonb",
    "u": "uuid",
    "np": "decimal",
    "iv": "interval",
    "t0": "timestamp",
    "by": "bytea",
    "c": "char",
    "ai": "integer[]",
}


def random_item(draw: random.Random, column: str) -> str:
    """Return a literal, perhaps cast to a type."""
    item, kind = random_literal(draw, column), draw.random()
    if kind > 0.25:
        return item
    name = OWN[column] if kind > 0.05 else draw.choice(CASTS)
    if item.startswith("'") and draw.random() < 0.4:
        return f"{name} {item}"
    return f"{item}{draw.choice(('::', ':: ', ' ::'))}{name}"


def random_literal(draw: random.Random, column: str) -> str:
    kind = draw.random()
    text = draw.choice(TEXTS.get(column) or LATE_TEXTS[column])
    if kind < 0.1:
        more = (
            draw.choice(["", "", "\\t", "\\n\\r\\b\\f", "\\q", "''", "\\x41", "\\101"]) if column in ("t", "v") else ""
        )
        mark = draw.choice(["''", "\\'"])
        return draw.choice("eE") + "'" + text.replace("\\", "\\\\").replace("'", mark) + more + "'"
    if kind < 0.75:
        return quoted(text)
    return draw.choice(NUMBERS) if kind < 0.9 else draw.choice(WORDS)


def staged_by(client: SessionClient, *messages: bytes | str) -> tuple[list[str], list[list[dict[str, object]]]]:
    """Return the answer and what was staged, and roll back."""
    client.run("BEGIN")
    answer = client.ask(*messages)
    staged = client.staged()
    client.run("ROLLBACK")
    return answer, staged


@pytest.mark.turns(2, 0)
def test_literals(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = make_client(world, t="'a default longer than twelve bytes'", i4="42", d="DATE '2020-02-02'")
    draw = random.Random(SEED)
    fast_count = accepted_count = extended_count = 0
    for _ in range(CASES):
        columns = draw.sample([*COLUMNS, *LATE_COLUMNS], draw.randint(1, 4))
        rows = [[random_item(draw, column) for column in columns] for _ in range(draw.randint(1, 3))]
        values = ", ".join("(" + ", ".join(row) + ")" for row in rows)
        names = ", ".join(draw.choice((column, f'"{column}"')) for column in columns)
        text = f'INSERT INTO {draw.choice(("everything", "public.everything", """"everything" """))}({names}) VALUES {values}'
        extended = (parse(text), bind(), execute(), SYNC)
        with monkeypatch.context() as patch:
            patch.setattr(StagedInserts, "stage_text", lambda *_: None)
            patch.setattr(StagedInserts, "prepared", lambda *_: None)
            expected, expected_extended = staged_by(client, text), staged_by(client, *extended)
        answer, staged = staged_by(client, text)
        assert (answer, comparable(staged)) == (expected[0], comparable(expected[1])), text
        answer, staged = staged_by(client, *extended)
        assert (answer, comparable(staged)) == (expected_extended[0], comparable(expected_extended[1])), text
        accepted_count += bool(staged)
        client.run("BEGIN")
        fast_count += done_at_once(client.session, text, client.session.runner.image()) is not None
        extended_count += client.session.staged.prepared(text, client.session.runner.image()) is not None
        client.run("ROLLBACK")
    assert accepted_count > CASES / 5 and fast_count > CASES / 10 and extended_count > CASES / 10


def test_literals_as_postgresql_has_them(world: World, postgres: PostgresCluster) -> None:
    """The same statements are accepted, and all rows together are the same."""
    client = make_client(world)
    theirs = RawClient(postgres.port, "postgres", "postgres")
    everything = {**COLUMNS, **LATE_COLUMNS}
    listed = ", ".join(f"{name} {kind}" for name, kind in everything.items())
    for text in ("SET TimeZone = 'Europe/Berlin'", f"CREATE TEMPORARY TABLE everything ({listed})"):
        theirs.ask(query(text))
    draw = random.Random(SEED + 2)
    accepted_count = 0
    for number in range(CASES):
        columns = draw.sample([name for name in everything if name != "i8"], draw.randint(1, 4))
        rows = [
            [f"{number}{row:02}", *(random_item(draw, column) for column in columns)]
            for row in range(draw.randint(1, 4))
        ]
        values = ", ".join("(" + ", ".join(row) + ")" for row in rows)
        text = f"INSERT INTO everything (i8, {', '.join(columns)}) VALUES {values}"
        messages = [query(text)] if draw.random() < 0.5 else [parse(text), bind(), describe("P"), execute(), SYNC]
        expected = theirs.ask(*messages)
        answer = client.ask(*messages)
        # Of several errors, the general way may tell another one, and may tell it with an earlier
        # message.
        is_accepted = not any(line.startswith("E") for line in expected)
        assert answer == expected if is_accepted else any(line.startswith("E") for line in answer), (text, answer)
        accepted_count += is_accepted
    assert accepted_count > CASES / 6
    names = ", ".join(f"{name}::text" for name in everything)
    select = query(f"SELECT {names} FROM everything ORDER BY i8")
    assert client.ask(select) == theirs.ask(select)


@pytest.mark.parametrize(
    ("item", "column", "is_decoded"),
    [
        ("'2024-01-01'::date", "d", True),
        ("DATE '2024-01-01'", "d", True),
        ("TIMESTAMP '2024-01-01 10:00'", "ts", True),
        ("1::bigint", "i8", True),
        ("-1::smallint", "i8", True),
        ("'x'::text", "v", True),
        ("NULL::int", "i8", True),
        ("-1", "i4", True),
        ("1.5 :: numeric", "n", True),
        ("'[1, 2]'::jsonb", "jb", True),
        # The sign comes after the cast, which has no room.
        ("-32768::smallint", "i4", False),
        ("-0::float8", "f8", False),
        ("'2024-01-01 10:00'::date", "ts", False),
        ("'abcdef'::varchar(3)", "v", False),
        ("1::int::bigint", "i8", False),
    ],
)
def test_which_casts_are_decoded(world: World, item: str, column: str, is_decoded: bool) -> None:
    client = make_client(world)
    client.run("BEGIN")
    text = f"INSERT INTO everything ({column}) VALUES ({item})"
    assert (done_at_once(client.session, text, client.session.runner.image()) is not None) == is_decoded
    client.run("ROLLBACK")


def test_a_decoded_statement_goes_the_general_way_when_things_have_changed(world: World) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (k integer, tz timestamptz) SERVER stream")
    rows = ", ".join(f"({number}, '2020-01-01 12:00')" for number in range(2000))
    for text, count in (("INSERT INTO s VALUES (1, '2020-01-01 12:00')", 1), (f"INSERT INTO s VALUES {rows}", 2000)):
        client.ask(parse(text, "few"), SYNC)
        run = (bind(statement="few"), describe("P"), execute(), SYNC)
        done = ["2 BindComplete", "n NoData", f"C INSERT 0 {count}", "Z I"]
        first = client.ask(*run)
        assert first[2:] == done[2:]
        # Rows that are decoded once are inserted as often as the statement runs.
        assert client.ask(*run) == first
        assert client.ask("EXECUTE few") == first[2:]
        client.run("CREATE TABLE other (k integer)")
        assert client.ask(*run) == client.ask(*run) == first
        client.run("DROP TABLE other")
        bound = client.ask(bind(statement="few"), "DROP VIEW IF EXISTS nothing", execute(), SYNC)
        assert bound[-1] == "Z I"
        client.run("BEGIN READ ONLY")
        assert client.ask(*run)[-2].startswith("E ERROR 25006")
        client.run("ROLLBACK")
        client.ask(close("S", "few"), SYNC)
    assert client.rows("SELECT count(*), count(DISTINCT k) FROM s") == client.rows("SELECT 10005::bigint, 2000::bigint")


def test_times_without_a_zone_take_the_fast_way_in_each_zone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    clients = {zone: world.client() for zone in ("Europe/Berlin", "America/New_York", "+03:30", "UTC")}
    world.client().run("CREATE FOREIGN TABLE moments (tz timestamptz) SERVER stream")
    prepared = "INSERT INTO moments VALUES ($1)"
    for time in ("2020-01-01 12:00", "2020-03-29 02:30", "2020-10-25 02:30", "2020-11-01 01:30"):
        # The decoder is the layout's, whichever session has used it last.
        for zone, client in clients.items():
            client.run(f"SET TimeZone = '{zone}'")
            text = f"INSERT INTO moments VALUES ('{time}')"
            with monkeypatch.context() as patch:
                patch.setattr(StagedInserts, "stage_text", lambda *_: None)
                patch.setattr(StagedInserts, "decode_row", lambda *_: False)
                expected = staged_by(client, text)[1]
            client.run("BEGIN")
            assert done_at_once(client.session, text, client.session.runner.image()) is not None
            client.run("ROLLBACK")
            by_parameter = staged_by(client, parse(prepared), bind([time.encode()]), execute(), SYNC)[1]
            assert comparable(staged_by(client, text)[1]) == comparable(by_parameter) == comparable(expected), (
                time,
                zone,
            )


@pytest.mark.parametrize("way", ["literals", "parameters", "general"])
def test_now_is_the_default(world: World, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """Each transaction has its own now(), also where what is known of the statement is kept."""
    client = make_client(world, tz="now()")
    if way == "general":
        monkeypatch.setattr(StagedInserts, "stage_text", lambda *_: None)
    messages: tuple[bytes | str, ...] = ("INSERT INTO everything (i4, tz) VALUES (1, NULL)",)
    messages += ("INSERT INTO everything (i4) VALUES (2), (3)",)
    if way == "parameters":
        messages = tuple(
            message
            for columns, numbers, value in (("i4, tz", "$1, NULL", b"1"), ("i4", "$1", b"2"), ("i4", "$1", b"3"))
            for message in (
                parse(f"INSERT INTO everything ({columns}) VALUES ({numbers})"),
                bind([value]),
                execute(),
                SYNC,
            )
        )
    seen = set()
    for _ in range(2):
        client.run("BEGIN")
        client.ask(*messages)
        rows = [row for stage in client.staged() for row in stage]
        (now,) = client.rows("SELECT extract(epoch FROM now()) * 1000000")
        client.run("ROLLBACK")
        assert [row["i4"] for row in rows] == [1, 2, 3]
        assert rows[0]["tz"] is None
        times = {int(cast(datetime, row["tz"]).timestamp() * 1_000_000 + 0.5) for row in rows[1:]}
        assert now.startswith(f"D [b'{times.pop()}.") and not times
        seen.add(now)
    assert len(seen) == 2


@pytest.mark.turns(2, 1)
def test_parameters(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = make_client(world, t="'a default longer than twelve bytes'", i4="42")
    draw = random.Random(SEED + 1)
    accepted_count = several_count = 0
    for _ in range(CASES):
        columns = draw.sample(list(COLUMNS), draw.randint(1, 5))
        cast = f"::{COLUMNS[columns[-1]]}" if draw.random() < 0.2 else ""
        rows_count = draw.randint(1, 3)
        numbers = [[f"${row * len(columns) + index + 1}" for index in range(len(columns))] for row in range(rows_count)]
        rows = ", ".join(f"({', '.join(row)}{cast})" for row in numbers)
        statement = parse(f"INSERT INTO everything ({', '.join(columns)}) VALUES {rows}")
        values = [
            None if draw.random() < 0.1 else draw.choice(TEXTS[column]).encode() for column in columns * rows_count
        ]
        messages = (statement, bind(values), execute(), SYNC)
        with monkeypatch.context() as patch:
            patch.setattr(StagedInserts, "decode_row", lambda *_: False)
            expected = staged_by(client, *messages)
        answer, staged = staged_by(client, *messages)
        assert (answer, comparable(staged)) == (expected[0], comparable(expected[1])), (columns, values)
        if staged:
            accepted_count += 1
            several_count += rows_count > 1
            check_binary(client, statement, columns, staged)
    assert accepted_count > CASES / 10 and several_count > CASES / 20


def test_which_lists_of_parameters_are_decoded_at_once(world: World) -> None:
    client = make_client(world, t="'a default'")
    # What is not decoded at once goes the general way, which refuses nothing that is right.
    for values, rows_count in (
        ("($1, $2), ($3, $4)", 2),
        ("($1::int, $2), ($3::int, $4), ($5::int, $6)", 3),
        ("($2, $1), ($4, $3)", 2),
        ("($1, 'x'), ($2, 'x')", 2),
        ("($1, 'x'), ($2, 'y')", 0),
        ("($1, $2), ($4, $3)", 0),
        ("($1, $2), ($1, $3)", 0),
        ("($1, $2), ($3, DEFAULT)", 0),
        ("($1, $2), ($3, $4 || 'a')", 0),
    ):
        text = f"INSERT INTO everything (i4, t) VALUES {values}"
        client.ask(parse(text, "list"), SYNC)
        session = client.session
        prepared = session.names.statements["list"]
        shape = parameter_row(prepared, session.runner.image(), session.server.engines.tables)
        assert (len(shape.starts) if isinstance(shape, ParameterRows) else 0) == rows_count, values
        count = len(prepared.parameter_types)
        given = [b"7"] * count
        answer, staged = staged_by(client, bind(given, "list"), execute(), SYNC)
        assert answer[1] == f"C INSERT 0 {len(staged[0])}" and {row["i4"] for row in staged[0]} == {7}, (values, answer)
        # The last parameter alone in binary: a text has the same bytes.
        if values.endswith("$4)"):
            mixed = tuple([0] * (count - 1) + [1])
            assert staged_by(client, bind(given, "list", formats=mixed), execute(), SYNC)[1] == staged
        client.ask(close("S", "list"), SYNC)


def test_long_lists_of_fields_that_no_kernel_reads_are_read_by_a_thread(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = make_client(world)
    decoded: list[int] = []
    decode_one = ParameterRows.decode_one

    def noted(shape: ParameterRows, *arguments: Any) -> Morsel | None:
        decoded.append(len(shape.starts))
        return decode_one(shape, *arguments)

    monkeypatch.setattr(ParameterRows, "decode_one", noted)
    statement = parse("INSERT INTO everything (jb) VALUES ($1), ($2)")
    for text, count in ((b'"short"', 1), (b'"' + 10_000 * b"x" + b'"', 1)):
        answer, staged = staged_by(client, statement, bind([text] * 2), execute(), SYNC)
        assert "C INSERT 0 2" in answer and len(staged[0]) == 2 and len(decoded) == count


def check_binary(
    client: SessionClient, statement: bytes, columns: list[str], staged: list[list[dict[str, object]]]
) -> None:
    """Send the staged row again, in binary: it must be staged again."""
    entry = client.session.server.catalog.image.entries["everything"]
    families = {column.name: column.type.family for column in entry.description.columns}
    arrow = client.arrow_rows(staged[0])
    values: list[bytes | None] = []
    for row in range(arrow.num_rows):
        for column in columns:
            data, _ = encode_data_rows([arrow.column(column).slice(row, 1)], [families[column]], [1], Forms("UTC"), 1)
            length = int.from_bytes(data[7:11], "big", signed=True)
            values.append(None if length < 0 else data[11 : 11 + length])
    answer, again = staged_by(client, statement, bind(values, formats=(1,)), execute(), SYNC)
    assert comparable(again) == comparable(staged), (columns, values, answer)


def comparable(staged: list[list[dict[str, object]]]) -> str:
    """NaN is equal to itself and -0 is not 0."""
    return repr(staged)
