"""The benchmark of the ring with tiny sizes: what was appended is scanned, and each drawing has its
lines.
"""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from bench.charts import chart
from bench.ring import Round, Sizes, compared, draw, measure

TINY = Sizes(
    runs_count=1,
    drawn_runs_count=1,
    capacity=1024,
    morsel_rows_count=256,
    measured_rows_count=2048,
    capacities=(128, 1024),
    columns_counts=(1, 3),
    string_lengths=(0, 12, 13, 200),
)
SVG = "{http://www.w3.org/2000/svg}"


def points_counts(drawing: str) -> list[int]:
    """Return how many points each line of a drawing has."""
    lines = ElementTree.fromstring(drawing).iter(f"{SVG}polyline")
    return [len(line.attrib["points"].split()) for line in lines]


def test_a_tiny_run() -> None:
    figures, checksum = measure(TINY)
    assert [figure.threshold for figure in figures] == [0.5, 0.5]
    assert all(figure.value > 0 for figure in figures)
    rows_count, total = map(int, checksum.split())
    assert rows_count == 1024
    # Numbers from 0 to 30,000, four times the same 256.
    assert total % 4 == 0 and 10_000 * 1024 < total < 20_000 * 1024


def test_tiny_drawings() -> None:
    drawings = draw(TINY)
    assert {name: points_counts(drawing) for name, drawing in drawings.items()} == {
        "ring_capacity.svg": [2, 2, 2],
        "ring_columns.svg": [2, 2, 2],
        "ring_strings.svg": [4, 4, 4],
    }


def test_a_ratio_is_of_neighbours() -> None:
    rounds: list[Round] = [(2.0, 1.0, 1.0, 1.0), (20.0, 12.0, 1.0, 1.0), (3.0, 1.8, 1.0, 1.0)]
    figure = compared("append", 3 * 10**9, rounds, 0)
    assert figure.detail == "1.0 / 1.7 GB/s"
    assert figure.value == pytest.approx(0.6)
    assert compared("scan", 10**9, rounds, 2).value == 1.0


def test_a_chart_scales_to_its_axes() -> None:
    drawing = chart("title", "x", "y", {"a": [(1, 0), (4, 8), (16, 4)]}, {1.0: "1", 16.0: "16"})
    (line,) = ElementTree.fromstring(drawing).iter(f"{SVG}polyline")
    (left, bottom), (middle, top), (right, half) = (
        tuple(map(float, point.split(","))) for point in line.attrib["points"].split()
    )
    assert middle == pytest.approx((left + right) / 2)
    assert half == pytest.approx((bottom + top) / 2)
