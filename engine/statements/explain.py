"""EXPLAIN, and with ANALYZE the SELECT itself."""

from __future__ import annotations

from time import perf_counter

from engine.catalog.image import CatalogImage
from engine.execution.catalog_reads import read_catalog, session_context
from engine.execution.outcome import Outcome, text_outcome
from engine.execution.reading import scan_settings
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.statements.explain_analyze import facts_measured
from engine.statements.explaining import Measured, explain, in_form, is_on
from engine.statements.select import read_query
from engine.system_catalog.catalog_parts import reads_others
from engine.system_catalog.routing import asks_catalog
from sql.bind.queries.query import bind_query
from sql.errors import not_supported
from sql.parse.statements.explain import Explain
from sql.parse.statements.select import Select
from sql.tree.relations import BoundQuery
from sql.types.datatypes import JSON, TEXT
from views.explain.drawing import Shown


@handles(Explain)
async def explain_statement(statement: Explain, work: Work) -> Outcome:
    """Tell how a statement is done."""
    explained, captured = statement.statement, work.settings.captured()
    if isinstance(explained, Select) and await work.threads.with_text(
        explained.text, asks_catalog, explained.text, explained.query
    ):
        if reads_others(explained.query, work.image, captured):
            raise not_supported("EXPLAIN of a query on the catalog and on other relations")
        return await explain_catalog(statement, explained, work)
    facts = await measured(statement, work) if is_on(statement, "analyze") else None
    scanning = scan_settings(work.settings, work.transaction)
    lines = await work.threads.in_worker(
        explain, statement, work.server.engines, work.image, work.settings.captured(), scanning, work.identity, facts
    )
    kind = JSON if statement.options.get("format") == "json" else TEXT
    return text_outcome("EXPLAIN", ["QUERY PLAN"], [[line] for line in lines], kind)


async def measured(statement: Explain, work: Work) -> Measured:
    """Run the SELECT, and return its measurements."""
    select = statement.statement
    if not isinstance(select, Select):
        hint = "Create it; EXPLAIN ANALYZE of a SELECT from it runs its pipelines."
        raise not_supported("EXPLAIN ANALYZE CREATE VIEW", hint=hint)
    before = {view: view.upkeep.versions_count for view in work.image.continuous_views}

    def bound_to(image: CatalogImage) -> BoundQuery:
        return bind_query(select.query, image, work.settings.captured())

    began_s = perf_counter()
    image, bound, reading = await read_query(select.text, bound_to, work)
    passed_s = perf_counter() - began_s
    facts = {}
    for name in sorted(bound.relations):
        entry = image.state(name)
        if entry is not None:
            known = before.get(entry.view, 0)
            now_us, check = work.transaction.now_us, work.threads.check_cancelled
            facts[name] = await work.threads.in_worker(facts_measured, entry, image, known, now_us, check)
    rows = reading.outcome.table
    return Measured(0 if rows is None else rows.num_rows, passed_s, facts)


async def explain_catalog(statement: Explain, select: Select, work: Work) -> Outcome:
    """Do EXPLAIN of a query on the catalog: its relations, and the embedded engine's text.

    With ANALYZE rows and time, too.
    """
    engine, clock = work.server.system_catalog, work.server.clock
    context = session_context(engine, work.image, work.settings, work)
    measured: Measured | None = None
    if is_on(statement, "analyze"):
        began_s = clock.monotonic_s()
        outcome = await read_catalog(select, work, ())
        passed_s = clock.monotonic_s() - began_s
        measured = Measured(0 if outcome.table is None else outcome.table.num_rows, passed_s, {})
    sql, used = await work.threads.in_worker(engine.explain, select.query, context)
    form = statement.options.get("format", "text")
    if form != "text":
        reads = [f"Scan {name}" for name in used]
        facts: dict[str, object] = {"DuckDB SQL": sql} if measured is None else {"DuckDB SQL": sql, **measured.counted}
        if len(used) == 1:
            facts["Relation Name"] = used[0].rpartition(".")[2]
        lines = in_form(form, Shown("query", "Query", "on each read", "DuckDB", reads, facts, ()), measured)
    else:
        lines = [
            "Query on the catalog, in an embedded engine of its own (DuckDB)",
            *(f"  Scan {name}" for name in used),
        ]
        lines += ["  DuckDB SQL:", f"    {sql}"]
        lines += [] if measured is None else [f"{name}: {value}" for name, value in measured.summary.items()]
    return text_outcome("EXPLAIN", ["QUERY PLAN"], [[line] for line in lines], JSON if form == "json" else TEXT)
