"""The moves that a view may make in its life, as a table.

A move that is not in the table is a bug of ours, and raises an error with the story of the view.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


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


class IllegalMoveError(AssertionError):
    """A bug of ours: a view was asked to make a move that its phase does not allow."""


@dataclass
class Lifecycle:
    """The phase of a view, and the moves that led there. The engine's DDL lock serialises moves."""

    name: str
    phase: ViewPhase = ViewPhase.BUILDING
    story: list[str] = field(default_factory=list)

    def move(self, move: ViewMove) -> None:
        """Make a move. Raises `IllegalMoveError` with the story of the view."""
        target = MOVES.get((self.phase, move))
        if target is None:
            told = ", ".join(self.story) or "nothing yet"
            raise IllegalMoveError(f'view "{self.name}" is {self.phase} and cannot {move}; its story: {told}')
        self.story.append(f"{move}: {self.phase} -> {target}")
        self.phase = target
