"""Groups to which rows are added and from which they are taken, against a multiset in Python."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from ringbuffer.groups.hash_table import GroupTable
from ringbuffer.groups.merge import merge_tables
from tests.views.delta.changed_rows import PIPELINE, TEXTS, VALUES, Row, answer, folded, model
from views.delta.signs import DEAD_MAX, _negate_sums, negate, without_dead
from views.upkeep.program import StreamProgram


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> StreamProgram:
    return StreamProgram(PIPELINE, tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize("seed", range(20))
def test_what_is_taken_away_was_never_there(program: StreamProgram, seed: int) -> None:
    chance, rows, table = Random(seed), Counter[Row](), program.new_table()
    for _ in range(12):
        added: list[Row] = [
            (chance.choice(TEXTS), chance.choice(VALUES), chance.choice((None, 0, 250, -999)))
            for _ in range(chance.randrange(9))
        ]
        gone = chance.sample(sorted(rows.elements(), key=str), chance.randint(0, rows.total()))
        removed = folded(program, gone)
        negate(removed, program.grouping)
        merge_tables(table, removed, program.merge_steps)
        merge_tables(table, folded(program, added), program.merge_steps)
        rows = rows - Counter(gone) + Counter(added)
        assert answer(program, table) == model(rows), seed


@pytest.mark.parametrize(
    "value", [0, 1, -1, 2**63, 2**64, -(2**64), 2**64 + 5, 2**127 - 1, -(2**127), 2**130, -(2**140) + 3]
)
def test_the_opposite_of_a_sum(value: int) -> None:
    wraps, rest = divmod(value + 2**127, 2**128)
    high, low = divmod(rest - 2**127, 2**64)
    words = np.zeros((3, 8), dtype=np.int64)
    words[:, 2:5] = low - 2**64 * (low >= 2**63), high, wraps
    _negate_sums(words[:, 2:5])
    for row in words.tolist():
        assert (row[4] << 128) + (row[3] << 64) + row[2] % 2**64 == -value


def test_groups_without_rows_are_given_up_when_they_are_many(program: StreamProgram) -> None:
    def many(count: int) -> GroupTable:
        return folded(program, [(f"a group with a long name: {number}", number, None) for number in range(count)])

    table, removed = many(4 * DEAD_MAX), many(3 * DEAD_MAX)
    before = answer(program, table)
    negate(removed, program.grouping)
    merge_tables(table, removed, program.merge_steps)
    kept = without_dead(table, program.grouping, program.merge_steps)
    assert (table.groups_count, kept.groups_count) == (4 * DEAD_MAX, DEAD_MAX)
    assert answer(program, kept) == dict(list(before.items())[3 * DEAD_MAX :])
    assert without_dead(kept, program.grouping, program.merge_steps) is kept
