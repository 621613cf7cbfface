"""The plan of an upper pipeline that is kept by change: changed groups are a stream of rows with
signs.

Enters: the plan of a view. Leaves: a `DeltaPlan`, or the reason why there is none. What stands
above a view's groups is planned once more, as if these were the rows of a stream: conditions,
projections and joins with tables are linear, so that they run over the rows of changed groups
alone, as they were and as they are; the lowest grouping among them keeps counts and exact sums,
from which a row can be taken away again. Must not run anything.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from ringbuffer.groups.aggregates import SKETCHES
from sql.errors import SqlError
from sql.tree.expressions import Column
from sql.tree.relations import Aggregate, BoundQuery, Distinct, Filter, Join, Project, Relation, Scan
from sql.tree.row_keys import Keys, row_keys
from sql.tree.walks import rewrite_everywhere
from views.codegen.grouping import make_grouping
from views.codegen.support import computed_columns
from views.delta.rules.extremes import count_values
from views.delta.rules.live_groups import keep_live_groups
from views.delta.rules.single_values import drop_distinct
from views.delta.signs import ADDITIVE
from views.model.definition import ViewDefinition
from views.model.nodes import StreamPipeline
from views.model.plan import Plan
from views.model.properties import is_ungrouped, stream_path
from views.model.steps import pipeline_expressions
from views.model.text import aggregate_text, expression_text, identifier
from views.model.trees import columns_of
from views.plan.checks import check_heights, check_shape, check_sources, check_stream, check_upper
from views.plan.deferred import LEAF, above_finished
from views.plan.hand_over import is_same_for_all
from views.plan.planner import RULES, apply_rules, plan_view, time_dependent
from views.plan.prepare import prepared
from views.plan.split import split

# The name of the stream of changed groups.
CHANGES = "changed groups"
# Of groupings that are prepared, in this order.
STEPS = (count_values, keep_live_groups)
# The operators that a row goes through by itself.
LINEAR = (Filter, Project, Join)


class NoDeltaError(Exception):
    """An upper pipeline has to be run whole. The message says why, for people."""


def no_delta(reason: str) -> SqlError:
    """Return the error of a view that demands what there is not."""
    hint = "With upper_maintenance = auto, or without it, what stands above the groups is run whole at each refresh."
    return SqlError("0A000", "upper_maintenance = delta is not possible for this view", detail=f"{reason}.", hint=hint)


@dataclass(frozen=True)
class DeltaPlan:
    """An upper pipeline over changed groups.

    Attributes:
        plan: a chain whose stream are the rows of the finish step, with the groups of the lowest
            grouping above it.
    """

    plan: Plan

    @property
    def tables(self) -> frozenset[str]:
        """The tables from which the groups are made, besides those that are read above them."""
        return self.plan.stream_tables


def delta_plan(plan: Plan) -> DeltaPlan:
    """Return how the upper pipeline of a view is kept by change. Raises NoDeltaError."""
    if plan.upper is None:
        raise NoDeltaError("nothing stands above the finish step")
    if time_dependent(plan):
        raise NoDeltaError("it uses now()")
    if plan.maintained.closing is not None:
        raise NoDeltaError("its windows close without a change of their groups")
    if any(slot.state in SKETCHES for slot in make_grouping(plan.stream).aggregates):
        raise NoDeltaError("what a sketch tells is not told again exactly")
    root = rewrite_everywhere(above_finished(plan), _as_stream)
    _require_grouping(root)
    if not is_same_for_all(root):
        raise NoDeltaError("its values depend on more than the rows")
    keys = _keys_of_rows(plan)
    try:
        single = partial(drop_distinct, of_scan=lambda scan: keys if scan.name == CHANGES else None)
        root = prepared(rewrite_everywhere(root, single))
        check_sources(root)
        for step in STEPS:
            root = rewrite_everywhere(root, step)
        root = apply_rules(root, RULES)
        check_heights(root)
        check_shape(root)
        found = split(root, "reject")
        check_stream(found.stream)
        if found.upper is not None:
            check_upper(found.upper.relation)
        _require_additive(found.stream)
        _require_fewer(found.stream, keys)
    except SqlError as error:
        raise NoDeltaError(error.message) from None
    return DeltaPlan(found)


def why_whole(definition: ViewDefinition, bound: BoundQuery) -> str | None:
    """Return why what stands above the one grouping of a view can't be kept by change, None: it
    can.
    """
    try:
        delta_plan(plan_view(definition, bound).plan)
    except NoDeltaError as error:
        return str(error)
    except SqlError as error:
        return error.message
    return None


def _as_stream(node: Relation) -> Relation:
    if isinstance(node, Scan) and (node.name, node.kind) == LEAF:
        return replace(node, name=CHANGES, kind="stream")
    return node


def _keys_of_rows(plan: Plan) -> Keys:
    """Return the columns by which the rows of the finish step are told apart, None: none are."""
    groups = Scan(*LEAF, plan.finish.input)
    return row_keys(Project(groups, plan.finish.items), lambda scan: tuple(range(len(plan.stream.keys))))


def _require_fewer(stream: StreamPipeline, keys: Keys) -> None:
    """Raise NoDeltaError for as many groups above as there are below.

    keys: by which the rows below are told apart.
    """
    grouped = {key.index for _, key in stream.keys if isinstance(key, Column)}
    if stream.keys and keys is not None and grouped.issuperset(keys):
        raise NoDeltaError("as many groups would be kept as stand below")


def _require_grouping(root: Relation) -> None:
    """Raise NoDeltaError where an operator that is no grouping asks for all rows at once."""
    for operator in reversed(stream_path(root)[:-1]):
        if isinstance(operator, Aggregate | Distinct):
            return
        if isinstance(operator, Join) and operator.lateral is not None:
            raise NoDeltaError("LATERAL stands above the groups, and no grouping below it")
        if not isinstance(operator, LINEAR) or not is_ungrouped(operator):
            raise NoDeltaError(f"{type(operator).__name__} stands above the groups, and no grouping below it")
    raise NoDeltaError("no grouping stands above the groups")


def _require_additive(stream: StreamPipeline) -> None:
    """Raise NoDeltaError for a grouping from which rows can't be taken away. Raises SqlError 0A000
    for one that groups can't have.
    """
    if computed := computed_columns(stream):
        raise NoDeltaError(f"no kernel evaluates {expression_text(computed[0])}")
    read = {index for part in pipeline_expressions(stream) for index in columns_of(part)}
    for index, column in enumerate(stream.input):
        if index in read and column.type.is_variable_numeric:
            # A stream's kernel reads such a column in the form in which streams store it.
            raise NoDeltaError(f"{identifier(column.name)} is a numeric of no fixed scale")
    grouping = make_grouping(stream)
    for key in grouping.keys:
        if key.shown_word is not None:
            raise NoDeltaError(f"values of {expression_text(key.expression)} may be equal, and shown differently")
    for slot in grouping.aggregates:
        if slot.state not in ADDITIVE:
            raise NoDeltaError(f"nothing can be taken away from {aggregate_text(slot.call)}")
