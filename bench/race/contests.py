"""The contests of the race by their names, in the order in which `all` runs them. Each is a table
of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bench.race import aim, beside, micro, reads, refresh, tpch, wire
from bench.race.measuring import Arena

CONTESTS: Mapping[str, Mapping[str, Callable[[Arena], None]]] = {
    "wire": wire.PARTS,
    "micro": micro.PARTS,
    "tpch": tpch.PARTS,
    "aim": aim.PARTS,
    "reads": reads.PARTS,
    "refresh": refresh.PARTS,
    "beside": beside.PARTS,
}
