"""No SELECT that bind takes reaches a kernel with something that kernels don't have: it is refused,
or done above the stream.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sql.bind import bind_query
from sql.errors import SqlError
from sql.parse.parse import parse
from sql.parse.statements.create_view import CreateView
from sql.tree.expressions import OuterColumn, Subquery
from sql.tree.walks import walk
from tests.sql.sample_catalog import SETTINGS, SampleCatalog
from views.model.definition import define_view
from views.model.steps import pipeline_expressions
from views.plan.planner import PlannedView, plan_view

STATEMENTS = Path(__file__).parents[2] / "sql" / "data" / "select.sql"
REFUSALS = frozenset({"0A000", "42701"})


def planned(query: str) -> PlannedView | None:
    """Return the plan of a continuous view, None for a query that is none."""
    catalog = SampleCatalog()
    catalog.relations["v"] = replace(catalog.relations["v"], kind="table")
    try:
        (statement,) = parse(f"create view w as {query}")
        assert isinstance(statement, CreateView)
        bound = bind_query(statement.query, catalog, SETTINGS)
    except SqlError:
        return None
    if "s" not in bound.relations:
        return None
    return plan_view(define_view(statement, 16_390, SETTINGS), bound)


def test_every_query_over_a_stream_is_refused_or_planned_without_subqueries_in_kernels() -> None:
    plans_count = refusals_count = 0
    for query in filter(None, STATEMENTS.read_text().splitlines()):
        try:
            found = planned(query)
        except SqlError as error:
            assert error.sqlstate in REFUSALS, query
            refusals_count += 1
            continue
        if found is None:
            continue
        plans_count += 1
        for expression in pipeline_expressions(found.plan.stream):
            assert not any(isinstance(node, Subquery | OuterColumn) for node in walk(expression)), query
        assert all(call.function != "grouping" for _, call in found.plan.stream.aggregates), query
    assert plans_count > 10
    assert refusals_count > 10
