"""A session's queries on the catalog: pg_catalog, information_schema, and what tools ask about names and OIDs.

Enters: statements that `engine.system_catalog.routing` has found to be about the catalog. Leaves: outcomes. The catalog is that of the
session's transaction, also before it is committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine.catalog.roles import PUBLIC
from engine.scans.scans import streams_among
from engine.sessions.activity import activity_rows, lock_rows
from engine.sessions.copy_out import copy_outcome
from engine.sessions.explaining import Measured, in_form, is_on
from engine.statements.outcome import Outcome, text_outcome
from engine.streams import statistics as stream_statistics
from engine.system_catalog.catalog_engine import CatalogEngine
from engine.system_catalog.catalog_parts import CatalogParts
from engine.system_catalog.queries.result_forms import result, schema_of, wire_type
from engine.system_catalog.rows.settings import setting_rows
from engine.system_catalog.session_context import SessionContext
from engine.system_catalog.time_zones import moment
from ringbuffer.encode.output_forms import Forms
from sql.parse.statements.copy import CopyTo
from sql.parse.statements.explain import Explain
from sql.parse.statements.select import Select
from sql.parse.syntax import Query
from sql.settings.settings import Settings
from sql.tree.expressions import Literal
from sql.tree.relations import Schema
from sql.types.datatypes import JSON, TEXT, SqlType
from views.explain.drawing import Shown

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage
    from engine.sessions.session import Session


def session_context(
    engine: CatalogEngine, image: CatalogImage, settings: Settings, session: Session | None = None
) -> SessionContext:
    """Return what a query on the catalog sees in this session; session: when the query is run. On the event loop."""
    names = None if session is None else session.names
    role = PUBLIC if session is None else session.identity.current(image.roles)
    live = {} if session is None else live_rows(session, image, role)

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

    transaction = None if session is None else session.block.current()

    def number(assign: bool) -> int | None:
        return None if session is None or transaction is None else session.database.number_of(transaction, assign)

    return SessionContext(
        engine.snapshot(image),
        settings.captured(),
        role,
        settings.show_all,
        activity,
        settings.set_config,
        number,
        0 if transaction is None else transaction.now_us,
        session is None,
    )


def live_rows(session: Session, image: CatalogImage, role: int) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of what is only true at this moment. On the event loop."""
    neighbours = session.connection.neighbours.connections()
    listening = session.database.notifications.channels_of(session.inbox)
    return {
        "pg_stat_activity": activity_rows(neighbours, image, role),
        "pg_locks": lock_rows(neighbours),
        "server": [{"started": moment(session.database.started_us)}],
        "pg_listening_channels": [{"channel": name} for name in listening],
    }


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


def parts_of(
    engine: CatalogEngine, image: CatalogImage, settings: Settings, session: Session | None = None
) -> CatalogParts:
    """Return what keeps the answered parts of a query that reads relations of users, too. On the event loop."""
    context = session_context(engine, image, settings, session)
    return CatalogParts(engine, context, session if session is not None else object(), image, {}, {})


async def copy_catalog(session: Session, statement: CopyTo, query: Query) -> Outcome:
    """Do COPY ... TO of a query on the catalog."""
    outcome = await read_catalog(session, Select(statement.text, query), (), ())
    directory = session.database.config.copy_directory
    forms = Forms(*session.settings.shown)
    encoding = session.settings.encoding
    schema, table = outcome.schema, outcome.table
    return await session.in_worker(
        copy_outcome, statement, schema, table, forms, encoding, directory, session.in_thread
    )


async def explain_catalog(session: Session, statement: Explain, select: Select) -> Outcome:
    """Do EXPLAIN of a query on the catalog: what it reads, and the embedded engine's text; with ANALYZE rows and time, too."""
    engine, image = session.database.system_catalog, session.runner.image()
    context = session_context(engine, image, session.settings, session)
    measured: Measured | None = None
    if is_on(statement, "analyze"):
        began_s = session.database.clock.monotonic_s()
        outcome = await read_catalog(session, select, (), ())
        passed_s = session.database.clock.monotonic_s() - began_s
        measured = Measured(0 if outcome.table is None else outcome.table.num_rows, passed_s, {})
    sql, used = await session.in_worker(engine.explain, select.query, context)
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


async def read_catalog(
    session: Session, statement: Select, parameters: tuple[Literal, ...], declared: Sequence[SqlType | None]
) -> Outcome:
    """Do a SELECT on the catalog."""
    engine = session.database.system_catalog
    image = session.runner.image()
    context = session_context(engine, image, session.settings, session)
    # Never kept waiting: it tells who waits for whom.
    printed, table = await session.in_thread(
        engine.run, statement.query, context, type_names(declared), parameters, statement.text, session
    )
    schema, rows = result(printed.columns, table)
    return Outcome("SELECT #", schema, rows)
