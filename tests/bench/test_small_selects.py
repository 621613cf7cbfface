"""The bench of small SELECTs runs to its end, and its shapes answer."""

from __future__ import annotations

import pytest

from bench import small_selects


@pytest.mark.turns(3, 1)
@pytest.mark.slow
def test_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    figures = small_selects.run(rounds_count=1, reads_count=2)
    assert len(figures) == 1 + 2 * len(small_selects.SHAPES) + len(small_selects.CATALOG) and min(figures.values()) > 0
    assert "list of tables" in capsys.readouterr().out
