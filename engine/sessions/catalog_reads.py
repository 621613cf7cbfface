"""A session's queries on the catalog: pg_catalog, information_schema, and what tools ask about names and OIDs.

Enters: statements that `engine.system_catalog.routing` has found to be about the catalog. Leaves: outcomes. The catalog is that of the
session's transaction, also before it is committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from engine import stream_statistics
from engine.roles import PUBLIC
from engine.sessions.activity import activity_rows
from engine.sessions.results import Outcome
from engine.stream_scans import streams_among
from engine.system_catalog.catalog_engine import CatalogEngine
from engine.system_catalog.result_forms import result, schema_of, wire_type
from engine.system_catalog.rows_settings import setting_rows
from engine.system_catalog.session_context import SessionContext
from sql.datatypes import SqlType
from sql.expressions import Literal
from sql.relations import Schema
from sql.settings import Settings
from sql.statements.statement import Select

if TYPE_CHECKING:
    from engine.catalog import CatalogImage
    from engine.sessions.names import Names
    from engine.sessions.session import Session


def session_context(
    engine: CatalogEngine,
    image: CatalogImage,
    settings: Settings,
    names: Names | None = None,
    role: int = PUBLIC,
    sessions: Sequence[dict[str, Any]] = (),
) -> SessionContext:
    """Return what a query on the catalog sees in this session.

    names: of its statements and cursors, role: what it acts as, sessions: rows of pg_stat_activity, when the query is run.
    """

    def activity(relation: str) -> list[dict[str, Any]] | None:
        match relation:
            case "pg_settings":
                return setting_rows(settings.kept())
            case "pg_stat_activity":
                return list(sessions)
            case "pg_prepared_statements" if names is not None:
                return names.statement_rows()
            case "pg_cursors" if names is not None:
                return names.cursor_rows()
            case stream_statistics.NAME:
                streams = streams_among(frozenset(image.entries), image)
                return list(stream_statistics.stream_statistics(streams).to_pylist())
        return None

    return SessionContext(engine.snapshot(image), settings.captured(), role, settings.show_all, activity)


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


async def read_catalog(
    session: Session, statement: Select, parameters: tuple[Literal, ...], declared: Sequence[SqlType | None]
) -> Outcome:
    """Do a SELECT on the catalog."""
    engine = session.database.system_catalog
    image = session.runner.image()
    role = session.identity.current(image.roles)
    sessions = activity_rows(session.connection.neighbours(), image)
    context = session_context(engine, image, session.settings, session.names, role, sessions)
    printed, table = await session.in_worker(
        engine.run, statement.query, context, type_names(declared), parameters, statement.text, session
    )
    schema, rows = result(printed.columns, table)
    return Outcome("SELECT #", schema, rows)
