"""The bench of prepared plans runs to its end, and its ways agree."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_it_runs() -> None:
    """In a process of its own, since a process has one JVM at most."""
    command = [sys.executable, "-m", "bench.prepared_plans", "--groups", "100", "--runs", "3"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert len(shown) == 7
    assert shown[2].startswith("| second grouping | 100 |") and shown[2].endswith("| prepared |")
    assert shown[6].startswith("| scalar subquery | 100 |") and shown[6].endswith("| copied |")
