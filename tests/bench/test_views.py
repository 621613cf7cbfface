"""The benchmarks of views with tiny numbers: memory by groups, the queue."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bench import queue, view_memory

SVG = "{http://www.w3.org/2000/svg}"


def lines_count(drawing: str) -> int:
    """Return how many lines a drawing has."""
    return sum(1 for _ in ElementTree.fromstring(drawing).iter(f"{SVG}polyline"))


@pytest.mark.long
def test_memory_depends_on_the_groups() -> None:
    sizes = view_memory.Sizes(keys_count=200, tuples_count=20_000, drawn=(50, 200, 2_000, 5_000), block_rows=4_000)
    points, checksum = view_memory.measure(sizes)
    assert [point.tuples_count for point in points] == [50, 200, 2_000, 5_000, 20_000]
    assert points[0].groups[1] < points[-1].groups[1] == 200 and checksum.startswith("200 ")
    sizes_of_all = points[-1].state_bytes
    assert sizes_of_all[1] < sizes_of_all[2] < sizes_of_all[4] < sizes_of_all[6]
    assert all(figure.holds for figure in view_memory.figures(points))
    assert lines_count(view_memory.draw(points)) == 4


@pytest.mark.long
def test_a_queue_that_is_emptied() -> None:
    found = queue.measure(queue.Sizes(clients_count=3, statement_rows=10_000, seconds=1.5, refresh_s=0.05))
    assert found.rows_count > 0 and found.looks
    assert all(figure.holds for figure in queue.figures(found)), found
    assert lines_count(queue.draw(found)) == 2
