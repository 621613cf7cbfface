"""The benchmark with tiny sizes: it runs to its end, both servers agree, and the table has all its
lines.
"""

from __future__ import annotations

import pytest

from bench.figures import Figure, report
from bench.first_numbers import Sizes, measure
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


@pytest.mark.slow
def test_a_tiny_run() -> None:
    figures, checksum = measure(Sizes(runs_count=1, copy_rows_count=5000, pgbench_s=1, reads_count=5))
    assert len(figures) == 6
    assert all(figure.value > 0 for figure in figures)
    # Every key, and both servers got the rows twice: once to warm up, once to measure.
    assert checksum.split()[1] == "10000"
