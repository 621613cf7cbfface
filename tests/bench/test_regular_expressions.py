"""The bench of regular expressions runs, and its answers are always the same."""

from __future__ import annotations

import pytest

from bench import regular_expressions


def test_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    checksum, longest_ms = regular_expressions.run(length=60, lines_count=100)
    assert (checksum, longest_ms > 0) == (regular_expressions.run(length=60, lines_count=100)[0], True)
    assert "µs for a line" in capsys.readouterr().out
