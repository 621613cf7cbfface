"""The benchmark of streams beside Spark: its parts, and a tiny run to its end, in which both give
the same rows.
"""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from bench.spark_csv import spark_schema
from bench.stream_relation import Line, are_equal, geometric_mean, report, split
from tests.tpch.workload import TABLES


def test_spark_gets_the_schema_without_constraints() -> None:
    assert spark_schema("a bigint PRIMARY KEY, b text NOT NULL, c numeric(15,2), d date") == (
        "a bigint, b string, c decimal(15,2), d date"
    )
    assert spark_schema(TABLES["partsupp"]).endswith("ps_supplycost decimal(15,2), ps_comment string")
    assert "c_phone string, c_acctbal" in spark_schema(TABLES["customer"])


def test_parts_are_whole_lines_below_the_header(tmp_path: Path) -> None:
    path = tmp_path / "lines.csv"
    rows = [f"line {number}\n" for number in range(100)]
    path.write_text("".join(["name\n", *rows]))
    parts = [part.read_text().splitlines(keepends=True) for part in split(path, tmp_path, 3)]
    assert [part[0] for part in parts] == ["name\n"] * 3
    assert [line for part in parts for line in part[1:]] == rows
    assert all(len(part) > 25 for part in parts)


def test_answers_may_differ_in_scale_and_order_alone() -> None:
    ours = [("x", Decimal("0.04998529583839761162"), 1), ("y", Decimal("2.50"), 2)]
    assert are_equal(ours, [("y", Decimal("2.5"), 2), ("x", Decimal("0.049985"), 1)])
    assert not are_equal(ours, ours[:1])
    assert not are_equal(ours, [ours[0], ("y", Decimal("2.50"), 3)])
    assert not are_equal(ours, [ours[0], ("z", Decimal("2.50"), 2)])


def test_the_report_has_the_geometric_mean() -> None:
    lines = [Line("q01", 2.0, 2.0), Line("q06", 1.0, 4.0)]
    assert geometric_mean(lines).holds
    text = report(lines, "1", 3).splitlines()
    assert text[3] == "| q06 | 1.00 | 4.00 | 4.00 |"
    assert text[4] == "| geometric mean, at least 2: holds | | | 2.00 |"


@pytest.mark.long
def test_a_tiny_run(tmp_path: Path) -> None:
    arguments = ["--scale-factor", "0.01", "--runs", "1", "--only", "q03", "q06", "--data", str(tmp_path)]
    # Whatever else the machine does.
    arguments += ["--stream-timeout", "10s"]
    # A Spark of its own: this process may have ours.
    command = [sys.executable, "-m", "bench.stream_relation", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line.split(" | ")[0] for line in result.stdout.splitlines() if line.startswith("| q")]
    assert lines == ["| query", "| q03", "| q06"], result.stderr
    assert "Traceback" not in result.stderr
