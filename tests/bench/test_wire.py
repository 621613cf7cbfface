"""The bench of the wire runs to its end with tiny sizes, by every client."""

from __future__ import annotations

import pytest

from bench import wire
from bench.wire_clients import JAR


@pytest.mark.slow
def test_a_tiny_run(capsys: pytest.CaptureFixture[str]) -> None:
    sizes = wire.Sizes(runs_count=1, rows_count=300, statement_rows_count=100, seconds=1)
    found = wire.measure(sizes, ["values query 1", "values extended 1", "run", "asyncpg", "psycopg", "JDBC"])
    assert len(found) == 9 + JAR.exists() and all(min(rates.ours, rates.theirs) > 0 for rates in found)
    assert "asyncpg executemany: " in capsys.readouterr().out
