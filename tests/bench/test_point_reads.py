"""The bench of reads by key runs to its end with tiny sizes."""

from __future__ import annotations

import pytest

from bench import point_reads


@pytest.mark.slow
def test_a_tiny_run(capsys: pytest.CaptureFixture[str]) -> None:
    found = point_reads.measure(point_reads.Sizes(runs_count=1, groups_count=100, events_per_s=1000, seconds=1))
    assert len(found) == 4 and all(min(rates.ours, rates.theirs) > 0 for rates in found)
    assert "prepared while 1,000 events/s arrive: " in capsys.readouterr().out
