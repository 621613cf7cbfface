"""The pipelines of a continuous view: what the split yields and what codegen, state and the upper executor take.

All frozen and hashable. Expressions address the columns of the schema named beside them by index.
"""

from __future__ import annotations

from dataclasses import dataclass

from sql.expressions import AggregateCall, Expression
from sql.relations import Relation, Schema


@dataclass(frozen=True)
class StreamPipeline:
    """scan -> filters -> grouping, run per morsel. Expressions address `input` (all columns of the stream).

    on_error: 'reject' fails the inserting statement on a row that can't be evaluated, 'skip' leaves that row out and counts it.
    """

    stream: str
    input: Schema
    filters: tuple[Expression, ...]
    keys: tuple[tuple[str, Expression], ...]
    aggregates: tuple[tuple[str, AggregateCall], ...]
    groups: Schema
    on_error: str = "reject"


@dataclass(frozen=True)
class FinishStep:
    """Breaker-free work done while rows are exported: keep the rows for which all `predicates` hold, yield `items`.

    Expressions address `input`; `output` is the schema of the items.
    """

    input: Schema
    predicates: tuple[Expression, ...]
    items: tuple[tuple[str, Expression], ...]
    output: Schema


@dataclass(frozen=True)
class UpperPipeline:
    """What Spark runs: a relation tree whose one leaf is Scan(name, 'groups', schema = the finish step's output)."""

    relation: Relation


@dataclass(frozen=True)
class ViewPlan:
    """A continuous view cut into pipelines.

    stream -> groups -> finish -> (upper in Spark -> tail)? -> stored version. tail, if there, is breaker-free work on what
    Spark returns (exact division of decimals has its one home in our kernels).
    """

    stream: StreamPipeline
    finish: FinishStep
    upper: UpperPipeline | None
    tail: FinishStep | None
