"""Groupings over streams in statements: each is planned as the first pipeline of a continuous view.

Enters: bound queries. Leaves: the same queries with scans of groups in the place of the groupings,
and the plans of the groupings. Must not scan or compile anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sql.catalog.catalog import SessionSettings
from sql.errors import SqlError
from sql.tree.expressions import Column, Literal
from sql.tree.relations import Aggregate, BoundQuery, Distinct, Project, Relation, Scan
from sql.tree.walks import all_relations, open_columns, relation_names, rewrite_everywhere
from views.codegen.finish_kernel import generate_finish_kernel
from views.codegen.grouping import make_grouping
from views.codegen.stream_kernel import generate_stream_kernel
from views.model.definition import ViewDefinition
from views.model.parameters import with_parameters
from views.model.plan import Plan, chain
from views.plan.planner import plan_view
from views.plan.rules.subquery_grouping import group_subqueries

# Of the kernels' files.
NAME = "select"
# What may stand below a grouping: anything else is not there before the streams are scanned.
LEAVES = ("stream", "table")


@dataclass(frozen=True)
class StreamGrouping:
    """A grouping over a stream that was cut out of a statement.

    Attributes:
        name: of the scan that reads the groups.
        relation: the grouping as it stood in the query.
        plan: the pipelines that yield the rows of `relation`, under other names.
    """

    name: str
    relation: Relation
    plan: Plan

    def for_kernels(self) -> tuple[Plan, tuple[Literal, ...]]:
        """Return the plan with nothing that does not matter to kernels, and the constants.

        The plan has parameters in the place of its constants.
        """
        stream, parameters = with_parameters(self.plan.stream)
        probes = (replace(probe, build=Scan(probe.name, "rows", probe.build.schema)) for probe in stream.probes)
        return chain(replace(stream, probes=tuple(probes)), self.plan.finish), parameters


def cut_groupings(
    roots: Sequence[Relation], stream_names: frozenset[str], takes: Callable[[StreamGrouping], bool] = lambda _: True
) -> tuple[list[Relation], list[StreamGrouping]]:
    """Return the queries with a scan of kind 'rows' in the place of each grouping that kernels can
    run.

    Such a grouping reads one of the streams; one that occurs more than once is cut once. takes: may
    refuse a grouping; asked once for each.
    """
    taken = frozenset[str]().union(*(relation_names(root) for root in roots))
    found: dict[Relation, StreamGrouping] = {}
    left: set[Relation] = set()

    def step(node: Relation) -> Relation:
        if not isinstance(node, Aggregate | Distinct) or node in left or not relation_names(node) & stream_names:
            return node
        if node not in found:
            plan = plan_grouping(node)
            grouping = None if plan is None else StreamGrouping(free_name(f"groups {len(found)}", taken), node, plan)
            if grouping is None or not takes(grouping):
                left.add(node)
                return node
            found[node] = grouping
        return Scan(found[node].name, "rows", node.schema)

    return [rewrite_everywhere(group_subqueries(root, stream_names), step) for root in roots], list(found.values())


def plan_grouping(grouping: Aggregate | Distinct) -> Plan | None:
    """Return the pipelines that yield the rows of a grouping, with columns of its types and other
    names.

    None: the grouping reads something else than one stream and tables, belongs to the row of an
    outer query, or has something that kernels do not support.
    """
    kinds = [node.kind for node in all_relations(grouping) if isinstance(node, Scan)]
    if kinds.count("stream") != 1 or not set(kinds) <= set(LEAVES) or any(True for _ in open_columns(grouping)):
        return None
    columns = tuple(
        (f"c{index}", Column(index, column.name, column.type)) for index, column in enumerate(grouping.schema)
    )
    query = BoundQuery(Project(grouping, columns), (), relation_names(grouping), False)
    definition = ViewDefinition(NAME, 0, "", "", 0, (), SessionSettings())
    try:
        planned = plan_view(definition, query)
        plan = planned.plan
        stream, _ = with_parameters(plan.stream)
        module = generate_stream_kernel(stream, make_grouping(stream))
        generate_finish_kernel(plan.finish)
    except SqlError:
        return None
    if module.computed:
        # The query's own engine computes all of it then.
        return None
    types = [column.type for column in planned.schema]
    if plan.upper is not None or types != [column.type for column in grouping.schema]:
        return None
    return plan


def free_name(name: str, taken: frozenset[str]) -> str:
    """Return the name, made longer until no relation has it."""
    while name in taken:
        name += "_"
    return name
