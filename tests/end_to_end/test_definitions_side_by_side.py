"""Eight threads of dbt: each builds its models, in transactions that write, make,
rename and drop; all of them commit.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

pytestmark = pytest.mark.slow

THREADS, MODELS = 8, 4


def build(server: AntumbraServer, thread: int) -> int:
    """Build a thread's models, one after the other; return how many."""
    with server.connect() as connection:
        for model in range(MODELS):
            name = f"dbt_{thread % 2}.m{thread}_{model}"
            for again in range(2):
                with connection.transaction():
                    connection.execute("INSERT INTO dbt_log VALUES (%s, %s)", (thread, name))
                    connection.execute("SELECT count(*) FROM dbt_source")
                    connection.execute(f"CREATE TABLE {name}__tmp AS SELECT k, {model} AS model FROM dbt_source")
                    if again:
                        connection.execute(f"ALTER TABLE {name} RENAME TO m{thread}_{model}__backup")
                    connection.execute(f"ALTER TABLE {name}__tmp RENAME TO m{thread}_{model}")
                    connection.execute(f"COMMENT ON TABLE {name} IS 'a model'")
                with connection.transaction():
                    connection.execute("INSERT INTO dbt_log VALUES (%s, 'view')", (thread,))
                    connection.execute(f"DROP TABLE IF EXISTS {name}__backup CASCADE")
                    connection.execute(f"CREATE OR REPLACE VIEW {name}_v AS SELECT count(*) AS n FROM {name}")
    return MODELS


@pytest.mark.turns(2, 1)
def test_eight_threads_that_define(server: AntumbraServer) -> None:
    with server.connect() as connection:
        for text in (
            "DROP TABLE IF EXISTS dbt_log, dbt_source CASCADE",
            "DROP SCHEMA IF EXISTS dbt_0, dbt_1 CASCADE",
            "CREATE SCHEMA dbt_0",
            "CREATE SCHEMA dbt_1",
            "CREATE TABLE dbt_log (thread int, what text)",
            "CREATE TABLE dbt_source AS SELECT * FROM generate_series(1, 100) AS k",
        ):
            connection.execute(text.encode())
        with ThreadPoolExecutor(THREADS) as pool:
            assert list(pool.map(lambda thread: build(server, thread), range(THREADS))) == [MODELS] * THREADS
        assert connection.execute("SELECT count(*) FROM dbt_log").fetchone() == (THREADS * MODELS * 4,)
        for thread in range(THREADS):
            for model in range(MODELS):
                found = connection.execute(f"SELECT n FROM dbt_{thread % 2}.m{thread}_{model}_v").fetchone()
                assert found == (100,)
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("SELECT * FROM dbt_0.m0_0__backup")
        connection.execute("DROP SCHEMA dbt_0, dbt_1 CASCADE")
        connection.execute("DROP TABLE dbt_log, dbt_source")
