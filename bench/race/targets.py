"""The targets of the race, each a row of its table: the series that it is about, and the ratio that
is wanted.

Enters: series of the contests. Leaves: rows of the table of bench/README.md. A ratio says how often
ours is the other's, of times how often the other's is ours, so that more is always better.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from bench.race.measuring import MILLISECONDS, Series
from bench.race.plans import QUERIES
from bench.race.servers import ANTUMBRA, NOT_WAITING, POSTGRES, UNLOGGED


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


# All rows.
TARGETS: Sequence[Target] = [
    *(
        Target(f"INSERT VALUES of 1,000 rows, {way}, {count}, against PostgreSQL logged", what, ANTUMBRA, POSTGRES, 1)
        for way in ("Query", "extended")
        for count in (1, 8)
        for what in (f"INSERT VALUES of 1,000 rows, {way}, {count}",)
    ),
    *(
        Target(f"{what}, synchronous_commit off, against PostgreSQL unlogged", what, NOT_WAITING, UNLOGGED, 2)
        for what in ("asyncpg executemany", "psycopg executemany", "psycopg pipeline", "JDBC batch")
    ),
    *(
        Target(f"COPY {name} of six integers, one view, against PostgreSQL unlogged", what, ANTUMBRA, UNLOGGED, bound)
        for name, bound in (("text", 3), ("csv", 3), ("binary", 2.5))
        for what in (f"COPY {name}, 1",)
    ),
    *(
        Target(f"{what}, synchronous_commit off, against PostgreSQL unlogged", what, NOT_WAITING, UNLOGGED, 1.1)
        for what in ("single INSERT, simple, 8", "single INSERT, prepared, 8")
    ),
    *(
        Target(f"{what}, against PostgreSQL logged", what, ANTUMBRA, POSTGRES, 1.1)
        for what in ("single INSERT, simple, 1", "single INSERT, prepared, 1")
    ),
    *(
        Target(f"Arrow by COPY with {what} against ClickHouse in process", what, "Antumbra, Arrow", "ClickHouse", bound)
        for what, bound in (("1 views", 0.5), ("8 views", 1))
    ),
    Target("8 equal views against one", "8 equal views", ANTUMBRA, "Antumbra, one view", 0.8),
    *(
        Target(f"{what}, against PostgreSQL's primary key", what, ANTUMBRA, POSTGRES, 0.7)
        for what in ("read by key, prepared", "read by key, simple")
    ),
    *(
        Target(f"{what}, against PostgreSQL without events", what, ANTUMBRA, POSTGRES, 0.5)
        for what in ("read by key, prepared beside 50,000 events/s", "read by key, simple beside 50,000 events/s")
    ),
    Target(
        "read of an unchanged view against SELECT 1",
        "unchanged view of 1,000 rows",
        ANTUMBRA,
        "Antumbra, SELECT 1",
        0.7,
    ),
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
            f"COPY text of lineitem with five views against {other}",
            "COPY of lineitem, SF 1",
            ANTUMBRA,
            other,
            bound,
        )
        for other, bound in (("Antumbra, no view", 0.85), (UNLOGGED, 2), ("DuckDB", 1))
    ),
    *(
        Target(
            f"prepared against planned anew in Spark, {what}",
            what,
            "Antumbra, prepared",
            "Antumbra, planned anew",
            bound,
        )
        for groups, bound in (("1,000", 3), ("100,000", 2))
        for kind in QUERIES
        for what in (f"{kind}, {groups} groups",)
    ),
    Target(
        "99% of INSERTs beside refreshes against without",
        "INSERTs beside refreshes, 99%",
        ANTUMBRA,
        "Antumbra, without refreshes",
        0.5,
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
    *(
        Target(f"{what} against DuckDB, per core", what, ANTUMBRA, "DuckDB", bound)
        for name, bound in (("q01", 1.5), ("q03", 1.1), ("q06", 2), ("q15", 1.5), ("q20", 1.1))
        for what in (f"first pipeline of {name}",)
    ),
    *(
        Target(f"{what} against DuckDB, per core", what, ANTUMBRA, "DuckDB", 1.2)
        for name in ("q1", "q2", "q3", "q4", "q5", "q7")
        for what in (f"first pipeline of AIM {name}",)
    ),
    *(
        Target(f"{what} against one", what, ANTUMBRA, "Antumbra, one thread", 1.7)
        for what in (
            *(f"first pipeline of {name} with two threads" for name in ("q01", "q03", "q06", "q15", "q20")),
            "COPY text over two connections",
        )
    ),
    Target(
        "AIM events/s, 100,000 customers, against ClickHouse in process",
        "AIM events, 100,000 customers",
        ANTUMBRA,
        "ClickHouse",
        1,
    ),
    *(
        Target(
            f"AIM queries/s beside {rate} events/s against {known}/s before",
            f"AIM queries, 100,000 customers beside {rate} events/s",
            ANTUMBRA,
            known,
            4,
        )
        for rate, known in (("10,000", 5.3), ("50,000", 5.1))
    ),
]
