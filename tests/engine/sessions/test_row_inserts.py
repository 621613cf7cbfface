"""A packet answered in one go leaves the same reply, the same rows and the same session as its
messages one by one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from ringbuffer.memory.arrow import morsel_to_arrow
from tests.end_to_end.raw_client import SYNC, bind, describe, execute, frame, parse, query
from tests.engine.session_client import SessionClient, World
from tests.faults.machine import shared_kernels
from tests.faults.simulated_storage import SimulatedStorage

SEED = 23
CASES = 300
CREATE_STREAM = (
    "CREATE FOREIGN TABLE s (k int NOT NULL, n numeric(6,2), t text, ts timestamptz, big int8 DEFAULT 5) SERVER stream"
)
CREATE_VIEW = "CREATE VIEW sums AS SELECT t, count(*) AS c, sum(n) AS total, min({}) AS least FROM s GROUP BY t"
CREATE = (CREATE_STREAM, CREATE_VIEW.format("100 / k"))
# No row can be wrong for this view.
CREATE_SAFE = (CREATE_STREAM, CREATE_VIEW.format("k"))
INSERT = "INSERT INTO s (k, n, t, ts) VALUES ($1, $2, $3, $4)"
VALUES: tuple[tuple[bytes | None, ...], ...] = (
    (b"1", b"-7", b"0", b" 5 ", b"x", b"2147483648", None),
    (b"1.5", b"-0.005", b"99999.999", b"1e3", b"NaN", None),
    (b"a", b"", b"a string longer than twelve bytes", b"\xc3\xa4", b"\xff", b"nul\0", None),
    (b"2020-01-01 00:00:00Z", b"2020-01-01 12:00:00", b"today", b"2020-13-01 00:00:00Z", None),
)
GOOD = (b"1", b"1.5", b"a", b"2020-01-01 00:00:00Z")


@pytest.fixture(scope="module", autouse=True)
def _kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with shared_kernels(tmp_path_factory.mktemp("kernels")):
        yield


@pytest.fixture(params=["on", "off"])
def client(world: World, request: pytest.FixtureRequest) -> SessionClient:
    client = world.client()
    client.run(f"SET synchronous_commit = {request.param}")
    client.run(*CREATE)
    client.ask(parse(INSERT, "ins"), SYNC)
    return client


def packet(
    values: tuple[bytes | None, ...],
    statement: str = "ins",
    described: bool = True,
    row_limit: int = 0,
    portal: str = "",
) -> bytes:
    middle = describe("P", portal) if described else b""
    return bind(values, statement, portal, results=(0,)) + middle + execute(portal, row_limit) + SYNC


def insert_query(values: tuple[bytes | None, ...]) -> bytes:
    """Return a Query that inserts the same; what looks like a number is written without quotes."""
    items = [
        b"NULL" if value is None else value if value.strip(b"-.0123456789") == b"" and value else b"'%s'" % value
        for value in values
    ]
    return frame(b"Q", b"INSERT INTO s (k, n, t, ts) VALUES (" + b", ".join(items) + b")\0")


def state(client: SessionClient, world: World) -> tuple[object, list[str]]:
    """Return the stream's rows, without their arrival, and the view's."""
    entry = world.database.catalog.image.entries["s"]
    ring = entry.stream.ring  # type: ignore[union-attr]
    rows = morsel_to_arrow(ring.read(0, ring.tuples_count), ring.layout).to_pylist()
    arrivals = [row.pop("arrival_timestamp") for row in rows]
    assert arrivals == sorted(arrivals)
    return rows, client.rows("SELECT t, c, total, least FROM sums ORDER BY t")


@pytest.mark.turns(4)
@pytest.mark.parametrize("create", [CREATE, CREATE_SAFE])
def test_same_as_one_by_one(tmp_path: Path, create: tuple[str, ...]) -> None:
    folders = [tmp_path / name for name in "abc"]
    for folder in folders:
        folder.mkdir()
    # Any disk will do, but not every one has pages that are written past its cache.
    worlds = [World(folder, SimulatedStorage(SEED, folder)) for folder in folders]
    clients = [made.client() for made in worlds]
    for client in clients:
        client.run(*create)
        client.ask(parse(INSERT, "ins"), SYNC)
    draw = random.Random(SEED)
    fast_count = 0
    for number in range(CASES):
        values = tuple(draw.choice(choices) for choices in VALUES) if draw.random() < 0.6 else GOOD
        data = packet(values) if draw.random() < 0.7 else insert_query(values)
        expected = clients[1].ask(data)
        answer = clients[0].at_once(data)
        fast_count += answer is not None
        assert expected == (clients[0].ask(data) if answer is None else answer), data
        if number % 50 == 49:
            found = [state(*one) for one in zip(clients, worlds, strict=True)]
            assert found[0] == found[1]
    assert CASES / 3 < fast_count < CASES


@pytest.mark.parametrize("shape", [{"described": False}, {"row_limit": 1}, {"row_limit": -1}, {}])
def test_shapes(client: SessionClient, shape: dict[str, int]) -> None:
    data = packet(GOOD, **shape)  # type: ignore[arg-type]
    expected = client.ask(data)
    assert client.at_once(data) == client.at_once(data) == expected
    other = packet(GOOD) if shape else packet(GOOD, described=False)
    assert client.at_once(other) is None and client.ask(other)[-1] == "Z I"


@pytest.mark.turns(4)
@pytest.mark.parametrize(
    "data",
    [
        packet(GOOD, portal="p"),
        packet(GOOD, "other"),
        packet(GOOD[:3]),
        packet(GOOD)[:-5],
        packet(GOOD) + SYNC,
        packet(GOOD) + packet(GOOD),
        bind(GOOD, "ins", formats=(0, 0)) + execute() + SYNC,
        bind(GOOD, "ins", formats=(7,)) + execute() + SYNC,
        bind(GOOD, "ins") + describe("S", "ins") + execute() + SYNC,
        bind(GOOD, "ins") + execute("p") + SYNC,
        b"B" + SYNC,
        b"B\0\0\0\x0c\0ins\0\0\0" + SYNC,
        b"B\xff\xff\xff\xff\0ins\0\0\0\0\0\0\0" + execute() + SYNC,
        bind((b"1", b"1", b"a", None), "ins").replace(b"\xff\xff\xff\xff", b"\xff\xff\xff\xfe") + execute() + SYNC,
    ],
)
def test_refused(client: SessionClient, world: World, data: bytes) -> None:
    for _ in range(2):
        assert client.at_once(data) is None
        assert client.at_once(packet(GOOD)) is not None, "and others are not disturbed"
    assert world.database.catalog.image.entries["s"].stream.ring.tuples_count == 2  # type: ignore[union-attr]


@pytest.mark.turns(4)
@pytest.mark.parametrize(
    ("text", "is_done"),
    [
        ("INSERT INTO s VALUES (1)", False),
        ("INSERT INTO s (k) VALUES (1)", True),
        ("insert into public.s(k, t) values (-1, 'it''s longer than an inline string') ; ", True),
        ("INSERT INTO s (k) VALUES (1), (2)", False),
        ("INSERT INTO s (k) VALUES (NULL)", False),
        ("INSERT INTO s (t) VALUES ('a')", False),
        ("INSERT INTO s (k, t) VALUES (1, 'ä')", False),
        ("INSERT INTO s (k) VALUES (1 + 1)", False),
        ("INSERT INTO s (k) VALUES (1); SELECT 1", False),
        ("INSERT INTO s (k) VALUES (0)", False),
        ("INSERT INTO nothing (k) VALUES (1)", False),
        ("SELECT 1", False),
        ("", False),
    ],
)
def test_queries(client: SessionClient, world: World, text: str, is_done: bool) -> None:
    ring = world.database.catalog.image.entries["s"].stream.ring  # type: ignore[union-attr]
    for _ in range(2):
        assert (client.at_once(query(text)) is not None) == is_done
    assert ring.tuples_count == 2 * is_done
    assert client.at_once(query(text)[:-1]) is None
    assert client.at_once(query(text) + SYNC) is None
    assert client.at_once(frame(b"Q", text.encode() + b"\0\0")) is None
    expected = client.ask(text)
    client.run("BEGIN")
    assert client.at_once(query(text)) is None
    client.run("ROLLBACK")
    assert client.at_once(query(text)) in (None, expected)


def test_query_drops_the_unnamed_statement(client: SessionClient) -> None:
    client.ask(parse(INSERT), SYNC)
    assert client.at_once(packet(GOOD, "")) is not None
    assert client.at_once(query("INSERT INTO s (k) VALUES (1)")) == ["C INSERT 0 1", "Z I"]
    assert client.at_once(packet(GOOD, "")) is None
    assert client.ask(packet(GOOD, ""))[0].startswith("E ERROR 26000")


def test_not_inside_a_transaction(client: SessionClient) -> None:
    data = packet(GOOD)
    client.run("BEGIN")
    assert client.at_once(data) is None and client.ask(data)[-1] == "Z T"
    assert client.ask("SELECT 1 / 0")[-1] == "Z E"
    assert client.at_once(data) is None and client.ask(data)[0].startswith("E ERROR 25P02")
    client.run("ROLLBACK")
    assert client.at_once(data) is not None
    # An implicit transaction that waits for its Sync.
    client.ask(bind(GOOD, "ins"), execute())
    assert client.at_once(data) is None and client.ask(data)[-1] == "Z I"


def test_portals_end(client: SessionClient) -> None:
    assert client.ask(bind(GOOD, "ins", "kept")) == ["2"]
    assert client.at_once(packet(GOOD)) is not None
    assert client.ask(execute("kept"), SYNC)[0].startswith("E ERROR 34000")


def test_statement_of_the_same_name(client: SessionClient) -> None:
    data = packet(GOOD)
    assert client.at_once(data) is not None
    client.run("DEALLOCATE ins")
    assert client.at_once(data) is None and client.ask(data)[0].startswith("E ERROR 26000")
    client.ask(parse("SELECT $1::int, $2::numeric, $3::text, $4::timestamptz", "ins"), SYNC)
    assert client.at_once(data) is None and client.ask(data)[-2] == "C SELECT 1"
    client.run("DEALLOCATE ins")
    client.ask(parse("INSERT INTO s (k, n, t, big) VALUES ($1, $2, $3, 6)", "ins"), SYNC)
    assert client.at_once(packet(GOOD[:3])) is not None


def test_catalog_changes(client: SessionClient, world: World) -> None:
    data = packet(GOOD)
    assert client.at_once(data) is not None
    client.run("CREATE VIEW late AS SELECT count(*) AS c, max(10 / (k - 2)) AS m FROM s")
    assert client.ask(data)[-1] == "Z I"
    assert client.at_once(data) is not None
    assert client.rows("SELECT c, m FROM late") == ["D [b'2', b'-10']"]
    refused = packet((b"2", *GOOD[1:]))
    assert client.at_once(refused) is None
    assert any(line.startswith("E ERROR 22012") for line in client.ask(refused))
    assert client.rows("SELECT c FROM late") == ["D [b'2']"] and client.rows("SELECT c FROM sums") == ["D [b'3']"]
    client.run("DROP VIEW late", "DROP VIEW sums", "DROP FOREIGN TABLE s")
    assert client.at_once(data) is None and client.ask(data)[0].startswith("E ERROR 42P01")


def test_stream_of_the_same_name(client: SessionClient, world: World) -> None:
    data = packet(GOOD)
    assert client.at_once(data) is not None
    client.run("DROP VIEW sums", "DROP FOREIGN TABLE s")
    client.run("CREATE FOREIGN TABLE s (ts timestamptz, t text, big int8, k int, n numeric(6,2)) SERVER stream")
    for _ in range(2):
        assert (client.at_once(data) or client.ask(data))[-1] == "Z I"
    ring = world.database.catalog.image.entries["s"].stream.ring  # type: ignore[union-attr]
    rows = morsel_to_arrow(ring.read(0, 2), ring.layout).to_pylist()
    assert [(row["k"], row["t"], row["big"]) for row in rows] == [(1, "a", None)] * 2


def test_settings(client: SessionClient) -> None:
    data = packet(GOOD)
    assert client.at_once(data) is not None
    client.run("SET TimeZone = 'Europe/Berlin'")
    client.ask(data)
    assert client.at_once(data) == ["2", "n", "C INSERT 0 1", "Z I"]
    client.session.settings.set("application_name", "me")
    client.ask(bind(GOOD, "ins"))
    assert client.at_once(data) == ["2", "n", "C INSERT 0 1", "S application_name=me", "Z I"]


@pytest.mark.parametrize("is_text", [False, True])
def test_what_was_done_before_is_looked_at_again_after_every_change(tmp_path: Path, is_text: bool) -> None:
    world = World(tmp_path, SimulatedStorage(SEED, tmp_path))
    client, other = world.client(), world.client()
    client.run(*CREATE_SAFE)
    client.ask(parse(INSERT, "ins"), SYNC)
    data = insert_query(GOOD) if is_text else packet(GOOD)
    count = 0

    def insert() -> bool:
        """Insert a row; return whether that was done at once."""
        nonlocal count
        answer = client.at_once(data)
        told = client.ask(data) if answer is None else answer
        assert told == [*([] if is_text else ["2", "n"]), "C INSERT 0 1", "Z I"]
        count += 1
        return answer is not None

    assert insert()
    client.run("BEGIN")
    assert client.at_once(data) is None
    client.run("COMMIT")
    assert insert()
    for change in (
        "SET TimeZone = 'Europe/Berlin'",
        "CREATE VIEW more AS SELECT count(*) AS c FROM s",
        "DROP VIEW more",
        "SET synchronous_commit = off",
        "SET synchronous_commit = on",
    ):
        client.run(change)
        insert()
        assert insert(), change
    client.run("SET idle_session_timeout = '1h'")
    assert not insert() and not insert(), "the usual messages end the timeout's time"
    client.run("SET idle_session_timeout = 0")
    insert()
    assert insert()
    client.run("SET transaction_read_only = on", "SET standard_conforming_strings = on")
    insert()
    client.run("SET default_transaction_read_only = on")
    assert client.at_once(data) is None and any("E ERROR 25006" in line for line in client.ask(data))
    client.run("SET default_transaction_read_only = off")
    if not is_text:
        client.run("DEALLOCATE ins")
        assert client.at_once(data) is None and client.ask(data)[0].startswith("E ERROR 26000")
        client.ask(parse(INSERT, "ins"), SYNC)
    other.run("CREATE VIEW another AS SELECT count(*) AS c FROM s", "INSERT INTO s (k) VALUES (7)")
    count += 1
    insert()
    assert insert()
    assert client.rows("SELECT sum(c) FROM sums") == [f"D [b'{count}']"]
    world.close()
    again = World(tmp_path, world.database.storage)
    assert again.client().rows("SELECT sum(c) FROM sums") == [f"D [b'{count}']"], "after a restart, too"
    again.close()


def test_a_notification_comes_with_the_reply(client: SessionClient, world: World) -> None:
    client.run("LISTEN news")
    other = world.client()
    data = packet(GOOD)
    for _ in range(3):
        other.run("NOTIFY news, 'now'")
        answer = client.at_once(data)
        assert answer is not None and any(line.startswith("A") for line in answer[:-1]) and answer[-1] == "Z I"


def test_what_a_statement_has_as_constants_is_computed_once_for_all_sessions(
    client: SessionClient, world: World
) -> None:
    client.run("CREATE FOREIGN TABLE c (k integer, x double precision, t text DEFAULT 'none') SERVER stream")
    others = [client, world.client(), world.client()]
    constants = ["0", "'-0'::float8", "NULL", "0.0", "1e3"]
    for other in others:
        for number, constant in enumerate(constants):
            name = f"s{number}"
            other.ask(parse(f"INSERT INTO c (k, x) VALUES ($1, {constant})", name), SYNC)
            data = packet((b"%d" % number,), name)
            assert other.at_once(data) == ["2", "n", "C INSERT 0 1", "Z I"]
    assert len(world.database.catalog.image.constant_rows) <= len(constants)
    found = client.rows("SELECT k, x::text, t FROM c ORDER BY k")
    shown = ["b'0'", "b'-0'", "None", "b'0'", "b'1000'"]
    assert found == [f"D [b'{number}', {text}, b'none']" for number, text in enumerate(shown) for _ in others]
    client.run("ALTER FOREIGN TABLE c ALTER COLUMN t SET DEFAULT 'other'")
    for other in others:
        assert other.ask(packet((b"9",), "s0"))[-2:] == ["C INSERT 0 1", "Z I"]
    assert client.rows("SELECT DISTINCT t FROM c WHERE k = 9") == ["D [b'other']"]
