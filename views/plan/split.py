"""The cut: a rewritten tree becomes a stream pipeline, a finish step, an upper pipeline and a tail.

Enters: a tree that the rules have normalised and `checks` has accepted. Leaves: a `ViewPlan`. What stands between the first grouping and
the next breaker is done while groups are exported; from that breaker on Spark runs, on plain columns wherever our kernels can compute
an expression before it (`views.plan.hoist`) or after it (`views.plan.tail`). Must not decide how a kernel or Spark SQL is written.
"""

from __future__ import annotations

from dataclasses import replace

from sql.expressions import Expression
from sql.relations import Aggregate, Filter, Relation, Scan
from views.plan.hoist import hoist
from views.plan.kernel_support import kernel_supports
from views.plan.nodes import FinishStep, StreamPipeline, UpperPipeline, ViewPlan
from views.plan.steps import breaker_free_count, compose, stack, unique_names
from views.plan.tail import cut_tail
from views.plan.trees import conjuncts, inputs

GROUPS = "groups"  # the name of the one relation that an upper pipeline reads


def split(root: Relation, on_error: str) -> ViewPlan:
    """Return the pipelines of a view's tree."""
    path, grouping = _path_to_grouping(root)
    stream = _stream_pipeline(grouping, on_error)
    free = breaker_free_count(path)
    finish = compose(stream.groups, path[:free])
    while free and not _in_kernels(finish):
        free -= 1
        finish = compose(stream.groups, path[:free])
    rest = path[free:]
    if not rest:
        return ViewPlan(stream, finish, None, None)
    finish, rest = hoist(finish, rest)
    rest, tail = cut_tail(finish.output, rest)
    upper = stack(Scan(GROUPS, "groups", finish.output), rest)
    yielded = upper.schema if tail is None else tail.output
    assert [column.type for column in yielded] == [column.type for column in root.schema], (
        f"{yielded} instead of {root.schema}"
    )
    return ViewPlan(stream, finish, UpperPipeline(upper), tail)


def _in_kernels(finish: FinishStep) -> bool:
    """Return whether kernels can evaluate a whole step."""
    parts = (*finish.predicates, *(item for _, item in finish.items))
    return all(kernel_supports(part, finish.input) for part in parts)


def _path_to_grouping(root: Relation) -> tuple[list[Relation], Aggregate]:
    """Return the operators above the first grouping, bottom first, and the grouping."""
    chain: list[Relation] = [root]
    while below := inputs(chain[-1]):
        (relation,) = below
        chain.append(relation)
    lowest = max(index for index, operator in enumerate(chain) if isinstance(operator, Aggregate))
    grouping = chain[lowest]
    assert isinstance(grouping, Aggregate)
    return chain[:lowest][::-1], grouping


def _stream_pipeline(grouping: Aggregate, on_error: str) -> StreamPipeline:
    source = grouping.input
    filters: tuple[Expression, ...] = ()
    if isinstance(source, Filter):
        filters = conjuncts(source.predicate)
        source = source.input
    assert isinstance(source, Scan), f"the rules left {type(source).__name__} below the first grouping"
    names = unique_names([column.name for column in grouping.schema])
    keys = tuple((name, key) for name, (_, key) in zip(names, grouping.keys, strict=False))
    calls = tuple((name, call) for name, (_, call) in zip(names[len(keys) :], grouping.aggregates, strict=True))
    groups = replace(grouping, keys=keys, aggregates=calls).schema
    return StreamPipeline(source.name, source.schema, filters, keys, calls, groups, on_error)
