"""EXPLAIN, and with ANALYZE the SELECT itself."""

from __future__ import annotations

from time import perf_counter

from engine.catalog.image import CatalogImage
from engine.execution.outcome import Outcome, text_outcome
from engine.execution.reading import scan_settings
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.statements.explain_analyze import facts_measured
from engine.statements.explaining import Given, Measured, explain, is_on
from engine.statements.select import read_query
from sql.bind.queries.query import bind_query
from sql.errors import not_supported
from sql.parse.statements.explain import Explain
from sql.parse.statements.select import Select
from sql.tree.relations import BoundQuery
from sql.types.datatypes import JSON, TEXT


@handles(Explain)
async def explain_statement(statement: Explain, work: Work) -> Outcome:
    """Tell how a statement is done. Raises the errors of the SELECT before those of options."""
    if statement.wrong is not None:
        if isinstance(statement.statement, Select):
            bind_query(
                statement.statement.query, work.image, work.settings.captured(), work.parameter_types, versions=True
            )
        raise statement.wrong
    facts = await measured(statement, work) if is_on(statement, "analyze") else None
    scanning, settings = scan_settings(work.settings, work.transaction), work.settings.captured()
    given = Given(work.identity, work.parameters, facts)
    lines = await work.threads.in_worker(explain, statement, work.server.engines, work.image, settings, scanning, given)
    kind = JSON if statement.options.get("format") == "json" else TEXT
    return text_outcome("EXPLAIN", ["QUERY PLAN"], [[line] for line in lines], kind)


async def measured(statement: Explain, work: Work) -> Measured:
    """Run the SELECT, and return its measurements."""
    select = statement.statement
    if not isinstance(select, Select):
        hint = "Create it; EXPLAIN ANALYZE of a SELECT from it runs its pipelines."
        raise not_supported("EXPLAIN ANALYZE CREATE VIEW", hint=hint)
    before = {view: view.upkeep.versions_count for view in work.image.chains}

    def bound_to(image: CatalogImage) -> BoundQuery:
        return bind_query(select.query, image, work.settings.captured(), work.parameter_types, versions=True)

    began_s = perf_counter()
    image, bound, reading = await read_query(select.text, bound_to, work)
    passed_s = perf_counter() - began_s
    facts = {}
    for name in sorted(bound.relations):
        entry = image.state(name)
        if entry is not None:
            known = before.get(entry.chain, 0)
            now_us, check = work.transaction.now_us, work.threads.check_cancelled
            facts[name] = await work.threads.in_worker(facts_measured, entry, image, known, now_us, check)
    rows = reading.outcome.table
    return Measured(0 if rows is None else rows.num_rows, passed_s, facts)
