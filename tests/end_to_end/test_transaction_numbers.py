"""txid_current(): the same for all statements of a transaction, another one for each
transaction.
"""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

CURRENT, ASSIGNED = "SELECT txid_current()", "SELECT txid_current_if_assigned()"


def value(connection: psycopg.Connection[Any], query: str) -> Any:
    row = connection.execute(query).fetchone()
    return None if row is None else row[0]


@pytest.mark.parametrize("name", ["server", "postgres"])
def test_numbers_of_transactions(name: str, request: pytest.FixtureRequest) -> None:
    source: AntumbraServer | PostgresCluster = request.getfixturevalue(name)
    with source.connect() as client, source.connect() as other:
        client.autocommit = other.autocommit = True
        client.execute("CREATE TABLE numbered (a integer)")
        try:
            first, second = value(client, CURRENT), value(client, CURRENT)
            assert first < second
            with client.transaction():
                assert value(client, ASSIGNED) is None
                mine, theirs = value(client, CURRENT), value(other, CURRENT)
                assert second < mine < theirs
                assert value(client, ASSIGNED) == mine == value(client, CURRENT)
                with client.transaction():
                    assert value(client, CURRENT) == mine
            with client.transaction():
                client.execute("INSERT INTO numbered VALUES (1)")
                written = value(client, ASSIGNED)
                assert written == value(client, CURRENT) > mine
            assert value(client, "SELECT count(*) FROM numbered WHERE txid_current() > 0") == 1
            assert value(client, ASSIGNED) is None
            kept: psycopg.Cursor[Any] = client.cursor()
            seen = [int(str(kept.execute(CURRENT, prepare=True).fetchall()[0][0])) for _ in range(3)]
            assert seen == sorted(set(seen))
        finally:
            client.execute("DROP TABLE numbered")
