"""The script that watches the server's memory runs through with a small file, and notices
growth.
"""

from __future__ import annotations

import sys

import pytest

from bench import copied_memory

pytestmark = pytest.mark.long


@pytest.mark.parametrize("into", ["stream", "table"])
def test_small(into: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["copied_memory", "--megabytes", "0.1", "--into", into, "--growth", "-1000"])
    assert copied_memory.main() == 1
    assert f"{into}: 10000 rows" in capsys.readouterr().out
