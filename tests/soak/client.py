"""One client of the soak: random transactions of numbered tuples until its server dies, and an
account of each.

Enters: a connection string and the life to account for. Leaves: the life's transactions, in order,
with what was sent and what was answered. Raises whatever the server answers that it should not.
Must not know when the server is killed.
"""

from __future__ import annotations

import random
import select
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.pq import ConnStatus, ExecStatus

from tests.soak.ledger import BrokenPromiseError, Life, State, Tally, Unit, fold
from tests.soak.schema import MARKS, OWN_STREAMS, SHARED, Row, insert_text, literal_rows, tally

Connection = psycopg.Connection[tuple[Any, ...]]

WAIT_S_MAX = 60.0
ROWS_MAX = 40
COPIED_ROWS_MAX = 1500
STATEMENTS_MAX = 5
PIPELINED_MAX = 12
# The server says so itself when it ends.
SHUTDOWN = frozenset({"57P01", "57P02", "57P03"})
CONFLICT = "40001"


class ConnectionLostError(Exception):
    """The server is gone; what was sent last may have happened."""


@dataclass
class Watch:
    """Memory that the clients and the killer share. mixed_sent: a COMMIT of a table
    and a stream has just been sent.

    mixed_s: how long one takes. seen: rows of a stream that a reader has seen. is_stopping: the
    server was asked to stop.
    """

    mixed_sent: threading.Event = field(default_factory=threading.Event)
    is_stopping: bool = False
    mixed_s: float = 0.01
    seen: Counter[str] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note_mixed(self, seconds: float) -> None:
        """Learn how long a mixed COMMIT takes."""
        self.mixed_s += (min(seconds, 1.0) - self.mixed_s) / 8

    def note_seen(self, stream: str, rows: int) -> None:
        """A reader has seen so many rows of a stream."""
        with self.lock:
            self.seen[stream] = max(self.seen[stream], rows)


class SoakClient:
    """A client with its number, its chance, and the numbers of its tuples, which never come
    again.
    """

    def __init__(self, number: int, seed: int) -> None:
        self.number = number
        self._draw = random.Random(f"{seed}/{number}")
        self._tuples = 0
        self._blocks = 0
        self._streams = [SHARED, OWN_STREAMS[number]] if number < len(OWN_STREAMS) else [SHARED]
        self._actions: tuple[tuple[int, Callable[[Connection, Life, Watch], None]], ...] = (
            (30, self._statement),
            (14, self._block),
            (8, self._pipeline),
            (8, self._mixed),
            (3, self._rolled_back),
            (3, self._refused),
            (2, self._read),
        )

    def live(self, dsn: str, life: Life, watch: Watch) -> None:
        """Run transactions until the server is gone."""
        commit = self._draw.choice(("on", "local", "true") if life.waits_for_log else ("off", "0", "no"))
        weights = [weight for weight, _ in self._actions]
        actions = [action for _, action in self._actions]
        try:
            with lost_when_it_ends():
                connection = psycopg.connect(dsn, autocommit=True, options=f"-c synchronous_commit={commit}")
            try:
                while True:
                    (action,) = self._draw.choices(actions, weights)
                    action(connection, life, watch)
            finally:
                connection.close()
        except ConnectionLostError:
            return
        except psycopg.errors.QueryCanceled:
            if not watch.is_stopping:
                raise
            # A server that stops cancels what runs: the first that it has not acknowledged. What
            # was sent after it nobody knows.
            cancelled = next((unit for unit in life.units if unit.state is State.SENT), None)
            if cancelled is not None:
                cancelled.state = State.FAILED

    # Transactions.

    def _statement(self, connection: Connection, life: Life, _: Watch) -> None:
        """One statement that commits by itself."""
        unit = begin(life, "statement")
        stream, rows, how = self._rows_of_a_statement(life)
        unit.what = f"{how} of {len(rows)}"
        unit.add(stream, tally(rows))
        insert(connection, stream, rows, how, lambda: send(unit))
        acknowledge(unit)

    def _block(self, connection: Connection, life: Life, _: Watch) -> None:
        """BEGIN, a few statements on any streams, COMMIT."""
        unit = begin(life, "block")
        execute(connection, "BEGIN")
        self._fill(connection, life, unit)
        commit(connection, unit)

    def _mixed(self, connection: Connection, life: Life, watch: Watch) -> None:
        """A block that also writes into a table what it does to the streams."""
        unit = begin(life, "mixed")
        unit.is_mixed = True
        self._blocks += 1
        marks_first = self._draw.random() < 0.5
        execute(connection, "BEGIN")
        try:
            if marks_first:
                execute(
                    connection, f"SELECT count(*) FROM {MARKS} WHERE client = {self.number} AND life = {life.number}"
                )
            self._fill(connection, life, unit)
            rows = sum(one.rows for one in unit.effects.values())
            total = sum(one.total for one in unit.effects.values())
            execute(
                connection,
                f"INSERT INTO {MARKS} VALUES ({self.number}, {life.number}, {self._blocks}, {rows}, {total})",
            )
            unit.add(MARKS, Tally(1, total, self._blocks, self._blocks))
            commit(connection, unit, watch)
        except psycopg.Error as error:
            if error.sqlstate != CONFLICT:
                raise
            unit.state = State.FAILED
            execute(connection, "ROLLBACK")

    def _pipeline(self, connection: Connection, life: Life, _: Watch) -> None:
        """Several statements, each with its own Sync, sent before the first is answered."""
        units = []
        raw = connection.pgconn
        with lost_when_it_ends(connection):
            raw.enter_pipeline_mode()
            for _number in range(self._draw.randint(2, PIPELINED_MAX)):
                stream, rows = self._draw.choice(self._streams), self._new_rows(life, self._draw.choice((1, 1, 1, 3)))
                unit = begin(life, f"pipelined {len(rows)}")
                unit.add(stream, tally(rows))
                units.append(unit)
                send(unit)
                raw.send_query_params(f"INSERT INTO {stream} VALUES {literal_rows(rows)}".encode(), None)
                raw.pipeline_sync()
            flush(connection)
            for unit in units:
                expect(connection, ExecStatus.COMMAND_OK)
                expect(connection, None)
                expect(connection, ExecStatus.PIPELINE_SYNC)
                acknowledge(unit)
            raw.exit_pipeline_mode()

    def _rolled_back(self, connection: Connection, life: Life, _: Watch) -> None:
        """A block that is given up."""
        unit = begin(life, "rolled back")
        execute(connection, "BEGIN")
        self._fill(connection, life, unit)
        unit.state = State.FAILED
        execute(connection, "ROLLBACK")

    def _refused(self, connection: Connection, life: Life, _: Watch) -> None:
        """A statement whose last row is wrong, or a block that such a statement ends."""
        unit = begin(life, "refused")
        unit.state = State.FAILED
        in_block = self._draw.random() < 0.5
        if in_block:
            execute(connection, "BEGIN")
            self._fill(connection, life, unit)
        rows = self._new_rows(life, self._draw.randint(1, ROWS_MAX))
        unit.add(SHARED, tally(rows))
        try:
            if self._draw.random() < 0.5:
                execute(connection, f"INSERT INTO {SHARED} VALUES {literal_rows(rows)}, (1, 1, NULL, 1, '', false)")
            else:
                with lost_when_it_ends(connection), connection.cursor().copy(f"COPY {SHARED} FROM STDIN") as copy:
                    for row in rows:
                        copy.write_row(row)
                    copy.write("1\t1\tmany\t1\t\tf\n")
        except (psycopg.errors.NotNullViolation, psycopg.errors.InvalidTextRepresentation):
            if in_block:
                execute(connection, "COMMIT")
            return
        raise AssertionError("a row that is wrong was taken")

    def _read(self, connection: Connection, life: Life, watch: Watch) -> None:
        """Rows that this client was told are committed it can read, and what it has read of others
        must stay.
        """
        stream = self._draw.choice(self._streams)
        [(rows, total)] = execute(
            connection,
            f"SELECT coalesce(sum(rows), 0), coalesce(sum(total), 0) FROM {stream}_lives "
            f"WHERE client = {self.number} AND life = {life.number}",
        )
        done = fold(unit for unit in life.units if unit.state is State.ACKNOWLEDGED).get(stream, Tally())
        if (rows, total) != (done.rows, done.total):
            raise BrokenPromiseError(
                f"client {self.number} reads {rows} rows of {stream}, {total}, and has written {done}"
            )
        [(seen,)] = execute(connection, f"SELECT rows FROM {stream}_all")
        assert isinstance(seen, int)
        watch.note_seen(stream, seen)

    # What they are made of.

    def _fill(self, connection: Connection, life: Life, unit: Unit) -> None:
        """Run the statements of a block."""
        for _ in range(self._draw.randint(1, STATEMENTS_MAX)):
            stream, rows, how = self._rows_of_a_statement(life, unit.is_mixed)
            unit.add(stream, tally(rows))
            insert(connection, stream, rows, how, lambda: None)

    def _rows_of_a_statement(self, life: Life, is_mixed: bool = False) -> tuple[str, list[Row], str]:
        how = self._draw.choice(("simple", "simple", "extended", "binary", "prepared", "COPY"))
        rows_max = {"COPY": COPIED_ROWS_MAX, "prepared": 1}.get(how, ROWS_MAX)
        # Mostly few rows: the smallest statements take the shortest way through the server.
        count = 1 if self._draw.random() < 0.5 else self._draw.randint(1, rows_max)
        return self._draw.choice(self._streams), self._new_rows(life, count, is_mixed), how

    def _new_rows(self, life: Life, count: int, is_mixed: bool = False) -> list[Row]:
        rows = []
        for _ in range(count):
            self._tuples += 1
            amount = self._draw.getrandbits(48) - (1 << 47)
            rows.append(Row(self.number, life.number, self._tuples, amount, self._note(), is_mixed))
        return rows

    def _note(self) -> str | None:
        draw = self._draw.random()
        if draw < 0.1:
            return None
        word = self._draw.choice(("", "a", "it's", "tab\tand\\", "größer", "twelve bytes", "the thirteenth"))
        return f"{word}{self._tuples}" * (1 if draw < 0.95 else self._draw.randint(2, 200))


# One transaction's way.


def begin(life: Life, what: str) -> Unit:
    """Return a new transaction of a life."""
    unit = Unit(what)
    life.units.append(unit)
    return unit


def send(unit: Unit) -> None:
    """The message that commits a transaction goes out now."""
    unit.sent_s = time.monotonic()
    unit.state = State.SENT


def acknowledge(unit: Unit) -> None:
    unit.answered_s = time.monotonic()
    unit.state = State.ACKNOWLEDGED


def commit(connection: Connection, unit: Unit, watch: Watch | None = None) -> None:
    """Send COMMIT, tell the watch when it is out, and wait for the answer. Raises psycopg.Error
    when it is refused.
    """
    with lost_when_it_ends(connection):
        send(unit)
        connection.pgconn.send_query(b"COMMIT")
        flush(connection)
        if watch is not None:
            watch.mixed_sent.set()
        expect(connection, ExecStatus.COMMAND_OK)
        expect(connection, None)
    acknowledge(unit)
    if watch is not None:
        watch.note_mixed(unit.answered_s - unit.sent_s)


def insert(connection: Connection, stream: str, rows: Sequence[Row], how: str, sending: Callable[[], None]) -> None:
    """Insert rows in one of five ways. sending: called before the message that ends the statement
    goes out.
    """
    with lost_when_it_ends(connection):
        if how == "COPY":
            with connection.cursor().copy(f"COPY {stream} FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
                sending()
            return
        sending()
        if how == "simple":
            connection.execute(f"INSERT INTO {stream} VALUES {literal_rows(rows)}".encode())
            return
        mark = "%b" if how == "binary" else "%s"
        values = [value for row in rows for value in row]
        connection.execute(
            insert_text(stream, len(rows), mark).encode(), values, binary=how == "binary", prepare=how == "prepared"
        )


def execute(connection: Connection, text: str) -> list[tuple[Any, ...]]:
    """Run a statement that is no transaction's end, or one that is known to keep nothing; return
    its rows.
    """
    with lost_when_it_ends(connection):
        cursor = connection.execute(text.encode())
        return cursor.fetchall() if cursor.description is not None else []


@contextmanager
def lost_when_it_ends(connection: Connection | None = None) -> Iterator[None]:
    """Tell a connection that has ended from a statement that was refused."""
    try:
        yield
    except psycopg.Error as error:
        if connection is None or error.sqlstate is None or error.sqlstate in SHUTDOWN or connection.closed:
            raise ConnectionLostError from error
        raise


def flush(connection: Connection) -> None:
    """Send what libpq still holds."""
    raw = connection.pgconn
    with lost_when_it_ends(connection):
        while raw.flush():
            readable, _, _ = select.select([raw.socket], [raw.socket], [], WAIT_S_MAX)
            if readable:
                raw.consume_input()


def expect(connection: Connection, status: ExecStatus | None) -> None:
    """Take the next result, or None at the end of one query's. Raises psycopg.Error for an error,
    ConnectionLostError at the end.
    """
    raw = connection.pgconn
    with lost_when_it_ends(connection):
        while raw.is_busy():
            select.select([raw.socket], [], [], WAIT_S_MAX)
            raw.consume_input()
        result = raw.get_result()
        if raw.status == ConnStatus.BAD:
            raise ConnectionLostError
        found = None if result is None else ExecStatus(result.status)
        if result is not None and found == ExecStatus.FATAL_ERROR:
            raise psycopg.errors.error_from_result(result)
    assert found == status, (found, status)
