"""A session of the oracle that begins and ends without relations."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.oracle.postgres import PostgresCluster


@pytest.fixture
def oracle(postgres: PostgresCluster) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection to PostgreSQL, whose schema public is empty, and is emptied after the test."""
    with postgres.connect() as connection:
        yield connection
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
