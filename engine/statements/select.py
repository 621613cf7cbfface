"""SELECT and VALUES, and the steps of all statements that read a query: bind, check, scan or read,
keep.

Enters: statements, and the work. Leaves: outcomes; a transaction remembers what it has read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pyarrow as pa

from engine.catalog.image import CatalogImage
from engine.execution.outcome import Outcome
from engine.execution.reading import Reading, keep, scan_settings, settled_query
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.scans.point_reads import point_read
from engine.scans.rows import PassingRows, passes_rows
from engine.scans.scans import ScanSettings, streams_among
from engine.statements.alter_view import call_view_change, called_alone
from engine.streams.stream import Stream
from engine.tables.sequence_functions import ANSWERED
from sql.bind.queries.query import bind_query
from sql.catalog.schemas import SYSTEM_SCHEMAS
from sql.functions.session import VIEW_CHANGES
from sql.functions.table import WAITING
from sql.names.relation_keys import schema_of
from sql.parse.parse import parse
from sql.parse.statements.select import Select
from sql.tree.relations import BoundQuery, Relation, Schema
from sql.types.datatypes import is_of_catalog
from views.model.arrow_schema import arrow_schema

# Binds one query to an image, once for each image.
BindTo = Callable[[CatalogImage], BoundQuery]


def once(bind: BindTo) -> BindTo:
    """Return the function that binds one statement, and that may be called several times: it binds
    anew only to another image.
    """
    known: list[tuple[CatalogImage, BoundQuery]] = []

    def bound_to(image: CatalogImage) -> BoundQuery:
        if not known or known[-1][0] is not image:
            known.append((image, bind(image)))
        return known[-1][1]

    return bound_to


@handles(Select)
async def select_or_change(statement: Select, work: Work) -> Outcome:
    """Do SELECT or VALUES, or change a view where the SELECT calls a function that does."""
    return await (call_view_change if called_alone(statement) in VIEW_CHANGES else select)(statement, work)


async def select(statement: Select, work: Work) -> Outcome:
    """Read."""
    text, prepared = statement.text, work.prepared

    @once
    def bound_to(image: CatalogImage) -> BoundQuery:
        settings, query = work.settings, statement.query
        if (
            prepared is not None
            and prepared.is_of_text
            and prepared.was_bound
            and not prepared.is_bound_to(image, settings)
        ):
            # The values of its parameters were read for the catalog before.
            (own,) = (one for one in parse(settings.checked_text(text)) if isinstance(one, Select))
            query = own.query
        elif prepared is not None:
            prepared.refresh(image, settings)
            assert isinstance(prepared.bound, BoundQuery)
            return prepared.bound
        return bind_query(query, image, settings.captured(), locks=True, versions=True)

    found = await found_by_key(text, bound_to, work)
    if found is not None:
        return found
    passing = await passing_rows(text, bound_to, work)
    if passing is not None:
        schema, more = passing
        return Outcome("SELECT #", schema, arrow_schema(schema).empty_table(), more=more)
    image, _, reading = await read_query(text, bound_to, work)
    is_own_text = not work.parameters or (prepared is not None and prepared.is_of_text)
    if is_own_text and work.transaction.image is None:
        keep(work.server.engines.answers, text, image, reading, work.settings)
    return reading.outcome


async def found_by_key(text: str, bound_to: BindTo, work: Work) -> Outcome | None:
    """Return the rows of a continuous view, or a table, that a query names by their keys, None for
    other queries.

    A transaction that has read or written something sees what the general way shows.
    """
    if not work.transaction.is_fresh or work.in_sequence:
        return None
    image, points, threads = work.image, work.server.engines.points, work.threads
    bound = await threads.with_text(text, bound_to, image)
    read = point_read(bound, image)
    if read is None:
        return None
    work.identity.require(image, bound)
    given = read, work.parameters, work.transaction.now_us, threads.check_cancelled
    rows = await threads.in_worker(points.rows, *given)
    return None if rows is None else Outcome("SELECT #", bound.told, rows)


async def passing_rows(
    text: str, bound_to: BindTo, work: Work
) -> tuple[Schema, Callable[[], Awaitable[pa.Table | None]]] | None:
    """Return the columns of a query whose rows go to the client while its stream is scanned, and
    the function that makes the rows.

    None is returned for other queries. Among the statements of one Query a row that fails has to
    undo those before it, so that none of their answers may be out.
    """
    if work.in_sequence:
        return None
    image, threads = work.image, work.threads

    def found() -> tuple[BoundQuery, Stream, ScanSettings, Relation] | None:
        bound = bound_to(image)
        work.identity.require(image, bound)
        streams = streams_among(bound.relations, image)
        if len(streams) != 1 or len(bound.relations) != 1 or any(is_of_catalog(one.type) for one in bound.root.schema):
            return None
        root = settled_query(bound, work.parameters, work.transaction.now_us)
        settings = scan_settings(work.settings, work.transaction)
        passes = bound.calls.isdisjoint(ANSWERED) and passes_rows(root, streams[0], settings)
        return (bound, streams[0], settings, root) if passes else None

    passing = await threads.with_text(text, found)
    if passing is None:
        return None
    bound, stream, settings, root = passing
    rows = PassingRows(work.server.engines.tables, stream, root, settings, threads.check_cancelled, work.client)

    async def more() -> pa.Table | None:
        return await threads.in_thread(rows.next)

    return bound.told, more


async def read_query(text: str, bound_to: BindTo, work: Work) -> tuple[CatalogImage, BoundQuery, Reading]:
    """Bind and run a query.

    Once more if the snapshot of the transaction's tables turns out to have another catalog.
    """
    threads, transaction, settings = work.threads, work.transaction, work.settings
    while True:
        image = work.image
        bound, waits = await threads.with_text(text, looked_at, bound_to, image, work)
        begins = transaction.tables is None
        run = threads.in_thread if waits else threads.in_worker
        reader = work.reader(image, settings.view_staleness_ms * 1000)
        reading = await run(reader.read, bound, work.parameters)
        if begins and image.entries.keys().isdisjoint(bound.relations) and not transaction.is_durable:
            # The transaction has read nothing: a read after a wait for a lock is to see what the
            # transactions before have done.
            transaction.end_tables()
        if reading is not None:
            return image, bound, reading


def looked_at(bound_to: BindTo, image: CatalogImage, work: Work) -> tuple[BoundQuery, bool]:
    """Return a query that the role may run, and whether it may wait as long as it likes."""
    bound = bound_to(image)
    work.identity.require(image, bound)
    # A query on the catalog never waits for its turn: it tells which sessions wait for which.
    asks_catalog = any(schema_of(name) in SYSTEM_SCHEMAS for name in bound.relations)
    waits = asks_catalog or streams_among(bound.relations, image) or bound.locked or not WAITING.isdisjoint(bound.calls)
    return bound, bool(waits)
