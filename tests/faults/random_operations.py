"""Random operations of one client on streams, views and tables, each with the times of day at which
its messages arrive.

Leaves: operations as messages, which two databases are told alike. Rows are written in every way
that there is, and what a view or a table refuses is among them. Views need no upper pipeline. Must
not know which database is killed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.end_to_end.raw_client import COPY_DONE, SYNC, bind, copy_data, describe, execute, parse, query

COLUMNS = "k, n, v, f, t, at"
STREAMS = {
    "s0": "k int, n bigint, v numeric(12,2), f float8, t text, at timestamptz",
    "s1": "k int, n bigint, v numeric(12,2), f float8, t text, at timestamptz DEFAULT now()",
}
SETUP = (
    *(f"CREATE FOREIGN TABLE {name} ({columns}) SERVER stream" for name, columns in STREAMS.items()),
    "CREATE TABLE d (id int PRIMARY KEY, n int, note text, at timestamptz DEFAULT now())",
    "CREATE TABLE e (id int PRIMARY KEY, d_id int REFERENCES d ON DELETE CASCADE, note text)",
    "CREATE TABLE f (d_id int REFERENCES d, n int)",
)
# By name; each is always the same, so that it is compiled once.
VIEWS = {
    "sums": "SELECT k, count(*) AS n, sum(v) AS total, min(t) AS least, max(at) AS last, avg(n) AS mean FROM s0 GROUP BY k",
    "floats": "SELECT t, sum(f) AS total, avg(f) AS mean, max(f) AS most FROM s1 GROUP BY t",
    "fresh": "SELECT k, sum(CASE WHEN at > now() - interval '1 hour' THEN 1 ELSE 0 END) AS fresh, max(now()) AS seen "
    "FROM s1 GROUP BY k",
    "minutes": "SELECT date_trunc('minute', now()) AS minute, count(*) AS n, sum(n) AS numbers FROM s0 "
    "GROUP BY date_trunc('minute', now())",
    "old": "SELECT k, count(*) AS n FROM s1 WHERE at <= now() - interval '10 minutes' GROUP BY k",
    "recent": "SELECT k, count(*) AS n, max(at) AS last FROM s1 GROUP BY k HAVING max(at) > now() - interval '2 hours'",
    "texts": "SELECT t, k % 3 AS rest, count(*) AS n, max(n) FILTER (WHERE n > 2) AS most FROM s0 GROUP BY t, k % 3",
    "strict": "SELECT k, sum(100 / n) AS parts FROM s0 GROUP BY k",
    "lenient": "SELECT k, sum(100 / n) AS parts, count(*) AS n FROM s1 GROUP BY k",
    "arrived": "SELECT date_trunc('minute', arrival_timestamp) AS minute, count(*) AS n, sum(n) AS numbers, "
    "min(arrival_timestamp) AS first, max(arrival_timestamp) AS last FROM s0 GROUP BY 1",
    "punctual": "SELECT k, sum(100 / n) AS parts, max(arrival_timestamp) AS last FROM s1 WHERE arrival_timestamp <= at GROUP BY k",
    "whole": "SELECT count(*) AS n, sum(n) AS numbers, min(at) AS first, max(now()) AS seen FROM s1",
    "met": "SELECT d.n, note, count(*) AS c, sum(s0.n) AS numbers, max(d.at) AS last FROM s0 JOIN d ON d.id = s0.k GROUP BY d.n, note",
    "missed": "SELECT k, count(*) AS n, count(d_id) AS found, sum(e.id) AS ids FROM s1 LEFT JOIN e ON e.d_id = s1.k GROUP BY k",
    "parts": "SELECT x.k, x.n, y.most FROM (SELECT k, count(*) AS n FROM s0 GROUP BY k) x "
    "FULL JOIN (SELECT k, max(n) AS most FROM s1 GROUP BY k) y ON x.k = y.k",
    "upper": "SELECT c, count(*) AS keys, sum(n) AS numbers FROM (SELECT k, count(*) AS c, sum(n) AS n FROM s0 GROUP BY k) g "
    "GROUP BY c",
    "rest": "SELECT k, t FROM s0 WHERE n > 500 EXCEPT ALL SELECT k, t FROM s1",
}
OPTIONS = {
    "lenient": " WITH (on_error = skip)",
    "met": " WITH (stream_join = arrival)",
    "missed": " WITH (stream_join = arrival)",
}
# What comes after the text of a view that is replaced, so that its state goes on.
REPLACEMENTS = {
    "sums": (" HAVING count(*) > 2", " HAVING sum(v) > 0", ""),
    "texts": (" HAVING count(*) > 1", ""),
    "met": (" HAVING count(*) > 1", ""),
    "parts": (" WHERE x.n > 1", ""),
    "upper": (" HAVING count(*) > 1", ""),
}
STATE_CALLS = ("truncate_continuous_view", "deactivate", "activate", "activate")
PERIOD_US_MAX = 40 * 60 * 1_000_000
TEXTS = ("a", "b", "", "exactly twelve", "a text that is longer than twelve bytes", "\u00e4\u20ac")
COPIED_BYTES = 100_000
ROWS_MAX = 5500

Message = tuple[int, bytes]


@dataclass(frozen=True)
class Operation:
    """Steps of a random life. messages: each with the time of day at which it arrives, in
    microseconds. is_loose: acknowledged before it is durable.
    """

    name: str
    messages: tuple[Message, ...]
    is_loose: bool = False


class Drawing:
    """Draws operations. now_us: the time of day, which goes on from message to message."""

    def __init__(self, chance: Random, now_us: int) -> None:
        self.now_us = now_us
        self._chance = chance
        # By their names in VIEWS, the names that they have.
        self._views: dict[str, str] = {}
        self._ids = 0
        self._singles: tuple[Callable[[], bytes], ...] = (
            self._one_row,
            self._one_row,
            self._bound,
            self._rows,
            self._selected,
            self._computed,
            self._copied,
            self._defaulted,
            self._dated,
            self._written,
            self._written,
        )

    def setup(self) -> list[Operation]:
        """Return what comes first."""
        return [self._operation("setup", query(text)) for text in SETUP]

    def next(self) -> Operation:
        """Return the next operation."""
        kind = self._chance.random()
        if kind < 0.18 or not self._views:
            return self._operation("definition", query(self._definition()))
        if kind < 0.46:
            return self._block()
        if kind < 0.52:
            sent = (query("SET synchronous_commit = off"), self._single(), query("SET synchronous_commit = on"))
            return self._operation("loose", *sent, is_loose=True)
        return self._operation("single", self._single())

    def view(self) -> bytes:
        """Return the reading of a view."""
        return query(f"SELECT * FROM {self._chance.choice(sorted(self._views.values()))}")

    def _operation(self, name: str, *messages: bytes, is_loose: bool = False) -> Operation:
        return Operation(name, tuple((self._time(), message) for message in messages), is_loose)

    def _time(self) -> int:
        self.now_us += 1 + int(PERIOD_US_MAX * self._chance.random() ** 12)
        return self.now_us

    def _block(self) -> Operation:
        before = dict(self._views)
        inside = [self._inside() for _ in range(self._chance.randint(1, 4))]
        if self._chance.random() < 0.3:
            end = self._chance.choice(("ROLLBACK TO a", "ROLLBACK TO a", "RELEASE a"))
            inside[self._chance.randint(0, len(inside)) :] = [
                query("SAVEPOINT a"),
                self._single(),
                self._single(),
                query(end),
            ]
            inside.append(self._single())
        commits = self._chance.random() < 0.85
        if not commits:
            self._views = before
        return self._operation("block", query("BEGIN"), *inside, query("COMMIT" if commits else "ROLLBACK"))

    def _inside(self) -> bytes:
        return query(self._definition()) if self._chance.random() < 0.2 else self._single()

    def _definition(self) -> str:
        """Return what changes a view. When its transaction fails, later ones fail as well, on both
        sides.
        """
        name = self._chance.choice(list(VIEWS))
        old = self._views.get(name)
        if old is not None and len(self._views) > 2:
            kind = self._chance.choice(("drop", "drop", "rename", "state", "replace"))
            if kind == "rename":
                self._views[name] = f"{name}_x" if old == name else name
                return f"ALTER VIEW {old} RENAME TO {self._views[name]}"
            if kind == "state":
                return f"SELECT {self._chance.choice(STATE_CALLS)}('{old}')"
            if kind == "replace" and name in REPLACEMENTS:
                more = self._chance.choice(REPLACEMENTS[name])
                return f"CREATE OR REPLACE VIEW {old}{OPTIONS.get(name, '')} AS {VIEWS[name]}{more}"
            del self._views[name]
            return f"DROP VIEW {old}"
        self._views[name] = name
        return f"CREATE VIEW {name}{OPTIONS.get(name, '')} AS {VIEWS[name]}"

    def _single(self) -> bytes:
        return self._chance.choice(self._singles)()

    # Rows of streams.

    def _one_row(self) -> bytes:
        return query(f"INSERT INTO {self._stream()} VALUES {self._literal_row()}")

    def _bound(self) -> bytes:
        row = [None if value is None else value.encode() for value in self._row()]
        text = f"INSERT INTO {self._stream()} ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)"
        return parse(text) + bind(row) + describe("P") + execute() + SYNC

    def _rows(self) -> bytes:
        rows = ", ".join(self._literal_row() for _ in range(self._chance.randint(2, 40)))
        return query(f"INSERT INTO {self._stream()} VALUES {rows}")

    def _selected(self) -> bytes:
        count = self._chance.choice((1, 20, ROWS_MAX))
        rows = self._chance.choice(
            (
                f"SELECT i % 5, i, i * 0.5, i / 4.0, 'number ' || i % 50, now() FROM generate_series(1, {count}) g(i)",
                "SELECT id % 4, n, n * 1.5, id * 0.25, note, at FROM d",
            )
        )
        return query(f"INSERT INTO {self._stream()} ({COLUMNS}) {rows}")

    def _computed(self) -> bytes:
        k = self._chance.randint(0, 5)
        values = f"({k} + 1, {k} - 2, {k} / 2.0, 0.25 * {k}, 'a' || {k}, now() - interval '{k} minutes')"
        return query(f"INSERT INTO {self._stream()} ({COLUMNS}) VALUES {values}")

    def _defaulted(self) -> bytes:
        return query(f"INSERT INTO s1 (k, n, f) VALUES ({self._chance.randint(0, 5)}, {self._number()}, 0.75)")

    def _copied(self) -> bytes:
        count = self._chance.choice((1, 30, 30, ROWS_MAX))
        few = [[r"\N" if value is None else value for value in self._row()] for _ in range(min(count, 30))]
        lines = ["\t".join(row) for row in few]
        data = "".join(lines[number % len(lines)] + "\n" for number in range(count)).encode()
        pieces = [copy_data(data[start : start + COPIED_BYTES]) for start in range(0, len(data), COPIED_BYTES)]
        return b"".join((query(f"COPY {self._stream()} FROM STDIN"), *pieces, COPY_DONE))

    def _dated(self) -> bytes:
        """Return rows that have arrived before."""
        count = self._chance.choice((1, 3, ROWS_MAX))
        rows = [
            f"{self._number()}\t2026-03-0{self._chance.randint(1, 9)} 10:{number:02}:00+00\n" for number in range(60)
        ]
        data = "".join(rows[number % len(rows)] for number in range(count)).encode()
        return b"".join((query(f"COPY {self._stream()} (n, arrival_timestamp) FROM STDIN"), copy_data(data), COPY_DONE))

    def _stream(self) -> str:
        return self._chance.choice(list(STREAMS))

    def _literal_row(self) -> str:
        return "(" + ", ".join("NULL" if value is None else f"'{value}'" for value in self._row()) + ")"

    def _row(self) -> list[str | None]:
        """Return values for all columns as text."""
        chance = self._chance
        row = [
            str(chance.randint(0, 5)),
            self._number(),
            f"{chance.randint(-10_000, 10_000) / 100:.2f}",
            # Sums of these are exact: of others the last bit tells in which order they were added,
            # which a reader changes as well.
            repr(chance.randint(-4000, 4000) / 4),
            chance.choice(TEXTS) * chance.choice((1, 1, 1, 40)),
            f"2026-03-0{chance.randint(1, 9)} {chance.randint(0, 23):02}:30:00+00",
        ]
        return [None if chance.random() < 0.08 else value for value in row]

    def _number(self) -> str:
        # A zero is what the views that divide refuse.
        return str(self._chance.randint(0 if self._chance.random() < 0.1 else 1, 1000))

    # Rows of tables.

    def _written(self) -> bytes:
        chance = self._chance
        self._ids += 1
        one, other = chance.randint(1, self._ids), chance.randint(1, 5)
        return query(
            chance.choice(
                (
                    f"INSERT INTO d (id, n, note) VALUES ({self._ids}, {one}, 'note {one}'), ({-self._ids}, 1, NULL)",
                    f"INSERT INTO d (id, n) VALUES ({one}, {other}) ON CONFLICT (id) DO UPDATE SET n = d.n + 1, at = now()",
                    f"UPDATE d SET n = n + {other}, at = now() WHERE id % {other} = 0",
                    f"DELETE FROM d WHERE id % 7 = {other}",
                    f"INSERT INTO d (id, n) VALUES ({one}, 0)",
                    f"DELETE FROM d WHERE id = {other}",
                    f"INSERT INTO e SELECT id * 10 + {other}, id, note FROM d WHERE id < 6 ON CONFLICT DO NOTHING",
                    f"INSERT INTO e VALUES ({1000 + self._ids}, {other}, NULL)",
                    f"UPDATE e SET d_id = {other}, note = 'moved' WHERE id % 3 = 0",
                    f"INSERT INTO f VALUES ({other}, {one})",
                    f"DELETE FROM f WHERE n % 2 = {other % 2}",
                )
            )
        )
