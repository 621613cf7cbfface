"""What a session says about itself: prepared statements, cursors, notifications. Frozen dataclasses, as in `statement`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sql.parse import syntax

if TYPE_CHECKING:
    from sql.parse.statements.statement import Select, Statement


@dataclass(frozen=True)
class Prepare:
    """PREPARE name [(types)] AS statement."""

    text: str
    name: str
    types: tuple[syntax.TypeName, ...]
    statement: Statement


@dataclass(frozen=True)
class Execute:
    """EXECUTE name [(arguments)]."""

    text: str
    name: str
    arguments: tuple[syntax.Expression, ...]
    position: int


@dataclass(frozen=True)
class Declare:
    """DECLARE name CURSOR FOR select. scroll: None where neither SCROLL nor NO SCROLL is said; hold: WITH HOLD."""

    text: str
    name: str
    select: Select
    binary: bool = False
    scroll: bool | None = None
    hold: bool = False


@dataclass(frozen=True)
class Fetch:
    """FETCH or MOVE (moves). direction: 'forward', 'backward', 'absolute', 'relative'; count: None is ALL."""

    text: str
    name: str
    direction: str
    count: int | None
    moves: bool = False


@dataclass(frozen=True)
class CloseCursor:
    """CLOSE name | ALL (name None)."""

    text: str
    name: str | None


@dataclass(frozen=True)
class Listen:
    """LISTEN channel, or UNLISTEN channel | * (on False; channel None)."""

    text: str
    channel: str | None
    on: bool


@dataclass(frozen=True)
class Notify:
    """NOTIFY channel [, 'payload']."""

    text: str
    channel: str
    payload: str


@dataclass(frozen=True)
class LockTable:
    """LOCK TABLE. tables: (name, position). mode: in capital letters, without MODE."""

    text: str
    tables: tuple[tuple[str, int], ...]
    mode: str
    nowait: bool


@dataclass(frozen=True)
class SetConstraints:
    """SET CONSTRAINTS. names: as written, None for ALL. deferred: DEFERRED, not IMMEDIATE."""

    text: str
    names: tuple[str, ...] | None
    deferred: bool


# What is about all sessions, or about the transaction.
SharedStatement = Listen | Notify | LockTable | SetConstraints
