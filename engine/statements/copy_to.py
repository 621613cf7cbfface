"""COPY ... TO the client or a file of the server."""

from __future__ import annotations

from engine.catalog.image import CatalogImage
from engine.execution.outcome import Outcome
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.statements.copy_out import bind_copied, copy_outcome, passing_outcome
from engine.statements.select import once, passing_rows, read_query
from engine.statements.subscribe import subscribed
from ringbuffer.encode.output_forms import Forms
from sql.parse.statements.copy import CopyTo
from sql.tree.relations import BoundQuery


@handles(CopyTo)
async def copy_to(statement: CopyTo, work: Work) -> Outcome:
    """Copy the rows of a relation or a query."""
    forms, encoding = Forms(*work.settings.shown), work.settings.encoding

    @once
    def bound_to(image: CatalogImage) -> BoundQuery:
        return bind_copied(statement, image, work.settings.captured())

    if statement.subscribe is not None:
        outcome = await subscribed(statement.subscribe, work)
        assert outcome.schema is not None and outcome.more is not None, "it goes on"
        return passing_outcome(statement, outcome.schema, outcome.more, forms, encoding)
    if statement.file is None:
        passing = await passing_rows(statement.text, bound_to, work)
        if passing is not None:
            return passing_outcome(statement, *passing, forms, encoding)
    _, _, reading = await read_query(statement.text, bound_to, work)
    schema, table = reading.outcome.schema, reading.outcome.table
    assert schema is not None and table is not None, "a query has rows"
    directory, threads = work.server.config.copy_directory, work.threads
    return await threads.in_worker(
        copy_outcome, statement, schema, table, forms, encoding, directory, threads.in_thread
    )
