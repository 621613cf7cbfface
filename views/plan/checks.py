"""The refusals of queries that have no plan as a continuous view.

Every refusal names the rule, the part of the query, and what to write instead. Enters: a bound
tree, or the pipelines made of it. Leaves: nothing, or SqlError 0A000. Must not change the tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ringbuffer.groups.hash_table import JOINS_MAX
from sql.emit.duckdb import emit_duckdb
from sql.errors import SqlError, not_supported
from sql.functions.comparisons import TURNED
from sql.tree.expressions import Call, Case, Expression
from sql.tree.relations import (
    Aggregate,
    Filter,
    Join,
    OutputColumn,
    Project,
    Recursive,
    Relation,
    Scan,
    SetOperation,
    TableFunction,
)
from sql.tree.walks import all_relations, children, height, subqueries_of
from sql.tree.walks import scans as leaves
from views.codegen.values import has_equality
from views.model.nodes import Probe, StreamPipeline
from views.model.properties import properties, scans, stream_path
from views.model.refusals import RULE_B, RULE_C, refused
from views.model.steps import pipeline_expressions
from views.model.text import expression_text, identifier
from views.model.trees import (
    columns_of,
    inputs,
    relation_uses_now,
    substitute_now,
    uses_now,
    walk,
    walk_relation,
)
from views.plan.hand_over import hand_over, of_readers

# Of an expression in generated Python, whose parser takes 200 parentheses in each other, and in
# Spark's SQL.
HEIGHT_MAX = 150
CONNECTIVES = frozenset({"and", "or", "not"})
TIMES_OF_DAY = ("timestamp", "timestamptz")
TIMES = (*TIMES_OF_DAY, "date")


def check_sources(root: Relation) -> None:
    """Refuse a tree that does not read exactly one stream, once.

    Between the stream and its grouping only filters and joins may stand.
    """
    streams, views = scans(root, "stream"), scans(root, "view")
    if views:
        part = f"it reads view {identifier(views[0])}"
        hint = "Write the view's query over its stream, or read both views in one SELECT: all views of a SELECT are cut at one position."
        raise refused("a continuous view over another view", part, None, hint)
    if not streams:
        hint = "CREATE FOREIGN TABLE name (...) SERVER stream makes a stream; a view reads one and groups it."
        raise refused("a view that reads no stream", "its FROM clause names no stream", None, hint)
    for relation in walk_relation(root):
        for expression in children(relation):
            _check_subqueries(expression)
    # What is refused of the lowest one is the reason for those above it.
    several = [part for part in walk_relation(root) if _stream_inputs(part) > 1]
    for relation in several:
        if not any(_has_below(relation, other) for other in several):
            raise _refused_streams(relation)
    if not root.schema:
        hint = "Select a column, for example count(*)."
        raise refused("a continuous view without columns", "its select list is empty", None, hint)
    path = stream_path(root)
    for operator, below in pairwise(path):
        _check_operator(operator, below)


def check_shape(root: Relation) -> None:
    """Assert that a tree's stream ends in a grouping that can be maintained."""
    breaker = _first_breaker(root)
    assert isinstance(breaker, Aggregate), f"{type(breaker).__name__} over a stream"
    assert breaker.sets is None, "grouping sets over a stream are groupings of their own"


def check_stream(stream: StreamPipeline) -> None:
    """Refuse a stream pipeline that kernels can't run, and build sides that can't be computed
    once.
    """
    for expression in pipeline_expressions(stream):
        for subquery in subqueries_of(expression):
            hint = "Write it as a join with the tables, or above the grouping; a scalar subquery may aggregate: (SELECT max(...) ...)."
            raise refused(
                "a subquery in an expression over a stream's rows",
                expression_text(subquery),
                RULE_B,
                hint,
                subquery.position,
            )
    if len(stream.probes) > JOINS_MAX:
        raise refused(
            f"a view that joins a stream with more than {JOINS_MAX} tables", stream.probes[-1].name, None, None
        )
    for probe in stream.probes:
        _check_build(probe)


def check_sliding(stream: StreamPipeline) -> None:
    """Refuse a new view that compares the time of a row with now().

    now() is the time of the insert there, so no row would ever leave the view.
    """
    width = len(stream.input)
    for part in (part for expression in pipeline_expressions(stream) for part in walk(expression)):
        read = sorted(columns_of(part))
        if not (
            isinstance(part, Call) and read and uses_now(part) and _slides(part, [stream.row[index] for index in read])
        ):
            continue
        raise refused(
            "a condition on the rows of a stream that moves with now()",
            expression_text(part),
            "now() is the time of the insert below a grouping, so no row would leave the view when it gets too old.",
            _sliding_hint(stream, read[0]) if read[0] < width else _sliding_join_hint(stream),
            part.position,
        )


def _sliding_hint(stream: StreamPipeline, place: int) -> str:
    """Return the way to write a condition on the time in a column of the stream."""
    column = stream.input[place]
    name, source = identifier(column.name), identifier(stream.stream)
    step = f"date_trunc('minute', {name})" if column.type.family in TIMES_OF_DAY else name
    groups = f"SELECT {step} AS step, ..., count(*) AS n FROM {source} GROUP BY step, ..."
    return (
        f"Group by the time in steps, and compare above them, where now() is the time of the read: "
        f"SELECT ..., sum(n) FROM ({groups}) g WHERE step > now() - interval '1 hour' GROUP BY ..."
    )


def _sliding_join_hint(stream: StreamPipeline) -> str:
    """Return the way to write a condition on the time in a table that the stream is joined with."""
    groups = f"SELECT ..., count(*) AS n FROM {identifier(stream.stream)} GROUP BY ..."
    return (
        f"Group the stream by the columns that it is joined by, and join and compare above them, where now() is the time of the read: "
        f"SELECT ..., sum(n) FROM ({groups}) g JOIN ... WHERE ... GROUP BY ..."
    )


def _slides(part: Call, columns: Sequence[OutputColumn]) -> bool:
    """Tell whether a condition on now() is about a span of time: an order of times, or any part of
    a time.
    """
    if part.function in CONNECTIVES or part.type.family != "bool":
        return False
    return part.function in TURNED or any(column.type.family in TIMES for column in columns)


def check_heights(root: Relation) -> None:
    """Raise 54001 for expressions that are deeper than generated code and Spark's parser take."""
    for relation in all_relations(root):
        for item in children(relation):
            if height(item) > HEIGHT_MAX:
                hint = f"In a continuous view, at most {HEIGHT_MAX} operators stand in each other; parentheses can balance them."
                raise SqlError("54001", "stack depth limit exceeded", hint=hint)


def check_upper(upper: Relation) -> None:
    """Refuse what neither Spark nor the embedded engine evaluates once for all readers.

    The message names the function or operator.
    """
    check_heights(upper)
    if hand_over(substitute_now(upper, 0)) is None:
        _check_embedded(upper, "The part of the query lies above a second pipeline breaker.")


def refused_retroactive(tables: Sequence[str]) -> SqlError:
    """Return the 0A000 of a join with tables that can't be made above the groups of the stream."""
    hint = "Join the tables by inner joins or by outer joins of plain columns, or choose stream_join = frozen."
    part = "the join with " + ", ".join(identifier(name) for name in tables)
    return refused(
        "stream_join = retroactive for a join that can only be made with the stream's rows", part, None, hint
    )


def _check_subqueries(expression: Expression) -> None:
    for subquery in subqueries_of(expression):
        if scans(subquery.relation, "stream"):
            part = expression_text(subquery)
            hint = (
                "Compare by equality only, or join with the grouped stream: ... JOIN (SELECT ... GROUP BY ...) g ON ..."
            )
            raise refused("a stream inside a subquery expression", part, RULE_C, hint, subquery.position)


def _stream_inputs(relation: Relation) -> int:
    return sum(properties(part).contains_stream for part in inputs(relation))


def _has_below(relation: Relation, other: Relation) -> bool:
    return any(below is other for part in inputs(relation) for below in walk_relation(part))


def _refused_streams(relation: Relation) -> SqlError:
    """Return the refusal of an operator with a stream on both sides."""
    hint = "Group each of them in a subquery of its own: FROM (SELECT ... GROUP BY ...) a JOIN (SELECT ... GROUP BY ...) b."
    if isinstance(relation, Join):
        return refused("a join of streams in a continuous view", _join_text(relation), RULE_C, hint)
    hint = "Group each of them in a subquery of its own."
    return refused("a query over several streams in a continuous view", _node_text(relation), RULE_C, hint)


def _check_operator(operator: Relation, below: Relation) -> None:
    """Refuse an operator on the way from the root to the stream; `below` is its input on that
    way.
    """
    grouped = properties(below).grouped
    if not isinstance(operator, Join):
        return
    stream_left = operator.left is below
    if operator.lateral is not None and not (grouped and stream_left):
        raise refused(
            "LATERAL over a stream", _join_text(operator), RULE_B, "Group the stream first, on the left of it."
        )
    kinds = ("inner", "cross", "left" if stream_left else "right")
    if grouped or operator.kind in kinds:
        return
    hint = "Put the stream on the side whose rows are kept, or join above its grouping."
    raise refused(f"a {operator.kind.upper()} JOIN that keeps a table's rows", _join_text(operator), RULE_B, hint)


def _first_breaker(root: Relation) -> Relation | None:
    """Return the lowest operator above the stream that has to see all rows before it yields one."""
    for relation in reversed(stream_path(root)):
        if not isinstance(relation, Scan | Project | Filter | Join):
            return relation
    return None


def _check_build(probe: Probe) -> None:
    """Refuse a build side that can't be computed once, or with keys that no kernel compares."""
    if relation_uses_now(probe.build):
        hint = (
            "Group the stream first, by the columns that this part is compared with, and compare above them, where now() is the time of "
            "the read: SELECT ..., sum(n) FROM (SELECT ..., count(*) AS n FROM ... GROUP BY ...) g WHERE ... GROUP BY ..."
        )
        raise refused("now() in a part that is read once", f"the tables {probe.name}", RULE_B, hint)
    for place in sorted({place for _, place in probe.keys}):
        column = probe.build.schema[place]
        if not has_equality(column.type):
            hint = f"Cast it to a type that kernels compare, or leave column {identifier(column.name)} to the SELECT that reads the view."
            raise refused(f"a column of type {column.type.sql_name} in a join with a stream", column.name, None, hint)
    _check_embedded(probe.build, "The part of the query reads tables only, and is computed once.")


def _check_embedded(relation: Relation, detail: str) -> None:
    """Refuse what the embedded engine can't evaluate, and what is another value for each reader."""
    relation = substitute_now(relation, 0)
    try:
        for part in of_readers(relation):
            what = "a function of the catalog" if isinstance(part, TableFunction) else expression_text(part)
            position = None if isinstance(part, Case | TableFunction) else part.position
            raise not_supported(f"{what} in a part that is computed for all readers", position)
        emit_duckdb(relation, {scan.name: scan.name for scan in leaves(relation)})
    except SqlError as error:
        if error.sqlstate == "0A000" and error.detail is None:
            error.detail = detail
        raise


def _join_text(join: Join) -> str:
    lateral = "LATERAL " if join.lateral is not None else ""
    if join.condition is None:
        return f"CROSS JOIN {lateral}".strip()
    return f"{join.kind.upper()} JOIN {lateral}... ON {expression_text(join.condition)}"


def _node_text(relation: Relation) -> str:
    if isinstance(relation, SetOperation):
        return f"{relation.kind.upper()}{' ALL' if relation.all else ''}"
    return "WITH RECURSIVE" if isinstance(relation, Recursive) else type(relation).__name__
