"""Four writers that fill a small ring and four readers that scan it meanwhile; every row that a
reader gets is checked.

A row has its writer, that writer's number for it, a text, and a checksum of all three. A scan sees
one stretch of the stream, so the rows of one writer have numbers that follow each other.
"""

from __future__ import annotations

import random
import time
import zlib
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import psycopg

WRITERS_COUNT = READERS_COUNT = 4
CAPACITY = 1024
OVERTAKEN = "54000"
COLUMNS = "writer int, number bigint, words text, checksum bigint"
CREATE = f"CREATE FOREIGN TABLE stress ({COLUMNS}) SERVER stream OPTIONS (capacity '{CAPACITY}')"
CREATE_VIEW = (
    "CREATE VIEW stress_counts AS SELECT writer, count(*) AS n, sum(number) AS numbers FROM stress GROUP BY writer"
)
# How readers scan; the second waits for more as long as there is some.
SCANS = (
    ("RESET ALL",),
    ("SET stream_timeout = '2ms'", "SET statement_timeout = '300ms'"),
    ("SET stream_timeout = '5ms'", "SET stream_scan_start = latest", "SET statement_timeout = '300ms'"),
)
QUERY = "SELECT writer, number, words, checksum FROM stress"

Connection = psycopg.Connection[tuple[object, ...]]


def checksum(writer: int, number: int, words: str) -> int:
    """Return the checksum of a row."""
    return zlib.crc32(f"{writer} {number} {words}".encode())


@dataclass
class Load:
    """One run. lengths: of the texts. counts: rows read, wrong, scans by how they ended;
    acknowledged: rows by writer.
    """

    dsn: str
    seconds: float
    lengths: tuple[int, ...]
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    acknowledged: Counter[int] = field(default_factory=Counter)

    def run(self) -> None:
        """Write and read for `seconds`. Raises what any client has met that it was not to meet."""
        end_s = time.monotonic() + self.seconds
        with ThreadPoolExecutor(WRITERS_COUNT + READERS_COUNT) as threads:
            writing = [threads.submit(self._client, self._write, number, end_s) for number in range(WRITERS_COUNT)]
            reading = [threads.submit(self._client, self._read, number, end_s) for number in range(READERS_COUNT)]
        for client in (*writing, *reading):
            client.result()

    def _client(self, work: Callable[[Connection, int, float], None], number: int, end_s: float) -> None:
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            work(connection, number, end_s)

    def _write(self, connection: Connection, writer: int, end_s: float) -> None:
        chance = random.Random(self.seed + writer)
        number = 0
        while time.monotonic() < end_s:
            lines = []
            for _ in range(chance.choice((1, 10, 300, 1000, 2000))):
                words = "x" * chance.choice(self.lengths)
                lines.append(f"{writer}\t{number}\t{words}\t{checksum(writer, number, words)}\n")
                number += 1
            with connection.cursor().copy("COPY stress FROM STDIN") as copy:
                copy.write("".join(lines).encode())
            self.acknowledged[writer] = number

    def _read(self, connection: Connection, reader: int, end_s: float) -> None:
        chance = random.Random(self.seed + WRITERS_COUNT + reader)
        while time.monotonic() < end_s:
            connection.execute(b"RESET ALL")
            for text in chance.choice(SCANS):
                connection.execute(text.encode())
            try:
                rows = connection.execute(QUERY.encode()).fetchall()
            except psycopg.errors.QueryCanceled:
                self.counts["scans that had more to come"] += 1
                continue
            except psycopg.Error as error:
                if error.sqlstate != OVERTAKEN:
                    raise
                self.counts["scans overtaken"] += 1
                continue
            self.counts["scans"] += 1
            self._check(rows)

    def _check(self, rows: list[tuple[object, ...]]) -> None:
        following: dict[int, int] = {}
        for writer, number, words, stored in rows:
            assert isinstance(writer, int) and isinstance(number, int)
            self.counts["rows read"] += 1
            is_next = following.get(writer, number) == number
            if stored != checksum(writer, number, str(words)) or not is_next:
                self.counts["rows wrong"] += 1
            following[writer] = number + 1
