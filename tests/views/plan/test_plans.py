"""Every plan snapshot is what EXPLAIN shows today; `python -m tests.plans` rewrites them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plans.snapshot import FOLDER, rewritten


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_snapshot(path: Path) -> None:
    assert rewritten(path.read_text()) == path.read_text()
