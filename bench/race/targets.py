"""The targets of the race, each a row of its table: the series that it is about, and the ratio that
is wanted.

Enters: series of the contests. Leaves: rows of the table of bench/README.md. A ratio says how often
ours is the other's, of times how often the other's is ours, so that more is always better.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bench.race.measuring import MILLISECONDS, Series
from bench.race.plans import QUERIES
from bench.race.reads import SELECT_ONE, UNCHANGED_ROWS
from bench.race.servers import ANTUMBRA, NOT_WAITING, POSTGRES, UNLOGGED

# What the README of the house shows.
SHOWN_FIRST = frozenset(
    {
        "COPY text of six integers, one view, against PostgreSQL unlogged",
        "INSERT VALUES of 1,000 rows, simple protocol, 8 connections, against PostgreSQL logged",
        "single INSERT, prepared, 8 connections, synchronous_commit off, against PostgreSQL unlogged",
        "first pipeline of q01 against DuckDB, per core",
        "events/s into six views, 100,000 customers, against ClickHouse in process",
        "refresh of q01, SF 1 after 1,000 new rows against ClickHouse",
        "refresh of q15, SF 1 after 1,000 new rows against Spark's memory sink",
        "read by key, prepared, 8 connections, against PostgreSQL's primary key",
        "CREATE VIEW of a new shape in 300 ms",
    }
)
CONNECTIONS = {1: "1 connection", 8: "8 connections"}


@dataclass(frozen=True, slots=True)
class Target:
    """A row. other: whose series of the same name it is compared with, or another series by its
    name, or what was measured once; at_least: the ratio that is wanted.
    """

    name: str
    what: str
    ours: str
    other: str | tuple[str, str] | float
    at_least: float

    def found(self, series: Sequence[Series]) -> tuple[str, list[float]]:
        """Return what was measured and the ratios of the runs; none where a series is missing."""
        ours = series_of(series, self.what, self.ours)
        if ours is None:
            return "not measured", []
        if isinstance(self.other, float):
            theirs: Series | None = Series(self.what, "", ours.unit, (self.other,) * len(ours.values))
        else:
            what, whose = (self.what, self.other) if isinstance(self.other, str) else self.other
            theirs = series_of(series, what, whose)
        if theirs is None:
            return f"{shown(ours.median)} / not measured", []
        one, another = (theirs, ours) if ours.unit == MILLISECONDS else (ours, theirs)
        return f"{shown(ours.median)} / {shown(theirs.median)} {ours.unit}", one.ratios(another)

    def line(self, series: Sequence[Series]) -> str:
        """The row of the table."""
        measured, ratios = self.found(series)
        if not ratios:
            return f"| {self.name} | {measured} | | {self.at_least:g} | |"
        median = statistics.median(ratios)
        verdict = "holds" if median >= self.at_least else "**falls short**"
        spread = f"{median:.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
        return f"| {self.name} | {measured} | {spread} | {self.at_least:g} | {verdict} |"


def shown(value: float) -> str:
    """Return a value with five digits, or all of its whole ones."""
    return f"{value:,.0f}" if value >= 10_000 else f"{value:,.5g}"


def series_of(series: Sequence[Series], what: str, whose: str) -> Series | None:
    """Return a series by its names."""
    return next((one for one in series if (one.what, one.whose) == (what, whose)), None)


# By their contests.
TARGETS: Mapping[str, Sequence[Target]] = {
    "wire": [
        *(
            Target(f"INSERT VALUES of 1,000 rows, {told}, {by}, against PostgreSQL logged", what, ANTUMBRA, POSTGRES, 1)
            for way, told in (("Query", "simple protocol"), ("extended", "extended protocol"))
            for count, by in CONNECTIONS.items()
            for what in (f"INSERT VALUES of 1,000 rows, {way}, {count}",)
        ),
        *(
            Target(f"{what}, synchronous_commit off, against PostgreSQL unlogged", what, NOT_WAITING, UNLOGGED, 2)
            for what in ("asyncpg executemany", "psycopg executemany", "psycopg pipeline", "JDBC batch")
        ),
        *(
            Target(
                f"COPY {name} of six integers, one view, against PostgreSQL unlogged", what, ANTUMBRA, UNLOGGED, bound
            )
            for name, bound in (("text", 3), ("csv", 3), ("binary", 2.5))
            for what in (f"COPY {name}, 1",)
        ),
        *(
            Target(f"single INSERT, {mode}, {CONNECTIONS[count]}, {told}", what, ours, other, 1.1)
            for count, ours, other, told in (
                (8, NOT_WAITING, UNLOGGED, "synchronous_commit off, against PostgreSQL unlogged"),
                (1, ANTUMBRA, POSTGRES, "against PostgreSQL logged"),
            )
            for mode in ("simple", "prepared")
            for what in (f"single INSERT, {mode}, {count}",)
        ),
    ],
    "micro": [
        *(
            Target(
                f"Arrow by COPY with {told} against ClickHouse in process", what, "Antumbra, Arrow", "ClickHouse", bound
            )
            for what, told, bound in (("1 views", "one view", 0.5), ("8 views", "8 views", 1))
        ),
        Target("COPY into 8 equal views against one", "8 equal views", ANTUMBRA, "Antumbra, one view", 0.8),
    ],
    "tpch": [
        *(
            Target(f"{what} after 1,000 new rows against ClickHouse", what, ANTUMBRA, "ClickHouse", 1)
            for what in ("refresh of q01, SF 1", "refresh of q03, SF 1", "refresh of q06, SF 1")
        ),
        *(
            Target(f"{what} after 1,000 new rows against Spark's memory sink", what, ANTUMBRA, "Spark's memory sink", 4)
            for what in ("refresh of q15, SF 1", "refresh of q20, SF 1")
        ),
        *(
            Target(
                f"COPY text of lineitem with five views against {told}",
                "COPY of lineitem, SF 1",
                ANTUMBRA,
                other,
                bound,
            )
            for other, told, bound in (
                ("Antumbra, no view", "Antumbra without a view", 0.85),
                (UNLOGGED, "PostgreSQL unlogged without a view", 2),
                ("DuckDB", "DuckDB's COPY into a table", 1),
            )
        ),
    ],
    "aim": [
        Target(
            "events/s into six views, 100,000 customers, against ClickHouse in process",
            "AIM events, 100,000 customers",
            ANTUMBRA,
            "ClickHouse",
            1,
        ),
        *(
            Target(
                f"queries/s beside {rate} events/s against {known}/s at f49ce29",
                f"AIM queries, 100,000 customers beside {rate} events/s",
                ANTUMBRA,
                known,
                4,
            )
            for rate, known in (("10,000", 5.3), ("50,000", 5.1))
        ),
    ],
    "reads": [
        *(
            Target(f"{what}, 8 connections, against PostgreSQL's primary key", what, ANTUMBRA, POSTGRES, 0.7)
            for what in ("read by key, prepared", "read by key, simple")
        ),
        *(
            Target(
                f"{what} beside 50,000 events/s, 8 connections, against PostgreSQL without events",
                f"{what} beside 50,000 events/s",
                ANTUMBRA,
                (what, POSTGRES),
                0.5,
            )
            for what in ("read by key, prepared", "read by key, simple")
        ),
        *(
            Target(f"read of an {what} against SELECT 1", what, ANTUMBRA, f"{ANTUMBRA}{SELECT_ONE}", 0.7)
            for what in (f"unchanged view of {rows:,} rows" for rows in UNCHANGED_ROWS)
        ),
    ],
    "refresh": [
        *(
            Target(
                f"plan kept against planned anew in Spark, {what}",
                what,
                "Antumbra, prepared",
                "Antumbra, planned anew",
                bound,
            )
            for groups, bound in (("1,000", 3), ("100,000", 2))
            for kind in QUERIES
            for what in (f"{kind}, {groups} groups",)
        ),
        Target("CREATE VIEW of a new shape in 300 ms", "CREATE VIEW, new shape", ANTUMBRA, 300.0, 1),
        Target("CREATE VIEW of a known shape in 50 ms", "CREATE VIEW, known shape", ANTUMBRA, 50.0, 1),
        Target(
            "first refresh 10 s after a start against the hundredth",
            "refresh after a start, first",
            ANTUMBRA,
            ("refresh after a start, hundredth", ANTUMBRA),
            0.33,
        ),
    ],
    "beside": [
        Target(
            "99th percentile of single INSERTs beside refreshes against without",
            "INSERTs beside refreshes, 99%",
            ANTUMBRA,
            "Antumbra, without refreshes",
            0.5,
        ),
    ],
    "threads": [
        Target(f"{what} against one", what, ANTUMBRA, "Antumbra, one thread", 1.7)
        for what in (
            *(f"first pipeline of {name} with two threads" for name in ("q01", "q03", "q06", "q15", "q20")),
            "COPY text over two connections",
        )
    ],
    "first_pipeline": [
        Target(f"{what} against DuckDB, per core", what, ANTUMBRA, "DuckDB", bound)
        for name, bound in (
            *(("q01", 1.5), ("q03", 1.1), ("q06", 2), ("q15", 1.5), ("q20", 1.1)),
            *((f"AIM {name}", 1.2) for name in ("q1", "q2", "q3", "q4", "q5", "q7")),
        )
        for what in (f"first pipeline of {name}",)
    ],
}
