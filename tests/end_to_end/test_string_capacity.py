"""stream_string_overflow = wait: a commit without room for its texts waits, holds nobody up, and
goes on or is cancelled.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import psycopg
import pytest

from tests.oracle.antumbra import AntumbraServer

Connection = psycopg.Connection[tuple[object, ...]]
LONG = "INSERT INTO full_up VALUES (1, repeat('x', 1000))"
WAIT_S_MAX = 30.0


@pytest.fixture
def waiting(server: AntumbraServer) -> Iterator[Connection]:
    """A connection whose next long text has to wait, in a ring of 4 tuples of which 2 are there."""
    with server.connect() as connection:
        connection.execute(
            "CREATE FOREIGN TABLE full_up (k int, t text) SERVER stream OPTIONS (capacity '4', string_capacity '2kB')"
        )
        connection.execute("CREATE VIEW full_sum AS SELECT sum(k) AS k FROM full_up")
        connection.execute("SET stream_string_overflow = wait")
        connection.execute(LONG)
        connection.execute(LONG)
        yield connection
        connection.execute("DROP FOREIGN TABLE full_up CASCADE")


class InsertThread:
    """A statement on its way, and how it ended."""

    def __init__(self, connection: Connection, text: str = LONG) -> None:
        self.error: psycopg.Error | None = None
        self._connection = connection
        self._text = text
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._connection.execute(self._text.encode())
        except psycopg.Error as error:
            self.error = error

    def is_waiting(self) -> bool:
        """Tell whether it still runs after a while."""
        self._thread.join(0.3)
        return self._thread.is_alive()

    @property
    def is_alive(self) -> bool:
        """True while it runs."""
        return self._thread.is_alive()

    def end(self) -> None:
        """Wait for its end, which must be without an error."""
        self._thread.join(WAIT_S_MAX)
        assert not self._thread.is_alive()
        if self.error is not None:
            raise self.error


def total(connection: Connection) -> int:
    """Return what the view has."""
    row = connection.execute("SELECT k FROM full_sum").fetchone()
    assert row is not None and isinstance(row[0], int)
    return row[0]


def test_others_end_the_round(server: AntumbraServer, waiting: Connection) -> None:
    insert = InsertThread(waiting)
    with server.connect() as other:
        assert insert.is_waiting()
        other.execute("INSERT INTO full_up VALUES (10, 'short')")
        assert insert.is_waiting() and total(other) == 12
        with pytest.raises(psycopg.errors.OutOfMemory, match='the string buffer of stream "full_up" is full'):
            other.execute(LONG)
        other.execute("INSERT INTO full_up VALUES (100, 'short')")
        insert.end()
        assert total(other) == 113
        assert other.execute("SELECT k, length(t) FROM full_up").fetchall() == [(1, 1000), (10, 5), (100, 5), (1, 1000)]


def test_more_room(server: AntumbraServer, waiting: Connection) -> None:
    insert = InsertThread(waiting)
    with server.connect() as other:
        assert insert.is_waiting()
        other.execute("ALTER FOREIGN TABLE full_up OPTIONS (SET string_capacity '3kB')")
        insert.end()
        assert total(other) == 3


def test_cancelled(server: AntumbraServer, waiting: Connection) -> None:
    insert = InsertThread(waiting)
    assert insert.is_waiting()
    waiting.cancel()
    with pytest.raises(psycopg.errors.QueryCanceled, match="canceling statement due to user request"):
        insert.end()
    waiting.execute("SET statement_timeout = '200ms'")
    with pytest.raises(psycopg.errors.QueryCanceled, match="canceling statement due to statement timeout"):
        waiting.execute(LONG)
    with (
        pytest.raises(psycopg.errors.QueryCanceled, match="canceling statement due to statement timeout"),
        waiting.transaction(),
    ):
        waiting.execute(LONG)
    waiting.execute("RESET statement_timeout")
    assert total(waiting) == 2


def test_many_wait_and_hold_nobody_up(server: AntumbraServer, waiting: Connection) -> None:
    with server.connect() as other:
        other.execute("CREATE FOREIGN TABLE elsewhere (k int) SERVER stream")
        writers = [server.connect() for _ in range(20)]
        for writer in writers:
            writer.execute("SET stream_string_overflow = wait")
        inserts = [InsertThread(writer) for writer in writers]
        assert all(insert.is_waiting() for insert in inserts[-3:])
        began_s = time.monotonic()
        other.execute("INSERT INTO elsewhere VALUES (1)")
        assert total(other) == 2
        other.execute("DROP FOREIGN TABLE elsewhere")
        assert time.monotonic() - began_s < 5
        # Each round of four has room for two of them.
        while any(insert.is_alive for insert in inserts):
            other.execute("INSERT INTO full_up VALUES (0, 'short')")
            time.sleep(0.02)
        for insert in inserts:
            insert.end()
        assert total(other) == 22
        for writer in writers:
            writer.close()


def test_a_publishing_copy_waits(server: AntumbraServer, waiting: Connection) -> None:
    with server.connect() as other:
        ended = threading.Event()

        def copy() -> None:
            with waiting.cursor().copy("COPY full_up FROM STDIN WITH (publish '20ms')") as data:
                # libpq keeps what is less than its buffer to itself.
                data.write(b"1\t" + b"y" * 900 + b"\n" + b"0\tshort\n" * 5_000)
                ended.wait(WAIT_S_MAX)

        thread = threading.Thread(target=copy)
        thread.start()
        time.sleep(0.5)
        assert total(other) == 2
        other.execute("INSERT INTO full_up VALUES (10, 'short'), (100, 'short')")
        deadline = time.monotonic() + WAIT_S_MAX
        while total(other) != 113:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        ended.set()
        thread.join(WAIT_S_MAX)
        assert total(other) == 113
