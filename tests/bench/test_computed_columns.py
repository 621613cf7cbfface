"""The bench of computed columns runs to its end."""

from __future__ import annotations

import pytest

from bench import computed_columns


@pytest.mark.turns(3, 1)
@pytest.mark.slow
def test_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    figures = computed_columns.run(rows_count=500, singles_count=5, runs_count=1)
    assert len(figures) == 23 and min(figures.values()) > 0
    assert "jsonb: COPY, rows per second of one core" in capsys.readouterr().out
