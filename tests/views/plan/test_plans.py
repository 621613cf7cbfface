"""The plans of tests/plans: what EXPLAIN CREATE VIEW shows for queries of every shape that can be
split, and for each that can't.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.golden import Golden
from tests.plans.snapshot import FOLDER, answer


@pytest.mark.golden
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.txt")), ids=lambda path: path.stem)
def test_plans_are_those_of_the_snapshots(path: Path, golden: Golden) -> None:
    golden(path, answer)
