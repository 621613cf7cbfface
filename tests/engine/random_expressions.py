"""Seeded random expressions over the table of `answers`, drawn by the random suites' own maker."""

from __future__ import annotations

from collections import Counter
from random import Random

from tests.engine.answers import COLUMNS, VALUES
from tests.randomized.expressions import ExpressionMaker
from tests.randomized.values import Column

DEPTH = 3


def random_expressions(seed: int, count: int) -> list[str]:
    """Return `count` expressions; their text depends on the seed alone."""
    columns = [
        Column(name, kind.family, text, VALUES[name], extreme=False) for name, kind, text in COLUMNS if name != "id"
    ]
    maker = ExpressionMaker(Random(seed), columns, Counter(), risky=True)
    return [maker.any_term(DEPTH).text for _ in range(count)]
