"""The cut: a rewritten tree becomes a stream pipeline, a finish step, an upper pipeline and a tail.

Enters: a tree that the rules have normalised and `checks` has accepted. Leaves: a `Plan`.
Operators between the first grouping and the next breaker run while groups are exported. From that
breaker on Spark runs, on plain columns wherever our kernels can compute an expression before it
(`views.plan.push_above_spark`) or after it (`views.plan.tail`). Must not decide how a kernel or
Spark SQL is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sql.tree.expressions import Call, Column, Expression, Literal
from sql.tree.relations import Aggregate, Filter, Join, Relation, Scan, Schema
from sql.tree.walks import relation_names, scans
from views.codegen.support import kernel_supports
from views.model.nodes import FinishStep, Probe, StreamPipeline, UpperPipeline
from views.model.plan import Plan, chain
from views.model.properties import stream_path
from views.model.steps import breaker_free_count, compose, pipeline_expressions, stack, unique_names
from views.model.trees import columns_of, conjuncts
from views.plan.push_above_spark import push_above_spark
from views.plan.tail import cut_tail

GROUPS = "groups"  # the name of the relation that an upper pipeline reads, unless a table has it


def split(root: Relation, on_error: str) -> Plan:
    """Return the pipelines of a view's tree."""
    path, grouping = path_to_grouping(root)
    stream = _stream_pipeline(grouping, on_error)
    finish, upper, tail = above_grouping(stream.groups, path, [scan.name for scan in scans(root)])
    yielded = tail.output if tail is not None else finish.output if upper is None else upper.relation.schema
    assert [column.type for column in yielded] == [column.type for column in root.schema], (
        f"{yielded} instead of {root.schema}"
    )
    return chain(stream, finish, upper, tail)


def above_grouping(
    groups: Schema, path: Sequence[Relation], taken: Sequence[str]
) -> tuple[FinishStep, UpperPipeline | None, FinishStep | None]:
    """Return the finish step, the upper pipeline and the tail above a first grouping.

    path: the operators above it, bottom first. taken: the names of relations of the view.
    """
    free = breaker_free_count(path)
    finish = compose(groups, path[:free])
    while free and not _in_kernels(finish):
        free -= 1
        finish = compose(groups, path[:free])
    rest: Sequence[Relation] = path[free:]
    if not rest:
        return finish, None, None
    finish, rest = push_above_spark(finish, rest)
    rest, tail = cut_tail(finish.output, rest)
    upper = stack(Scan(unique_names([*taken, GROUPS])[-1], "groups", finish.output), rest)
    return finish, UpperPipeline(upper), tail


def _in_kernels(finish: FinishStep) -> bool:
    """Return whether kernels can evaluate a whole step."""
    parts = (*finish.predicates, *(item for _, item in finish.items))
    return all(kernel_supports(part, finish.input) for part in parts)


def path_to_grouping(root: Relation) -> tuple[list[Relation], Aggregate]:
    """Return the operators above the first grouping, bottom first, and the grouping."""
    chain = stream_path(root)
    lowest = max(index for index, operator in enumerate(chain) if isinstance(operator, Aggregate))
    grouping = chain[lowest]
    assert isinstance(grouping, Aggregate)
    return chain[:lowest][::-1], grouping


def _stream_pipeline(grouping: Aggregate, on_error: str) -> StreamPipeline:
    source, filters, probes = _probes(grouping.input)
    names = unique_names([column.name for column in grouping.schema])
    keys = tuple((name, key) for name, (_, key) in zip(names, grouping.keys, strict=False))
    calls = tuple((name, call) for name, (_, call) in zip(names[len(keys) :], grouping.aggregates, strict=True))
    groups = replace(grouping, keys=keys, aggregates=calls).schema
    pipeline = StreamPipeline(source.name, source.schema, filters, keys, calls, groups, on_error, probes)
    return replace(pipeline, probes=_kept(pipeline))


def _probes(relation: Relation) -> tuple[Scan, tuple[Expression, ...], tuple[Probe, ...]]:
    """Return the parts of the tree below the first grouping: scan, filters, and the joins after
    them.
    """
    filters: tuple[Expression, ...] = ()
    if isinstance(relation, Filter):
        filters = conjuncts(relation.predicate)
        relation = relation.input
    if isinstance(relation, Scan):
        return relation, filters, ()
    assert isinstance(relation, Join), f"the rules left {type(relation).__name__} below the first grouping"
    scan, stream_filters, probes = _probes(relation.left)
    return scan, stream_filters, (*probes, _probe(relation, filters))


def _probe(join: Join, filters: tuple[Expression, ...]) -> Probe:
    width = len(join.left.schema)
    keys: list[tuple[Expression, int]] = []
    guards: list[Expression] = []
    for condition in () if join.condition is None else conjuncts(join.condition):
        build_column = _build_column(condition, width)
        if build_column is not None:
            assert isinstance(condition, Call)
            keys.append((condition.arguments[0], build_column))
        elif not _is_true(condition):
            guards.append(condition)
    name = "_".join(sorted(relation_names(join.right))) or "values"
    kind = "left" if join.kind == "left" else "inner"
    return Probe(name, join.right, len(join.right.schema), kind, tuple(keys), tuple(guards), filters)


def _build_column(condition: Expression, width: int) -> int | None:
    """Return the column of the build side in a key.

    The rules have put it on the right of the equality.
    """
    if not isinstance(condition, Call) or condition.function != "eq":
        return None
    ours, theirs = condition.arguments
    is_key = isinstance(theirs, Column) and theirs.index >= width and max(columns_of(ours), default=width) < width
    return theirs.index - width if is_key and isinstance(theirs, Column) else None


def _is_true(condition: Expression) -> bool:
    return isinstance(condition, Literal) and condition.value is True


def _kept(pipeline: StreamPipeline) -> tuple[Probe, ...]:
    """Return the probes with only those columns kept that later parts of the pipeline read."""
    read = {index for part in pipeline_expressions(pipeline) for index in columns_of(part)}
    start = len(pipeline.input)
    probes = []
    for probe in pipeline.probes:
        width = len(probe.build.schema)
        kept = max((index - start + 1 for index in read if start <= index < start + width), default=0)
        probes.append(replace(probe, kept=kept))
        start += width
    return tuple(probes)
