"""The figures of the benchmarks: their table, percentiles, and a workload that is the same every
time.
"""

from __future__ import annotations

from bench.figures import Figure, percentile, report
from bench.workload import copy_text


def test_the_workload_is_the_same_every_time() -> None:
    text = copy_text(100)
    assert text == copy_text(100)
    assert all(line.count(b"\t") == 4 for line in text.splitlines())


def test_the_report_says_what_is_missed() -> None:
    figures = [Figure("rate", "1 / 2", 0.5, "of PostgreSQL", 0.7, True), Figure("time", "1 s", 1.0, "s", 2.0, False)]
    lines = report(figures, "sum", 5).splitlines()
    assert lines[2] == "| rate | 1 / 2 | 0.50 of PostgreSQL | at least 0.7 | MISSED |"
    assert lines[3] == "| time | 1 s | 1.00 s | under 2 | holds |"


def test_a_percentile_is_a_value() -> None:
    assert percentile([float(number) for number in range(200)], 0.99) == 198
