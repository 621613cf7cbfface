"""Conditions on the age of a stream's rows, against PostgreSQL over tables with the same rows."""

from __future__ import annotations

from pathlib import Path
from random import Random

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

Connection = psycopg.Connection[tuple[object, ...]]

COLUMNS = "(k int, x int, ts timestamp, tz timestamptz, d date)"
ITEMS = "count(*) n, sum(x) s, min(x) low, avg(x) mean, count(DISTINCT x) d"
# Of windows in seconds, and a condition with the place of a bound.
VIEWS = {
    "hour": (3600, f"SELECT k, {ITEMS} FROM {{}} WHERE ts > now() - interval '{{}} s' AND x < 90 GROUP BY k"),
    "turned": (86_400, f"SELECT {ITEMS} FROM {{}} WHERE now() - interval '{{}} s' <= tz"),
    "local": (1000, "SELECT DISTINCT k FROM {} WHERE ts >= localtimestamp - interval '{} s'"),
    "lists": (
        3600,
        "SELECT k, variance(x), array_agg(x ORDER BY x) FROM {} WHERE tz > now() - interval '{} s' GROUP BY k",
    ),
    "joined": (
        3600,
        "SELECT k, name, sum(x) FROM {} s JOIN names USING (k) WHERE tz > now() - interval '{} s' GROUP BY 1, 2",
    ),
}
DAYS = "SELECT k, count(*) FROM {} WHERE d > current_date - 3 GROUP BY k"


def rows(chance: Random, count: int) -> str:
    """Return rows of ages in seconds that are in no window's last two steps, nor soon to be."""
    found: list[str] = []
    while len(found) < count:
        age = chance.randrange(100_000)
        if any(0.95 * size < age < 1.02 * size for size, _ in VIEWS.values()):
            continue
        at = chance.choice(
            ["timestamptz 'infinity'", "NULL", f"now() - interval '{age} s'", f"now() - interval '{age} s'"]
        )
        x = chance.choice(["NULL", str(chance.randrange(100))])
        found.append(f"({chance.randrange(4)}, {x}, ({at})::timestamptz::timestamp, {at}, current_date - {age % 9})")
    return ", ".join(found)


def check(ours: Connection, theirs: Connection) -> None:
    for name, (size, query) in VIEWS.items():
        expected = sorted(map(repr, theirs.execute(query.format("s", size).encode()).fetchall()))
        assert sorted(map(repr, ours.execute(f"SELECT * FROM {name}".encode()).fetchall())) == expected, name
    expected = sorted(map(repr, theirs.execute(DAYS.format("s").encode()).fetchall()))
    assert sorted(map(repr, ours.execute("SELECT * FROM days").fetchall())) == expected


@pytest.mark.slow
def test_windows_that_slide(tmp_path: Path, oracle: Connection) -> None:
    chance = Random(9)
    server = AntumbraServer(tmp_path / "data").start()
    names = "CREATE TABLE names (k int, name text); INSERT INTO names VALUES (0, 'a'), (1, 'b'), (2, 'a')"
    oracle.execute(f"CREATE TABLE s {COLUMNS}".encode())
    oracle.execute(names.encode())
    oracle.execute("SET TimeZone = 'UTC'")
    with server.connect() as ours:
        ours.execute(f"CREATE FOREIGN TABLE s {COLUMNS} SERVER stream".encode())
        ours.execute(names.encode())
        notices: list[str] = []
        ours.add_notice_handler(lambda diagnostic: notices.append(diagnostic.message_primary or ""))
        for name, (size, query) in VIEWS.items():
            ours.execute(f"CREATE VIEW {name} AS {query.format('s', size)}".encode())
        assert "the window of 01:00:00 moves in steps of 00:01:00" in notices
        ours.execute(f"CREATE VIEW days AS {DAYS.format('s')}".encode())
        for _ in range(3):
            values = rows(chance, 40)
            for connection in (ours, oracle):
                connection.execute(f"INSERT INTO s VALUES {values}".encode())
            check(ours, oracle)
        ours.execute("CHECKPOINT")
        values = rows(chance, 40)
        for connection in (ours, oracle):
            connection.execute(f"INSERT INTO s VALUES {values}".encode())
    server.kill()
    server.start()
    with server.connect() as ours:
        check(ours, oracle)
        # A window is never larger than it should be, nor smaller by more than a step.
        ours.execute("CREATE VIEW close AS SELECT count(*) n FROM s WHERE tz > now() - interval '1 hour'")
        ages = ", ".join(f"(1, 1, NULL, now() - interval '{age} s', NULL)" for age in range(3500, 3700, 5))
        for connection in (ours, oracle):
            connection.execute(f"INSERT INTO s VALUES {ages}".encode())
        count = "SELECT count(*) FROM generate_series(3500, 3695, 5) age WHERE age < {}"
        least, most = (int(str(oracle.execute(count.format(size).encode()).fetchall()[0][0])) for size in (3530, 3600))
        (found,) = ours.execute("SELECT n FROM close").fetchall()[0]
        assert least <= int(str(found)) <= most
        (text,) = ours.execute("SELECT pg_get_viewdef('close'::regclass)").fetchall()[0]
        assert "WHERE (s.tz > (now() - '01:00:00'::interval))" in str(text)
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="moves with now"):
            ours.execute("CREATE VIEW other AS SELECT first(x) FROM s WHERE tz > now() - interval '1 hour'")
    server.kill()
