"""Runs of Bind and Execute answer and insert exactly what the same messages do one by one, and what
they do in PostgreSQL.
"""

from __future__ import annotations

import random
import re
import struct
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.commit.staging import StatementStage
from engine.execution.parameter_rows import ParameterRow
from engine.sessions import long_texts
from engine.sessions.bind_runs import FEW_ROWS
from engine.sessions.long_texts import ROWS_AT_ONCE_MAX
from ringbuffer.memory.columns import Morsel
from sql.wire.conversation import no_run
from tests.end_to_end.raw_client import SYNC, RawClient, bind, describe, execute, parse, query
from tests.engine.session_client import SessionClient, World
from tests.oracle.postgres import PostgresCluster

SEED = 31
CASES = 60
COLUMNS = (
    "id bigint, k integer NOT NULL, n numeric(6,2), v double precision, t varchar(20), tz timestamptz, j jsonb, d date"
)
NAMES = "id, k, n, v, t, tz, j, d"
INSERT = f"INSERT INTO s ({NAMES}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
VIEW = "CREATE VIEW per_t AS SELECT t, count(*) AS c, sum(n) AS total, min(100 / k) AS least FROM s GROUP BY t"
CHOICES: tuple[tuple[bytes | None, ...], ...] = (
    (b"1", b"-7", b" 5 ", b"2147483647"),
    (b"1.5", b"-0.005", b"1e3", None),
    (b"1.5", b"-0", b"NaN", b"123456789012345678901234567890", None),
    (b"a", b"", b"longer than twelve bytes", b"\xc3\xa4", None),
    (b"2020-01-01 00:00:00Z", b"2020-06-01 12:00:00", b"infinity", b"Jan 1 2020 UTC", None),
    (b'{"b": 1, "a": [1, 2]}', b"null", b'"text"', None),
    (b"2020-02-29", b"1 Feb 2020", None),
)
# The column, and what is wrong with it, for the statement or for the view.
WRONG: tuple[tuple[int, bytes | None], ...] = (
    (1, b"x"),
    (1, None),
    (1, b"2147483648"),
    (2, b"99999.999"),
    (4, b"a text that is longer than twenty"),
    (4, b"\xff"),
    (4, b"nul\0"),
    (5, b"2020-13-01"),
    (6, b"{"),
    (7, b"2021-02-29"),
)


# What comes after a run.
BETWEEN = (b"", b"", execute(), describe("P"), parse("SELECT 1") + bind() + execute(), bind([b"1"], "none"))


def random_rows(draw: random.Random, count: int, first: int) -> list[list[bytes | None]]:
    # The first choices need no more than the kernel.
    choices = [column[:1] for column in CHOICES] if draw.random() < 0.5 else CHOICES
    return [[str(first + row).encode(), *(draw.choice(column) for column in choices)] for row in range(count)]


def run_of(
    rows: list[list[bytes | None]],
    described: bool,
    statement: str = "ins",
    limit: int = 0,
    formats: tuple[int, ...] = (),
) -> bytes:
    middle = describe("P") if described else b""
    return b"".join(bind(row, statement, formats=formats) + middle + execute(row_limit=limit) for row in rows)


def random_messages(draw: random.Random, first: int) -> bytes:
    """Return some runs with Syncs between them, errors, and other messages."""
    messages = b""
    for part in range(draw.randint(1, 3)):
        rows = random_rows(draw, draw.choice((1, 2, 3, 40)), first + 100 * part)
        if draw.random() < 0.1:
            column, value = draw.choice(WRONG)
            draw.choice(rows)[column] = value
        described, limit = draw.random() < 0.5, draw.choice((0, 0, 1))
        names = ["ins"] if draw.random() < 0.7 else ["ins", "ins", "again", "", draw.choice(("more", "ins", "unknown"))]
        messages += b"".join(run_of([row], described, draw.choice(names), limit) for row in rows)
        messages += SYNC if draw.random() < 0.6 else draw.choice(BETWEEN)
    return messages + SYNC


def prepare(client: SessionClient | RawClient) -> None:
    """Prepare three statements of one text, and one of another."""
    more = (
        f"INSERT INTO s ({NAMES}) VALUES ($1, $2, $3, $4, 'more', $6, $7, $8::date), (0, 1, 2, 3, $5, NULL, '1', NULL)"
    )
    client.ask(parse(INSERT, "ins") + parse(INSERT, "again") + parse(INSERT) + parse(more, "more") + SYNC)


@pytest.fixture
def clients(world: World, tmp_path: Path) -> Iterator[tuple[SessionClient, SessionClient]]:
    """A client whose runs are found, and one in another database whose messages are handled one by
    one.
    """
    other = World(tmp_path)
    found, singles = world.client(), other.client()
    singles._connection.conversation._find_run = no_run
    yield found, singles
    other.close()


def test_same_as_one_by_one(clients: tuple[SessionClient, SessionClient], monkeypatch: pytest.MonkeyPatch) -> None:
    for client in clients:
        client.run(f"CREATE FOREIGN TABLE s ({COLUMNS}) SERVER stream", VIEW, "SET TimeZone = 'Europe/Berlin'")
        prepare(client)
    draw = random.Random(SEED)
    sizes: list[int] = []
    add = StatementStage.add

    def noted_add(stage: StatementStage, morsel: Morsel) -> None:
        sizes.append(morsel.rows_count)
        add(stage, morsel)

    monkeypatch.setattr(StatementStage, "add", noted_add)
    for number in range(CASES):
        messages = random_messages(draw, 1000 * number)
        if draw.random() < 0.1:
            # A row that the view refuses.
            rows = random_rows(draw, 30, 1000 * number + 500)
            rows[draw.randrange(30)][1] = b"0"
            messages += run_of(rows, False) + SYNC
        if draw.random() < 0.3:
            messages = query("BEGIN") + messages + query(draw.choice(("COMMIT", "ROLLBACK")))
        answers = [client.ask(messages) for client in clients]
        assert answers[0] == answers[1], (number, messages)
        assert clients[0].session.block.status == clients[1].session.block.status == "I"
    found, singles = (client.rows(f"SELECT {NAMES} FROM s ORDER BY id") for client in clients)
    assert found == singles and len(found) > CASES / 3
    found, singles = (client.rows("SELECT * FROM per_t ORDER BY t") for client in clients)
    assert found == singles and len(found) > 3
    assert max(sizes) > 30


def test_same_as_postgresql(world: World, postgres: PostgresCluster) -> None:
    client, theirs = world.client(), RawClient(postgres.port, "postgres", "postgres")
    client.run(f"CREATE FOREIGN TABLE s ({COLUMNS}) SERVER stream")
    theirs.ask(query(f"CREATE TEMPORARY TABLE s ({COLUMNS})"))
    draw = random.Random(SEED + 1)
    for one in (client, theirs):
        one.ask(query("SET TimeZone = 'Europe/Berlin'"))
        prepare(one)
    for number in range(CASES):
        messages = random_messages(draw, 1000 * number)
        syncs_count = messages.count(SYNC)
        theirs.send(messages)
        expected = [line for _ in range(syncs_count) for line in theirs.read_until_ready()]
        assert comparable(client.ask(messages)) == comparable(expected), number
    select = query(f"SELECT {NAMES} FROM s ORDER BY id")
    assert client.ask(select) == theirs.ask(select)


# Of a parameter declared as a type: its OID, the form of its binary format, and values.
SIGNED = {"int2": (21, "!h"), "int4": (23, "!i"), "int8": (20, "!q")}
TYPED: dict[str, tuple[int, str, Sequence[int | float | str | None]]] = {
    **{
        name: (
            oid,
            form,
            (0, 7, -1, 40, 2 ** (8 * struct.calcsize(form) - 1) - 1, -(2 ** (8 * struct.calcsize(form) - 1)), None),
        )
        for name, (oid, form) in SIGNED.items()
    },
    "float8": (
        701,
        "!d",
        (
            0.5,
            -1.5,
            2.5,
            1e-7,
            0.1 + 0.2,
            1e37,
            1e-46,
            32767.5,
            2147483647.5,
            9.3e18,
            float("inf"),
            None,
        ),
    ),
    "float4": (700, "!f", (0.5, -1.5, 3.0, 32768.0, 1e-30, None)),
    "varchar": (1043, "", ("2020-01-02", "2020-01-02 +05", "Feb 3 2020", "[1, 2]", "x", None)),
    "none": (0, "", ("1", "-5", "3", "2.5", "1e2", None)),
}
NUMBERS = ("int2", "int4", "int8", "float8", "float4", "none")
TYPED_COLUMNS = "id bigint, a smallint, b integer, c bigint, n numeric(6,2), m numeric(30,0), v double precision, r real, d date, j jsonb"
TYPED_INSERT = "INSERT INTO y VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9::date, $10::jsonb)"


def typed_statements(draw: random.Random, count: int) -> list[tuple[str, ...]]:
    """Return the types of the parameters of some statements."""
    chosen = []
    for _ in range(count):
        numbers = [draw.choice(NUMBERS) for _ in range(7)]
        chosen.append(("int8", *numbers, draw.choice(("varchar", "none")), draw.choice(("varchar", "none"))))
    return chosen


def typed_value(draw: random.Random, kind: str, is_wild: bool) -> tuple[int, bytes | None]:
    """Return a format and a value of a type in it."""
    _, form, values = TYPED[kind]
    value = draw.choice(values if is_wild else values[:3])
    if value is None:
        return draw.choice((0, 1)), None
    if form and draw.random() < 0.5:
        return 1, struct.pack(form, value)
    return 0, str(value).encode()


def test_parameters_of_types_that_change_are_as_in_postgresql(
    world: World, postgres: PostgresCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, theirs = world.client(), RawClient(postgres.port, "postgres", "postgres")
    client.run(f"CREATE FOREIGN TABLE y ({TYPED_COLUMNS}) SERVER stream")
    theirs.ask(query(f"CREATE TEMPORARY TABLE y ({TYPED_COLUMNS})"))
    draw = random.Random(SEED + 2)
    statements = typed_statements(draw, 40)
    prepared = b"".join(
        parse(TYPED_INSERT, f"y{number}", [TYPED[kind][0] for kind in kinds]) for number, kinds in enumerate(statements)
    )
    for one in (client, theirs):
        assert one.ask(prepared + SYNC)[-1] == "Z I"
    sizes: list[int] = []
    add = StatementStage.add

    def noted_add(stage: StatementStage, morsel: Morsel) -> None:
        sizes.append(morsel.rows_count)
        add(stage, morsel)

    monkeypatch.setattr(StatementStage, "add", noted_add)
    for case in range(2 * CASES):
        is_wild, numbers = draw.random() < 0.5, draw.sample(range(len(statements)), 3)
        messages = b""
        for row in range(1 if is_wild else 12):
            number = draw.choice(numbers)
            fields = [typed_value(draw, kind, is_wild) for kind in statements[number][1:-2]]
            late: tuple[bytes | None, ...] = (b"2020-01-02 +05", b"2020-02-03", None, b"Feb 3 2020")
            lists: tuple[bytes | None, ...] = (b"[1]", None, b"{")
            fields += [(0, draw.choice(late[: 4 if is_wild else 3])), (0, draw.choice(lists[: 3 if is_wild else 2]))]
            values = [str(100 * case + row).encode(), *(value for _, value in fields)]
            messages += bind(values, f"y{number}", formats=(0, *(code for code, _ in fields))) + execute()
        theirs.send(messages + SYNC)
        assert comparable(client.ask(messages + SYNC)) == comparable(theirs.read_until_ready()), (case, messages)
    select = query("SELECT id, a, b, c, n, m, v, r, d, j FROM y ORDER BY id")
    answers = client.ask(select), theirs.ask(select)
    assert answers[0] == answers[1] and len(answers[0]) > 5 * CASES
    assert max(sizes) == 12


def comparable(answer: list[str]) -> str:
    """Return an answer without the rest of errors, which shows the arrival of a stream's row, and
    without a BindComplete before an error: PostgreSQL plans at the first Binds, and casts to
    varchar(20) then.
    """
    told = "\n".join(line[:40] if line.startswith("E") else line for line in answer)
    return re.sub(r"^2\n(n\n)?E", "E", told, flags=re.MULTILINE)


def test_binary_values_and_other_statements(clients: tuple[SessionClient, SessionClient]) -> None:
    rows = [[number.to_bytes(4, "big"), b"text %d" % number] for number in range(50)]
    for client in clients:
        client.run("CREATE FOREIGN TABLE b (k integer, t text) SERVER stream", "CREATE TABLE c (k integer, t text)")
    for text in ("INSERT INTO b VALUES ($1, $2)", "INSERT INTO c VALUES ($1, $2)", "SELECT $1::integer, $2::text"):
        for formats in ((1,), (1, 0)):
            run = parse(text) + b"".join(bind(row, formats=formats) + execute() for row in rows) + SYNC
            answers = [client.ask(run) for client in clients]
            assert answers[0] == answers[1] and len(answers[0]) >= 2 + 2 * len(rows)
    for relation in "bc":
        found, singles = (client.rows(f"SELECT k, t FROM {relation} ORDER BY k") for client in clients)
        assert found == singles and len(found) == 100


@pytest.mark.turns(2, 1)
def test_many_rows_are_staged_by_workers_and_again(world: World) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE m (k integer) SERVER stream")
    count = 2 * ROWS_AT_ONCE_MAX
    run = parse("INSERT INTO m VALUES ($1)", "m") + b"".join(bind([b"%d" % k], "m") + execute() for k in range(count))
    answers = client.ask(run)
    assert answers[1:] == ["2", "C INSERT 0 1"] * count
    # Another session alters the stream between the rows and their commit, unseen by the client.
    world.client().run("ALTER FOREIGN TABLE m ADD COLUMN t text")
    assert client.ask(SYNC) == ["Z I"]
    assert client.rows("SELECT count(*), count(DISTINCT k) FROM m") == client.rows(
        f"SELECT {count}::bigint, {count}::bigint"
    )


def test_the_last_portal_is_spent(clients: tuple[SessionClient, SessionClient]) -> None:
    for client in clients:
        client.run("CREATE FOREIGN TABLE p (k integer) SERVER stream", "BEGIN")
        client.ask(parse("INSERT INTO p VALUES ($1)", "p"), SYNC)
    run = b"".join(bind([b"%d" % k], "p") + execute() for k in range(5))
    answers = [client.ask(run + SYNC + describe("P") + execute() + SYNC) for client in clients]
    assert answers[0] == answers[1] and answers[0][-2].startswith("E ERROR 55000"), answers[0]


def test_rows_that_need_the_general_way_do_not_have_the_others_decoded_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = world.client().after("CREATE FOREIGN TABLE s (id bigint, d date) SERVER stream")
    client.ask(parse("INSERT INTO s VALUES ($1, $2)", "ins"), SYNC)
    decode, decoded = ParameterRow.decode, [0]

    def counted(self: ParameterRow, payload: Any, starts: Any, formats: Any, reader: Any) -> Morsel:
        decoded[0] += len(starts)
        return decode(self, payload, starts, formats, reader)

    monkeypatch.setattr(ParameterRow, "decode", counted)
    count = 400
    rows: list[list[bytes | None]] = [
        [b"%d" % row, b"1 Feb 2020" if row % 2 else b"2020-02-01"] for row in range(count)
    ]
    answer = client.ask(run_of(rows, described=False), SYNC)
    assert answer == ["2", "C INSERT 0 1"] * count + ["Z I"]
    assert decoded[0] < 2 * FEW_ROWS * count


def test_statement_timeout_is_that_of_each_statement(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = world.client().after("CREATE FOREIGN TABLE s (k int) SERVER stream")
    client.ask(parse("INSERT INTO s VALUES ($1)", "p"), SYNC)
    slow, count, timeout_s = 5, 12, 0.2
    add = StatementStage.add

    def slow_add(stage: StatementStage, morsel: Morsel) -> None:
        time.sleep(0.4 * timeout_s * morsel.rows_count + (timeout_s if (morsel.data[0] == slow).any() else 0))
        add(stage, morsel)

    monkeypatch.setattr(StatementStage, "add", slow_add)
    monkeypatch.setattr(long_texts, "ROWS_AT_ONCE_MAX", 0)
    client.run(f"SET statement_timeout = {round(1000 * timeout_s)}")
    for first, error in ((100, []), (0, ["E ERROR 57014: canceling statement due to statement timeout"])):
        answer = client.ask(*((bind([b"%d" % k], "p") + execute()) for k in range(first, first + count)), SYNC)
        done = slow if error else count
        assert [line.partition("\n")[0] for line in answer] == ["2", "C INSERT 0 1"] * done + [*error, "Z I"]
    client.run("SET statement_timeout = 0")
    assert client.rows("SELECT count(*) FROM s") == client.rows(f"SELECT {count}::bigint")
