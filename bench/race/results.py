"""The results of the race on disk: a JSON file per contest, in which each part says on which tree,
with which sizes and on how busy a machine it ran.

Enters: series. Leaves: bench/results/<contest>.json. A part that was found on this tree with these
sizes need not run again.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.figures import machine
from bench.race.measuring import Series, Sizes
from tests.oracle.evidence import tree_digest

FOLDER = Path(__file__).resolve().parent.parent / "results"
# What a measurement depends on.
SOURCES = (
    *("engine", "ringbuffer", "sql", "views", "bench", "tests/tpch", "requirements.lock"),
    *(":!bench/results", ":!bench/*.svg"),
)
LOOK_S = 1.0


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a part was run. peers: those that could be had; busy: the share of the processors that
    others used just before; load: the machine's load average of a minute; is_cut_off: it has not
    come to its end.
    """

    tree: str
    sizes: Sizes
    peers: tuple[str, ...]
    machine: str
    busy: float
    load: float
    is_cut_off: bool = False

    @staticmethod
    def now(sizes: Sizes, peers: Sequence[str], tree: str) -> Conditions:
        """Look at the machine, while nothing is measured."""
        return Conditions(tree, sizes, tuple(sorted(peers)), machine(), round(busy_share(), 2), os.getloadavg()[0])


def digest() -> str:
    """Return the digest of what a measurement depends on."""
    return tree_digest(SOURCES)


def busy_share() -> float:
    """Return the share of the processors that is used for a second."""
    began = _jiffies()
    time.sleep(LOOK_S)
    ended = _jiffies()
    total, idle = (ended[number] - began[number] for number in range(2))
    return 1 - idle / max(total, 1)


def _jiffies() -> tuple[int, int]:
    """Return the machine's time, all of it and without work."""
    fields = [int(field) for field in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return sum(fields), fields[3] + fields[4]


class Results:
    """The file of a contest."""

    def __init__(self, contest: str, folder: Path = FOLDER) -> None:
        self._path = folder / f"{contest}.json"
        self._parts: dict[str, Any] = json.loads(self._path.read_text()) if self._path.is_file() else {}

    def has(self, part: str, tree: str, sizes: Sizes, peers: Sequence[str]) -> bool:
        """Tell whether a part ran to its end on this tree, with these sizes and at least these
        peers.
        """
        known = self._parts.get(part)
        if known is None or known.get("is_cut_off"):
            return False
        return (known["tree"], known["sizes"]) == (tree, asdict(sizes)) and set(peers) <= set(known["peers"])

    def keep(self, part: str, conditions: Conditions, seconds: float, series: Sequence[Series]) -> None:
        """Write a part; the parts that were there stay."""
        found = [asdict(one) | {"median": one.median} for one in series]
        self._parts[part] = asdict(conditions) | {"seconds": round(seconds, 1), "series": found}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        # As a whole: who is killed here has the other parts still.
        written = self._path.with_suffix(".new")
        written.write_text(json.dumps(self._parts, indent=1) + "\n")
        written.replace(self._path)

    @property
    def conditions(self) -> dict[str, dict[str, Any]]:
        """How each part was run."""
        return self._parts

    @property
    def trees(self) -> dict[str, str]:
        """The digest of the tree by what was measured."""
        return {one["what"]: part["tree"] for part in self._parts.values() for one in part["series"]}

    @property
    def series(self) -> list[Series]:
        """The series of all parts."""
        return [
            Series(one["what"], one["whose"], one["unit"], tuple(one["values"]))
            for part in self._parts.values()
            for one in part["series"]
        ]
