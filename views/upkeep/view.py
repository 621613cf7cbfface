"""A continuous view as the process runs it: definition, plan, state, and the versions that readers were given.

Enters: a built plan and state; `note_commit` from the committing statement. Leaves: the description that bind sees, and the latest
version. `views.upkeep.refresh` makes versions. Must not know sessions, streams or other views.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import pyarrow as pa

from ringbuffer.groups.hash_table import GroupTable
from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.errors import SqlError
from sql.tree.relations import Relation, Schema
from views.model.definition import ViewDefinition
from views.model.nodes import ViewPlan
from views.model.steps import uses_arrival
from views.upkeep.phases import Lifecycle
from views.upkeep.state import StateCounts, ViewState

NO_VERSIONS: Mapping[str, int] = MappingProxyType({})


@dataclass
class Phases:
    """How long the parts of one refresh took, in seconds. swap: under the commit lock; the others hold nobody up."""

    swap_s: float = 0.0
    merge_s: float = 0.0
    hand_over_s: float = 0.0
    spark_s: float = 0.0
    store_s: float = 0.0


@dataclass(frozen=True)
class Moment:
    """A moment between two commits at which a view's latest version was the answer. number: of the cut, the same for all its views."""

    number: int
    time_us: int


@dataclass(frozen=True, eq=False)
class Version:
    """A view's rows after `position` committed statements. number: 1, 2, ... per view; created_us: when it was made, UTC.

    table_versions: the versions of the tables of the view's upper part that it was made from. phases: of the refresh that made it.
    above: where some rows can't be evaluated, the query over `table` that its readers take for the view (`views.plan.deferred`).
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
    """The rows of a cut's groups as Arrow: the finish step's, or, where that fails for some groups, all groups and what is `above` them."""

    table: pa.Table
    above: Relation | None = None


@dataclass(eq=False)
class Cut:
    """One position at which readers want a view, from the moment it is taken until its version is there.

    tables: what was swapped out and is not merged yet. exact: some reader needs this very position, since it reads other views too.
    now_us: the reader's now() for a view that depends on it, so that no other reader can share. waiting: readers that still want it.
    table_versions: of the tables of the upper part when it was taken; its version is made from these or later ones.
    held: a snapshot wants the groups of this very position, so nothing later may be merged yet.
    pins: transaction blocks that may come for this very position later. Nobody waits for them: whoever wants a later position first puts
    the groups as they are here into `groups`, and the cut leaves the queue. view: whose version it is to become. moment: when it was taken,
    where its version may be read later as an old one.
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

    @property
    def done(self) -> bool:
        """True when there is a version or an error to give to the readers."""
        return self.version is not None or self.error is not None


class Upkeep:
    """What a continuous view shares with those that take its place and go on with its state: how far it is, and the cuts in work.

    committed, swapped: statements, and those that have left the local state; written under the commit lock only. `changed` guards cuts,
    in order of position, and refreshing, whether some reader is working on them. refreshed: when the last version was made, UTC, and how.
    followers: of the views that it takes rows for as well (`views.upkeep.twins`).
    """

    def __init__(self) -> None:
        self.committed = 0
        self.swapped = 0
        self.versions_count = 0
        self.changed = threading.Condition()
        self.cuts: deque[Cut] = deque()
        self.refreshing = False
        self.refreshed: tuple[int, Phases] | None = None
        self.followers: tuple[Upkeep, ...] = ()


class ContinuousView:
    """A view over a stream under split maintenance. Two are equal only when they are the same object.

    time_dependent: what lies above the stream pipeline uses now(), so that no version can be reused.
    notices: what CREATE VIEW tells the client besides its success.
    static_versions: the versions of `stream_tables` that its join tables were made from; those tables must not change while it exists.
    uses_arrival: its kernel takes the column of the rows' arrival. upkeep: of the view whose place it takes, whose state it goes on with.
    latest_at: the last moment at which `latest` is known to have been the answer.
    """

    def __init__(
        self,
        definition: ViewDefinition,
        schema: Schema,
        plan: ViewPlan,
        state: ViewState,
        time_dependent: bool,
        notices: tuple[str, ...],
        lifecycle: Lifecycle,
        static_versions: Mapping[str, int] = NO_VERSIONS,
        upkeep: Upkeep | None = None,
    ) -> None:
        self.definition = definition
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
        return f"<view {self.definition.name}: {self.committed} statements, {self.upkeep.versions_count} versions>"

    @property
    def committed(self) -> int:
        """The statements that it has seen."""
        return self.upkeep.committed

    @property
    def changed(self) -> threading.Condition:
        """What guards its cuts."""
        return self.upkeep.changed

    @property
    def cuts(self) -> deque[Cut]:
        """The cuts in work, in order of position."""
        return self.upkeep.cuts

    @property
    def counts(self) -> StateCounts:
        """What has come in so far, merged, waiting or in a cut; what a refresh is just merging is missing."""
        with self.changed:
            taken = [table for entry in self.cuts for table in entry.tables or ()]
        return self.state.counts_with(taken)

    @property
    def stream_name(self) -> str:
        """The stream that the view reads."""
        return self.plan.stream.stream

    @property
    def stream_tables(self) -> frozenset[str]:
        """The durable tables that the stream pipeline has built in: they can't change while the view is there."""
        return self.plan.stream_tables

    @property
    def upper_tables(self) -> frozenset[str]:
        """The durable tables that the upper pipeline reads anew with each version."""
        return self.plan.upper_tables

    @property
    def description(self) -> RelationDescription:
        """What bind sees of the view."""
        columns = tuple(ColumnDescription(column.name, column.type) for column in self.schema)
        return RelationDescription(self.definition.name, "view", self.definition.oid, columns)

    @property
    def joins_at_arrival(self) -> bool:
        """True when rows of the stream meet the tables as they are when the rows are committed."""
        return self.definition.joins.stream_join == "arrival" and bool(self.plan.maintained.probes)

    def note_commit(self) -> None:
        """Count one more statement whose rows are in the local state. The caller holds the commit lock."""
        self.upkeep.committed += 1
        for follower in self.upkeep.followers:
            follower.committed += 1
