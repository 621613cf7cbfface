"""Contents that a database must have after some operations: the plain model that what a start finds
is held against.

Enters: the operations that count, in order. Leaves: an `Answers`, exactly as `observe` reads one
from a running database. Every operation writes rows with a number of its own into one column, so
that a row that is missing, doubled or half there is seen wherever it shows.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

from engine.catalog.image import StreamEntry, ViewEntry
from ringbuffer.memory.arrow import morsel_to_arrow
from tests.engine.session_client import SessionClient
from tests.faults.machine import SETTINGS

CAPACITY = int(str(SETTINGS["stream_capacity_default"]))

# The texts of the definitions, by name.
STREAM = "CREATE FOREIGN TABLE s (op int, i int, cents numeric(12,2), t text) SERVER stream"
TABLE = "CREATE TABLE d (op int, i int)"
PER_OPERATION = (
    "SELECT op, count(*) AS n, sum(i) AS numbers, sum(cents) AS total, max(t) AS most, min(1000 / i) AS least "
    "FROM s GROUP BY op"
)
ALL_ROWS = "SELECT count(*) AS n, sum(i) AS numbers, sum(op) AS operations FROM s"
# Rows meet the table as it is when they are committed.
MET = "SELECT s.op, count(*) AS n FROM s JOIN d USING (i) GROUP BY s.op"
PARTS = "SELECT y.op, x.n, y.numbers FROM (SELECT count(*) AS n FROM s) x, (SELECT op, sum(i) AS numbers FROM s GROUP BY op) y"
# Its groups are grouped again, which is the work of an upper pipeline.
UPPER = f"SELECT n, count(*) AS operations, sum(numbers) AS numbers FROM ({PER_OPERATION}) g GROUP BY n"
VIEWS = {
    "per_operation": PER_OPERATION,
    "upper": UPPER,
    "all_rows": ALL_ROWS,
    "all_renamed": ALL_ROWS,
    "late": ALL_ROWS,
    "met": MET,
    "parts": PARTS,
}
OPTIONS = {"met": " WITH (stream_join = arrival)"}


class Rows(NamedTuple):
    """Rows 1 to `count` of an operation; `size`: characters of the text of each."""

    op: int
    count: int  # type: ignore[assignment]  # the number of rows; nobody calls the tuple's own method
    size: int


Row = tuple[int, int, str, str]
# Rows of an answer, sorted.
Texts = tuple[tuple[str | None, ...], ...]


@cache
def rows_of(rows: Rows) -> tuple[Row, ...]:
    """Return the rows as a client reads them."""
    return tuple((rows.op, i, f"{(rows.op * 31 + i) % 977}.25", text_of(rows, i)) for i in range(1, rows.count + 1))


def text_of(rows: Rows, i: int) -> str:
    """Return the text of a row: from nothing to some more characters than others have."""
    return (f"{rows.op}-{i}-" * (rows.size // 4 + 1))[: rows.size + i % 13]


def values(rows: Rows) -> str:
    """Return the rows as an INSERT has them."""
    return ", ".join(f"({op}, {i}, {cents}, '{text}')" for op, i, cents, text in rows_of(rows))


def copied(rows: Rows) -> bytes:
    """Return the rows as a COPY has them."""
    return "".join(f"{op}\t{i}\t{cents}\t{text}\n" for op, i, cents, text in rows_of(rows)).encode()


@dataclass
class Expected:
    """Return what is there. views: of each, the rows that it has counted; tables: of each,
    operation and number of rows.

    The view "met" has as many of each rows as they have met in the table.
    """

    streams: dict[str, list[Rows]] = field(default_factory=dict)
    views: dict[str, list[Rows]] = field(default_factory=dict)
    tables: dict[str, list[tuple[int, int]]] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """All relations."""
        return frozenset((*self.streams, *self.views, *self.tables))

    def copy(self) -> Expected:
        """Return the same, to go on from."""
        parts = (self.streams, self.views, self.tables)
        return Expected(*({name: list(found) for name, found in part.items()} for part in parts))  # type: ignore[arg-type]

    def insert(self, rows: Rows) -> None:
        """Rows have come to the stream."""
        self.streams["s"].append(rows)
        for name, counted in self.views.items():
            if name == "met":
                matches = sum(min(count, rows.count) for _, count in self.tables["d"])
                counted.append(Rows(rows.op, matches, 0))
            else:
                counted.append(rows)

    def write(self, op: int, count: int) -> None:
        """Rows have come to the table."""
        self.tables["d"].append((op, count))

    def answers(self) -> Answers:
        """Return what has to be read."""
        rings = {name: (sum(rows.count for rows in history), newest(history)) for name, history in self.streams.items()}
        views = {name: ANSWERS.get(name, all_rows)(counted) for name, counted in self.views.items()}
        tables = {
            name: sorted_texts((op, i) for op, count in written for i in range(1, count + 1))
            for name, written in self.tables.items()
        }
        return Answers(self.names, rings, views, tables)


class Answers(NamedTuple):
    """Return what is read. rings: of each stream, the number of tuples and the newest of them."""

    names: frozenset[str]
    rings: dict[str, tuple[int, tuple[Row, ...]]]
    views: dict[str, Texts]
    tables: dict[str, Texts]

    def differences(self, other: Answers) -> list[str]:
        """Return in what the other one differs."""
        found = [] if self.names == other.names else [f"relations {sorted(self.names)} / {sorted(other.names)}"]
        for kind in self._fields[1:]:
            ours: dict[str, object] = getattr(self, kind)
            theirs: dict[str, object] = getattr(other, kind)
            for name in ours.keys() | theirs.keys():
                mine, its = ours.get(name), theirs.get(name)
                if mine != its:
                    found.append(f"{kind} {name}: {shortened(mine)} / {shortened(its)}")
        return found


def shortened(value: object) -> str:
    """Return a value as text that a person reads."""
    text = repr(value)
    return text if len(text) < 700 else f"{text[:300]} ... {text[-300:]}"


@cache
def sums(rows: Rows) -> tuple[int, int, int, str]:
    """Return the sums of i and of cents, 1000 / i at least, and the greatest text."""
    found = rows_of(rows)
    cents = sum(int(cents.replace(".", "")) for _, _, cents, _ in found)
    return sum(i for _, i, _, _ in found), cents, 1000 // rows.count, max(text for *_, text in found)


def sorted_texts(rows: Iterable[tuple[object, ...]]) -> Texts:
    """Return rows as `observe` does."""
    texts = (tuple(None if value is None else str(value) for value in row) for row in rows)
    return tuple(sorted(texts, key=str))


def per_operation(counted: Sequence[Rows]) -> Texts:
    """Return the rows of the view with one group per operation."""
    groups = []
    for op in {rows.op for rows in counted}:
        parts = [(rows.count, *sums(rows)) for rows in counted if rows.op == op]
        counts, numbers, cents, least, most = zip(*parts, strict=True)
        total = f"{sum(cents) // 100}.{sum(cents) % 100:02}"
        groups.append((op, sum(counts), sum(numbers), total, max(most), min(least)))
    return sorted_texts(groups)


def all_rows(counted: Sequence[Rows]) -> Texts:
    """Return the one row of a view over all rows."""
    if not counted:
        return sorted_texts([(0, None, None)])
    n, operations = (
        sum(numbers) for numbers in zip(*((rows.count, rows.count * rows.op) for rows in counted), strict=True)
    )
    return sorted_texts([(n, sum(sums(rows)[0] for rows in counted), operations)])


def upper(counted: Sequence[Rows]) -> Texts:
    """Return the rows of the view that groups groups."""
    groups: dict[int, tuple[int, int]] = {}
    for rows in counted:
        n, numbers = groups.get(rows.op, (0, 0))
        groups[rows.op] = n + rows.count, numbers + sums(rows)[0]
    found = [(n, [numbers for each, numbers in groups.values() if each == n]) for n in {n for n, _ in groups.values()}]
    return sorted_texts((n, len(numbers), sum(numbers)) for n, numbers in found)


def met(counted: Sequence[Rows]) -> Texts:
    """Return the rows of the view that joins the table."""
    counts = Counter[int]()
    for rows in counted:
        counts[rows.op] += rows.count
    return sorted_texts((op, n) for op, n in counts.items() if n)


def parts(counted: Sequence[Rows]) -> Texts:
    """Return the rows of the view that is made of two."""
    numbers = Counter[int]()
    for rows in counted:
        numbers[rows.op] += sums(rows)[0]
    return sorted_texts((op, sum(rows.count for rows in counted), number) for op, number in numbers.items())


# By the name of the view; of all others the answer is `all_rows`.
ANSWERS: dict[str, Callable[[Sequence[Rows]], Texts]] = {
    "per_operation": per_operation,
    "upper": upper,
    "met": met,
    "parts": parts,
}


def newest(history: Sequence[Rows]) -> tuple[Row, ...]:
    """Return the tuples that are still in the ring."""
    found: list[Row] = []
    for rows in reversed(history):
        if len(found) >= CAPACITY:
            break
        found[:0] = rows_of(rows)
    return tuple(found[-CAPACITY:])


def observe(client: SessionClient) -> Answers:
    """Read everything. Raises AssertionError when something can't be read."""
    image = client.session.server.catalog.image
    entries = image.entries
    rings: dict[str, tuple[int, tuple[Row, ...]]] = {}
    views: dict[str, Texts] = {}
    tables: dict[str, Texts] = {}
    for name, entry in entries.items():
        if isinstance(entry, StreamEntry):
            ring = entry.stream.ring
            morsel = ring.read(ring.oldest_tid, ring.tuples_count - ring.oldest_tid)
            found = morsel_to_arrow(morsel, ring.layout).to_pylist()
            rows = tuple((row["op"], row["i"], str(row["cents"]), row["t"]) for row in found)
            rings[name] = (ring.tuples_count, rows)
        elif isinstance(entry, ViewEntry):
            views[name] = tuple(sorted(read_rows(client, f"SELECT * FROM {name}"), key=str))
        else:
            tables[name] = tuple(sorted(read_rows(client, f"SELECT * FROM {name}"), key=str))
    return Answers(frozenset(entries), rings, views, tables)


def read_rows(client: SessionClient, text: str) -> list[tuple[str | None, ...]]:
    """Return the rows of a query that must succeed, as text."""
    rows = (ast.literal_eval(line[2:]) for line in client.rows(text))
    return [tuple(None if value is None else value.decode() for value in row) for row in rows]
