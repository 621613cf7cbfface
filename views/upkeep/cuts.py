"""Cuts of a state, on their way to versions of the rows above it.

The moves that a cut may make in its life are a table, and so are those of views. A move that is not
in the table is a bug of ours, and raises an error with the story of the thing. Enters: moves, which
`views.upkeep.refresh` makes. Leaves: versions. Must not know how a state is kept.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, TypeVar

import pyarrow as pa

from ringbuffer.groups.hash_table import GroupTable
from sql.errors import SqlError
from sql.tree.relations import Relation

if TYPE_CHECKING:
    from views.upkeep.chain import Chain

# Why versions are made: somebody reads, or a schedule (`refresh_every`).
READER, SCHEDULE = "reader", "schedule"


@dataclass
class Phases:
    """How long the parts of one refresh took, in seconds.

    The swap is under the commit lock; the other parts hold no commit up.
    """

    swap_s: float = 0.0
    merge_s: float = 0.0
    hand_over_s: float = 0.0
    spark_s: float = 0.0
    store_s: float = 0.0


@dataclass(frozen=True)
class Moment:
    """A moment between two commits at which the latest version of a view was the answer.

    Attributes:
        number: of the cut, the same for all its views.
        time_us: the time of the cut, UTC.
    """

    number: int
    time_us: int


@dataclass(frozen=True, eq=False)
class Version:
    """The rows of a view after `position` committed statements.

    Attributes:
        number: 1, 2, ... per view.
        created_us: when the version was made, UTC.
        table_versions: the versions of the tables of the upper part from which it was made.
        phases: the times of the refresh that made it.
        above: where some rows can't be evaluated, the query over `table` that its readers take for
            the view (`views.plan.deferred`).
        passed_us: readers whose now() is before miss groups that were given up; 0: nobody does.
    """

    number: int
    position: int
    table: pa.Table
    created_us: int
    table_versions: Mapping[str, Hashable] = field(default_factory=dict)
    phases: Phases = field(default_factory=Phases)
    above: Relation | None = None
    passed_us: int = 0


@dataclass(frozen=True, eq=False)
class Exported:
    """The rows of the groups of a cut as Arrow.

    Attributes:
        table: the rows of the finish step, or, where the step fails for some groups, all groups.
        above: what has to run above the groups in the latter case.
        passed_us: as that of a version.
    """

    table: pa.Table
    above: Relation | None = None
    passed_us: int = 0


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

# The flag `refreshing` serialises the moves of a cut.
CutLife = Life[CutPhase, CutMove]


def cut_life(name: str, position: int, phase: CutPhase = CutPhase.WAITING) -> CutLife:
    """Return the life of a cut of a view."""
    return Life(f'cut {position} of view "{name}"', CUT_MOVES, phase)


@dataclass(eq=False)
class Cut:
    """A position at which readers want a view, from the moment it is taken until it has a version.

    Attributes:
        view: the view whose version is made.
        tables: the swapped tables, until they are merged.
        life: its phase, and the moves that led there.
        exact: true if some reader needs this very position, since it reads other views too.
        now_us: now() of the reader, for a view that depends on it and that no other reader can
            share.
        waiting: how many readers want the version.
        table_versions: those of the upper part's tables at the cut; the version is made from these
            or later ones.
        held: true while a snapshot wants the groups of this very position, so that no later cut may
            be merged.
        pins: how many transaction blocks may read this very position later. No refresh waits for
            them: the first that goes beyond this position copies the groups into `groups`, and the
            cut leaves the queue.
        groups: the copy while the cut is kept.
        moment: when the cut was taken, if its version may be read later as an old one.
        reason: of the refresh that makes the version.
    """

    chain: Chain
    position: int
    tables: tuple[GroupTable, ...] | None
    exact: bool
    now_us: int | None
    waiting: int = 0
    version: Version | None = None
    error: SqlError | None = None
    table_versions: Mapping[str, Hashable] = field(default_factory=dict)
    held: bool = False
    pins: int = 0
    groups: Exported | None = None
    moment: Moment | None = None
    phases: Phases = field(default_factory=Phases)
    reason: str = READER
    life: CutLife = field(init=False)

    def __post_init__(self) -> None:
        phase = CutPhase.WAITING if self.version is None else CutPhase.MADE
        self.life = cut_life(self.chain.name, self.position, phase)

    @property
    def phase(self) -> CutPhase:
        """Where the cut is on its way to a version."""
        return self.life.phase

    @property
    def done(self) -> bool:
        """True when the cut has a version, or an error, for its readers."""
        return self.phase in (CutPhase.MADE, CutPhase.FAILED)

    def merge(self) -> tuple[GroupTable, ...]:
        """Return the tables, which the caller merges at once."""
        self.life.move(CutMove.MERGE)
        tables, self.tables = self.tables or (), None
        return tables

    def keep(self, groups: Exported) -> None:
        """Keep a copy of the groups at this position."""
        self.life.move(CutMove.KEEP)
        self.groups = groups

    def end(self, version: Version | None, error: SqlError | None) -> None:
        """Give its readers a version, or an error."""
        self.life.move(CutMove.FAIL if version is None else CutMove.MAKE)
        self.version, self.error, self.groups = version, error, None

    def forget(self) -> None:
        """Drop the copy of the groups, which nobody can want any more."""
        self.life.move(CutMove.FORGET)
        self.groups = None


class Upkeep:
    """The cuts of a state, and what is told of its refreshes.

    Attributes:
        changed: guards `cuts` and `refreshing`.
        cuts: the cuts in work, in order of position.
        refreshing: true while some reader refreshes the view.
        refreshed: when the last version was made, UTC, and how long its parts took.
        reasons: how many versions were made for each reason; last_reason: of the last one.
        upper_runs: how many refreshes have run the upper pipeline in which way (COLD, PLANNED,
            COPIED, PREPARED, BY_CHANGE, MADE_ANEW); last_upper: of the last one, and upper_reason
            why, where that is known.
        point_reads: how many reads by key were answered from the groups; written under the commit
            lock.
    """

    def __init__(self) -> None:
        self.versions_count = 0
        self.reasons: Counter[str] = Counter()
        self.last_reason: str | None = None
        self.upper_runs: Counter[str] = Counter()
        self.last_upper: str | None = None
        self.upper_reason = ""
        self.point_reads = 0
        self.changed = threading.Condition()
        self.cuts: deque[Cut] = deque()
        self.refreshing = False
        self.refreshed: tuple[int, Phases] | None = None

    def count_upper(self, how: str, reason: str = "") -> None:
        """Count a refresh whose upper pipeline has run in one of these ways."""
        self.upper_runs[how] += 1
        self.last_upper, self.upper_reason = how, reason

    def note_upper(self, passed_s: float) -> None:
        """Note how long the query above a view's states took, which is no part of a version of
        theirs.
        """
        if self.refreshed is not None:
            self.refreshed[1].spark_s = passed_s
