"""SQLAlchemy over each of its drivers, with reflection, and alembic's operations and
autogeneration.
"""

from __future__ import annotations

import pytest

from tests.oracle.antumbra import AntumbraServer
from tests.packages.running import run_client


@pytest.mark.long
@pytest.mark.parametrize("driver", ["asyncpg", "pg8000", "psycopg"])
def test_sqlalchemy(server: AntumbraServer, driver: str) -> None:
    run_client(server, "sqlalchemy", driver)


@pytest.mark.long
def test_alembic(server: AntumbraServer) -> None:
    run_client(server, "sqlalchemy", program="alembic")
