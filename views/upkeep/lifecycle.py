"""From a definition to a running view.

Enters: a definition and its bound query. Leaves: a `Chain` whose kernels are generated,
imported and warmed up. Must not attach a view to anything: the engine's catalog does that
(`views.upkeep.chain` holds the moves that follow).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ringbuffer.groups.hash_table import GroupTable
from sql.errors import SqlError
from sql.tree.relations import BoundQuery, Relation, Schema
from views.delta.upper import NoDeltaError, delta_plan, no_delta
from views.model.definition import StateDefinition, ViewDefinition
from views.model.nodes import StreamPipeline
from views.model.plan import Plan
from views.model.protocols import NO_SOURCE, Source, UpperExecutor
from views.model.trees import substitute_now
from views.plan.checks import check_sliding
from views.plan.planner import PlannedView, plan_view
from views.share.reuse import NotCoveredError, cover, widened
from views.share.stored import restored_pipeline, stored_pipeline
from views.upkeep.above.upper_groups import UpperGroups
from views.upkeep.caps import require_room
from views.upkeep.chain import Chain
from views.upkeep.join_tables import run_static_pipelines
from views.upkeep.kernels import TOOLS, KernelTools
from views.upkeep.program import StreamProgram
from views.upkeep.state import ViewState
from views.upkeep.twins import find_twin


@dataclass(frozen=True)
class Heritage:
    """A chain with whose state a new one goes on.

    Attributes:
        grows: the state may be kept in another way from now on: with more aggregates, which have
            not counted what came before.
        from_now: and with other conditions.
        now_us: the present time.
        is_backfilled: what is added counts rows that were there, too.
    """

    chain: Chain
    grows: bool = False
    from_now: bool = False
    now_us: int = 0
    is_backfilled: bool = False


@dataclass(frozen=True)
class Oracles:
    """Engines and tables of the process for the views that are built.

    Attributes:
        kernels_dir: the folder in which the kernels are written.
        executor: runs static and upper pipelines.
        tables: the rows of durable tables.
    """

    kernels_dir: Path
    executor: UpperExecutor
    tables: Source = NO_SOURCE
    tools: KernelTools = TOOLS


def build_view(
    identity: StateDefinition,
    bound: BoundQuery,
    oracles: Oracles,
    places: tuple[int, ...] | None = None,
    heir_of: Heritage | None = None,
    candidates: Collection[Chain] = (),
    is_new: bool = True,
) -> Chain:
    """Plan a state of a view, run its static pipelines on one read of their tables, generate and
    warm up its kernels.

    Raises SqlError: 0A000 for a query without a plan, 42701 for two columns of one name, 42601 for
    too many column names, and what fails on the rows of the tables. Raises NotCoveredError when the
    view can't go on with the state of `heir_of`.

    Arguments:
        places: the places of the stream's columns, in the order of `bound`, in its morsels; None:
            in this order, and a morsel has no others.
        heir_of: that with whose state the new view goes on, over the same columns of the same
            stream.
        candidates: views with which the new view may take rows together (`views.upkeep.twins`).
        is_new: nothing of the view's groups is stored yet.
    """
    definition, name = identity.view, identity.name
    planned, gained = planned_over(identity, bound, heir_of, is_new)
    plan, kernels_dir, tools = planned.plan, oracles.kernels_dir, oracles.tools
    twin = None
    if heir_of is None:
        twin, plan = find_twin(candidates, plan, definition.joins.stream_join, is_new)
    known, groups = twin, None
    if heir_of is not None:
        known = heir_of.chain
        groups = None if gained else known.state.groups
        told = () if heir_of.is_backfilled else tuple((text, heir_of.now_us) for text in gained)
        identity = replace(identity, since=known.identity.since + told)
    # Kernels come first: a caller that compiles them elsewhere builds the view again, and nothing
    # before was done in vain.
    if known is None or gained:
        program = StreamProgram(plan.maintained, kernels_dir, places, tools)
        program = program if known is None else program.joined_with(known.state.program.joins)
    else:
        program = known.state.program
    state = ViewState(plan, kernels_dir, program, groups, tools)
    state.upper = _upper_groups(definition, plan, oracles)
    if known is not None and gained:
        state.inherits = known.state
    if known is None:
        exports = oracles.tables.read_all(plan.stream_tables)
        follows = definition.joins.stream_join == "arrival"
        joins = run_static_pipelines(name, plan.maintained, exports, oracles.executor, follows)
        if is_new:
            require_room(definition, joins.tables)
        state.program = state.program.joined_with(joins)
        static_versions: Mapping[str, Hashable] = {name: exports[name].version for name in plan.stream_tables}
    else:
        static_versions = known.static_versions
    if plan.upper is not None and is_new:
        _check_upper(name, plan.upper.relation, oracles.executor)
    kept = None if plan.kept is None else stored_pipeline(plan.kept)
    return Chain(
        replace(identity, kept=kept),
        planned.schema,
        state,
        planned.time_dependent,
        planned.notices,
        static_versions,
    )


def _upper_groups(definition: ViewDefinition, plan: Plan, oracles: Oracles) -> UpperGroups | None:
    """Return what keeps the upper pipeline of a plan by change, None where it is run whole.

    Raises SqlError 0A000 where the view demands the former.
    """
    if definition.upper_maintenance == "spark" or plan.upper is None:
        return None
    try:
        return UpperGroups(delta_plan(plan), oracles.kernels_dir, oracles.tools)
    except NoDeltaError as error:
        reason = str(error)
    except SqlError as error:
        if error.sqlstate not in ("0A000", "54001"):
            raise
        reason = error.message
    if definition.upper_maintenance == "delta":
        raise no_delta(reason)
    return None


def planned_over(
    identity: StateDefinition, bound: BoundQuery, heir_of: Heritage | None, is_new: bool
) -> tuple[PlannedView, tuple[str, ...]]:
    """Return the plan of a state, over the state of `heir_of` if that is given, and what this state
    counts from now on only.

    Raises SqlError and NotCoveredError as `build_view`.
    """
    definition = identity.view
    planned = plan_view(definition, bound)
    if is_new:
        check_sliding(planned.plan.stream)
    planned, gained = _over_kept(planned, identity, bound, heir_of)
    if heir_of is not None and planned.plan.maintained.probes:
        if heir_of.chain.definition.joins.stream_join != definition.joins.stream_join:
            raise NotCoveredError("It has joined its stream with other states of the tables.")
    return planned, gained


def _over_kept(
    planned: PlannedView, identity: StateDefinition, bound: BoundQuery, heir_of: Heritage | None
) -> tuple[PlannedView, tuple[str, ...]]:
    """Return the plan over the state of `heir_of`, and what it counts from now on only.

    Raises NotCoveredError, and SqlError XX001 for a damaged definition.
    """
    if heir_of is not None:
        kept = heir_of.chain.plan.maintained
        if not heir_of.grows:
            return _covered(planned, identity, bound, kept), ()
        is_below = identity.number is not None
        before = None if is_below else len(heir_of.chain.schema)
        grown, gained = widened(kept, planned.plan, heir_of.from_now, before)
        return replace(planned, plan=cover(grown, planned.plan, is_below=is_below)), gained
    if identity.kept is None:
        return planned, ()
    try:
        kept = restored_pipeline(identity.kept, planned.plan.stream)
        return _covered(planned, identity, bound, kept), ()
    except NotCoveredError as error:
        raise SqlError("XX001", f"its state does not have what the query needs: {error.reason}") from None


def _covered(planned: PlannedView, identity: StateDefinition, bound: BoundQuery, kept: StreamPipeline) -> PlannedView:
    """Return the plan over the groups that `kept` keeps, or over a roll-up of these groups.

    Raises NotCoveredError.
    """
    is_below = identity.number is not None
    try:
        return replace(planned, plan=cover(kept, planned.plan, is_below=is_below))
    except NotCoveredError as error:
        try:
            finer = plan_view(identity.view, bound, kept)
        except SqlError:
            # What adds them up can't be run.
            raise error from None
    return replace(finer, plan=cover(kept, finer.plan, is_over=True, is_below=is_below))


def renamed_view(view: Chain, definition: ViewDefinition, schema: Schema) -> Chain:
    """Return the successor of a view of which only the name, or names of columns, change."""
    return _successor(view, view.state, replace(view.identity, view=definition), schema)


def emptied_view(view: Chain, oid: int) -> Chain:
    """Return a view that begins anew, with the oid of another state."""
    identity = replace(view.identity, oid=oid, since=())
    return _successor(view, view.state.emptied(), identity, view.schema)


def enriched_view(view: Chain, oid: int, table: GroupTable) -> Chain:
    """Return a view that goes on with its groups and those of a table, with the oid of another
    state.
    """
    return _successor(view, view.state.enriched(table), replace(view.identity, oid=oid), view.schema)


def _successor(view: Chain, state: ViewState, identity: StateDefinition, schema: Schema) -> Chain:
    successor = Chain(identity, schema, state, view.time_dependent, (), view.static_versions)
    successor.passing = view.passing
    return successor


def _check_upper(name: str, relation: Relation, executor: UpperExecutor) -> None:
    """Raise SqlError for an upper pipeline that no engine can run."""
    try:
        executor.check(name, substitute_now(relation, 0))
    except SqlError as error:
        # An aggregate without keys has a row even of no groups, and that row may divide by zero:
        # the reader's error, later.
        if not error.sqlstate.startswith("22"):
            raise
