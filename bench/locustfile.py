"""Locust users that speak to Antumbra through psycopg: single INSERTs, batches, COPY, and readers
of views.

`locust -f bench/locustfile.py --host postgresql://127.0.0.1:5433/antumbra` opens locust's own web
page. Every start makes the stream and its views anew; every stop compares the rows that were
acknowledged with what the view has counted.
"""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable
from typing import ClassVar

import psycopg
from locust import User, constant, constant_pacing, events, task
from locust.env import Environment
from locust.runners import WorkerRunner

from bench.load_stream import COUNT, KEYS_COUNT, create_load_stream

log = logging.getLogger(__name__)

HOST_DEFAULT = "postgresql://127.0.0.1:5433/antumbra"
BATCH_ROWS = 100
COPY_ROWS = 10_000
READ_EVERY_S = 0.2


@events.test_start.add_listener
def create_stream(environment: Environment, **_: object) -> None:
    """Make the stream and its views; in a distributed run only the master does."""
    if isinstance(environment.runner, WorkerRunner):
        return
    AntumbraUser.acknowledged_rows_count = 0
    create_load_stream(environment.host or HOST_DEFAULT)


@events.test_stop.add_listener
def compare_counts(environment: Environment, **_: object) -> None:
    """Every acknowledged row must be in the view.

    A statement that was cut off when the run stopped may be there too.
    """
    if isinstance(environment.runner, WorkerRunner):
        return
    with psycopg.connect(environment.host or HOST_DEFAULT, autocommit=True) as connection:
        row = connection.execute(COUNT).fetchone()
    found = int(row[0]) if row else 0
    acknowledged = AntumbraUser.acknowledged_rows_count
    log.info("%d rows acknowledged, %d rows in the view", acknowledged, found)
    if found < acknowledged or found > acknowledged + AntumbraUser.unanswered_rows_count:
        log.error("the view does not hold the acknowledged rows")
        environment.process_exit_code = 1


class AntumbraUser(User):
    """A user with a connection of its own."""

    abstract = True
    host = HOST_DEFAULT
    # Shared by all users of this process: what the server must hold at the end.
    acknowledged_rows_count: ClassVar[int] = 0
    unanswered_rows_count: ClassVar[int] = 0

    def on_start(self) -> None:
        """Connect."""
        self.connection = psycopg.connect(self.host or HOST_DEFAULT, autocommit=True)
        self.chance = random.Random()

    def on_stop(self) -> None:
        """Disconnect."""
        self.connection.close()

    def write(self, kind: str, rows_count: int, action: Callable[[], int]) -> None:
        """Time a statement that writes `rows_count` rows, and keep account of them."""
        AntumbraUser.unanswered_rows_count += rows_count
        if self.timed(kind, action):
            AntumbraUser.unanswered_rows_count -= rows_count
            AntumbraUser.acknowledged_rows_count += rows_count

    def timed(self, kind: str, action: Callable[[], int]) -> bool:
        """Run `action`, which returns the bytes it moved, and report it to locust.

        Tells whether it succeeded.
        """
        start_s = time.perf_counter()
        failure: psycopg.Error | None = None
        length = 0
        try:
            length = action()
        except psycopg.Error as error:
            failure = error
        self.environment.events.request.fire(
            request_type="sql",
            name=kind,
            response_time=(time.perf_counter() - start_s) * 1000,
            response_length=length,
            exception=failure,
            context={},
        )
        if failure is not None and self.connection.broken:
            self.connection = psycopg.connect(self.host or HOST_DEFAULT, autocommit=True)
        return failure is None

    def row(self) -> tuple[int, str, str]:
        """Return a random event."""
        return self.chance.randrange(KEYS_COUNT), f"{self.chance.randrange(100_000) / 100:.2f}", "a label"


class SingleInserter(AntumbraUser):
    """One row per statement, as fast as answers come."""

    weight = 4
    wait_time = constant(0)

    @task
    def insert(self) -> None:
        """Insert one row with parameters."""
        self.write("INSERT, 1 row", 1, self._insert)

    def _insert(self) -> int:
        self.connection.execute("INSERT INTO load_events VALUES (%s, %s, %s)", self.row())
        return 0


class BatchInserter(AntumbraUser):
    """A hundred rows per statement."""

    weight = 2
    wait_time = constant(0.01)

    @task
    def insert(self) -> None:
        """Insert a list of literal rows."""
        rows = ", ".join(
            f"({key}, {amount}, '{label}')" for key, amount, label in (self.row() for _ in range(BATCH_ROWS))
        )
        statement = f"INSERT INTO load_events VALUES {rows}".encode()
        self.write(f"INSERT, {BATCH_ROWS} rows", BATCH_ROWS, lambda: self._insert(statement))

    def _insert(self, statement: bytes) -> int:
        self.connection.execute(statement)
        return len(statement)


class Copier(AntumbraUser):
    """Ten thousand rows per COPY."""

    weight = 1
    wait_time = constant(0.1)

    @task
    def copy(self) -> None:
        """Copy a block of text."""
        text = "".join(f"{key}\t{amount}\t{label}\n" for key, amount, label in (self.row() for _ in range(COPY_ROWS)))
        self.write(f"COPY, {COPY_ROWS} rows", COPY_ROWS, lambda: self._copy(text.encode()))

    def _copy(self, text: bytes) -> int:
        with self.connection.cursor() as cursor, cursor.copy("COPY load_events FROM STDIN") as copy:
            copy.write(text)
        return len(text)


class ViewReader(AntumbraUser):
    """Reads both views: one is finished as its groups are exported, the other goes through
    Spark.
    """

    weight = 2
    wait_time = constant_pacing(READ_EVERY_S)

    @task(3)
    def read_groups(self) -> None:
        """Read the largest groups."""
        query = "SELECT * FROM load_per_key ORDER BY total DESC LIMIT 10"
        self.timed("SELECT, grouped view", lambda: self._read(query))

    @task(1)
    def read_ranking(self) -> None:
        """Read the view with an upper pipeline."""
        self.timed("SELECT, ranked view", lambda: self._read("SELECT * FROM load_ranking WHERE place <= 10"))

    def _read(self, query: str) -> int:
        return len(self.connection.execute(query.encode()).fetchall())
