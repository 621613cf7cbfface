"""Foreign keys that COMMIT looks at: what is in the same transaction goes with them, and what
others do meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

Connection = psycopg.Connection[Any]
DEFINITIONS = (
    "CREATE TABLE owners (id integer PRIMARY KEY)",
    "CREATE TABLE things (id integer, owner integer REFERENCES owners DEFERRABLE INITIALLY DEFERRED)",
    "CREATE FOREIGN TABLE seen (id integer) SERVER stream",
    "CREATE VIEW seen_count AS SELECT count(*) FROM seen",
)


@pytest.fixture
def client(server: AntumbraServer) -> Iterator[Connection]:
    with server.connect() as connection:
        for definition in DEFINITIONS:
            connection.execute(definition)
        yield connection
        connection.execute("DROP TABLE things, owners")
        connection.execute("DROP FOREIGN TABLE seen CASCADE")


def together(client: Connection, *statements: str) -> None:
    """Do statements in one transaction."""
    with client.transaction():
        for statement in statements:
            client.execute(statement)


def counts(client: Connection) -> tuple[int, int, int]:
    """Return how many things, seen rows, and seen rows in the view there are."""
    row = client.execute(
        "SELECT (SELECT count(*) FROM things), (SELECT count(*) FROM seen), count FROM seen_count"
    ).fetchone()
    assert row is not None
    return row[0], row[1], row[2]


def test_rows_of_streams_go_with_the_transaction_that_fails(client: Connection) -> None:
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        together(client, "INSERT INTO seen VALUES (1), (2)", "INSERT INTO things VALUES (1, 1)")
    assert counts(client) == (0, 0, 0)
    together(client, "INSERT INTO seen VALUES (3)", "INSERT INTO things VALUES (1, 1)", "INSERT INTO owners VALUES (1)")
    assert counts(client) == (1, 1, 1)


def test_definitions_go_with_the_transaction_that_fails(client: Connection) -> None:
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        together(client, "CREATE TABLE never (a integer)", "INSERT INTO things VALUES (1, 1)")
    assert client.execute("SELECT to_regclass('never')").fetchone() == (None,)
    assert counts(client)[0] == 0


def test_a_pipeline_is_a_transaction(client: Connection) -> None:
    with client.pipeline():
        client.execute("INSERT INTO things VALUES (1, 1)")
        client.execute("INSERT INTO owners VALUES (1)")
    assert counts(client)[0] == 1


def test_statements_of_one_query_are_a_transaction(client: Connection) -> None:
    client.execute("INSERT INTO things VALUES (1, 1); INSERT INTO owners VALUES (1)")
    assert counts(client)[0] == 1
    with pytest.raises(psycopg.errors.ForeignKeyViolation):
        client.execute("INSERT INTO things VALUES (2, 2); INSERT INTO owners VALUES (3)")
    assert client.execute("SELECT count(*) FROM owners").fetchone() == (1,)


def test_a_parent_that_another_transaction_takes_away(client: Connection, server: AntumbraServer) -> None:
    client.execute("INSERT INTO owners VALUES (1)")
    with server.connect() as other:
        client.execute("BEGIN")
        client.execute("INSERT INTO things VALUES (1, 1)")
        other.execute("DELETE FROM owners")
        with pytest.raises(psycopg.errors.SerializationFailure):
            client.execute("COMMIT")
    assert counts(client)[0] == 0


def test_keys_are_deferred_after_a_restart(tmp_path: Any) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    with server.connect() as connection:
        connection.execute(DEFINITIONS[0])
        connection.execute(DEFINITIONS[1])
    server.kill()
    server.start()
    try:
        with server.connect() as connection:
            with pytest.raises(psycopg.errors.ForeignKeyViolation):
                together(connection, "INSERT INTO things VALUES (1, 1)", "INSERT INTO owners VALUES (2)")
            together(connection, "INSERT INTO things VALUES (1, 1)", "INSERT INTO owners VALUES (1)")
    finally:
        assert server.stop() == 0
