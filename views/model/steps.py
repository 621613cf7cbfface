"""Breaker-free operators folded into one step, and operators stacked on each other, for the split.

Enters: operators of a path through a tree, bottom first. Leaves: a `FinishStep`, or a relation.
Must not choose what runs where.
"""

from __future__ import annotations

from collections.abc import Sequence

from sql.catalog.catalog import ARRIVAL
from sql.tree.expressions import Column, Expression
from sql.tree.relations import Filter, OutputColumn, Project, Relation, Schema
from sql.tree.walks import children
from views.model.nodes import FinishStep, StreamPipeline
from views.model.properties import stream_input
from views.model.trees import columns_of, conjuncts, inputs, substitute, with_inputs


def breaker_free_count(path: Sequence[Relation]) -> int:
    """Return how many operators at the start of `path` (bottom first) are filters and
    projections.
    """
    for count, operator in enumerate(path):
        if not isinstance(operator, Filter | Project):
            return count
    return len(path)


def compose(
    schema: Schema, operators: Sequence[Relation], values: Sequence[tuple[str, Expression]] | None = None
) -> FinishStep:
    """Return filters and projections (bottom first) as one step over `schema`.

    values: the columns of their input, as expressions over `schema`.
    """
    if values is None:
        values = [(column.name, Column(index, column.name, column.type)) for index, column in enumerate(schema)]
    items = list(values)
    predicates: list[Expression] = []
    for operator in operators:
        below = [item for _, item in items]
        if isinstance(operator, Filter):
            predicates += conjuncts(substitute(operator.predicate, below))
        else:
            assert isinstance(operator, Project), f"{type(operator).__name__} breaks a pipeline"
            items = [(name, substitute(item, below)) for name, item in operator.items]
    return make_step(schema, predicates, items)


def make_step(schema: Schema, predicates: Sequence[Expression], items: Sequence[tuple[str, Expression]]) -> FinishStep:
    """Return a step with the schema of its items."""
    return FinishStep(
        schema, tuple(predicates), tuple(items), tuple(OutputColumn(name, item.type) for name, item in items)
    )


def stack(leaf: Relation, operators: Sequence[Relation]) -> Relation:
    """Return the operators (bottom first) over `leaf`, which takes the place of the stream.

    Other inputs stay.
    """
    root = leaf
    for operator in operators:
        below = list(inputs(operator))
        below[stream_input(operator)] = root
        root = with_inputs(operator, tuple(below))
    return root


def unique_names(names: Sequence[str]) -> list[str]:
    """Return names in which a name that occurred before has a number, so that people tell columns
    apart.
    """
    found: list[str] = []
    for name in names:
        unique, number = name, 1
        while unique in found:
            number += 1
            unique = f"{name}_{number}"
        found.append(unique)
    return found


def pipeline_expressions(stream: StreamPipeline) -> tuple[Expression, ...]:
    """Return all expressions that a stream pipeline evaluates per row."""
    probed = [
        part for probe in stream.probes for part in (*(key for key, _ in probe.keys), *probe.guards, *probe.filters)
    ]
    grouped = [part for _, call in stream.aggregates for part in children(call)]
    return (*stream.filters, *probed, *(key for _, key in stream.keys), *grouped)


def uses_arrival(stream: StreamPipeline) -> bool:
    """Tell whether a stream pipeline reads the time of arrival of rows."""
    read = {index for part in pipeline_expressions(stream) for index in columns_of(part)}
    return any(column.name == ARRIVAL.name and index in read for index, column in enumerate(stream.input))
