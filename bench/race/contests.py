"""The contests of the race by their names, in the order in which `all` runs them. Each is a table
of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bench.race import micro, reads, wire
from bench.race.measuring import Arena

CONTESTS: Mapping[str, Mapping[str, Callable[[Arena], None]]] = {
    "wire": wire.PARTS,
    "micro": micro.PARTS,
    "reads": reads.PARTS,
}
