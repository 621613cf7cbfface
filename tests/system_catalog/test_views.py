"""The views of pg_catalog and information_schema have the columns that PostgreSQL 15 declares, with
their names.
"""

from __future__ import annotations

import psycopg
import pytest

from engine.system_catalog.static_rows import relations
from engine.system_catalog.view_queries import view_texts
from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow


def test_names_of_columns(server: AntumbraServer) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        for key in view_texts():
            schema, _, name = key.partition(".")
            found = connection.execute(f"SELECT * FROM {key} LIMIT 0".encode()).description
            assert found is not None
            assert [one.name for one in found] == [column.name for column in relations()[schema, name].columns], key


def test_found_by_name(server: AntumbraServer) -> None:
    with psycopg.connect(server.dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE shown (k int PRIMARY KEY)")
        connection.execute("CREATE VIEW shown_too AS SELECT k FROM shown")
        try:
            for query, wanted in (
                ("SELECT schemaname, tablename FROM pg_tables WHERE tablename = 'shown'", ("public", "shown")),
                ("SELECT viewname FROM pg_views WHERE viewname = 'shown_too'", ("shown_too",)),
                ("SELECT tablename, indexname FROM pg_indexes WHERE tablename = 'shown'", ("shown", "shown_pkey")),
            ):
                assert connection.execute(query.encode()).fetchall() == [wanted]
        finally:
            connection.execute("DROP TABLE shown CASCADE")
