"""From a definition to a running view.

Enters: a definition and its bound query. Leaves: a `Chain` whose kernels are generated,
imported and warmed up. Must not attach a view to anything: the engine's catalog does that
(`views.upkeep.chain` holds the moves that follow).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sql.errors import SqlError
from sql.tree.relations import BoundQuery, Relation, Schema
from views.model.definition import StateDefinition, ViewDefinition
from views.model.nodes import StreamPipeline
from views.model.protocols import NO_SOURCE, Source, UpperExecutor
from views.model.trees import substitute_now
from views.plan.checks import check_sliding
from views.plan.planner import PlannedView, plan_view
from views.share.reuse import NotCoveredError, cover
from views.share.stored import restored_pipeline, stored_pipeline
from views.upkeep.caps import require_room
from views.upkeep.chain import Chain
from views.upkeep.join_tables import run_static_pipelines
from views.upkeep.kernels import TOOLS, KernelTools
from views.upkeep.program import StreamProgram
from views.upkeep.state import ViewState
from views.upkeep.twins import find_twin


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
    heir_of: Chain | None = None,
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
        heir_of: the view with whose state the new view goes on, over the same columns of the same
            stream.
        candidates: views with which the new view may take rows together (`views.upkeep.twins`).
        is_new: nothing of the view's groups is stored yet.
    """
    definition, name = identity.view, identity.name
    planned = planned_over(identity, bound, heir_of, is_new)
    plan, kernels_dir, tools = planned.plan, oracles.kernels_dir, oracles.tools
    twin = None
    if heir_of is None:
        twin, plan = find_twin(candidates, plan, definition.joins.stream_join, is_new)
    known = heir_of or twin
    # Kernels come first: a caller that compiles them elsewhere builds the view again, and nothing
    # before was done in vain.
    program = StreamProgram(plan.maintained, kernels_dir, places, tools) if known is None else known.state.program
    state = ViewState(plan, kernels_dir, program, None if heir_of is None else heir_of.state.groups, tools)
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


def planned_over(identity: StateDefinition, bound: BoundQuery, heir_of: Chain | None, is_new: bool) -> PlannedView:
    """Return the plan of a state, over the state of `heir_of` if that is given.

    Raises SqlError and NotCoveredError as `build_view`.
    """
    definition = identity.view
    planned = plan_view(definition, bound)
    if is_new:
        check_sliding(planned.plan.stream)
    planned = _over_kept(planned, identity, bound, heir_of)
    if heir_of is not None and planned.plan.maintained.probes:
        if heir_of.definition.joins.stream_join != definition.joins.stream_join:
            raise NotCoveredError("It has joined its stream with other states of the tables.")
    return planned


def _over_kept(
    planned: PlannedView, identity: StateDefinition, bound: BoundQuery, heir_of: Chain | None
) -> PlannedView:
    """Return the plan over the state of `heir_of`.

    Raises NotCoveredError, and SqlError XX001 for a damaged definition.
    """
    if heir_of is not None:
        return _covered(planned, identity.view, bound, heir_of.plan.maintained)
    if identity.kept is None:
        return planned
    try:
        return _covered(planned, identity.view, bound, restored_pipeline(identity.kept, planned.plan.stream))
    except NotCoveredError as error:
        raise SqlError("XX001", f"its state does not have what the query needs: {error.reason}") from None


def _covered(planned: PlannedView, definition: ViewDefinition, bound: BoundQuery, kept: StreamPipeline) -> PlannedView:
    """Return the plan over the groups that `kept` keeps, or over a roll-up of these groups.

    Raises NotCoveredError.
    """
    try:
        return replace(planned, plan=cover(kept, planned.plan))
    except NotCoveredError as error:
        try:
            finer = plan_view(definition, bound, kept)
        except SqlError:
            # What adds them up can't be run.
            raise error from None
    return replace(finer, plan=cover(kept, finer.plan, is_over=True))


def renamed_view(view: Chain, definition: ViewDefinition, schema: Schema) -> Chain:
    """Return the successor of a view of which only the name, or names of columns, change."""
    return _successor(view, view.state, replace(view.identity, view=definition), schema)


def emptied_view(view: Chain, oid: int) -> Chain:
    """Return a view that begins anew, with the oid of another state."""
    identity = replace(view.identity, oid=oid)
    return _successor(view, view.state.emptied(), identity, view.schema)


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
