"""The benchmark of durability with tiny sizes: each part runs to its end, and no server has lost or
doubled a row.
"""

from __future__ import annotations

import pytest

from bench.durability import PARTS, Sizes, measure
from bench.workload import visits_text

TINY = Sizes(
    runs_count=1,
    copy_rows_count=5000,
    connections_counts=(8,),
    pgbench_s=1,
    checkpointed_s=3,
    checkpointed_groups_count=1000,
    replayed_rows_count=5000,
    replayed_s=1,
    loaded_groups_count=5000,
)
FIGURES_COUNTS = {"inserts": 4, "copy": 2, "checkpoints": 1, "replay": 2, "load": 1}


def test_visits_are_of_as_many_visitors() -> None:
    lines = b"".join(visits_text(1000)).splitlines()
    assert len({line.split(b"\t")[0] for line in lines}) == 1000


def test_scaled() -> None:
    assert Sizes().scaled(1.0) == Sizes()
    assert Sizes().scaled(0.001) == Sizes(5, 1000, (1, 8), 1, 3, 1000, 5000, 1, 10_000)


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_a_tiny_run(part: str) -> None:
    figures, checksum = measure(TINY, [part])
    assert len(figures) == FIGURES_COUNTS[part]
    # The load of so few groups is lost in the noise of two starts.
    assert all(figure.value > 0 for figure in figures) or part == "load"
    assert int(checksum.removeprefix(f"{part} ")) >= 5000 - (part == "inserts") * 5000
