"""The running examples of C. Winter's thesis (TUM 2023), as users type them: posts with their
users, parts used at stations and restocked.

The stream posts and how it is filled are after chapter 3; the queries and views, and the streams of
parts (chapter 4 and "Meet Me Halfway", VLDB 2020), are in the manner of what is described there.
PostgreSQL gets the same text over tables with the same rows.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

Connection = psycopg.Connection[tuple[object, ...]]

POSTS = "posts (uid integer, username varchar, score integer, content varchar)"
USERS = (
    "CREATE TABLE users (uid integer PRIMARY KEY, name varchar NOT NULL, city text)",
    "INSERT INTO users VALUES (1, 'ann', 'Aachen'), (2, 'bob', NULL), (3, 'cid', 'Celle'), (5, 'eve', 'Aachen')",
    "CREATE TABLE drafts (uid integer, score integer, content varchar)",
    "INSERT INTO drafts SELECT g % 7, g * g % 41, repeat('draft ', g % 5) FROM generate_series(1, 60) AS g",
)
FILLED = (
    "INSERT INTO posts VALUES (1, 'ann', 5, 'a first post that is too long for its slot'), (2, 'bob', NULL, ''), (3, 'cid', 17, 'third')",
    "INSERT INTO posts SELECT uid, name, score, content FROM drafts JOIN users USING (uid)",
)
CSV = '1,ann,40,"with, a comma"\n4,dan,8,"nobody knows\nhim"\n5,eve,12,\n2,"bob",3,x\n'
POST_VIEWS = {
    "scores": "SELECT uid, sum(score) AS total, count(*) AS posts FROM posts GROUP BY uid",
    "best": "SELECT uid, sum(score) AS total FROM posts GROUP BY uid ORDER BY total DESC NULLS LAST, uid LIMIT 2",
    "per_name": "SELECT name, avg(score) AS mean, max(content) AS last FROM posts JOIN users USING (uid) GROUP BY name",
    "per_city": "SELECT u.city, sum(s.total) AS total FROM users u LEFT JOIN "
    "(SELECT uid, sum(score) AS total FROM posts GROUP BY uid) s ON s.uid = u.uid GROUP BY u.city",
    "overall": "SELECT count(*), min(score), max(score), sum(score) FROM posts WHERE content <> ''",
}
POST_QUERIES = (
    "SELECT username, score, content FROM posts ORDER BY score DESC NULLS LAST, uid, content LIMIT 5",
    "SELECT u.name, sum(p.score) FROM posts p JOIN users u ON u.uid = p.uid GROUP BY u.name ORDER BY 2 DESC NULLS LAST, 1",
    "SELECT u.name, p.score FROM users u LEFT JOIN posts p ON p.uid = u.uid AND p.score > 30 ORDER BY 1, 2",
    "SELECT name FROM users u WHERE NOT EXISTS (SELECT FROM posts p WHERE p.uid = u.uid AND p.score > 12) ORDER BY 1",
    "SELECT uid, score, rank() OVER (PARTITION BY uid ORDER BY score DESC) FROM posts WHERE score > 20 ORDER BY 1, 3, 2",
)

USED = "SELECT station, part, sum(amount) AS amount FROM part_usage GROUP BY station, part"
RESTOCKED = "SELECT station, part, sum(amount) AS amount FROM part_restock GROUP BY station, part"
MOVEMENTS = "(station integer, part integer, amount integer, moved timestamp)"
STATIONS = (
    "CREATE TABLE station (id integer PRIMARY KEY, name varchar NOT NULL, spare integer NOT NULL)",
    "INSERT INTO station VALUES (1, 'welding', 3), (2, 'painting', 5), (3, 'assembly', 0), (4, 'packing', 1)",
)
STOCK_VIEWS = {
    "stock": f"SELECT s.name, r.part, r.amount - u.amount AS stock FROM ({RESTOCKED}) r JOIN ({USED}) u USING (station, part) "
    "JOIN station s ON s.id = r.station",
    "stock_everywhere": "SELECT station.name, part, coalesce(r.amount, 0) - coalesce(u.amount, 0) + spare AS stock "
    f"FROM ({RESTOCKED}) AS r FULL JOIN ({USED}) AS u USING (station, part) LEFT JOIN station ON station.id = station",
    "low": f"WITH u AS ({USED}), r AS ({RESTOCKED}), l AS (SELECT r.station, r.part, r.amount - u.amount AS stock FROM r, u "
    "WHERE r.station = u.station AND r.part = u.part) SELECT part, min(stock), avg(stock), count(*) FROM l "
    "GROUP BY part HAVING min(stock) < (SELECT 10 * max(spare) FROM station)",
    "movements": "SELECT part, sum(amount) AS stock, rank() OVER (ORDER BY sum(amount) DESC) FROM (SELECT part, sum(amount) AS amount "
    "FROM part_restock GROUP BY part UNION ALL SELECT part, -sum(amount) FROM part_usage WHERE amount > 0 GROUP BY part) m GROUP BY part",
    "never_used": "SELECT DISTINCT station, part FROM part_restock EXCEPT SELECT DISTINCT station, part FROM part_usage",
    "shares": "SELECT a.part, a.amount::numeric / nullif(b.amount, 0) AS share FROM (SELECT part, sum(amount) AS amount FROM part_usage "
    "GROUP BY part) a CROSS JOIN (SELECT sum(amount) AS amount FROM part_usage) b",
    "pairs": f"WITH u AS ({USED}) SELECT a.station, b.station AS other, count(*) FROM u a JOIN u b ON a.part = b.part "
    "AND a.station < b.station GROUP BY 1, 2",
    "named": "SELECT name, r.last, u.last AS used "
    "FROM (SELECT station, max(moved) AS last FROM part_restock GROUP BY station) r JOIN "
    "(SELECT s.name, s.id, max(moved) AS last FROM part_usage JOIN station s ON s.id = station GROUP BY s.name, s.id) u "
    "ON u.id = r.station",
}


@pytest.fixture
def clients(server: AntumbraServer, postgres: PostgresCluster) -> Iterator[tuple[Connection, Connection]]:
    """A connection to each, without any relation."""
    with server.connect() as ours, postgres.connect() as theirs:
        yield ours, theirs
        for stream in ("posts", "part_usage", "part_restock"):
            ours.execute(f"DROP FOREIGN TABLE IF EXISTS {stream} CASCADE".encode())
        ours.execute("DROP TABLE IF EXISTS users, drafts, station")
        theirs.execute("DROP SCHEMA public CASCADE")
        theirs.execute("CREATE SCHEMA public")


def create(ours: Connection, theirs: Connection, stream: str) -> None:
    """Create a stream, and a table in PostgreSQL."""
    ours.execute(f"CREATE FOREIGN TABLE {stream} SERVER stream".encode())
    theirs.execute(f"CREATE TABLE {stream}".encode())


def run(clients: tuple[Connection, Connection], *statements: str) -> None:
    for statement in statements:
        for client in clients:
            client.execute(statement.encode())


def answer(client: Connection, query: str) -> list[tuple[object, ...]]:
    return client.execute(query.encode()).fetchall()


def check(clients: tuple[Connection, Connection], views: dict[str, str]) -> None:
    """Compare what the views hold with PostgreSQL's answers to their queries, in any order."""
    ours, theirs = clients
    for name, query in views.items():
        assert sorted(map(repr, answer(ours, f"SELECT * FROM {name}"))) == sorted(map(repr, answer(theirs, query))), (
            name
        )


def movements(seed: int, rows_count: int) -> tuple[str, str]:
    """Return an INSERT into each of the streams of parts."""
    chance = random.Random(seed)
    texts = []
    for stream in ("part_usage", "part_restock"):
        rows = [
            f"({chance.randint(1, 5)}, {chance.randint(1, 9)}, {chance.randint(0, 90)}, '2026-05-{chance.randint(1, 28):02} 10:00')"
            for _ in range(rows_count)
        ]
        texts.append(f"INSERT INTO {stream} VALUES {', '.join(rows)}")
    return texts[0], texts[1]


@pytest.mark.turns(3, 1)
def test_posts_and_users(clients: tuple[Connection, Connection]) -> None:
    ours, theirs = clients
    create(ours, theirs, POSTS)
    run(clients, *USERS)
    for name, query in POST_VIEWS.items():
        ours.execute(f"CREATE VIEW {name} AS {query}".encode())
    check(clients, POST_VIEWS)
    for statement in FILLED:
        run(clients, statement)
        check(clients, POST_VIEWS)
    for client in clients:
        with client.cursor().copy("COPY posts FROM STDIN WITH (FORMAT csv)") as copy:
            copy.write(CSV)
    check(clients, POST_VIEWS)
    for query in POST_QUERIES:
        assert answer(ours, query) == answer(theirs, query), query
    joined = "SELECT name, total, posts FROM users JOIN {} AS scores USING (uid) ORDER BY total DESC LIMIT 2"
    assert answer(ours, joined.format("scores")) == answer(theirs, joined.format(f"({POST_VIEWS['scores']})"))


@pytest.mark.turns(3, 0)
def test_parts_at_stations(clients: tuple[Connection, Connection]) -> None:
    ours, theirs = clients
    create(ours, theirs, f"part_usage {MOVEMENTS}")
    create(ours, theirs, f"part_restock {MOVEMENTS}")
    run(clients, *STATIONS)
    for name, query in STOCK_VIEWS.items():
        ours.execute(f"CREATE VIEW {name} AS {query}".encode())
    # A view may also read one that is there already beside a grouped stream.
    beside = STOCK_VIEWS["stock"].replace(f"({RESTOCKED})", "{}")
    ours.execute(f"CREATE VIEW restocked AS {RESTOCKED}".encode())
    ours.execute(f"CREATE VIEW beside AS {beside.format('restocked')}".encode())
    views = {**STOCK_VIEWS, "beside": beside.format(f"({RESTOCKED})")}
    check(clients, views)
    for seed in range(3):
        usage, restock = movements(seed, 40)
        run(clients, usage)
        check(clients, views)
        run(clients, restock)
        check(clients, views)
    with ours.transaction(force_rollback=True):
        ours.execute(movements(9, 3)[0].encode())
    check(clients, views)
    for client in clients:
        with client.transaction():
            for statement in movements(10, 5):
                client.execute(statement.encode())
    check(clients, views)


@pytest.mark.turns(3, 2)
@pytest.mark.slow
def test_a_view_of_two_streams_is_one_thing(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as client:
        for stream in ("part_usage", "part_restock"):
            client.execute(f"CREATE FOREIGN TABLE {stream} {MOVEMENTS} SERVER stream".encode())
        for statement in STATIONS:
            client.execute(statement.encode())
        plan = [str(line) for (line,) in answer(client, f"EXPLAIN CREATE VIEW stock AS {STOCK_VIEWS['stock']}")]
        assert (
            plan[0] == "View stock over 2 groupings of streams, kept for it as states; for each version of these runs"
        )
        assert [line for line in plan if line.startswith("State")] == [
            "State 1 of view stock over stream part_restock",
            "State 2 of view stock over stream part_usage",
        ]
        client.execute(
            f"CREATE VIEW stock (station, part, stock) WITH (on_error = skip) AS {STOCK_VIEWS['stock']}".encode()
        )
        client.execute(f"CREATE VIEW again AS {STOCK_VIEWS['stock']}".encode())
        with pytest.raises(psycopg.errors.FeatureNotSupported, match='continuous view "stock" reads it'):
            client.execute("ALTER TABLE station RENAME TO stations")
        client.execute(f"CREATE VIEW named AS {STOCK_VIEWS['named']}".encode())
        with pytest.raises(psycopg.errors.ObjectInUse, match='continuous view "named" joins it') as in_use:
            client.execute("DELETE FROM station")
        assert (in_use.value.diag.message_hint or "").startswith("DROP VIEW named first")
        client.execute("DROP VIEW named")
        client.execute("INSERT INTO part_restock VALUES (1, 7, 100), (2, 7, 50)")
        client.execute("INSERT INTO part_usage VALUES (1, 7, 3), (1, 7, 4)")
        client.execute("CREATE VIEW low AS SELECT * FROM stock WHERE stock < 100")
        assert answer(client, "SELECT * FROM low") == [("welding", 7, 93)]
    server.kill()
    server.start()
    with server.connect() as client:
        assert answer(client, "SELECT * FROM low") == [("welding", 7, 93)]
        client.execute("INSERT INTO part_usage VALUES (2, 7, 1)")
        assert answer(client, "SELECT * FROM low ORDER BY 1") == [("painting", 7, 49), ("welding", 7, 93)]
        # Its parts go with a view, and nothing else is said of them.
        with pytest.raises(psycopg.errors.DependentObjectsStillExist) as failure:
            client.execute("DROP VIEW stock")
        assert failure.value.diag.message_detail == "view low depends on view stock"
        with pytest.raises(psycopg.errors.DependentObjectsStillExist) as failure:
            client.execute("DROP FOREIGN TABLE part_usage")
        assert sorted((failure.value.diag.message_detail or "").splitlines()) == [
            "view again depends on foreign table part_usage",
            "view low depends on view stock",
            "view stock depends on foreign table part_usage",
        ]
        client.execute("DROP VIEW low, stock")
        client.execute("DROP FOREIGN TABLE part_usage CASCADE")
        client.execute("INSERT INTO part_restock VALUES (1, 7, 100)")
        client.execute("DROP FOREIGN TABLE part_restock")
    assert server.stop() == 0


def test_what_needs_the_arrival_of_joined_rows_is_refused(clients: tuple[Connection, Connection]) -> None:
    ours, _ = clients
    for stream in ("part_usage", "part_restock"):
        ours.execute(f"CREATE FOREIGN TABLE {stream} {MOVEMENTS} SERVER stream".encode())
    with pytest.raises(psycopg.errors.FeatureNotSupported, match="first over rows"):
        ours.execute("CREATE VIEW refused AS SELECT first(part) FROM part_usage JOIN part_restock USING (part)")
    assert answer(ours, "SELECT count(*) FROM part_usage") == [(0,)]
