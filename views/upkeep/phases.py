"""The moves that a view may make in its life, as a table; a move that is not in it is a bug of ours and raises with the view's story."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class ViewPhase(StrEnum):
    """Where a view is in its life."""

    BUILDING = "building"
    ATTACHED = "attached"
    DROPPED = "dropped"


class ViewMove(StrEnum):
    """What can happen to a view."""

    ATTACH = "attach"  # the COMMIT of its CREATE VIEW
    DROP = "drop"  # the COMMIT of its DROP VIEW, or the ROLLBACK of its CREATE VIEW


MOVES: dict[tuple[ViewPhase, ViewMove], ViewPhase] = {
    (ViewPhase.BUILDING, ViewMove.ATTACH): ViewPhase.ATTACHED,
    (ViewPhase.BUILDING, ViewMove.DROP): ViewPhase.DROPPED,
    (ViewPhase.ATTACHED, ViewMove.DROP): ViewPhase.DROPPED,
}


class IllegalMoveError(AssertionError):
    """A bug: a view was asked to make a move that its phase does not allow."""


@dataclass
class Lifecycle:
    """A view's phase, and how it came there. The caller serialises moves (the engine's DDL lock)."""

    name: str
    phase: ViewPhase = ViewPhase.BUILDING
    story: list[str] = field(default_factory=list)

    def move(self, move: ViewMove) -> None:
        """Make a move, or raise `IllegalMoveError` with the story."""
        target = MOVES.get((self.phase, move))
        if target is None:
            told = ", ".join(self.story) or "nothing yet"
            raise IllegalMoveError(f'view "{self.name}" is {self.phase} and cannot {move}; its story: {told}')
        self.story.append(f"{move}: {self.phase} -> {target}")
        self.phase = target
