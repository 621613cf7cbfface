"""From a bound query to the pipelines of a continuous view: check, rewrite by rules, check, split.

Enters: a definition and its bound query. Leaves: a `PlannedView`. `RULES` is the list of passes;
after each the driver checks that the tree still yields the same columns. Must not generate or run
anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from sql.emit.strict_nulls import without_strict_nulls
from sql.errors import SqlError
from sql.tree.expressions import Cast, Column, Expression, Literal
from sql.tree.relations import Aggregate, BoundQuery, OutputColumn, Project, Relation, Schema, Sort
from sql.types.datatypes import TEXT
from views.model.definition import ViewDefinition
from views.model.nodes import StreamPipeline, is_of_distinct_on
from views.model.plan import Plan
from views.model.steps import pipeline_expressions
from views.model.text import identifier
from views.model.trees import relation_uses_now, uses_now, walk_relation
from views.plan.checks import check_heights, check_shape, check_sources, check_stream, check_upper, refused_retroactive
from views.plan.closing import with_closing
from views.plan.prepare import prepared
from views.plan.rules.drop_limit_all import drop_limit_all
from views.plan.rules.drop_order_by import drop_order_by
from views.plan.rules.drop_single_sets import drop_single_sets
from views.plan.rules.inline_projections import inline_projections
from views.plan.rules.joins_to_probes import joins_to_probes
from views.plan.rules.merge_filters import merge_filters
from views.plan.rules.merge_projections import merge_projections
from views.plan.rules.push_filters import push_filters
from views.plan.rules.push_key_conditions import push_key_conditions
from views.plan.rules.share_aggregates import share_aggregates
from views.plan.split import split
from views.share.roll_up import roll_up

Rule = Callable[[Relation], Relation]

# Each is a pure function of a tree and runs once.
RULES: tuple[Rule, ...] = (
    drop_limit_all,
    drop_order_by,
    drop_single_sets,
    push_filters,
    push_key_conditions,
    merge_filters,
    inline_projections,
    without_strict_nulls,
    joins_to_probes,
    share_aggregates,
    merge_projections,
)
# The pairs of passes of which the second one needs the first one before it, and why; what follows
# from them is left out. All others may run in any order, which a test tries.
ORDER: Mapping[tuple[Rule, Rule], str] = {
    (push_filters, push_key_conditions): "a condition on keys stands directly on the grouping then",
    (push_filters, inline_projections): "a grouping stands directly on a projection then",
    (push_key_conditions, merge_filters): "the conditions come onto the filters below the grouping",
    (push_key_conditions, joins_to_probes): "the conditions are filters of the probes, or of build sides",
    (joins_to_probes, merge_projections): "build sides have projections on those of the query",
}

ORDER_DROPPED = (
    "ORDER BY without LIMIT is dropped: a continuous view has no order, give it in the SELECT that reads the view"
)


@dataclass(frozen=True)
class PlannedView:
    """A planned view.

    Attributes:
        schema: the columns that readers see.
        time_dependent: true if something above the stream pipeline uses now(), so that no version
            can be reused.
        notices: what CREATE VIEW tells the client besides its success.
    """

    plan: Plan
    schema: Schema
    time_dependent: bool
    notices: tuple[str, ...]


def plan_view(definition: ViewDefinition, bound: BoundQuery, kept: StreamPipeline | None = None) -> PlannedView:
    """Return the plan of a continuous view.

    kept: group the stream by the keys of this pipeline, and make the query's answer of these
    groups; raises NotCoveredError where that is impossible. Raises SqlError 0A000 for a query
    without a plan, 42701 and 42601 for bad column names.
    """
    root = prepared(_named(bound.root, definition.column_names), definition.joins.freeze_tables)
    check_sources(root)
    check_heights(root)
    rewritten = apply_rules(root, rules_for(kept))
    check_heights(rewritten)
    check_shape(rewritten)
    plan = split(rewritten, definition.on_error)
    closes: tuple[str, ...] = ()
    if definition.lateness is not None:
        plan, closes = with_closing(plan, definition.lateness, definition.shown)
    check_stream(plan.stream)
    if definition.joins.stream_join == "retroactive" and plan.stream_tables:
        raise refused_retroactive(sorted(plan.stream_tables))
    if plan.upper is not None:
        check_upper(plan.upper.relation)
    notices = [ORDER_DROPPED] if _sorts_count(rewritten) < _sorts_count(root) else []
    if any(uses_now(part) for part in pipeline_expressions(plan.stream)):
        notices.append(
            "now() below the grouping is the time at which a tuple is inserted, not the time at which the view is read"
        )
    return PlannedView(plan, rewritten.schema, time_dependent(plan), (*notices, *closes))


def rules_for(kept: StreamPipeline | None) -> tuple[Rule, ...]:
    """Return the rules for a query, which is over the state of a pipeline if `kept` is given.

    The same tables yield the same columns as in that pipeline, and its groups come first. The
    roll-up makes a projection, which is merged with those above it.
    """
    builds = () if kept is None else tuple(probe.build for probe in kept.probes)
    joins = partial(joins_to_probes, builds=builds)
    rules = tuple(joins if rule is joins_to_probes else rule for rule in RULES)
    return rules if kept is None else (*rules, partial(roll_up, kept=kept), merge_projections)


def order_notices(root: Relation) -> tuple[str, ...]:
    """Return the notices of a query that loses its order because it is read through its states."""
    return (ORDER_DROPPED,) if _sorts_count(drop_order_by(root)) < _sorts_count(root) else ()


def apply_rules(root: Relation, rules: Sequence[Rule]) -> Relation:
    """Return the tree after all passes; each pass must keep the names and types of the columns."""
    for rule in rules:
        rewritten = rule(root)
        assert rewritten.schema == root.schema, f"rule {rule} changed {root.schema} to {rewritten.schema}"
        root = rewritten
    return root


def time_dependent(plan: Plan) -> bool:
    """Return whether anything above the stream pipeline uses now()."""
    steps = [step for step in (plan.finish, plan.tail) if step is not None]
    above = [part for step in steps for part in (*step.predicates, *(item for _, item in step.items))]
    in_spark = plan.upper is not None and relation_uses_now(plan.upper.relation)
    return in_spark or any(uses_now(part) for part in above)


def _named(root: Relation, column_names: tuple[str, ...]) -> Relation:
    """Return the tree with the column names of the view; constants of unknown type are text.

    PostgreSQL's CREATE VIEW does the same.
    """
    if len(column_names) > len(root.schema):
        raise SqlError("42601", "CREATE VIEW specifies more column names than columns")
    names = [*column_names, *(column.name for column in root.schema[len(column_names) :])]
    for index, name in enumerate(names):
        if name in names[:index]:
            hint = f"Name it with AS, or write CREATE VIEW name ({identifier(name)}, ...)."
            raise SqlError("42701", f'column "{name}" specified more than once', hint=hint)
    if isinstance(root, Project):
        items = [item for _, item in root.items]
        return Project(root.input, tuple((name, _known(item)) for name, item in zip(names, items, strict=True)))
    columns: list[Expression] = [Column(index, column.name, column.type) for index, column in enumerate(root.schema)]
    if root.schema == tuple(OutputColumn(name, _known(item).type) for name, item in zip(names, columns, strict=True)):
        return root
    return Project(root, tuple((name, _known(item)) for name, item in zip(names, columns, strict=True)))


def _known(item: Expression) -> Expression:
    if item.type.family != "unknown":
        return item
    return replace(item, type=TEXT) if isinstance(item, Literal) else Cast(item, TEXT)


def _sorts_count(root: Relation) -> int:
    """Return how many sorts there are, except the order of a DISTINCT ON, which is part of its
    grouping.
    """
    return sum(1 for part in walk_relation(root) if isinstance(part, Sort) and not _is_of_first_rows(part.input))


def _is_of_first_rows(relation: Relation) -> bool:
    while isinstance(relation, Project):
        relation = relation.input
    return isinstance(relation, Aggregate) and any(is_of_distinct_on(call) for _, call in relation.aggregates)
