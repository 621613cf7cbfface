"""The clients that insert many rows by one statement: a raw socket with an INSERT of many rows,
asyncpg, psycopg, JDBC and pgbench's pipelines.

Enters: the place of a server, ours or PostgreSQL. Leaves: rows per second, all of them
acknowledged. Raises RuntimeError with what the server said.
"""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import asyncpg
import psycopg

from bench.clients import Inserting
from tests.end_to_end.raw_client import SYNC, RawClient, bind, describe, execute, parse, query

COLUMNS = "k bigint, v double precision, s text"
KEYS_COUNT = 1000
SEED = 31
JAR = Path("/usr/share/java/postgresql.jar")
JAVA_SOURCE = Path(__file__).with_name("JdbcBatch.java")
PIPELINED_ROWS = 100
READY = b"Z\0\0\0\5"

Row = tuple[int, float, str]


@dataclass(frozen=True, slots=True)
class Place:
    """A table or stream of a server. options: what clients pass to the server as they connect."""

    port: int
    user: str
    database: str
    table: str
    options: str = ""

    @property
    def dsn(self) -> str:
        """The connection string for psycopg."""
        start = f"host=127.0.0.1 port={self.port} user={self.user} dbname={self.database}"
        return f"{start} options='{self.options}'" if self.options else start

    @property
    def url(self) -> str:
        """The connection string of the others."""
        start = f"postgresql://127.0.0.1:{self.port}/{self.database}?user={self.user}"
        return start + (f"&options={self.options.replace(' ', '%20')}" if self.options else "")

    def insert(self, marks: str) -> str:
        """Return the INSERT of one row."""
        return f"INSERT INTO {self.table} VALUES ({marks})"


def rows(count: int) -> list[Row]:
    """Return rows, the same each time."""
    chance = random.Random(SEED)
    return [(chance.randrange(KEYS_COUNT), round(chance.random() * 100, 4), "some text") for _ in range(count)]


def values_text(place: Place, rows_count: int) -> str:
    """Return an INSERT of many rows of literals."""
    listed = ", ".join(f"({k}, {v}, '{s}')" for k, v, s in rows(rows_count))
    return f"INSERT INTO {place.table} VALUES {listed}"


def values_messages(text: str, extended: bool) -> bytes:
    """Return the messages of a statement without parameters."""
    if not extended:
        return query(text)
    return parse(text) + bind() + describe("P") + execute() + SYNC


def run_messages(place: Place, rows_count: int) -> bytes:
    """Return a Parse and a run of Binds and Executes, with one Sync."""
    values = [(str(k).encode(), str(v).encode(), s.encode()) for k, v, s in rows(rows_count)]
    run = b"".join(bind(row) + describe("P") + execute() for row in values)
    return parse(place.insert("$1, $2, $3")) + run + SYNC


class Sender(RawClient):
    """A connection whose answers are skipped."""

    def wait_until_ready(self) -> None:
        """Skip the answer up to the end of ReadyForQuery. Raises ConnectionError."""
        end = b""
        while end[:5] != READY:
            piece = self._socket.recv(1 << 18)
            if not piece:
                raise ConnectionError("the server hung up")
            end = (end + piece)[-6:]


def sent(place: Place, messages: bytes, rows_count: int, connections_count: int, seconds: float) -> float:
    """Send the same messages again and again over some connections."""
    clients = connected(place, connections_count)
    counts = [0] * connections_count
    for client in clients:
        require(client.ask(messages))
    began_s = time.perf_counter()

    def send(number: int) -> None:
        while time.perf_counter() - began_s < seconds:
            clients[number].send(messages)
            clients[number].wait_until_ready()
            counts[number] += rows_count

    at_once(send, connections_count)
    took_s = time.perf_counter() - began_s
    return sum(counts) / took_s


def copied(place: Place, format_name: str, messages: bytes, rows_count: int, connections_count: int) -> float:
    """Send the same messages of CopyData once over each of some connections. PostgreSQL's table is
    emptied before.
    """
    clients = connected(place, connections_count)
    if place.database != "antumbra":
        require(clients[0].ask(query(f"TRUNCATE {place.table}")))
    statement = query(f"COPY {place.table} FROM STDIN WITH (FORMAT {format_name})")
    began_s = time.perf_counter()

    def send(number: int) -> None:
        client = clients[number]
        client.send(statement)
        require(client.read_until("GE"))
        client.send(messages)
        answer = client.read_until_ready()
        require(answer)
        if f"C COPY {rows_count}" not in answer:
            raise RuntimeError(f"{answer} instead of {rows_count} rows")

    at_once(send, connections_count)
    return rows_count * connections_count / (time.perf_counter() - began_s)


def connected(place: Place, connections_count: int) -> list[Sender]:
    """Return connections with a place's options."""
    clients = [Sender(place.port, place.user, place.database) for _ in range(connections_count)]
    settings = re.findall(r"-c (\w+)=(\w+)", place.options)
    for client in clients:
        for name, value in settings:
            require(client.ask(query(f"SET {name} = {value}")))
    return clients


def at_once(send: Callable[[int], None], connections_count: int) -> None:
    """Call a function with each connection's number, in threads. Raises the first error."""
    with ThreadPoolExecutor(connections_count) as threads:
        list(threads.map(send, range(connections_count)))


def require(answer: Sequence[str]) -> None:
    """Raise RuntimeError for an answer with an error."""
    errors = [line for line in answer if line.startswith("E")]
    if errors:
        raise RuntimeError(errors[0])


def asyncpg_executemany(place: Place, rows_count: int) -> float:
    """Insert by asyncpg's executemany."""

    async def run() -> float:
        connection = await asyncpg.connect(place.url)
        values = rows(rows_count)
        try:
            await connection.executemany(place.insert("$1, $2, $3"), values[:100])
            began_s = time.perf_counter()
            await connection.executemany(place.insert("$1, $2, $3"), values)
            return rows_count / (time.perf_counter() - began_s)
        finally:
            await connection.close()

    return asyncio.run(run())


def psycopg_executemany(place: Place, rows_count: int) -> float:
    """Insert by psycopg's executemany, which is a pipeline."""
    values = rows(rows_count)
    with psycopg.connect(place.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.executemany(place.insert("%s, %s, %s").encode(), values[:100])
        began_s = time.perf_counter()
        cursor.executemany(place.insert("%s, %s, %s").encode(), values)
        return rows_count / (time.perf_counter() - began_s)


def psycopg_pipeline(place: Place, rows_count: int) -> float:
    """Insert row by row in a pipeline of psycopg's."""
    values, statement = rows(rows_count), place.insert("%s, %s, %s").encode()
    with psycopg.connect(place.dsn, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(statement, values[0], prepare=True)
        began_s = time.perf_counter()
        with connection.pipeline():
            for row in values:
                cursor.execute(statement, row)
        return rows_count / (time.perf_counter() - began_s)


def jdbc_batch(place: Place, rows_count: int, batch_rows_count: int = 1000) -> float:
    """Insert by batches of JDBC."""
    command = ["java", "-cp", str(JAR), str(JAVA_SOURCE), f"jdbc:{place.url}", place.insert("?, ?, ?")]
    done = subprocess.run(
        [*command, str(rows_count), str(batch_rows_count)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return rows_count / float(done.stdout)


def pgbench_pipeline(place: Place, folder: Path, connections_count: int, seconds: int) -> float:
    """Insert by pgbench, whose transactions are pipelines of prepared INSERTs."""
    script = folder / f"{place.table}.sql"
    inserts = PIPELINED_ROWS * (place.insert(":k, 1.5, 'some text'") + ";\n")
    script.write_text(f"\\set k random(0, 999)\n\\startpipeline\n{inserts}\\endpipeline\n")
    inserting = Inserting(place.port, place.database, script, "prepared", connections_count, place.options)
    return inserting.rate(seconds) * PIPELINED_ROWS
