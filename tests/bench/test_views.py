"""The benchmarks of views with tiny numbers: memory by groups, the queue, refreshes beside
inserts.
"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bench import interference, queue, view_memory

SVG = "{http://www.w3.org/2000/svg}"


def lines_count(drawing: str) -> int:
    """Return how many lines a drawing has."""
    return sum(1 for _ in ElementTree.fromstring(drawing).iter(f"{SVG}polyline"))


@pytest.mark.slow
def test_memory_depends_on_the_groups() -> None:
    sizes = view_memory.Sizes(keys_count=200, tuples_count=20_000, drawn=(50, 200, 2_000, 5_000), block_rows=4_000)
    points, checksum = view_memory.measure(sizes)
    assert [point.tuples_count for point in points] == [50, 200, 2_000, 5_000, 20_000]
    assert points[0].groups[1] < points[-1].groups[1] == 200 and checksum.startswith("200 ")
    sizes_of_all = points[-1].state_bytes
    assert sizes_of_all[1] < sizes_of_all[2] < sizes_of_all[4] < sizes_of_all[6]
    assert all(figure.holds for figure in view_memory.figures(points))
    assert lines_count(view_memory.draw(points)) == 4


@pytest.mark.slow
def test_a_queue_that_is_emptied() -> None:
    found = queue.measure(queue.Sizes(clients_count=3, statement_rows=10_000, seconds=1.5, refresh_s=0.05))
    assert found.rows_count > 0 and found.looks
    assert all(figure.holds for figure in queue.figures(found)), found
    assert lines_count(queue.draw(found)) == 2


def test_latencies_are_read_from_the_log_and_compared() -> None:
    text = "0 1 2500 0 1700000000 1 40\n1 2 500 0 1700000000 2 10\n"
    assert interference.latencies_of(text) == [2.5, 0.5]
    assert interference.percentile([float(number) for number in range(200)], 0.99) == 198
    found = interference.Found([1.0] * 100, [2.0] * 98 + [4.0, 300.0], 500.0, 7, 200)
    ratio, longest = interference.figures(found)
    assert (ratio.value, longest.value) == (300.0, 300.0) and not longest.holds and not ratio.holds


@pytest.mark.long
def test_refreshes_beside_inserts() -> None:
    found = interference.measure(interference.Sizes(trial_s=1, phase_s=2, turns=1))
    assert found.refreshes > 0 and found.alone_ms and found.beside_ms
