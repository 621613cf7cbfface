"""The server that has the relations of schema.sql, and no others."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.system_catalog.tool_queries import dsn
from tests.system_catalog.write_golden import schema


@pytest.fixture(scope="session")
def schema_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AntumbraServer]:
    """The server, of one process of the tests."""
    server = AntumbraServer(tmp_path_factory.mktemp("catalog") / "data").start()
    with psycopg.connect(dsn(server.port), autocommit=True) as connection:
        for text in schema():
            connection.execute(text)
    yield server
    assert server.stop() == 0
