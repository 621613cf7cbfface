"""The moves that a view may make in its life, and those of a cut, as tables.

A move that is not in the table is a bug of ours, and raises an error with the story of the thing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar


class ViewPhase(StrEnum):
    """Where a view is in its life."""

    BUILDING = "building"
    ATTACHED = "attached"
    DROPPED = "dropped"


class ViewMove(StrEnum):
    """A step in the life of a view."""

    ATTACH = "attach"  # the COMMIT of its CREATE VIEW
    DROP = "drop"  # the COMMIT of its DROP VIEW, or the ROLLBACK of its CREATE VIEW


MOVES: dict[tuple[ViewPhase, ViewMove], ViewPhase] = {
    (ViewPhase.BUILDING, ViewMove.ATTACH): ViewPhase.ATTACHED,
    (ViewPhase.BUILDING, ViewMove.DROP): ViewPhase.DROPPED,
    (ViewPhase.ATTACHED, ViewMove.DROP): ViewPhase.DROPPED,
}


class CutPhase(StrEnum):
    """Where a cut is on its way to a version."""

    WAITING = "waiting"  # its tables are its own
    MERGED = "merged"  # its rows are among the merged groups
    KEPT = "kept"  # later rows are there too; it has a copy of the groups
    MADE = "made"
    FAILED = "failed"
    FORGOTTEN = "forgotten"


class CutMove(StrEnum):
    """A step of a cut."""

    MERGE = "merge"  # by the refresher, before anything that can fail
    KEEP = "keep"  # a refresh goes beyond a position that a transaction block may still read
    MAKE = "make"  # a version
    FAIL = "fail"  # with an error for all its readers
    FORGET = "forget"  # the blocks that might have read it are over


CUT_MOVES: dict[tuple[CutPhase, CutMove], CutPhase] = {
    (CutPhase.WAITING, CutMove.MERGE): CutPhase.MERGED,
    (CutPhase.MERGED, CutMove.KEEP): CutPhase.KEPT,
    (CutPhase.MERGED, CutMove.MAKE): CutPhase.MADE,
    (CutPhase.MERGED, CutMove.FAIL): CutPhase.FAILED,
    (CutPhase.KEPT, CutMove.MAKE): CutPhase.MADE,
    (CutPhase.KEPT, CutMove.FAIL): CutPhase.FAILED,
    (CutPhase.KEPT, CutMove.FORGET): CutPhase.FORGOTTEN,
}

Phase = TypeVar("Phase", bound=StrEnum)
Move = TypeVar("Move", bound=StrEnum)


class IllegalMoveError(AssertionError):
    """A bug of ours: something was asked to make a move that its phase does not allow."""


@dataclass
class Life(Generic[Phase, Move]):
    """The phase of a view or a cut, and the moves that led there. The caller serialises moves.

    Attributes:
        name: for people.
        moves: those that there are, with the phases to which they lead.
    """

    name: str
    moves: Mapping[tuple[Phase, Move], Phase]
    phase: Phase
    story: list[str] = field(default_factory=list)

    def move(self, move: Move) -> None:
        """Make a move. Raises `IllegalMoveError` with the story."""
        target = self.moves.get((self.phase, move))
        if target is None:
            told = ", ".join(self.story) or "nothing yet"
            raise IllegalMoveError(f"{self.name} is {self.phase} and cannot {move}; its story: {told}")
        self.story.append(f"{move}: {self.phase} -> {target}")
        self.phase = target


# The engine's DDL lock serialises the moves of a view, and `refreshing` those of a cut.
ViewLife = Life[ViewPhase, ViewMove]
CutLife = Life[CutPhase, CutMove]


def view_life(name: str, phase: ViewPhase = ViewPhase.BUILDING) -> ViewLife:
    """Return the life of a view."""
    return Life(f'view "{name}"', MOVES, phase)


def cut_life(name: str, position: int, phase: CutPhase = CutPhase.WAITING) -> CutLife:
    """Return the life of a cut of a view."""
    return Life(f'cut {position} of view "{name}"', CUT_MOVES, phase)
