"""The system catalog as a session's statement sees it: the catalog of its transaction, also before
that is committed, and what is only true at this moment.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from engine.scans.scans import streams_among
from engine.storage.data_folder import folder_bytes
from engine.streams import statistics as stream_statistics
from engine.system_catalog.rows.settings import setting_rows
from engine.system_catalog.session_context import SessionContext
from engine.system_catalog.snapshot import snapshot_of

if TYPE_CHECKING:
    from engine.catalog.image import CatalogImage
    from engine.execution.work import Work

Rows = list[dict[str, Any]]
# The relation -> the function that returns its rows for a statement, from any thread.
SHOWN: dict[str, Callable[[Work], Rows]] = {}


def shows(relation: str) -> Callable[[Callable[[Work], Rows]], Callable[[Work], Rows]]:
    """Register the function that returns the rows of a relation, or of a function of its name."""

    def register(rows: Callable[[Work], Rows]) -> Callable[[Work], Rows]:
        assert relation not in SHOWN, relation
        SHOWN[relation] = rows
        return rows

    return register


def session_context(work: Work, image: CatalogImage) -> SessionContext:
    """Return the context of a statement. From any thread."""
    role = work.identity.current(image.roles)
    settings, names, threads = work.settings, work.names, work.threads
    live: list[Any] = []

    def activity(relation: str) -> Rows | None:
        if relation in SHOWN:
            return SHOWN[relation](work)
        match relation:
            case "pg_settings":
                return setting_rows(settings.kept())
            case "pg_prepared_statements":
                return names.statement_rows()
            case "pg_cursors":
                return names.cursor_rows()
            case stream_statistics.NAME:
                streams = streams_among(frozenset(image.entries), image)
                return list(stream_statistics.stream_statistics(streams).to_pylist())
        if not live:
            live.append(threads.on_loop(work.live_rows, image, role))
        rows: Rows | None = live[0].get(relation)
        return rows

    def number(assign: bool) -> int | None:
        return threads.on_loop(work.server.transactions.number_of, work.transaction, assign)

    tables, folder = work.server.engines.committed_tables, partial(folder_bytes, work.server.config.data_dir)
    sizes = tables.bytes_of, tables.index_bytes_of, folder
    snapshot, now_us = snapshot_of(image), work.transaction.now_us
    return SessionContext(snapshot, settings.captured(), role, settings.show_all, activity, number, now_us, *sizes)


def context_of(work: Work, image: CatalogImage) -> Any:
    """Return the function that returns the statement's context, which is made when it is first
    asked for.
    """
    made: list[SessionContext] = []

    def context() -> SessionContext:
        if not made:
            made.append(session_context(work, image))
        return made[0]

    return context
