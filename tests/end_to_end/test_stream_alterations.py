"""ALTER FOREIGN TABLE while others write: nothing that was acknowledged is lost or counted twice,
also after the server is killed.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

WRITERS = 4
ALTERATIONS = (
    "ADD COLUMN extra text DEFAULT 'an added text that does not lie in its slot'",
    "OPTIONS (SET capacity '4096')",
    "RENAME extra TO other",
    "ALTER other SET NOT NULL",
    "OPTIONS (SET capacity '256', ADD string_capacity '1MB')",
    "ADD number bigint DEFAULT 7",
    "DROP other",
    "DROP number",
    "OPTIONS (SET capacity '1024', DROP string_capacity)",
)


class Writer:
    """Inserts rows whose key is its number until told to stop. count: of acknowledged rows;
    refused: statements that met an ALTER.
    """

    def __init__(self, server: AntumbraServer, number: int, stop: threading.Event) -> None:
        self.count = self.refused = 0
        self.error: psycopg.Error | None = None
        self._server, self._number, self._stop = server, number, stop
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            with self._server.connect() as connection:
                while not self._stop.is_set():
                    self._write(connection)
        except psycopg.Error as error:
            self.error = error

    def _write(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        text = "a text of more than twelve bytes" if self.count % 3 else "short"
        try:
            match self._number:
                case 0:
                    connection.execute("INSERT INTO busy (k, t) VALUES (%s, %s)", (0, text), prepare=True)
                    self.count += 1
                case 1:
                    connection.execute(f"INSERT INTO busy (k, t) VALUES (1, '{text}')".encode())
                    self.count += 1
                case 2:
                    with connection.cursor().copy("COPY busy (k, t) FROM STDIN") as copy:
                        copy.write(f"2\t{text}\n" * 50)
                    self.count += 50
                case _:
                    with connection.transaction():
                        connection.execute("INSERT INTO busy (k, t) SELECT 3, 'x' FROM generate_series(1, 3)")
                        time.sleep(0.002)
                        connection.execute("INSERT INTO busy (k) VALUES (3)")
                    self.count += 4
        except psycopg.errors.SerializationFailure:
            self.refused += 1


@pytest.mark.slow
def test_writers_go_on(tmp_path: Path) -> None:
    server = AntumbraServer(tmp_path / "data").start()
    stop = threading.Event()
    with server.connect() as connection:
        connection.execute("CREATE FOREIGN TABLE busy (k int NOT NULL, t text) SERVER stream OPTIONS (capacity '1024')")
        connection.execute("CREATE VIEW per_writer AS SELECT k, count(*) AS n FROM busy GROUP BY k")
        writers = [Writer(server, number, stop) for number in range(WRITERS)]
        for _ in range(3):
            for action in ALTERATIONS:
                connection.execute(f"ALTER FOREIGN TABLE busy {action}".encode())
                time.sleep(0.02)
    stop.set()
    for writer in writers:
        writer.thread.join()
        assert writer.error is None and writer.count
    found: list[list[tuple[object, ...]]] = []
    expected = [(number, writer.count) for number, writer in enumerate(writers)]
    for killed in (False, True):
        if killed:
            server.kill()
            server.start()
        with server.connect() as connection:
            assert sorted(connection.execute("SELECT k, n FROM per_writer").fetchall()) == expected
            found.append(connection.execute("SELECT * FROM busy").fetchall())
            numbers = connection.execute("SELECT tuples, newest_tid - oldest_tid + 1 FROM pg_stat_streams").fetchone()
            assert numbers == (sum(writer.count for writer in writers), len(found[-1]))
    # The ring was made larger when it had 256 tuples.
    assert 256 <= len(found[0]) <= 1024 and found[0] == found[1]
    assert {key for key, _ in found[0]} <= set(range(WRITERS))
    server.stop()
