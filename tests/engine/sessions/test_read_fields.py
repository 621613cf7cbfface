"""An INSERT of one row whose types no decoder's kernel reads, prepared or a text of literals, is
answered at once, and leaves what the general way leaves.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest

from ringbuffer.memory.arrow import morsel_to_arrow
from tests.end_to_end.raw_client import SYNC, bind, execute, parse, query
from tests.engine.session_client import SessionClient, World
from tests.faults.machine import shared_kernels
from tests.faults.simulated_storage import SimulatedStorage

SEED = 29
CASES = 250
# Of each type: texts, and binary forms, good ones and bad ones.
LONG = b'{"name": "longer than twelve bytes", "b": [1, 2.50, -0], "a": {"c":null}, "name": "again"}'
FIELDS: dict[str, tuple[tuple[bytes, ...], tuple[bytes, ...]]] = {
    "jsonb": (
        (b"1", LONG, b'{"a":1}', b'"\\u00e4"', b'{"\xc3\xa4":1e3}', b"{", b""),
        (b"\1 1", b"\1" + LONG, b"\2{}", b"", b'\1"\xff"', b'\1"\0"'),
    ),
    "json": ((b" 1 ", LONG, b"[1,  2]", b'"\\ud800"', b"{'a'}"), (b"[]", LONG, b'"\xff"', b"nul")),
    "uuid": ((b"{A0EEBC99-9c0b4ef8bb6d6bb9bd380a11}", b"x"), (UUID(int=7).bytes, b"\0" * 15)),
    "inet": ((b"10.0.0.1/8", b"::1", b"1.2.3"), ()),
    "numeric": ((b"1.50", b"NaN", b"-Infinity", b"1e5", b"12345678901234567890.123", b"1.5.0"), ()),
    "interval": ((b"1 mon 2 days 03:04:05.6", b"P1Y", b"1 fortnight ago x"), (b"\0" * 16, b"\0")),
    "interval day": ((b"1 mon 2 days 03:04:05.6", b"5"), (b"\0\0\0\1" * 4,)),
    "time": ((b"12:34:56.7", b"24:00", b"25:00"), (b"\0" * 8, b"\xff" * 8)),
    "timetz": ((b"12:34", b"12:34+05:30", b"x"), (b"\0" * 12,)),
    "timestamp(1)": ((b"2020-01-01 12:34:56.78", b"x"), (b"\0" * 7 + b"\1",)),
    "timestamptz[]": ((b'{"2020-06-01 12:00",NULL}', b"{x}"), ()),
    "bytea": ((b"\\x00ff", b"a\\\\b", b"\\x0"), (b"", b"\xff\0 and more than twelve")),
    "int[]": ((b"{1,NULL,3}", b"{}", b"{{1},{2}}", b"{1.5}"), ()),
    "text[]": ((b'{a,"b c",NULL}', b"{a"), ()),
    "char(3)": ((b"a", b"abcd", b"ab    ", b"\xc3\xa4"), (b"abc", b"\xff")),
    "name": ((b"a" * 70, b"n"), (b"n",)),
    "oid": ((b"26", b"-1", b"5000000000"), (b"\xff" * 4, b"\0")),
}
COLUMNS = ", ".join(f"c{number} {kind}" for number, kind in enumerate(FIELDS))
GIVEN = ", ".join(f"c{number}" for number in range(len(FIELDS)))
PARAMETERS = ", ".join(f"${number}" for number in range(1, len(FIELDS) + 2))
CREATE = (
    f"CREATE FOREIGN TABLE s (k int, {COLUMNS}, other jsonb DEFAULT '[1]') SERVER stream",
    "CREATE VIEW keys AS SELECT k, count(*) AS n, count(c1) AS given FROM s GROUP BY k",
    "CREATE VIEW fields AS SELECT c0 ->> 'name' AS name, max(c3) AS last, min(c5) AS least FROM s GROUP BY 1",
    "SET TimeZone = 'Europe/Berlin'",
    "SET IntervalStyle = 'sql_standard'",
)


@pytest.fixture(scope="module", autouse=True)
def _kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with shared_kernels(tmp_path_factory.mktemp("kernels")):
        yield


def draw_field(draw: random.Random, kind: str, is_binary: bool) -> bytes | None:
    if draw.random() < 0.2:
        return None
    # Mostly the first, a good one: a row of bad fields tells nothing of the others.
    forms = FIELDS[kind][is_binary]
    return forms[0] if draw.random() < 0.8 else draw.choice(forms)


def rows_of(world: World, client: SessionClient) -> tuple[object, ...]:
    """Return the rows of the stream, without their arrival, and those of the views."""
    ring = world.database.catalog.image.entries["s"].stream.ring  # type: ignore[union-attr]
    rows = morsel_to_arrow(ring.read(0, ring.tuples_count), ring.layout).to_pylist()
    for row in rows:
        row.pop("arrival_timestamp")
    views = [client.rows(f"SELECT * FROM {name} ORDER BY 1, 2") for name in ("keys", "fields")]
    return repr(rows), *views


def literal(field: bytes | None) -> str:
    return "NULL" if field is None else "'" + field.decode(errors="replace").replace("'", "''") + "'"


@pytest.mark.turns(2)
@pytest.mark.parametrize("is_simple", [False, True], ids=["bind", "query"])
def test_same_as_the_general_way(tmp_path: Path, is_simple: bool) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    worlds = [World(tmp_path / name, SimulatedStorage(SEED, tmp_path / name)) for name in "ab"]
    clients = [made.client() for made in worlds]
    for client in clients:
        client.run(*CREATE)
        client.ask(parse(f"INSERT INTO s (k, {GIVEN}) VALUES ({PARAMETERS})", "ins"), SYNC)
    draw = random.Random(SEED)
    at_once_count = 0
    choices = [[1] + [int(bool(forms[1]) and draw.random() < 0.5) for forms in FIELDS.values()] for _ in range(4)]
    for _ in range(CASES):
        formats = [1] + [0] * len(FIELDS) if is_simple else draw.choice(choices)
        fields = [draw_field(draw, kind, bool(code)) for kind, code in zip(FIELDS, formats[1:], strict=True)]
        data = bind((b"\0\0\0" + bytes([draw.randrange(5)]), *fields), "ins", formats=formats) + execute() + SYNC
        if is_simple:
            data = query(f"INSERT INTO s (k, {GIVEN}) VALUES (1, {', '.join(map(literal, fields))})")
        expected = clients[1].ask(data)
        answer = clients[0].at_once(data)
        at_once_count += answer is not None
        assert expected == (clients[0].ask(data) if answer is None else answer), data
    assert rows_of(worlds[0], clients[0]) == rows_of(worlds[1], clients[1])
    assert CASES / (20 if is_simple else 5) < at_once_count < CASES
    for world in worlds:
        world.close()


def test_null_where_no_null_may_be(world: World) -> None:
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (k int, payload json NOT NULL) SERVER stream")
    client.ask(parse("INSERT INTO s VALUES ($1, $2)", "ins"), SYNC)
    for payload, is_taken in ((b"[]", True), (None, False), (b"{}", True)):
        data = bind((b"1", payload), "ins") + execute() + SYNC
        assert (client.at_once(data) is not None) == is_taken
    assert client.ask(bind((b"1", None), "ins") + execute() + SYNC)[1].startswith("E ERROR 23502")


def test_settings_are_those_of_now(world: World) -> None:
    client = world.client()
    client.run(
        "CREATE FOREIGN TABLE s (t timetz) SERVER stream", "CREATE VIEW v AS SELECT t, count(*) FROM s GROUP BY t"
    )
    client.ask(parse("INSERT INTO s VALUES ($1)", "ins"), SYNC)
    for zone in ("UTC", "+02", "UTC"):
        client.run(f"SET TimeZone = '{zone}'")
        data = bind((b"12:00",), "ins") + execute() + SYNC
        client.ask(data)
        assert client.at_once(data) is not None
        assert client.at_once(query("INSERT INTO s VALUES ('12:00')")) is not None
    assert client.rows("SELECT * FROM v ORDER BY t") == ["D [b'12:00:00+02', b'3']", "D [b'12:00:00+00', b'6']"]
