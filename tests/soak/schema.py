"""The streams, views and the table of the soak, its tuples, and what the server says of them.

Enters: a connection. Leaves: tallies by client, life and relation. The views are PostgreSQL's too,
over tables of the same names.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import psycopg

from tests.soak.ledger import BrokenPromiseError, Tally, greatest, least

Connection = psycopg.Connection[tuple[Any, ...]]

SHARED = "shared"
OWN_STREAMS = ("own_0", "own_1")
STREAMS = (SHARED, *OWN_STREAMS)
MARKS = "marks"
COLUMNS = "client int, life int, n bigint NOT NULL, amount bigint, note text, mixed boolean"


class Row(NamedTuple):
    """A tuple: n is its number among all of its client's, amount is random. mixed: it was committed
    together with a mark.
    """

    client: int
    life: int
    n: int
    amount: int
    note: str | None
    mixed: bool


def statements() -> list[str]:
    """Return what makes the relations."""
    made = [
        f"CREATE TABLE {MARKS} (client int, life int, block bigint, rows int, total numeric(38, 0), PRIMARY KEY (client, block))"
    ]
    for stream in STREAMS:
        made.append(f"CREATE FOREIGN TABLE {stream} ({COLUMNS}) SERVER stream")
        made.append(
            f"CREATE VIEW {stream}_lives AS SELECT client, life, count(*) AS rows, sum(amount) AS total, min(n) AS low, max(n) AS high, "
            "min(note) AS first, max(note) AS last, count(*) FILTER (WHERE mixed) AS mixed_rows, "
            f"sum(amount) FILTER (WHERE mixed) AS mixed_total FROM {stream} GROUP BY client, life"
        )
        made.append(
            f"CREATE VIEW {stream}_all AS SELECT count(*) AS rows, sum(amount) AS total, min(n) AS low, max(n) AS high FROM {stream}"
        )
    return made


def observe(connection: Connection) -> dict[tuple[int, int], dict[str, Tally]]:
    """Return what the server holds, by client and life. Raises BrokenPromiseError where its own
    answers disagree.
    """
    found: dict[tuple[int, int], dict[str, Tally]] = {}
    mixed: dict[tuple[int, int], tuple[int, int]] = {}
    for stream in STREAMS:
        everything = Tally()
        for client, life, *values, mixed_rows, mixed_total in connection.execute(
            f"SELECT * FROM {stream}_lives"
        ).fetchall():
            tally = read_tally(values)
            found.setdefault((client, life), {})[stream] = tally
            everything = everything.plus(tally)
            rows, total = mixed.get((client, life), (0, 0))
            mixed[client, life] = (rows + mixed_rows, total + int(mixed_total or 0))
        [overall] = connection.execute(f"SELECT rows, total, low, high, NULL, NULL FROM {stream}_all").fetchall()
        agree(f"{stream}_lives and {stream}_all", without_notes(everything), read_tally(overall))
    marks = connection.execute(
        f"SELECT client, life, count(*), sum(total), min(block), max(block), sum(rows) FROM {MARKS} GROUP BY client, life"
    )
    marked: dict[tuple[int, int], tuple[int, int]] = {}
    for client, life, count, total, low, high, rows in marks.fetchall():
        found.setdefault((client, life), {})[MARKS] = read_tally([count, total, low, high, None, None])
        marked[client, life] = (int(rows), int(total))
    agree("the table and the streams", {key: value for key, value in mixed.items() if value != (0, 0)}, marked)
    return found


def agree(what: str, one: object, other: object) -> None:
    if isinstance(one, dict) and isinstance(other, dict):
        same = {key for key in one.keys() & other.keys() if one[key] == other[key]}
        one, other = ({key: value for key, value in each.items() if key not in same} for each in (one, other))
    if one != other:
        raise BrokenPromiseError(f"{what} do not agree:\n  {one}\n  {other}")


def read_tally(values: Sequence[Any]) -> Tally:
    """Return the tally of (rows, total, low, high, first, last) as a view has them."""
    rows, total, low, high, first, last = values
    return Tally(int(rows), int(total or 0), low, high, first, last)


def without_notes(tally: Tally) -> Tally:
    return Tally(tally.rows, tally.total, tally.low, tally.high)


def tally(rows: Sequence[Row]) -> Tally:
    """Return the tally of rows of one client."""
    first: str | None = None
    last: str | None = None
    for row in rows:
        first, last = least(first, row.note), greatest(last, row.note)
    return Tally(len(rows), sum(row.amount for row in rows), rows[0].n, rows[-1].n, first, last)


def insert_text(stream: str, count: int, mark: str) -> str:
    """Return INSERT of `count` rows of parameters."""
    row = f"({', '.join([mark] * len(Row._fields))})"
    return f"INSERT INTO {stream} VALUES {', '.join([row] * count)}"


def literal_rows(rows: Sequence[Row]) -> str:
    """Return rows as VALUES has them."""
    return ", ".join(
        f"({row.client}, {row.life}, {row.n}, {row.amount}, {literal(row.note)}, {'true' if row.mixed else 'false'})"
        for row in rows
    )


def literal(text: str | None) -> str:
    return "NULL" if text is None else "'" + text.replace("'", "''") + "'"
