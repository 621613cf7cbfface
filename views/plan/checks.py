"""Which queries have no plan as a continuous view: every refusal names the rule, the part of the query, and what to write instead.

Enters: a bound tree. Leaves: nothing, or SqlError 0A000. Must not change the tree.
"""

from __future__ import annotations

from sql.emit_spark import emit_spark
from sql.errors import SqlError
from sql.expressions import AggregateCall
from sql.relations import Aggregate, Filter, Join, Limit, Project, Relation, Scan, Sort, Values, Window
from views.plan.properties import joins, properties, scans
from views.plan.text import aggregate_text, expression_text, identifier, key_text, window_text
from views.plan.trees import inputs, substitute_now

RULE_A = (
    "Rule (a): the first pipeline breaker above a stream must be a grouping, since that is what is kept of its tuples."
)
RULE_B = "Rule (b): a join with one stream puts the stream on the probe side of a table; tables do not exist yet."
RULE_C = "Rule (c): a join of streams needs both of them grouped below the join."
RULE_D = "Rule (d): ORDER BY with LIMIT must lie above the grouping."


def check_sources(root: Relation) -> None:
    """Refuse what does not read exactly one stream: no stream, views, tables, joins, several streams."""
    streams, views = scans(root, "stream"), scans(root, "view")
    if views:
        part = f"it reads view {identifier(views[0])}"
        hint = "Write the view's query over its stream, or read both views in one SELECT: all views of a SELECT are cut at one position."
        raise refused("a continuous view over another view", part, None, hint)
    if not streams:
        hint = "CREATE FOREIGN TABLE name (...) SERVER stream makes a stream; a view reads one and groups it."
        raise refused("a view that reads no stream", "its FROM clause names no stream", None, hint)
    for join in joins(root):
        raise _refused_join(join)
    assert len(streams) == 1, f"two streams without a join: {streams}"


def check_shape(root: Relation) -> None:
    """Refuse a tree whose stream does not end in a grouping that can be maintained."""
    stream = identifier(scans(root, "stream")[0])
    breaker = _first_breaker(root)
    if breaker is None:
        hint = f"Add GROUP BY or an aggregate, for example: SELECT count(*) FROM {stream}. SELECT DISTINCT is a grouping too."
        raise refused(
            "a continuous view without a grouping",
            f"no GROUP BY, aggregate or DISTINCT above stream {stream}",
            RULE_A,
            hint,
        )
    if isinstance(breaker, Window):
        part = window_text(breaker.calls[0][1])
        hint = f"Group first, then use the window function: SELECT ..., {part} FROM (SELECT ..., ... FROM {stream} GROUP BY ...) g."
        raise refused("a window function directly over a stream", part, RULE_A, hint)
    if isinstance(breaker, Sort):
        part = "ORDER BY " + ", ".join(key_text(key) for key in breaker.keys) + " LIMIT"
        hint = "Group below it, or read the view with ORDER BY and LIMIT."
        raise refused("ORDER BY with LIMIT directly over a stream", part, RULE_D, hint)
    if isinstance(breaker, Limit):
        bound = breaker.limit if breaker.limit is not None else breaker.offset
        part = "LIMIT" if bound is None else f"LIMIT {expression_text(bound)}"
        raise refused("LIMIT directly over a stream", part, RULE_D, "Group below it, or read the view with LIMIT.")
    assert isinstance(breaker, Aggregate), f"{type(breaker).__name__} over a stream"
    for _, call in breaker.aggregates:
        if call.distinct:
            raise _refused_distinct(breaker, call, stream)


def check_upper(upper: Relation) -> None:
    """Refuse what Spark can't evaluate as PostgreSQL does; the message names the function or the operator."""
    try:
        emit_spark(substitute_now(upper, 0), {name: name for name in scans(upper, "groups")})
    except SqlError as error:
        if error.sqlstate == "0A000" and error.detail is None:
            error.detail = "The part of the query lies above a second pipeline breaker, where Spark runs it."
        raise


def refused(what: str, part: str, rule: str | None, hint: str | None, position: int | None = None) -> SqlError:
    """Return the 0A000 of a query that has no plan: what it is, the part of the query, the rule, what to write instead."""
    place = f"The part of the query: {part}."
    detail = place if rule is None else f"{rule} {place}"
    return SqlError("0A000", f"{what} is not supported yet", detail=detail, hint=hint, position=position)


def _first_breaker(root: Relation) -> Relation | None:
    """Return the lowest operator above the stream that has to see all rows before it yields one."""
    breaker: Relation | None = None
    relation = root
    while not isinstance(relation, Scan | Values):
        if not isinstance(relation, Project | Filter):
            breaker = relation
        assert not isinstance(relation, Join), "joins are refused before"
        relation = inputs(relation)[0]
    return breaker


def _refused_join(join: Join) -> SqlError:
    condition = (
        "CROSS JOIN" if join.condition is None else f"{join.kind.upper()} JOIN ... ON {expression_text(join.condition)}"
    )
    if properties(join.left).contains_stream and properties(join.right).contains_stream:
        hint = "Make a view per stream, each with its GROUP BY, and join the views in the SELECT that reads them."
        return refused("a join of streams in a continuous view", condition, RULE_C, hint)
    hint = "Leave the join to the SELECT that reads the view."
    return refused("a join in a continuous view", condition, RULE_B, hint)


def _refused_distinct(grouping: Aggregate, call: AggregateCall, stream: str) -> SqlError:
    keys = "".join(f"{identifier(name)}, " for name, _ in grouping.keys)
    group_by = f" GROUP BY {keys.removesuffix(', ')}" if keys else ""
    value = expression_text(call.arguments[0]) if call.arguments else "..."
    distinct = f"SELECT DISTINCT {keys}{value} AS value FROM {stream}"
    hint = f"Group by the value first: SELECT {keys}{call.function}(value) FROM ({distinct}) d{group_by}."
    return refused("DISTINCT in an aggregate over a stream", aggregate_text(call), None, hint, call.position)
