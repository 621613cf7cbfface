"""The measuring of all contests: interleaved runs of each contestant, and series of what was
found.

Enters: functions that run once and return a rate or a time, or several. Leaves: a series for each
of them. A rate counts as better when it is more, a time (`ms`) when it is less.
"""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.race.peers import Peer, Peers

MILLISECONDS = "ms"

Measure = Callable[[], float | Mapping[str, float]]


@dataclass(frozen=True, slots=True)
class Series:
    """The values of one contestant, in the order of the runs."""

    what: str
    whose: str
    unit: str
    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median of the runs."""
        return statistics.median(self.values)

    @property
    def text(self) -> str:
        """The median with the least and the most."""
        digits = 0 if self.median >= 1000 else 1 if self.median >= 10 else 2
        least, most = min(self.values), max(self.values)
        return f"{self.median:,.{digits}f} ({least:,.{digits}f} to {most:,.{digits}f})"

    def ratios(self, other: Series) -> list[float]:
        """Return this series over another one, run by run; without an end where the other has
        0.
        """
        pairs = zip(self.values, other.values, strict=True)
        return [one / another if another else math.inf for one, another in pairs]


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured; the tests use tiny ones. share: of the rows of a full run."""

    runs_count: int = 5
    seconds: int = 2
    share: float = 1.0

    def rows(self, count: int) -> int:
        """Return how many rows stand for so many of a full run."""
        return max(100, int(count * self.share))


@dataclass
class Arena:
    """Where a part of a contest runs: its sizes, its peers, an empty folder that PostgreSQL's user
    reaches too, and the series that it leaves.
    """

    sizes: Sizes
    folder: Path
    peers: Peers
    series: list[Series] = field(default_factory=list)

    def race(self, what: str, unit: str, measures: Mapping[str, Measure]) -> None:
        """Run each contestant in turns, and keep their series but for the first run, which warms
        up. A measure that returns values by names leaves a series for each name, which `what` is
        put before.
        """
        rounds = [[measure() for measure in measures.values()] for _ in range(self.sizes.runs_count + 1)][1:]
        for whose, values in zip(measures, zip(*rounds, strict=True), strict=True):
            named = [value if isinstance(value, Mapping) else {"": value} for value in values]
            for end in named[0]:
                self.keep(what + end, whose, unit, [value[end] for value in named])

    def keep(self, what: str, whose: str, unit: str, values: Sequence[float]) -> None:
        """Keep a series, after a line for the person who waits."""
        self.series.append(Series(what, whose, unit, tuple(values)))
        print(f"  {what}: {whose} {self.series[-1].text} {unit}", file=sys.stderr, flush=True)

    def peer(self, name: str) -> Peer | None:
        """Return a peer that answers, or None where it was not asked for or cannot be had."""
        return self.peers.get(name)
