"""A session's queries on the catalog: pg_catalog, information_schema, and questions of tools about
names and OIDs.

Enters: statements that `engine.system_catalog.routing` has found to be about the catalog. Leaves:
outcomes. The catalog is that of the session's transaction, also before it is committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine.catalog.roles import PUBLIC
from engine.execution.outcome import Outcome
from engine.scans.scans import streams_among
from engine.streams import statistics as stream_statistics
from engine.system_catalog.catalog_engine import CatalogEngine
from engine.system_catalog.catalog_parts import CatalogParts
from engine.system_catalog.queries.result_forms import result, schema_of, wire_type
from engine.system_catalog.rows.settings import setting_rows
from engine.system_catalog.session_context import SessionContext
from sql.parse.statements.select import Select
from sql.settings.settings import Settings
from sql.tree.relations import Schema
from sql.types.datatypes import SqlType

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage
    from engine.execution.work import Work


def session_context(
    engine: CatalogEngine, image: CatalogImage, settings: Settings, work: Work | None = None
) -> SessionContext:
    """Return the context of a query on the catalog in this session. On the event loop.

    work: given when the query is run.
    """
    names = None if work is None else work.names
    role = PUBLIC if work is None else work.identity.current(image.roles)
    live = {} if work is None else work.live_rows(image, role)

    def activity(relation: str) -> list[dict[str, Any]] | None:
        match relation:
            case "pg_settings":
                return setting_rows(settings.kept())
            case "pg_prepared_statements" if names is not None:
                return names.statement_rows()
            case "pg_cursors" if names is not None:
                return names.cursor_rows()
            case stream_statistics.NAME:
                streams = streams_among(frozenset(image.entries), image)
                return list(stream_statistics.stream_statistics(streams).to_pylist())
        return live.get(relation)

    def number(assign: bool) -> int | None:
        return None if work is None else work.server.transactions.number_of(work.transaction, assign)

    return SessionContext(
        engine.snapshot(image),
        settings.captured(),
        role,
        settings.show_all,
        activity,
        settings.set_config,
        number,
        0 if work is None else work.transaction.now_us,
        work is None,
    )


def describe(
    statement: Select,
    engine: CatalogEngine,
    image: CatalogImage,
    settings: Settings,
    declared: Sequence[SqlType | None],
) -> tuple[Schema, tuple[SqlType, ...]]:
    """Return the columns of a query on the catalog, and the types of its parameters."""
    context = session_context(engine, image, settings)
    printed, kinds = engine.describe(statement.query, context, type_names(declared))
    return schema_of(printed.columns), tuple(wire_type(kind) for kind in kinds)


def type_names(declared: Sequence[SqlType | None]) -> tuple[str | None, ...]:
    """Return declared types by their names."""
    return tuple(None if kind is None else kind.family for kind in declared)


def parts_of(engine: CatalogEngine, image: CatalogImage, settings: Settings, work: Work | None = None) -> CatalogParts:
    """Return the catalog that keeps the answered parts of a query that reads relations of users,
    too.

    On the event loop.
    """
    context = session_context(engine, image, settings, work)
    return CatalogParts(engine, context, work.client if work is not None else object(), image, {}, {})


async def read_catalog(statement: Select, work: Work, declared: Sequence[SqlType | None]) -> Outcome:
    """Do a SELECT on the catalog."""
    engine = work.server.system_catalog
    context = session_context(engine, work.image, work.settings, work)
    # Such a query never waits: it tells which sessions wait for which.
    printed, table = await work.threads.in_thread(
        engine.run, statement.query, context, type_names(declared), work.parameters, statement.text, work.client
    )
    schema, rows = result(printed.columns, table)
    return Outcome("SELECT #", schema, rows)
