"""SUBSCRIBE against a plain-Python model: the rows that have come and gone add up to the answer at
each time, and to what a SELECT gives.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Iterator

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

Connection = psycopg.Connection[tuple[object, ...]]
Rows = Counter[tuple[object, ...]]


@pytest.fixture
def ours(server: AntumbraServer) -> Iterator[Connection]:
    with server.connect() as connection:
        connection.autocommit = True
        connection.execute("CREATE FOREIGN TABLE seen (k int, v int, t text) SERVER stream")
        connection.execute("CREATE TABLE named (id int PRIMARY KEY, name text, extra jsonb)")
        connection.execute(
            "CREATE VIEW sums AS SELECT k, sum(v) AS v, max(t) AS t, avg(v) AS a, array_agg(v) AS l FROM seen GROUP BY k"
        )
        yield connection
        connection.execute("DROP FOREIGN TABLE seen CASCADE; DROP TABLE named")


def applied(rows: Rows, changes: list[tuple[object, ...]]) -> None:
    for _, diff, *row in changes:
        assert isinstance(diff, int)
        key = tuple(tuple(one) if isinstance(one, list) else str(one) if isinstance(one, dict) else one for one in row)
        rows[key] += diff
        assert rows[key] >= 0, row
        if not rows[key]:
            del rows[key]


def whole(connection: Connection, query: str) -> Rows:
    found: Rows = Counter()
    applied(found, [(0, 1, *row) for row in connection.execute(query.encode()).fetchall()])
    return found


QUERIES = (
    "TABLE sums",
    "SELECT name, v, extra FROM sums JOIN named ON id = k",
    "SELECT v FROM sums UNION ALL SELECT id FROM named",
    "SELECT k FROM sums WHERE v > 20",
)


@pytest.mark.parametrize("seed", [1])
def test_changes_add_up_to_the_answer(server: AntumbraServer, ours: Connection, seed: int) -> None:
    rng = random.Random(seed)
    followers = [server.connect() for _ in QUERIES]
    known: list[Rows] = [Counter() for _ in QUERIES]
    latest = [0] * len(QUERIES)
    for follower, query in zip(followers, QUERIES, strict=True):
        follower.execute("BEGIN")
        follower.execute(f"DECLARE c CURSOR FOR SUBSCRIBE ({query})".encode())
    model: dict[int, int] = {}
    for turn in range(8):
        for k, v in ((rng.randrange(4), rng.randrange(-5, 9)) for _ in range(rng.randrange(4))):
            ours.execute("INSERT INTO seen VALUES (%s, %s, %s)", (k, v, f"text {v}"))
            model[k] = model.get(k, 0) + v
        match rng.randrange(4):
            case 0:
                ours.execute(
                    "INSERT INTO named VALUES (%s, %s, '{\"a\": 1.0}') ON CONFLICT (id) DO UPDATE SET name = 'again'",
                    (rng.randrange(4), f"name {turn}"),
                )
            case 1:
                ours.execute("DELETE FROM named WHERE id = %s", (rng.randrange(4),))
        for place, (follower, query) in enumerate(zip(followers, QUERIES, strict=True)):
            wanted = whole(ours, query)
            for _ in range(100):
                changes = follower.execute("FETCH ALL c WITH (timeout = '50 ms')").fetchall()
                times = [latest[place], *(int(str(row[0])) for row in changes)]
                assert times == sorted(times)
                latest[place] = times[-1]
                applied(known[place], changes)
                if known[place] == wanted:
                    break
            assert known[place] == wanted, (seed, query)
        assert {k: v for k, v, *_ in known[0]} == model
    for follower in followers:
        follower.close()


def test_copy_goes_on_until_it_is_cancelled(server: AntumbraServer, ours: Connection) -> None:
    ours.execute("INSERT INTO seen VALUES (1, 1, 'a')")
    found: list[tuple[str | None, ...]] = []
    ended: list[str | None] = []
    came = threading.Semaphore(0)

    def follow(connection: Connection, text: bytes) -> None:
        try:
            with connection.cursor().copy(text) as rows:
                for row in rows.rows():
                    found.append(row)
                    came.release()
        except psycopg.Error as error:
            ended.append(error.sqlstate)

    with server.connect() as follower:
        text = b"COPY (SUBSCRIBE TO sums WITH (PROGRESS)) TO STDOUT"
        thread = threading.Thread(target=follow, args=(follower, text))
        thread.start()
        assert came.acquire(timeout=30) and came.acquire(timeout=30)
        ours.execute("INSERT INTO seen VALUES (1, 2, 'b')")
        while not any(row[1:5] == ("f", "1", "1", "3") for row in found):
            assert came.acquire(timeout=30)
        follower.cancel()
        thread.join(30)
    assert ended == ["57014"]
    told = [row[1:5] for row in found if row[1] == "f"]
    assert told[:3] == [("f", "1", "1", "1"), ("f", "-1", "1", "1"), ("f", "1", "1", "3")]
    assert all(row[2:] == (None,) * 6 for row in found if row[1] == "t")


def test_a_subscription_without_its_beginning(server: AntumbraServer, ours: Connection) -> None:
    ours.execute("INSERT INTO seen VALUES (1, 1, 'a')")
    with server.connect() as follower:
        follower.execute("BEGIN")
        follower.execute("DECLARE c CURSOR FOR SUBSCRIBE TO sums WITH (SNAPSHOT = false)")
        assert follower.execute("FETCH ALL c WITH (timeout = '0 s')").fetchall() == []
        ours.execute("INSERT INTO seen VALUES (2, 2, 'b'), (3, 3, 'c')")
        first = follower.execute("FETCH 1 c").fetchall()
        rest = follower.execute("FETCH ALL c").fetchall()
        assert sorted((row[1], row[2]) for row in [*first, *rest]) == [(1, 2), (1, 3)]
        assert len(first) == len(rest) == 1
        ours.execute("DROP VIEW sums")
        with pytest.raises(psycopg.errors.UndefinedTable):
            follower.execute("FETCH ALL c")


REFUSED = {
    "SUBSCRIBE TO seen": "0A000",
    "SUBSCRIBE TO nothing": "42P01",
    "SUBSCRIBE (SELECT random() FROM sums)": "0A000",
    "SUBSCRIBE TO sums AS OF 3": "0A000",
    "SUBSCRIBE TO sums WITH (PROGRESS) AS OF AT LEAST 3": "0A000",
    "SUBSCRIBE TO sums UP TO 3": "0A000",
    "SUBSCRIBE (SELECT 1) WITH (SNAPSHOT = false) UP TO 3": "0A000",
    "SUBSCRIBE TO sums ENVELOPE UPSERT (KEY (k))": "0A000",
    "SUBSCRIBE TO sums ENVELOPE DEBEZIUM (KEY (k))": "0A000",
    "SUBSCRIBE TO sums WITHIN TIMESTAMP ORDER BY k": "0A000",
    "SUBSCRIBE TO sums ENVELOPE": "42601",
    "SUBSCRIBE TO sums WITH (nothing)": "22023",
    "SUBSCRIBE TO pg_stat_streams": "0A000",
    "COPY (SUBSCRIBE TO sums) TO '/tmp/x'": "0A000",
    "COPY (SUBSCRIBE TO sums) FROM STDIN": "42601",
    "DECLARE c SCROLL CURSOR FOR SUBSCRIBE TO sums": "0A000",
    "DECLARE c CURSOR WITH HOLD FOR SUBSCRIBE TO sums": "0A000",
    "DECLARE c CURSOR FOR SUBSCRIBE TO sums; FETCH BACKWARD 1 FROM c": "55000",
    "DECLARE c CURSOR FOR TABLE sums; FETCH ALL c WITH (timeout = '1 s')": "22023",
}


def test_what_is_refused(server: AntumbraServer, ours: Connection) -> None:
    for text, sqlstate in REFUSED.items():
        with server.connect() as connection:
            *before, last = ["BEGIN", *text.split("; ")] if "CURSOR" in text else [text]
            for part in before:
                connection.execute(part.encode())
            assert sqlstate_of(connection, last) == sqlstate, text
    with server.connect() as connection:
        connection.execute("CREATE ROLE stranger")
        connection.execute("SET ROLE stranger")
        for text in ("SUBSCRIBE TO sums", "COPY (SUBSCRIBE TO sums) TO STDOUT"):
            assert sqlstate_of(connection, text) == "42501"
        connection.execute("RESET ROLE")
        connection.execute("DROP ROLE stranger")


def sqlstate_of(connection: Connection, text: str) -> str | None:
    with pytest.raises(psycopg.Error) as found:
        connection.execute(text.encode())
    return found.value.sqlstate
