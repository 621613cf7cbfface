"""The oracle's table, the table in Arrow, one Spark session for the whole run, and an empty
database in this process for each test.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pyarrow as pa
import pytest

from engine.embedded.query_engine import QueryEngine
from engine.spark import errors
from engine.spark.runtime import SparkRuntime
from engine.spark.upper import SparkUpperExecutor
from tests.engine.answers import arrow_table, create_oracle_table
from tests.engine.session_client import World
from tests.oracle.postgres import PostgresCluster

MEMORY_BYTES = 512 * 1024 * 1024
SPARK_MEMORY_MB = 768


@pytest.fixture(scope="session")
def oracle(postgres: PostgresCluster) -> Iterator[psycopg.Connection[Any]]:
    """A connection to PostgreSQL, whose table `t` has the rows of `inputs`; other tests empty the
    schema public.
    """
    with postgres.connect() as connection:
        connection.execute("CREATE SCHEMA sample")
        connection.execute("SET search_path = sample")
        create_oracle_table(connection)
        yield connection


@pytest.fixture(scope="session")
def inputs() -> dict[str, pa.Table]:
    """The table `t` in Arrow."""
    return {"t": arrow_table()}


@pytest.fixture(scope="session")
def engine() -> Iterator[QueryEngine]:
    """An embedded engine."""
    running = QueryEngine(MEMORY_BYTES)
    yield running
    running.close()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkRuntime]:
    """The one Spark session of the run."""
    runtime = SparkRuntime(SPARK_MEMORY_MB, 2, tmp_path_factory.mktemp("spark"))
    runtime.start()
    yield runtime
    runtime.stop()


@pytest.fixture(scope="session")
def upper(spark: SparkRuntime, engine: QueryEngine) -> Iterator[SparkUpperExecutor]:
    """An executor of upper pipelines. No text may be refused by Spark, and run elsewhere unseen."""
    refused: list[str] = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = lambda record: refused.append(record.getMessage())  # type: ignore[method-assign]
    errors.log.addHandler(handler)
    yield SparkUpperExecutor(spark, engine)
    errors.log.removeHandler(handler)
    assert not refused


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An empty database in this process."""
    made = World(tmp_path / "data")
    yield made
    made.close()
