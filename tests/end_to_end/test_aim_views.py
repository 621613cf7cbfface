"""The analytical queries of the AIM benchmark as continuous views over calls, with its evaluation's
parameters, against PostgreSQL.

The benchmark's current_week() is written as what it is: the week of now(). Events of other weeks
are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

Connection = psycopg.Connection[tuple[object, ...]]

EVENTS = (
    "events (entity_id integer, duration integer, cost numeric(10, 2), local_cost numeric(10, 2), "
    "long_distance_cost numeric(10, 2), long_distance boolean, local_calls integer, week integer)"
)
CUSTOMERS = (
    "customers (entity_id integer PRIMARY KEY, city_zip integer, region_id integer, type integer, category integer, "
    "value_type integer)"
)
THIS_WEEK = "week = extract(week FROM now())"
VIEWS = {
    "q1": f"SELECT avg(total) AS mean FROM (SELECT sum(duration) AS total FROM events WHERE {THIS_WEEK} GROUP BY entity_id "
    "HAVING count(local_calls) > 2) e",
    "q2": f"SELECT max(most) AS most FROM (SELECT max(cost) AS most FROM events WHERE {THIS_WEEK} GROUP BY entity_id "
    "HAVING count(*) > 2) e",
    "q3": f"SELECT calls, sum(cost) / sum(duration) AS ratio FROM (SELECT count(*) AS calls, sum(cost) AS cost, "
    f"sum(duration) AS duration FROM events WHERE {THIS_WEEK} GROUP BY entity_id) e GROUP BY calls ORDER BY calls LIMIT 100",
    "q4": f"SELECT city_zip, avg(calls) AS calls, sum(duration) AS duration FROM (SELECT entity_id, count(*) AS calls, "
    f"sum(duration) AS duration FROM events WHERE {THIS_WEEK} AND NOT long_distance GROUP BY entity_id "
    "HAVING count(*) > 4 AND sum(duration) > 25) e JOIN customers c ON c.entity_id = e.entity_id GROUP BY city_zip",
    "q5": "SELECT region_id, sum(long_distance_cost) AS far, sum(local_cost) AS near FROM events e JOIN customers c "
    f"ON c.entity_id = e.entity_id WHERE {THIS_WEEK} AND type = 2 AND category = 1 GROUP BY region_id",
    "q7": "SELECT sum(cost) / sum(duration) AS ratio FROM events e JOIN customers c ON c.entity_id = e.entity_id "
    f"WHERE {THIS_WEEK} AND value_type = 2",
}
WRITERS = 3


@pytest.fixture
def clients(server: AntumbraServer, postgres: PostgresCluster) -> Iterator[tuple[Connection, Connection]]:
    with server.connect() as ours, postgres.connect() as theirs:
        yield ours, theirs
        ours.execute("DROP FOREIGN TABLE events CASCADE")
        ours.execute("DROP TABLE customers")
        theirs.execute("DROP TABLE events, customers CASCADE")


def events(chance: Random, week: int) -> str:
    rows = (
        f"({chance.randint(1, 40)}, {chance.randint(1, 60)}, {chance.randint(1, 999) / 100}, {chance.randint(0, 99) / 100}, "
        f"{chance.randint(0, 900) / 100}, {chance.choice(['true', 'false', 'NULL'])}, {chance.choice([0, 1, 'NULL'])}, "
        f"{chance.choice([week, week, week, week + 1])})"
        for _ in range(chance.randint(1, 40))
    )
    return f"INSERT INTO events VALUES {', '.join(rows)}"


@pytest.mark.turns(3, 1)
def test_views_equal_postgres(server: AntumbraServer, clients: tuple[Connection, Connection]) -> None:
    ours, theirs = clients
    chance = Random(10)
    customers = ", ".join(
        f"({number}, {number % 5}, {number % 3}, {number % 2 + 1}, {number % 4 // 2 + 1}, {number % 3})"
        for number in range(45)
    )
    for statement in (f"CREATE TABLE {CUSTOMERS}", f"INSERT INTO customers VALUES {customers}"):
        ours.execute(statement.encode())
        theirs.execute(statement.encode())
    ours.execute(f"CREATE FOREIGN TABLE {EVENTS} SERVER stream".encode())
    theirs.execute(f"CREATE TABLE {EVENTS}".encode())
    for name, query in VIEWS.items():
        ours.execute(f"CREATE VIEW {name} AS {query}".encode())
    found = theirs.execute("SELECT extract(week FROM now())::integer").fetchone()
    assert found is not None and isinstance(found[0], int)
    writers = [server.connect() for _ in range(WRITERS)]
    for inserts_count in (0, 1, 20):
        for _ in range(inserts_count):
            statement = events(chance, found[0])
            chance.choice(writers).execute(statement.encode())
            theirs.execute(statement.encode())
        for name, query in VIEWS.items():
            expected = sorted(map(repr, theirs.execute(query.encode()).fetchall()))
            assert sorted(map(repr, ours.execute(f"SELECT * FROM {name}".encode()).fetchall())) == expected, name
    for writer in writers:
        writer.close()
