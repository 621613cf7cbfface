"""The sequence of operations that every event of is made to fail, and the smaller one that follows
the next start.

Leaves: operations, each with what it says to the server and what it does to the model. Everything
that is logged in a way of its own occurs: rows one by one and many, by Query and by Bind, with and
without waiting for the disk; blocks; rows ahead of their COMMIT; rows together with tables and with
definitions; batches that are tried again; what is rolled back; checkpoints; segments of the log
that fill up; an orderly end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from tests.end_to_end.raw_client import COPY_DONE, SYNC, bind, copy_data, describe, execute, parse, query
from tests.faults.expected import OPTIONS, STREAM, TABLE, VIEWS, Expected, Rows, copied, rows_of, values

PREPARED = "INSERT INTO s (op, i, cents, t) VALUES ($1, $2, $3, $4)"
COPIED_BYTES = 100_000


class Kind(Enum):
    """STATEMENT: messages of a session. TURN: of the log's own thread. RESTART: an orderly end, and
    a start.
    """

    STATEMENT = auto()
    TURN = auto()
    RESTART = auto()


@dataclass(frozen=True)
class Operation:
    """Step of a client. messages: each sent when the one before it is answered. effect: what it
    does to the model; needs: relations that must be there.

    sqlstate: of the error that is its right answer. is_loose: it is acknowledged before it is
    durable. is_durable: when it is acknowledged, so is everything before it.
    """

    name: str
    messages: tuple[bytes, ...] = ()
    effect: Callable[[Expected], object] = lambda _: None
    needs: frozenset[str] = frozenset({"s"})
    kind: Kind = Kind.STATEMENT
    sqlstate: str = ""
    is_loose: bool = False
    is_durable: bool = True


def statements(name: str, effect: Callable[[Expected], object], *messages: str | bytes, needs: str = "s") -> Operation:
    """Return an operation of some messages; a text is a Query."""
    sent = tuple(query(message) if isinstance(message, str) else message for message in messages)
    return Operation(name, sent, effect, frozenset(needs.split()))


def create_stream() -> Operation:
    return statements("create a stream", lambda expected: expected.streams.update(s=[]), STREAM, needs="")


def create_table() -> Operation:
    return statements("create a table", lambda expected: expected.tables.update(d=[]), TABLE, needs="")


def create_view(name: str, needs: str = "s") -> Operation:
    text = f"CREATE VIEW {name}{OPTIONS.get(name, '')} AS {VIEWS[name]}"
    return statements(f"create view {name}", lambda expected: expected.views.update({name: []}), text, needs=needs)


def replace_view(name: str) -> Operation:
    """Replace a view by one that keeps its state and yields the same."""
    text = f"CREATE OR REPLACE VIEW {name} AS {VIEWS[name]} HAVING count(*) > 0"
    return statements(f"replace view {name}", lambda _: None, text, needs=f"s {name}")


def rename_view(name: str, other: str) -> Operation:
    def effect(expected: Expected) -> None:
        expected.views[other] = expected.views.pop(name)

    return statements(f"rename view {name}", effect, f"ALTER VIEW {name} RENAME TO {other}", needs=f"s {name}")


def drop_view(name: str) -> Operation:
    return statements(
        f"drop view {name}", lambda expected: expected.views.pop(name), f"DROP VIEW {name}", needs=f"s {name}"
    )


def insert(op: int, count: int = 1, size: int = 10) -> Operation:
    """Insert literal rows; a single one goes as a packet."""
    rows = Rows(op, count, size)
    return statements(f"insert {count}", lambda expected: expected.insert(rows), insert_text(rows))


def insert_text(rows: Rows) -> str:
    return f"INSERT INTO s VALUES {values(rows)}"


def write_text(op: int, count: int) -> str:
    return "INSERT INTO d VALUES " + ", ".join(f"({op}, {i})" for i in range(1, count + 1))


def insert_bound(op: int) -> Operation:
    """Insert a row by a prepared statement."""
    rows = Rows(op, 1, 10)
    (row,) = rows_of(rows)
    packet = bind([str(value).encode() for value in row], "one", results=(0,)) + describe("P") + execute() + SYNC
    return statements(
        "insert by Bind",
        lambda expected: expected.insert(rows),
        query("DEALLOCATE ALL"),
        parse(PREPARED, "one") + SYNC,
        packet,
    )


def insert_loosely(op: int) -> Operation:
    """Insert a row without waiting for the disk."""
    rows = Rows(op, 1, 10)
    return Operation(
        "insert without waiting",
        (query("SET synchronous_commit = off"), query(insert_text(rows)), query("SET synchronous_commit = on")),
        lambda expected: expected.insert(rows),
        is_loose=True,
        is_durable=False,
    )


def copy(rows: Rows) -> bytes:
    """Return the messages of a COPY."""
    data = copied(rows)
    pieces = [copy_data(data[start : start + COPIED_BYTES]) for start in range(0, len(data), COPIED_BYTES)]
    return b"".join((query("COPY s FROM STDIN"), *pieces, COPY_DONE))


def large(op: int, count: int, size: int) -> Operation:
    """Insert so many rows that they are in the log before their COMMIT."""
    rows = Rows(op, count, size)
    return statements(f"copy {count}", lambda expected: expected.insert(rows), copy(rows))


def retried(op: int) -> Operation:
    """Insert by a batch: however often it is tried, it has one effect."""
    rows = Rows(op, 3, 20)

    def effect(expected: Expected) -> None:
        if rows not in expected.streams["s"]:
            expected.insert(rows)

    texts = ("BEGIN", f"SET LOCAL antumbra.batch = 'p:{op}'", insert_text(rows), "COMMIT")
    return statements("retried", effect, *texts)


def retried_mixed(op: int) -> Operation:
    """Write to the stream and to the table by a batch."""
    rows = Rows(op, 2, 20)

    def effect(expected: Expected) -> None:
        if rows not in expected.streams["s"]:
            expected.write(op, 2)
            expected.insert(rows)

    texts = ("BEGIN", f"SET LOCAL antumbra.batch = 'q:{op}'", insert_text(rows), write_text(op, 2), "COMMIT")
    return statements("retried mixed", effect, *texts, needs="s d")


def block(op: int) -> Operation:
    """Insert by two statements of one transaction."""
    first, second = Rows(op, 2, 30), Rows(op + 1, 3, 5)

    def effect(expected: Expected) -> None:
        expected.insert(first)
        expected.insert(second)

    return statements("block", effect, "BEGIN", insert_text(first), insert_text(second), "COMMIT")


def mixed(op: int) -> Operation:
    """Write to the stream and to the table."""
    first, second = Rows(op, 2, 30), Rows(op, 1, 5)

    def effect(expected: Expected) -> None:
        expected.write(op, 2)
        expected.insert(first)
        expected.insert(second)

    texts = ("BEGIN", insert_text(first), write_text(op, 2), insert_text(second), "COMMIT")
    return statements("mixed", effect, *texts, needs="s d")


def saved(op: int) -> Operation:
    """Write, and write more, which is rolled back to a savepoint, and go on."""
    first, second, third = Rows(op, 2, 30), Rows(op, 4, 30), Rows(op, 3, 5)

    def effect(expected: Expected) -> None:
        expected.write(op, 2)
        expected.insert(first)
        expected.insert(third)

    texts = ("BEGIN", write_text(op, 2), insert_text(first), "SAVEPOINT a", insert_text(second), write_text(op, 5))
    return statements("saved", effect, *texts, "ROLLBACK TO a", insert_text(third), "COMMIT", needs="s d")


def large_mixed(op: int, count: int) -> Operation:
    """Write to the table, and so much to the stream that it is in the log before COMMIT."""
    rows = Rows(op, count, 40)

    def effect(expected: Expected) -> None:
        expected.write(op, 1)
        expected.insert(rows)

    return statements("large mixed", effect, "BEGIN", copy(rows), write_text(op, 1), "COMMIT", needs="s d")


def define_and_write(op: int) -> Operation:
    """Create a view between rows that it has not seen and rows that it counts."""
    first, second = Rows(op, 2, 30), Rows(op, 3, 5)

    def effect(expected: Expected) -> None:
        expected.write(op, 1)
        expected.insert(first)
        expected.views["late"] = []
        expected.insert(second)

    return statements(
        "define and write",
        effect,
        "BEGIN",
        insert_text(first),
        f"CREATE VIEW late AS {VIEWS['late']}",
        insert_text(second),
        write_text(op, 1),
        "COMMIT",
        needs="s d",
    )


def alter(op: int) -> Operation:
    """Make the ring anew between rows of the old and of the new one, with a column that is gone at
    the end.
    """
    first, second = Rows(op, 2, 30), Rows(op, 3, 5)

    def effect(expected: Expected) -> None:
        expected.insert(first)
        expected.insert(second)

    return statements(
        "alter",
        effect,
        "BEGIN",
        insert_text(first),
        "ALTER FOREIGN TABLE s ADD COLUMN extra text DEFAULT 'a default of more than twelve bytes'",
        insert_text(second),
        "ALTER FOREIGN TABLE s DROP COLUMN extra",
        "COMMIT",
    )


def table_alone(op: int) -> Operation:
    """Write to the table; the log knows nothing of it."""
    written = statements("table alone", lambda expected: expected.write(op, 3), write_text(op, 3), needs="d")
    return Operation(written.name, written.messages, written.effect, written.needs, is_durable=False)


def undone(op: int) -> Operation:
    """Write, and roll it back."""
    rows = Rows(op, 2, 30)
    sent = (query("BEGIN"), query(insert_text(rows)), query(write_text(op, 2)), query("ROLLBACK"))
    return Operation("undone", sent, needs=frozenset({"s", "d"}), is_durable=False)


def refused(op: int) -> Operation:
    """Insert a row that a view can't evaluate."""
    sent = query(f"INSERT INTO s VALUES ({op}, 1, 1, 'good'), ({op}, 0, 1, 'bad')")
    needs = frozenset({"s", "per_operation"})
    return Operation("refused", (sent,), needs=needs, sqlstate="22012", is_durable=False)


def read() -> Operation:
    return Operation(
        "read", (query("SELECT * FROM per_operation"),), needs=frozenset({"per_operation"}), is_durable=False
    )


def checkpoint() -> Operation:
    return Operation("checkpoint", (query("CHECKPOINT"),), needs=frozenset())


TURN = Operation("turn", kind=Kind.TURN)
RESTART = Operation("restart", kind=Kind.RESTART, needs=frozenset())


def whole_sequence() -> tuple[Operation, ...]:
    """Return what every event of is made to fail."""
    return (
        create_stream(),
        create_view("per_operation"),
        create_table(),
        insert(1),
        insert_bound(2),
        insert(3, 3),
        block(4),
        mixed(6),
        retried(60),
        retried(60),
        create_view("met", "s d"),
        create_view("upper"),
        create_view("parts"),
        create_view("all_rows"),
        large(7, 4500, 200),
        read(),
        insert(8),
        checkpoint(),
        insert(9),
        retried_mixed(61),
        retried_mixed(61),
        insert_loosely(10),
        TURN,
        insert(11, 5, 60),
        alter(50),
        define_and_write(12),
        replace_view("per_operation"),
        rename_view("all_rows", "all_renamed"),
        saved(52),
        insert_loosely(13),
        large_mixed(14, 4200),
        undone(15),
        refused(16),
        drop_view("all_renamed"),
        TURN,
        large(17, 4300, 180),
        table_alone(18),
        checkpoint(),
        block(19),
        retried(62),
        retried(62),
        insert_loosely(21),
        RESTART,
        insert(22),
        mixed(23),
        checkpoint(),
        read(),
    )


def short_sequence(op: int) -> tuple[Operation, ...]:
    """Return what a database does after it was started again; it needs few relations."""
    return (insert(op), mixed(op + 1), insert(op + 2, 4), checkpoint(), block(op + 3), table_alone(op + 5))
