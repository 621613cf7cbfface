"""The lives of views and cuts: every pair of phase and move, and the story in the error."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Any

import pytest

from views.upkeep.chain import MOVES, ViewMove, ViewPhase, view_life
from views.upkeep.cuts import CUT_MOVES, CutMove, CutPhase, IllegalMoveError, Life, cut_life


@pytest.mark.parametrize(
    ("phases", "moves", "table", "life", "name"),
    [
        (ViewPhase, ViewMove, MOVES, lambda phase: view_life("v", phase), 'view "v"'),
        (CutPhase, CutMove, CUT_MOVES, lambda phase: cut_life("v", 3, phase), 'cut 3 of view "v"'),
    ],
)
def test_every_pair_moves_or_tells_its_story(
    phases: Iterable[StrEnum],
    moves: Iterable[StrEnum],
    table: Mapping[Any, StrEnum],
    life: Callable[[StrEnum], Life[Any, Any]],
    name: str,
) -> None:
    for phase in phases:
        for move in moves:
            one = life(phase)
            one.story.append("told")
            if (phase, move) in table:
                one.move(move)
                assert one.phase == table[phase, move]
                continue
            with pytest.raises(IllegalMoveError, match=f"{name} is {phase} and cannot {move}; its story: told"):
                one.move(move)
            assert one.phase == phase


def test_a_dropped_view_stays_dropped() -> None:
    life = view_life("v")
    life.move(ViewMove.ATTACH)
    life.move(ViewMove.DROP)
    with pytest.raises(IllegalMoveError, match="attach: building -> attached, drop: attached -> dropped"):
        life.move(ViewMove.ATTACH)


def test_a_cut_is_merged_before_anything_else_and_ends_once() -> None:
    """Every way through the table begins with the merge, and ends where no move leads on."""
    ends = {phase for phase in CutPhase if not any(start is phase for start, _ in CUT_MOVES)}
    assert ends == {CutPhase.MADE, CutPhase.FAILED, CutPhase.FORGOTTEN}
    assert [move for phase, move in CUT_MOVES if phase is CutPhase.WAITING] == [CutMove.MERGE]
