"""EXPLAIN: the pipelines of a continuous view, or how a SELECT over views is answered. Runs nothing and changes nothing.

Enters: a parsed EXPLAIN and the catalog. Leaves: lines of text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.catalog import CatalogImage, StreamEntry, ViewEntry
from sql.bind.query import bind_query
from sql.catalog import SessionSettings
from sql.errors import not_supported
from sql.statements.statement import CreateView, Explain
from views.definition import ViewDefinition, define_view
from views.plan.explain import explain_plan, explain_select
from views.plan.planner import plan_view

if TYPE_CHECKING:
    from engine.database import Database


def explain(statement: Explain, database: Database, image: CatalogImage, settings: SessionSettings) -> list[str]:
    """Return the plan of a SELECT or a CREATE VIEW, one string per line. Raises what the statement itself would raise."""
    for name, value in statement.options.items():
        if name == "analyze" and value not in ("off", "false", "0"):
            raise not_supported("EXPLAIN ANALYZE")
        if name == "format" and value != "text":
            raise not_supported(f"EXPLAIN (FORMAT {value.upper()})")
    explained = statement.statement
    bound = bind_query(explained.query, image, settings)
    reads_stream = any(isinstance(image.entries.get(name), StreamEntry) for name in bound.relations)
    if isinstance(explained, CreateView):
        definition = define_view(explained, image.next_oid, settings)
        return explain_plan(plan_view(definition, bound), definition, database.kernels_dir, database.upper)
    if reads_stream:
        # What a view of this query would be; SELECT itself can't read a stream yet.
        definition = ViewDefinition("query", image.next_oid, explained.text, explained.text, 0, (), settings)
        return explain_plan(plan_view(definition, bound), definition, database.kernels_dir, database.upper)
    views = [entry.view for name in sorted(bound.relations) if isinstance(entry := image.entries.get(name), ViewEntry)]
    return explain_select(bound, views, database.tables)
