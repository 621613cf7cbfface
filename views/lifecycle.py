"""From a definition to a running view.

Enters: a definition and its bound query. Leaves: a `ContinuousView` whose kernels are generated, imported and warmed up. Must not
attach a view to anything: the engine's catalog does that (`views.phases` holds the moves that follow).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sql.errors import SqlError
from sql.relations import BoundQuery
from views.arrow_schema import arrow_schema
from views.definition import ViewDefinition
from views.join_tables import run_static_pipelines
from views.phases import Lifecycle
from views.plan.nodes import ViewPlan
from views.plan.planner import plan_view
from views.protocols import TableExport, TableSource, UpperExecutor
from views.state import ViewState
from views.view import ContinuousView


def build_view(
    definition: ViewDefinition,
    bound: BoundQuery,
    kernels_dir: Path,
    executor: UpperExecutor,
    tables: TableSource,
    places: tuple[int, ...] | None = None,
) -> ContinuousView:
    """Plan, split, run the static pipelines on one read of their tables, generate and warm up a view.

    places: where the stream's columns, as `bound` has them, are in its morsels; None: in this order, and there are no others.
    Raises SqlError: 0A000 for what has no plan, 42701 for two columns of one name, 42601 for too many column names, and what fails
    on the tables' rows.
    """
    planned = plan_view(definition, bound)
    plan = planned.plan
    exports = tables.read_all(plan.stream_tables | plan.upper_tables)
    join_tables = run_static_pipelines(definition.name, plan.stream, exports, executor)
    state = ViewState(definition.name, plan, kernels_dir, join_tables, places)
    if plan.upper is not None:
        _warm_up(definition.name, plan, executor, exports)
    return ContinuousView(
        definition,
        planned.schema,
        plan,
        state,
        planned.time_dependent,
        planned.notices,
        Lifecycle(definition.name),
        {name: exports[name].version for name in plan.stream_tables},
    )


def _warm_up(name: str, plan: ViewPlan, executor: UpperExecutor, tables: Mapping[str, TableExport]) -> None:
    """Run the upper pipeline over no groups: an unsupported expression fails here, and the first reader finds a prepared plan."""
    assert plan.upper is not None
    groups = arrow_schema(plan.finish.output).empty_table()
    try:
        executor.run(name, plan.upper.relation, {plan.upper.groups: groups}, tables)
    except SqlError as error:
        # An aggregate without keys has a row even of no groups, and that row may divide by zero: the reader's error, later.
        if not error.sqlstate.startswith("22"):
            raise
