"""Executions of a prepared INSERT into a table that come together: what a client sees is what
PostgreSQL answers, where they do one after the other.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pytest

from engine.statements.table_writes import TableWriter
from sql.errors import SqlError
from tests.end_to_end.raw_client import SYNC, RawClient, bind, describe, execute, parse, query
from tests.engine.session_client import SessionClient, World
from tests.engine.sessions.test_bind_runs import (
    COLUMNS,
    NAMES,
    TYPED,
    TYPED_COLUMNS,
    TYPED_INSERT,
    comparable,
    prepare,
    random_messages,
    typed_statements,
    typed_value,
)
from tests.oracle.postgres import PostgresCluster

CASES = 25
SERIAL = (
    "CREATE TABLE kinds (kind integer PRIMARY KEY)",
    "INSERT INTO kinds VALUES (1), (2)",
    """CREATE TABLE numbered (id serial PRIMARY KEY, kind integer REFERENCES kinds, t text NOT NULL DEFAULT 'x',
       x numeric DEFAULT 1.5, UNIQUE (kind, t), CHECK (100 / (x - 7) <> 50))""",
)
NUMBERED = "INSERT INTO numbered (kind, t, x) VALUES ($1, $2, $3)"


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many rows each run has written; those of refused runs are negative."""
    found: list[int] = []
    insert = TableWriter.insert_unless_refused

    def noted(writer: TableWriter, rows: pa.Table, given: Sequence[int]) -> bool:
        try:
            is_done = insert(writer, rows, given)
        except SqlError:
            is_done = False
            raise
        finally:
            found.append(rows.num_rows if is_done else -rows.num_rows)
        return is_done

    monkeypatch.setattr(TableWriter, "insert_unless_refused", noted)
    return found


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    made = World(tmp_path_factory.mktemp("runs") / "data")
    yield made
    made.close()


@pytest.fixture
def pair(world: World, postgres: PostgresCluster) -> Iterator[tuple[SessionClient, RawClient]]:
    """A session of ours, and one of PostgreSQL in a schema that ends with it."""
    theirs = RawClient(postgres.port, "postgres", "postgres")
    ours = world.client()
    for one in (ours, theirs):
        for text in ("CREATE SCHEMA runs", "SET search_path = runs", "SET TimeZone = 'Europe/Berlin'"):
            assert one.ask(query(text))[-1] == "Z I"
    yield ours, theirs
    for one in (ours, theirs):
        one.ask(query("DROP SCHEMA runs CASCADE"))


def asked(theirs: RawClient, messages: bytes) -> list[str]:
    theirs.send(messages)
    return [line for _ in range(messages.count(SYNC)) for line in theirs.read_until_ready()]


def test_rows_of_all_types(pair: tuple[SessionClient, RawClient], sizes: list[int]) -> None:
    ours, theirs = pair
    draw = random.Random(1)
    for one in pair:
        one.ask(query(f"CREATE TABLE s ({COLUMNS}, UNIQUE (id, t), CHECK (k > -5))"))
        prepare(one)
    for number in range(CASES):
        # Ids come again now and then.
        messages = random_messages(draw, 1000 * number // 2 * 2 if draw.random() < 0.8 else 0)
        assert comparable(ours.ask(messages)) == comparable(asked(theirs, messages)), number
    select = query(f"SELECT {NAMES} FROM s ORDER BY id, t, k")
    assert ours.ask(select) == theirs.ask(select)
    assert max(sizes) > 30 and min(sizes) < -2


def test_parameters_of_types_that_change(pair: tuple[SessionClient, RawClient], sizes: list[int]) -> None:
    draw = random.Random(2)
    statements = typed_statements(draw, 12)
    prepared = b"".join(
        parse(TYPED_INSERT, f"y{number}", [TYPED[kind][0] for kind in kinds]) for number, kinds in enumerate(statements)
    )
    for one in pair:
        one.ask(query(f"CREATE TABLE y ({TYPED_COLUMNS})"))
        assert one.ask(prepared + SYNC)[-1] == "Z I"
    for number in range(CASES):
        messages = b""
        is_wild = draw.random() < 0.3
        for _ in range(draw.choice((2, 20))):
            place = draw.randrange(len(statements))
            values = [typed_value(draw, kind, is_wild) for kind in statements[place][:-2]]
            values += [
                (0, draw.choice((b"2020-01-02", None))),
                (0, draw.choice((b"[1]", b"{") if is_wild else (b"[1]",))),
            ]
            formats = tuple(code for code, _ in values)
            messages += bind([value for _, value in values], f"y{place}", formats=formats) + execute()
        messages += SYNC
        assert comparable(pair[0].ask(messages)) == comparable(asked(pair[1], messages)), number
    select = query("SELECT * FROM y ORDER BY " + ", ".join(str(place) for place in range(1, 10)))
    assert pair[0].ask(select) == pair[1].ask(select)
    assert max(sizes) > 10


@pytest.mark.turns(2)
@pytest.mark.parametrize("in_block", [False, True])
def test_keys_numbers_and_checks(pair: tuple[SessionClient, RawClient], sizes: list[int], in_block: bool) -> None:
    draw = random.Random(3)
    for one in pair:
        for text in SERIAL:
            assert one.ask(query(text))[-1] == "Z I"
        one.ask(parse(NUMBERED, "ins") + SYNC)
    for number in range(CASES):
        rows: list[tuple[bytes | None, ...]] = [
            (draw.choice((b"1", b"2")), f"{number} {row}".encode(), draw.choice((b"1", b"2.5", None)))
            for row in range(draw.choice((2, 40)))
        ]
        wrong = draw.choice((None, (0, b"3"), (1, None), (1, rows[0][1]), (2, b"9"), (2, b"7"), (0, b"x")))
        if wrong is not None:
            place = draw.randrange(len(rows))
            values: list[bytes | None] = [b"1", b"other", b"1"]
            values[wrong[0]] = wrong[1]
            kind = rows[0][0] if wrong[0] == 1 else values[0]
            rows[place] = kind, values[1], values[2]
        messages = b"".join(bind(list(row), "ins") + describe("P") + execute() for row in rows) + SYNC
        if in_block:
            messages = query("BEGIN") + messages + messages + query("COMMIT")
        told = [comparable(pair[0].ask(messages)), comparable(by_syncs(pair[1], messages, 4 if in_block else 1))]
        assert told[0] == told[1], (number, wrong)
    # Numbers that failing rows have taken may be others.
    select = query("SELECT kind, t, x FROM numbered ORDER BY kind, t")
    assert pair[0].ask(select) == pair[1].ask(select)
    assert max(sizes) > 30 and min(sizes) < -2


def by_syncs(theirs: RawClient, messages: bytes, count: int) -> list[str]:
    theirs.send(messages)
    return [line for _ in range(count) for line in theirs.read_until_ready()]
