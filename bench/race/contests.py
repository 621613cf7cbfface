"""The contests of the race by their names, in the order in which `all` runs them. Each is a table
of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from bench.race import aim, beside, first_pipeline, groups, micro, reads, refresh, threads, tpch, wire
from bench.race.measuring import Arena

CONTESTS: Mapping[str, Mapping[str, Callable[[Arena], None]]] = {
    "wire": wire.PARTS,
    "micro": micro.PARTS,
    "tpch": tpch.PARTS,
    "aim": aim.PARTS,
    "reads": reads.PARTS,
    "refresh": refresh.PARTS,
    "beside": beside.PARTS,
    "groups": groups.PARTS,
    "threads": threads.PARTS,
    "first_pipeline": first_pipeline.PARTS,
}
