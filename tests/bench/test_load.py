"""A tiny run of the load test: every kind of user did something, nothing failed, no row is
missing.
"""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.long
def test_a_tiny_run() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "bench.load", "--seconds", "5", "--users", "9"],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    assert "rows acknowledged" in result.stderr
    for name in (
        "INSERT, 1 row",
        "INSERT, 100 rows",
        "COPY, 10000 rows",
        "SELECT, grouped view",
        "SELECT, ranked view",
    ):
        assert name in result.stdout + result.stderr
