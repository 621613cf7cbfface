"""Nexmark's queries that group against PostgreSQL over all events, at two positions; and that the
others still wait.
"""

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
@pytest.mark.turns(4, 1)
def test_grouped_queries_are_postgresqls(server: AntumbraServer, postgres: PostgresCluster) -> None:
    with server.connect() as ours, postgres.connect() as theirs:
        for name, columns in SCHEMAS.items():
            ours.execute(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER stream".encode())
            theirs.execute(f"CREATE TABLE {name} ({columns})".encode())
        for name, query in GROUPED.items():
            ours.execute(f"CREATE VIEW {name} AS {text(query, 'ours')}".encode())
        for query in (*ROW_BY_ROW.values(), *FIRST_OF_JOIN.values()):
            with pytest.raises(psycopg.errors.FeatureNotSupported):
                ours.execute(f"EXPLAIN CREATE VIEW waits AS {text(query, 'ours')}".encode())
        made = list(events(EVENTS))
        for part in (made[: EVENTS // 3], made[EVENTS // 3 :]):
            rows: dict[str, list[Row]] = defaultdict(list)
            for name, row in part:
                rows[name].append(row)
            copy(ours, rows)
            copy(theirs, rows)
            for name, query in GROUPED.items():
                expected = answer(theirs, text(query, "theirs"))
                assert expected and answer(ours, f"SELECT * FROM {name}") == expected, name
