"""Random conditions over tables, compared with PostgreSQL: what the table engine's optimizer makes
of them must not change the answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.end_to_end.random_conditions import ConditionMaker
from tests.oracle.antumbra import AntumbraServer
from tests.oracle.postgres import PostgresCluster

SETUP = Path(__file__).with_name("random_conditions.sql")
REFUSED_SHARE_MAX = 0.01
REFUSED = "0A000"


def answer(connection: psycopg.Connection[Any], query: str) -> str:
    """Return the rows, NaN like NaN, or the SQLSTATE."""
    try:
        return str(connection.execute(query).fetchall())
    except psycopg.Error as error:
        return str(error.sqlstate)


def test_random_conditions(server: AntumbraServer, postgres: PostgresCluster, request: pytest.FixtureRequest) -> None:
    first: int = request.config.getoption("--seed")
    count: int = request.config.getoption("--cases")
    refused = 0
    with server.connect() as ours, postgres.connect() as theirs:
        for connection in (ours, theirs):
            connection.execute(SETUP.read_bytes())
        for seed in range(first, first + count):
            query = ConditionMaker(seed).query()
            got, wanted = answer(ours, query), answer(theirs, query)
            refused += got == REFUSED
            assert got in (wanted, REFUSED), (seed, query)
    assert refused <= 1 + REFUSED_SHARE_MAX * count
