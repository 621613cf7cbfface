"""The time of the transaction in an INSERT into a stream, as a default, written out, or DEFAULT:
the same value whichever way the row goes, and no planner for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from engine.storage.clock import SystemClock
from tests.end_to_end.raw_client import SYNC, bind, describe, execute, frame, parse
from tests.engine.session_client import SessionClient, World
from tests.faults.machine import shared_kernels

STREAM = """CREATE FOREIGN TABLE s (
    k integer, zoned timestamptz DEFAULT now(), local timestamp DEFAULT now(), day date DEFAULT current_date,
    word text DEFAULT 'x', plain timestamptz) SERVER stream"""
VIEW = """CREATE VIEW v AS SELECT k, max(zoned) AS zoned, max(local) AS local, max(day) AS day, max(word) AS word,
    max(plain) AS plain FROM s GROUP BY k"""
# Across two ends of a day and a change to summer time.
MOMENTS = (
    datetime(2024, 3, 31, 0, 59, 59, 995_000, UTC),
    datetime(2024, 3, 31, 1, 0, 0, 4_999, UTC),
    datetime(2024, 6, 30, 22, 30, 0, 123_456, UTC),
    datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC),
)
ZONES = ("UTC", "Europe/Berlin", "America/St_Johns")
# What is given, and which of the columns have the time.
STATEMENTS = {
    "(k) VALUES ({})": "zoned local day",
    "(k, zoned, local, day) VALUES ({}, now(), now(), now())": "zoned local day",
    "(k, zoned, local, day, plain) VALUES ({}, CURRENT_TIMESTAMP, current_timestamp, NOW(), Now())": (
        "zoned local day plain"
    ),
    "(k, zoned, local, day, plain) VALUES ({}, DEFAULT, default, DEFAULT, DEFAULT)": "zoned local day",
    "(k, plain, local) VALUES ({}, now(), NULL)": "zoned day plain",
}


class SetClock(SystemClock):
    """A clock that says what the test has set."""

    us = 0

    def now_us(self) -> int:
        """The time that was set."""
        return self.us

    def set(self, moment: datetime) -> None:
        """Say this from now on."""
        self.us = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


@pytest.fixture(scope="module", autouse=True)
def _kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with shared_kernels(tmp_path_factory.mktemp("kernels")):
        yield


def row(number: int, timed: str, moment: datetime, zone: str) -> str:
    """Return the row of the view by a plain model."""
    local = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    values: dict[str, datetime | date] = {
        "zoned": moment,
        "local": local,
        "day": local.date(),
        "plain": moment,
    }
    kept = {name: said(value) for name, value in values.items() if name in timed.split()}
    columns = ("zoned", "local", "day", "word", "plain")
    return f"D {[str(number).encode(), *((kept | {'word': b'x'}).get(name) for name in columns)]}"


def said(value: datetime | date) -> bytes:
    """Return what a client in UTC reads."""
    if not isinstance(value, datetime):
        return str(value).encode()
    fraction = f"{value.microsecond:06}".rstrip("0")
    text = f"{value:%Y-%m-%d %H:%M:%S}" + (f".{fraction}" if fraction else "")
    return (text + ("+00" if value.tzinfo else "")).encode()


@pytest.mark.turns(2)
@pytest.mark.parametrize("zone", ZONES)
@pytest.mark.parametrize("form", ["text", "prepared", "rows", "transaction"])
def test_all_ways_store_the_time_of_the_transaction(tmp_path: Path, zone: str, form: str) -> None:
    clock = SetClock()
    clock.set(MOMENTS[0])
    world = World(tmp_path, clock=clock)
    client, expected, number = world.client(), [], 0
    client.run(STREAM, VIEW, f"SET TimeZone = '{zone}'")
    for place, (text, timed) in enumerate(STATEMENTS.items()):
        client.ask(parse(f"INSERT INTO s {text.format('$1')}", f"p{place}", [23]), SYNC)
        for moment in MOMENTS:
            clock.set(moment)
            number += 1
            expected.append(row(number, timed, moment, zone))
            insert(client, clock, form, text, place, number)
    client.run("SET TimeZone = 'UTC'")
    assert client.rows("SELECT * FROM v ORDER BY k") == expected
    world.close()


def insert(client: SessionClient, clock: SetClock, form: str, text: str, place: int, number: int) -> None:
    """Insert a row; a moment later the clock goes on."""
    written = f"INSERT INTO s {text.format(number)}"
    if form == "text":
        assert client.at_once(frame(b"Q", written.encode() + b"\0")) is not None, written
    elif form == "prepared":
        packet = (
            bind((str(number).encode(),), f"p{place}", "", results=(0,)) + describe("P", "") + execute("", 0) + SYNC
        )
        assert client.at_once(packet) is not None, written
    elif form == "rows":
        # The same row twice, of which the view keeps one.
        start = written.index("VALUES") + len("VALUES")
        client.run(f"{written}, {written[start:]}")
    else:
        client.run("BEGIN")
        clock.us += 1
        client.run(written, "COMMIT")


def test_the_general_way_agrees(tmp_path: Path) -> None:
    clock = SetClock()
    world = World(tmp_path, clock=clock)
    client, expected = world.client(), []
    client.run(STREAM, VIEW, "SET TimeZone = 'America/St_Johns'")
    for number, moment in enumerate(MOMENTS):
        clock.set(moment)
        expected.append(row(number, "zoned local day plain", moment, "America/St_Johns"))
        client.run(f"INSERT INTO s (k, zoned, local, day, plain) VALUES ({number} + 0, now(), now(), now(), now())")
    client.run("SET TimeZone = 'UTC'")
    assert client.rows("SELECT * FROM v ORDER BY k") == expected
    world.close()


def test_a_time_of_fewer_digits_is_rounded(tmp_path: Path) -> None:
    clock = SetClock()
    clock.set(datetime(2024, 12, 31, 23, 59, 59, 995_000, UTC))
    world = World(tmp_path, clock=clock)
    client = world.client()
    client.run("CREATE FOREIGN TABLE s (k integer, rounded timestamp(2) DEFAULT now()) SERVER stream")
    client.run("CREATE VIEW v AS SELECT k, max(rounded) AS rounded FROM s GROUP BY k", "SET TimeZone = 'UTC'")
    client.run("INSERT INTO s (k) VALUES (1)", "INSERT INTO s VALUES (2, now())", "INSERT INTO s VALUES (3, DEFAULT)")
    client.ask(parse("INSERT INTO s VALUES ($1, now())", "p", [23]), SYNC)
    client.ask(bind((b"4",), "p", "", results=(0,)), execute("", 0), SYNC)
    assert client.rows("SELECT * FROM v ORDER BY k") == [f"D [b'{k}', b'2025-01-01 00:00:00']" for k in range(1, 5)]
    world.close()
