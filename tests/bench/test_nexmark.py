"""Nexmark's queries as views against PostgreSQL over all events, at two positions."""

from __future__ import annotations

from collections import defaultdict

import psycopg
import pytest

from bench.nexmark.events import SCHEMAS, Row, events
from bench.nexmark.queries import FIRST_OF_JOIN, GROUPED, ROW_BY_ROW, text
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

Connection = psycopg.Connection[tuple[object, ...]]
EVENTS = 3_000


def copy(connection: Connection, rows: dict[str, list[Row]]) -> None:
    for name, found in rows.items():
        with connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN".encode()) as into:
            for row in found:
                into.write_row(row)


def answer(connection: Connection, query: str) -> list[tuple[object, ...]]:
    return sorted(connection.execute(query.encode()).fetchall(), key=repr)


@pytest.mark.slow
@pytest.mark.parametrize(
    "queries",
    [
        pytest.param(GROUPED, marks=pytest.mark.turns(4, 1), id="grouped"),
        pytest.param(ROW_BY_ROW | FIRST_OF_JOIN, marks=pytest.mark.turns(4, 2), id="rows"),
    ],
)
def test_answers_are_postgresqls(queries: dict[str, str], server: AntumbraServer, postgres: PostgresCluster) -> None:
    with server.connect() as ours, postgres.connect() as theirs:
        for name, columns in SCHEMAS.items():
            theirs.execute(f"DROP TABLE IF EXISTS {name}".encode())
            ours.execute(f"DROP FOREIGN TABLE IF EXISTS {name} CASCADE".encode())
            ours.execute(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER stream".encode())
            theirs.execute(f"CREATE TABLE {name} ({columns})".encode())
        for name, query in queries.items():
            ours.execute(f"CREATE VIEW {name} AS {text(query, 'ours')}".encode())
        made = list(events(EVENTS))
        for part in (made[: EVENTS // 3], made[EVENTS // 3 :]):
            rows: dict[str, list[Row]] = defaultdict(list)
            for name, row in part:
                rows[name].append(row)
            copy(ours, rows)
            copy(theirs, rows)
            for name, query in queries.items():
                expected = answer(theirs, text(query, "theirs"))
                assert answer(ours, f"SELECT * FROM {name}") == expected, name
                assert expected or name == "q2", name
