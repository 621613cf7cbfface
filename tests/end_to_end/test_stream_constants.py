"""Groupings over streams that differ in what they compare with alone: one kernel answers them all,
as PostgreSQL would.
"""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

COLUMNS = "i integer, b bigint, n numeric(12,2), f double precision, r real, t text, v varchar(60), d date, ts timestamp, tz timestamptz"
# Each with parameters of all these types; the last one's list is as long each time.
QUERIES = (
    "SELECT count(*), sum(n) FROM many WHERE i > %s AND b <= %s AND n >= %s AND f < %s AND r <> %s",
    'SELECT t, count(*) FILTER (WHERE v < %s) FROM many WHERE t <> %s GROUP BY t ORDER BY t COLLATE "C"',
    "SELECT d > %s, ts BETWEEN %s AND %s, count(*), min(tz) FROM many WHERE tz < %s GROUP BY 1, 2 ORDER BY 1, 2",
    "SELECT CASE WHEN t = %s THEN 'this' WHEN v IS DISTINCT FROM %s THEN 'that' END AS k, max(i) FROM many GROUP BY 1 ORDER BY 1",
    "SELECT count(*), count(n) FROM many WHERE i IN (%s, %s, %s) OR t IN (%s, 'a long text that is in the code and no parameter')",
)
ROUNDS = 12
FIRST = datetime(2020, 1, 1, tzinfo=UTC)
TEXTS = (
    "",
    "a",
    "twelve bytes",
    "thirteen byte",
    "a text that is too long to lie in its slot",
    "ä long öne with two-byte letters",
)


def constants(choice: random.Random) -> list[list[object]]:
    """Return constants for each query; some are those of a row."""

    def number(most: int) -> int:
        return choice.randrange(-most, most)

    def text() -> str:
        return choice.choice(TEXTS)

    def moment() -> datetime:
        return FIRST + timedelta(microseconds=choice.randrange(10**14))

    return [
        [number(20), number(2**40), Decimal(number(10**5)).scaleb(-2), choice.uniform(-9, 9), float(number(3))],
        [text(), text()],
        [
            FIRST.date() + timedelta(days=number(900)),
            moment().replace(tzinfo=None),
            moment().replace(tzinfo=None),
            moment(),
        ],
        [text(), text()],
        [number(20), number(20), number(20), text()],
    ]


def rows(choice: random.Random, count: int) -> list[list[object]]:
    """Return rows of the stream, with NULLs."""
    found = []
    for _ in range(count):
        (i, b, n, f, r), (t, v), (d, ts, _, tz), *_ = constants(choice)
        row = [i, b, n, f, r, t, v, d, ts, tz]
        found.append([None if choice.random() < 0.1 else value for value in row])
    return found


@pytest.mark.turns(2, 0)
def test_one_kernel_answers_for_all_constants(server: AntumbraServer, postgres: PostgresCluster) -> None:
    choice = random.Random(20261123)
    with server.connect() as ours, postgres.connect() as theirs:
        for connection, how in ((ours, "FOREIGN TABLE many ({}) SERVER stream"), (theirs, "TABLE many ({})")):
            connection.autocommit = True
            connection.execute(f"CREATE {how.format(COLUMNS)}".encode())
            connection.execute("SET TimeZone = 'UTC'")
        ours.execute("SET min_stream_kernel_size = 0")
        data = rows(choice, 400)
        for connection in (ours, theirs):
            with connection.cursor() as cursor:
                cursor.executemany(f"INSERT INTO many VALUES ({', '.join(['%s'] * 10)})".encode(), data)
        folder = server.folder / "kernels" / "select"
        kernels = []
        for _ in range(ROUNDS):
            for query, values in zip(QUERIES, constants(choice), strict=True):
                mine, expected = (one.execute(query.encode(), values).fetchall() for one in (ours, theirs))
                assert mine == expected, (query, values)
            kernels.append({path.name for path in folder.glob("*.py")})
        assert kernels[0] == kernels[-1] != set()
        ours.execute("DROP FOREIGN TABLE many")
        theirs.execute("DROP TABLE many")
