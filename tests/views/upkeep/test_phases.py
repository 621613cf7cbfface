"""The life of a view: every pair of phase and move, and the story in the error."""

from __future__ import annotations

import pytest

from views.upkeep.phases import MOVES, IllegalMoveError, Lifecycle, ViewMove, ViewPhase


def test_every_pair_moves_or_tells_its_story() -> None:
    for phase in ViewPhase:
        for move in ViewMove:
            lifecycle = Lifecycle("v", phase, ["told"])
            if (phase, move) in MOVES:
                lifecycle.move(move)
                assert lifecycle.phase == MOVES[phase, move]
                continue
            with pytest.raises(IllegalMoveError, match=f'view "v" is {phase} and cannot {move}; its story: told'):
                lifecycle.move(move)
            assert lifecycle.phase == phase


def test_a_dropped_view_stays_dropped() -> None:
    lifecycle = Lifecycle("v")
    lifecycle.move(ViewMove.ATTACH)
    lifecycle.move(ViewMove.DROP)
    with pytest.raises(IllegalMoveError, match="attach: building -> attached, drop: attached -> dropped"):
        lifecycle.move(ViewMove.ATTACH)
