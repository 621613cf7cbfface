"""A chain of a plan at run time: its program, the groups of its state, and the latest version of
the rows above them.

A plan has a chain for each stream pipeline, and all chains of a plan are read at one cut. Enters: a
built plan and state. Leaves: the description that bind sees. Must not know sessions, streams or
other chains.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable, Mapping
from enum import StrEnum
from types import MappingProxyType

from sql.catalog.catalog import ColumnDescription, RelationDescription
from sql.tree.relations import OutputColumn, Schema
from views.model.definition import StateDefinition
from views.model.plan import Plan
from views.model.steps import uses_arrival
from views.plan.deferred import view_keys
from views.share.passing import Passing
from views.upkeep.cuts import Cut, Life, Moment, Version
from views.upkeep.state import ViewState

NO_VERSIONS: Mapping[str, Hashable] = MappingProxyType({})


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


# The engine's DDL lock serialises the moves of a view.
ViewLife = Life[ViewPhase, ViewMove]


def view_life(name: str, phase: ViewPhase = ViewPhase.BUILDING) -> ViewLife:
    """Return the life of a view."""
    return Life(f'view "{name}"', MOVES, phase)


class Chain:
    """The pipelines of a plan from one stream to the rows above its groups, as they run.

    Two are equal only when they are the same object.

    Attributes:
        definition: of the view, the same for all chains of its plan.
        plan: these pipelines, as a plan of their own.
        identity: of the state that keeps the groups.
        state: the program, which equal chains share, and the groups.
        time_dependent: true if what lies above the stream pipeline uses now(), so that no version
            can be reused.
        notices: what CREATE VIEW tells the client besides its success.
        static_versions: the versions of `stream_tables` from which the join tables were made; these
            tables must not change while the view exists.
        upkeep: of the groups, with which a chain goes on that takes the place of another one.
        latest_at: the last moment at which `latest` is known to have been the answer.
        uses_arrival: true if the kernel takes the column of the rows' arrival.
        passing: how groups pass that no reader asks for again, None: all are kept.
    """

    def __init__(
        self,
        identity: StateDefinition,
        schema: Schema,
        state: ViewState,
        time_dependent: bool,
        notices: tuple[str, ...],
        static_versions: Mapping[str, Hashable] = NO_VERSIONS,
    ) -> None:
        self.identity = identity
        self.definition = identity.view
        self.schema = schema
        self.state = state
        self.plan: Plan = state.plan
        self.time_dependent = time_dependent
        self.notices = notices
        self.lifecycle = view_life(identity.name)
        self.static_versions = static_versions
        self.upkeep = state.groups.upkeep
        self.latest: Version | None = None
        self.latest_at: Moment | None = None
        self.uses_arrival = uses_arrival(self.plan.maintained)
        self.passing: Passing | None = None

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
        return self.state.groups.committed

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

    def forget_passed(self, now_us: int) -> None:
        """Give up the groups that have passed, if that is due; the caller refreshes the chain."""
        if self.passing is not None and self.lifecycle.phase is ViewPhase.ATTACHED:
            self.state.forget_passed(self.passing, now_us)

    @property
    def description(self) -> RelationDescription:
        """The relation that bind sees."""
        columns = tuple(ColumnDescription(column.name, column.type) for column in self.schema)
        keys = view_keys(self.plan)
        groups = tuple(OutputColumn(name, key.type) for name, key in self.plan.maintained.keys)
        oid, number = self.definition.oid, self.identity.number or 0
        return RelationDescription(self.name, "view", oid, columns, row_keys=keys, group_keys=groups, number=number)

    @property
    def joins_at_arrival(self) -> bool:
        """True when rows of the stream meet the tables as they are when the rows are committed."""
        return self.definition.joins.stream_join == "arrival" and bool(self.plan.maintained.probes)
