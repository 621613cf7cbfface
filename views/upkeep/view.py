"""A continuous view in the process: definition, plan, state, and the versions that readers were
given.

Enters: a built plan and state; `note_commit` from the committing statement. Leaves: the description
that bind sees, and the latest version. `views.upkeep.refresh` makes versions. Must not know
sessions, streams or other views.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pyarrow as pa

from ringbuffer.groups.hash_table import GroupTable
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.errors import SqlError
from sql.tree.relations import Relation, Schema
from views.model.definition import StateDefinition
from views.model.plan import Plan
from views.model.steps import uses_arrival
from views.upkeep.phases import CutLife, CutMove, CutPhase, ViewLife, cut_life
from views.upkeep.state import ViewState

# Why versions are made: somebody reads, or a schedule (`refresh_every`).
READER, SCHEDULE = "reader", "schedule"
NO_VERSIONS: Mapping[str, int] = MappingProxyType({})


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
    """

    number: int
    position: int
    table: pa.Table
    created_us: int
    table_versions: Mapping[str, int] = field(default_factory=dict)
    phases: Phases = field(default_factory=Phases)
    above: Relation | None = None


@dataclass(frozen=True, eq=False)
class Exported:
    """The rows of the groups of a cut as Arrow.

    Attributes:
        table: the rows of the finish step, or, where the step fails for some groups, all groups.
        above: what has to run above the groups in the latter case.
    """

    table: pa.Table
    above: Relation | None = None


@dataclass(eq=False)
class Cut:
    """A position at which readers want a view, from the moment it is taken until it has a version.

    Attributes:
        view: the view whose version is made.
        tables: the swapped tables, until they are merged.
        life: its phase, and the moves that led there (`views.upkeep.phases`).
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

    view: ContinuousView
    position: int
    tables: tuple[GroupTable, ...] | None
    exact: bool
    now_us: int | None
    waiting: int = 0
    version: Version | None = None
    error: SqlError | None = None
    table_versions: Mapping[str, int] = field(default_factory=dict)
    held: bool = False
    pins: int = 0
    groups: Exported | None = None
    moment: Moment | None = None
    phases: Phases = field(default_factory=Phases)
    reason: str = READER
    life: CutLife = field(init=False)

    def __post_init__(self) -> None:
        phase = CutPhase.WAITING if self.version is None else CutPhase.MADE
        self.life = cut_life(self.view.name, self.position, phase)

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
    """The progress of a continuous view, shared with the views that take its place and go on with
    its state.

    Attributes:
        committed: how many statements have been committed; written under the commit lock.
        swapped: how many of them have left the local state; written under the commit lock.
        changed: guards `cuts` and `refreshing`.
        cuts: the cuts in work, in order of position.
        refreshing: true while some reader refreshes the view.
        refreshed: when the last version was made, UTC, and how long its parts took.
        reasons: how many versions were made for each reason; last_reason: of the last one.
        upper_runs: how many refreshes have run the upper pipeline in which way (COLD, PLANNED,
            COPIED, PREPARED); last_upper: of the last one.
        point_reads: how many reads by key were answered from the groups; written under the commit
            lock.
        followers: the upkeep of the views for which this one takes rows as well
            (`views.upkeep.twins`).
    """

    def __init__(self) -> None:
        self.committed = 0
        self.swapped = 0
        self.versions_count = 0
        self.reasons: Counter[str] = Counter()
        self.last_reason: str | None = None
        self.upper_runs: Counter[str] = Counter()
        self.last_upper: str | None = None
        self.point_reads = 0
        self.changed = threading.Condition()
        self.cuts: deque[Cut] = deque()
        self.refreshing = False
        self.refreshed: tuple[int, Phases] | None = None
        self.followers: tuple[Upkeep, ...] = ()

    def count_upper(self, how: str) -> None:
        """Count a refresh whose upper pipeline has run in one of these ways."""
        self.upper_runs[how] += 1
        self.last_upper = how


class ContinuousView:
    """A state in the plan of a view, under split maintenance, and the pipelines up to its rows.

    The view is such a state where no query stands above it. Two are equal only when they are the
    same object.

    Attributes:
        definition: of the view, the same for all its states.
        plan: its own pipelines, a chain.
        identity: of the state.
        time_dependent: true if what lies above the stream pipeline uses now(), so that no version
            can be reused.
        notices: what CREATE VIEW tells the client besides its success.
        static_versions: the versions of `stream_tables` from which the join tables were made; these
            tables must not change while the view exists.
        upkeep: shared with the view whose place this one takes, and whose state it goes on with.
        latest_at: the last moment at which `latest` is known to have been the answer.
        uses_arrival: true if the kernel takes the column of the rows' arrival.
    """

    def __init__(
        self,
        identity: StateDefinition,
        schema: Schema,
        plan: Plan,
        state: ViewState,
        time_dependent: bool,
        notices: tuple[str, ...],
        lifecycle: ViewLife,
        static_versions: Mapping[str, int] = NO_VERSIONS,
        upkeep: Upkeep | None = None,
    ) -> None:
        self.identity = identity
        self.definition = identity.view
        self.schema = schema
        self.plan = plan
        self.state = state
        self.time_dependent = time_dependent
        self.notices = notices
        self.lifecycle = lifecycle
        self.static_versions = static_versions
        self.upkeep = upkeep or Upkeep()
        self.latest: Version | None = None
        self.latest_at: Moment | None = None
        self.uses_arrival = uses_arrival(plan.maintained)

    def __repr__(self) -> str:
        return f"<view {self.name}: {self.committed} statements, {self.upkeep.versions_count} versions>"

    @property
    def name(self) -> str:
        """The name by which queries scan its rows."""
        return self.identity.name

    @property
    def label(self) -> str:
        """The name in plans, which tells the states of a view apart."""
        return self.identity.label

    @property
    def state_oid(self) -> int:
        """The oid under which log and checkpoints know the state."""
        return self.identity.oid

    @property
    def committed(self) -> int:
        """How many statements the view has seen."""
        return self.upkeep.committed

    @property
    def changed(self) -> threading.Condition:
        """The condition that guards the cuts."""
        return self.upkeep.changed

    @property
    def cuts(self) -> deque[Cut]:
        """The cuts in work, in order of position."""
        return self.upkeep.cuts

    @property
    def stream_name(self) -> str:
        """The stream that the view reads."""
        return self.plan.stream.stream

    @property
    def stream_tables(self) -> frozenset[str]:
        """The durable tables built into the stream pipeline, which can't change while the view
        exists.
        """
        return self.plan.stream_tables

    @property
    def upper_tables(self) -> frozenset[str]:
        """The durable tables that the upper pipeline reads anew with each version."""
        return self.plan.upper_tables

    @property
    def description(self) -> RelationDescription:
        """The relation that bind sees."""
        columns = tuple(ColumnDescription(column.name, column.type) for column in self.schema)
        return RelationDescription(self.name, "view", self.definition.oid, columns)

    @property
    def joins_at_arrival(self) -> bool:
        """True when rows of the stream meet the tables as they are when the rows are committed."""
        return self.definition.joins.stream_join == "arrival" and bool(self.plan.maintained.probes)

    def note_commit(self) -> None:
        """Count one more statement whose rows are in the local state.

        The caller holds the commit lock.
        """
        self.upkeep.committed += 1
        for follower in self.upkeep.followers:
            follower.committed += 1
