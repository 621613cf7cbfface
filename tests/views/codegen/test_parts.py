"""A long function in parts computes what it did in one piece, and no part is long."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from views.codegen.parts import PART_LINES, in_parts

HEAD = ["@kernel", "def whole(", "    start,", "    end,", "    found,", "):", "    for row in range(start, end):"]


def assignments(chance: Random, count: int) -> list[str]:
    """Return assignments that use what was assigned before, and blocks among them."""
    known, lines = ["row"], []
    for number in range(count):
        left, right = chance.choices(known[-30:], k=2)
        if chance.random() < 0.2:
            lines.append(f"        pair_{number}, _ = both({left}, {right})")
            known.append(f"pair_{number}")
        else:
            lines.append(f"        value_{number} = ({left} + 3 * {right}) % 1009")
            known.append(f"value_{number}")
        if chance.random() < 0.004:
            lines += [f"        if {known[-1]} < 0:", "            continue"]
    return [*lines, f"        found[row] = {' ^ '.join(known[-3:])}", "    return end"]


def run(lines: list[str]) -> list[int]:
    program: dict[str, Any] = {"kernel": lambda function: function, "both": lambda left, right: (left ^ right, left)}
    exec("\n".join(lines), program)  # noqa: S102
    found = [0] * 20
    assert program["whole"](0, 20, found) == 20
    return found


@pytest.mark.parametrize("count", [10, PART_LINES, 3 * PART_LINES, 20 * PART_LINES])
def test_parts_compute_the_same(count: int) -> None:
    lines = HEAD + assignments(Random(count), count)
    rest, parts = in_parts(lines)
    assert len(parts) >= count // PART_LINES - 10
    assert all(len(part) == PART_LINES + 3 for part in parts)
    assert run([line for part in (*parts, rest) for line in part]) == run(lines)


def test_what_nobody_uses_stays() -> None:
    lines = [*HEAD, *(f"        unused_{number} = row" for number in range(PART_LINES)), "    return end"]
    assert in_parts(lines) == (lines, [])
