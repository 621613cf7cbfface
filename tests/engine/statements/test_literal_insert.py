"""INSERTs of many literals into tables, decoded by a kernel, against PostgreSQL and against the
general way.
"""

from __future__ import annotations

import random
from ast import literal_eval

import pytest

from engine.execution.parameter_rows import TableRows, parameter_row
from engine.sessions import long_texts, staged_inserts
from engine.statements import literal_insert
from tests.end_to_end.raw_client import SYNC, RawClient, bind, describe, execute, parse, query
from tests.engine.ddl.test_definitions import comparable
from tests.engine.session_client import SessionClient, World
from tests.engine.sessions.test_insert_paths import COLUMNS, LATE_COLUMNS, LATE_TEXTS, TEXTS, random_item
from tests.oracle.postgres import PostgresCluster

SEED = 20_261_127
CASES = 150
EVERYTHING = {**COLUMNS, **LATE_COLUMNS}
MAKE = (
    "CREATE TABLE made (id serial PRIMARY KEY, k int UNIQUE, t text DEFAULT 'none', n numeric(6,2) CHECK (n < 100), "
    "at timestamptz, b boolean NOT NULL DEFAULT false, g bigint GENERATED ALWAYS AS IDENTITY, tags text[])"
)
# In the order in which they are said. The number: of those that a kernel decodes.
SCRIPT = (
    (0, MAKE),
    (1, "INSERT INTO made (k, t, n) VALUES (1, 'it''s', 1.005), (2, NULL, -3), (3, 'ü', 99)"),
    (1, "INSERT INTO made (k, tags) VALUES (4, '{a,\"b c\"}'), (5, NULL) RETURNING id, k, t, g, tags"),
    (1, "INSERT INTO made (k, t) VALUES (5, 'again'), (6, 'new') ON CONFLICT DO NOTHING RETURNING k"),
    (1, "INSERT INTO made (k, t) VALUES (5, 'changed'), (7, 'new') ON CONFLICT (k) DO UPDATE SET t = excluded.t RETURNING k, t"),
    (0, "INSERT INTO made (k, t) VALUES (5, 'other') ON CONFLICT (k) DO UPDATE SET t = excluded.t || '!' RETURNING k, t"),
    (1, "INSERT INTO made (k, t) VALUES (8, ') returning k, (''x''')"),
    (1, "INSERT INTO made (k, t) VALUES (9, 'x') RETURNING nosuch"),
    (1, "INSERT INTO made (k, t) VALUES (10, 'x'), (10, 'y')"),
    (1, "INSERT INTO made (k, n) VALUES (11, 1), (12, 100)"),
    (1, "INSERT INTO made (k, b) VALUES (13, true), (14, NULL)"),
    (0, "INSERT INTO made (k, n) VALUES (15, 1), (16, 123456)"),
    (0, "INSERT INTO made (k, n) VALUES (17, 1), (18, 'x')"),
    (1, "INSERT INTO made (k, g) VALUES (19, 1), (20, 2)"),
    (0, "INSERT INTO made (k, k) VALUES (21, 1), (22, 2)"),
    (0, "INSERT INTO made (k, nosuch) VALUES (21, 1), (22, 2)"),
    (0, "INSERT INTO made (k, t) VALUES (23, 'a', 1), (24, 'b', 2)"),
    (0, "INSERT INTO made (k, t) VALUES (25, 'a'), (26)"),
    (0, "INSERT INTO made (k, t) VALUES (27, DEFAULT), (28, upper('b'))"),
    (0, "INSERT INTO nosuch (k, t) VALUES (27, 'x'), (28, 'y')"),
    (1, "INSERT INTO made (k, at) VALUES (29, '2026-03-29 02:30'), (30, '2026-07-01 12:00+02'), (31, 'infinity')"),
    (1, "INSERT INTO made (k, at) VALUES (32, 'Mar 5 2026 3:04 pm'), (33, '20260305T030405')"),
    (0, "INSERT INTO made (k, t) VALUES (34, 'a'), (35, 'b'); SELECT 1"),
    (0, "INSERT INTO made (k, t) VALUES (36, 'a') -- ) RETURNING k"),
    (0, "SELECT * FROM made ORDER BY id"),
    (0, "CREATE TABLE child (k int REFERENCES made (k), note varchar(3))"),
    (1, "INSERT INTO child VALUES (1, 'abc'), (NULL, ''), (2, 'a')"),
    (1, "INSERT INTO child VALUES (1, 'abc'), (999, 'b')"),
    (0, "INSERT INTO child VALUES (1, 'abcd'), (1, 'b')"),
    (0, "INSERT INTO child VALUES (1), (2)"),
    (0, "SELECT * FROM child"),
    (0, "DROP TABLE child, made"),
)  # fmt: skip


class Counted:
    """Counts the texts that are decoded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        monkeypatch.setattr(long_texts, "CHARACTERS_MIN", 1)
        monkeypatch.setattr(long_texts, "literal_insert", self.literal_insert)

    def literal_insert(self, *arguments: object) -> object:
        found = literal_insert.literal_insert(*arguments)  # type: ignore[arg-type]
        self.count += found is not None
        return found


def values(rows: list[list[str]]) -> str:
    return ", ".join("(" + ", ".join(row) + ")" for row in rows)


def test_literals_as_postgresql_has_them(
    world: World, postgres: PostgresCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, client, theirs = Counted(monkeypatch), world.client(), RawClient(postgres.port, "postgres", "postgres")
    listed = ", ".join(f"{name} {kind}" for name, kind in EVERYTHING.items())
    for text in ("SET TimeZone = 'Europe/Berlin'", f"CREATE TEMPORARY TABLE everything ({listed})"):
        for one in (client, theirs):
            one.ask(query(text))
    draw = random.Random(SEED)
    accepted_count = 0
    for number in range(CASES):
        columns = draw.sample([name for name in EVERYTHING if name != "i8"], draw.randint(1, 4))
        rows = [
            [f"{number}{row:02}", *(random_item(draw, column) for column in columns)]
            for row in range(draw.randint(1, 3))
        ]
        text = f"INSERT INTO everything (i8, {', '.join(columns)}) VALUES {values(rows)}"
        expected, answer = theirs.ask(query(text)), client.ask(query(text))
        is_accepted = not any(line.startswith("E") for line in expected)
        assert answer == expected if is_accepted else any(line.startswith("E") for line in answer), (text, answer)
        accepted_count += is_accepted
    assert counted.count > accepted_count / 2 > CASES / 12
    select = query(f"SELECT {', '.join(f'{name}::text' for name in EVERYTHING)} FROM everything ORDER BY i8")
    assert client.ask(select) == theirs.ask(select)
    theirs.hang_up()


@pytest.mark.parametrize("at_once_bytes", [0, 16_384])
def test_parameters_as_postgresql_has_them(
    world: World, postgres: PostgresCluster, monkeypatch: pytest.MonkeyPatch, at_once_bytes: int
) -> None:
    """Rows of parameters, decoded on the event loop or by a worker, then their binary forms."""
    client, theirs = world.client(), RawClient(postgres.port, "postgres", "postgres")
    monkeypatch.setattr(staged_inserts, "READ_AT_ONCE_BYTES_MAX", at_once_bytes)
    monkeypatch.setattr(long_texts, "PARAMETERS_AT_ONCE_BYTES_MAX", at_once_bytes)
    listed = ", ".join(f"{name} {kind}" for name, kind in EVERYTHING.items())
    for text in ("SET TimeZone = 'Europe/Berlin'", f"CREATE TEMPORARY TABLE everything ({listed}, given text)"):
        for one in (client, theirs):
            one.ask(query(text))
    draw, decoded_count, accepted_count = random.Random(SEED + 1), 0, 0
    for number in range(CASES):
        columns = ["i8", *draw.sample([name for name in EVERYTHING if name != "i8"], draw.randint(1, 3))]
        cast = f"::{EVERYTHING[columns[-1]]}" if draw.random() < 0.3 else ""
        oids = [20 if draw.random() < 0.3 else 0]
        rows_count = draw.choice((2, 2, 3))
        numbers = [[f"${row * len(columns) + place + 1}" for place in range(len(columns))] for row in range(rows_count)]
        rows = ", ".join(f"({', '.join(row)}{cast})" for row in numbers)
        statement = parse(f"INSERT INTO everything ({', '.join(columns)}) VALUES {rows} RETURNING i8", oids=oids)
        sent: list[bytes | None] = []
        for row in range(rows_count):
            sent.append(f"{number}{row:02}".encode())
            for name in columns[1:]:
                text = draw.choice(TEXTS.get(name) or LATE_TEXTS[name])
                sent.append(None if draw.random() < 0.1 else text.encode())
        messages = statement, bind(sent), describe("P"), execute(), SYNC
        expected, answer = theirs.ask(*messages), client.ask(*messages)
        is_accepted = not any(line.startswith("E") for line in expected)
        assert answer == expected if is_accepted else any(line.startswith("E") for line in answer), (columns, sent)
        accepted_count += is_accepted
        session = client.session
        prepared = session.names.statements.get("")
        if is_accepted and prepared is not None:
            shape = parameter_row(prepared, session.runner.image(), session.server.engines.tables)
            decoded_count += isinstance(shape, TableRows)
    assert decoded_count > accepted_count / 2 > CASES / 20
    select = query(f"SELECT {', '.join(f'{name}::text' for name in EVERYTHING)} FROM everything ORDER BY i8")
    assert client.ask(select) == theirs.ask(select)
    binary_again(client)
    binary_again(theirs)
    select = query(f"SELECT {', '.join(f'{name}::text' for name in EVERYTHING)} FROM everything ORDER BY i8, given")
    assert client.ask(select) == theirs.ask(select)
    theirs.hang_up()


def binary_again(client: SessionClient | RawClient) -> None:
    """Insert every value once more, two rows in a statement, in the form in which it is sent."""
    count = 0
    for name in EVERYTHING:
        if name == "i8":
            continue
        select = f"SELECT i8, {name} FROM everything WHERE {name} IS NOT NULL ORDER BY i8 LIMIT 2"
        found = client.ask(parse(select), bind(results=[1]), execute(), SYNC)
        rows = 2 * [literal_eval(line[2:]) for line in found if line.startswith("D ")]
        count += bool(rows)
        values = [value for row in rows[:2] for value in (*row, name.encode())]
        text = f"INSERT INTO everything (i8, {name}, given) VALUES ($1, $2, $3), ($4, $5, $6)"
        answer = client.ask(parse(text), bind(values, formats=[1, 1, 0] * 2), execute(), SYNC) if rows else []
        assert not rows or "C INSERT 0 2" in answer, (name, answer)
    assert count > len(EVERYTHING) / 2


def test_clauses_constraints_and_errors(
    world: World, postgres: PostgresCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted, client, theirs = Counted(monkeypatch), world.client(), RawClient(postgres.port, "postgres", "postgres")
    theirs.ask(query("DROP TABLE IF EXISTS child, made"))
    for one in (client, theirs):
        one.ask(query("SET TimeZone = 'Europe/Berlin'"))
    wrong = []
    for decoded_count, statement in SCRIPT:
        counted.count = 0
        expected, found = theirs.ask_in_full(statement), client.ask_in_full(statement)
        if comparable(found, expected) != comparable(expected, expected) or counted.count != decoded_count:
            wrong.append(f"{statement}\n  expected {expected}\n  found    {found}, decoded {counted.count}")
    assert not wrong, "\n".join(wrong)
    theirs.hang_up()


def test_a_table_that_changes_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows are those of the table that is there when the statement runs."""
    client = world.client()
    client.run("CREATE TABLE moved (a int, b int)")
    then, decode = client.session.runner.image(), literal_insert.literal_insert
    client.run("ALTER TABLE moved ALTER COLUMN b TYPE text USING 'was ' || b")
    monkeypatch.setattr(long_texts, "CHARACTERS_MIN", 1)
    monkeypatch.setattr(long_texts, "literal_insert", lambda text, _, settings: decode(text, then, settings))
    assert client.ask("INSERT INTO moved VALUES (1, '2'), (3, '4')")[0] == "C INSERT 0 2"
    assert client.rows("SELECT * FROM moved ORDER BY a") == ["D [b'1', b'2']", "D [b'3', b'4']"]


def test_rights_are_those_of_every_insert(world: World) -> None:
    client: SessionClient = world.client()
    client.run("CREATE TABLE kept (a int, b text)")
    client.run("CREATE ROLE stranger LOGIN")
    client.run("SET ROLE stranger")
    rows = values([[str(number), "'text of a row'"] for number in range(200)])
    assert client.ask(f"INSERT INTO kept VALUES {rows}")[0].startswith("E ERROR 42501")
    client.run("RESET ROLE")
    client.run("GRANT INSERT ON kept TO stranger")
    client.run("SET ROLE stranger")
    assert client.ask(f"INSERT INTO kept VALUES {rows}")[0] == "C INSERT 0 200"
    assert client.ask(f"INSERT INTO kept VALUES {rows} RETURNING a")[0].startswith("E ERROR 42501")
