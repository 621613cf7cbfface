"""The statements that read: SELECT, COPY TO, EXPLAIN.

Enters: statements with their transaction and parameters. Leaves: outcomes; a transaction remembers what it has read.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING

import pyarrow as pa

from engine.catalog.image import CatalogImage, ViewEntry
from engine.commit.transaction import Transaction
from engine.scans.rows import PassingRows, passes_rows
from engine.scans.scans import streams_among
from engine.sessions.catalog_reads import copy_catalog, explain_catalog, parts_of, read_catalog
from engine.sessions.copy_out import bind_copied, copied_catalog, copy_outcome, passing_outcome
from engine.sessions.explaining import Measured, explain, is_on
from engine.sessions.prepared import Prepared
from engine.statements.explain_analyze import facts_measured
from engine.statements.outcome import Outcome, text_outcome
from engine.statements.reading import Reading, keep, read, scan_settings, settled_query
from engine.streams.stream import Stream
from engine.system_catalog.catalog_parts import reads_others
from engine.system_catalog.routing import asks_catalog
from engine.tables.backend_functions import WAITING
from engine.tables.sequence_functions import uses_sequences
from ringbuffer.encode.output_forms import Forms
from sql.bind.origins import with_origins
from sql.bind.query import bind_query
from sql.errors import not_supported
from sql.parse.statements.copy import CopyTo
from sql.parse.statements.explain import Explain
from sql.parse.statements.select import Select
from sql.tree.expressions import Literal
from sql.tree.relations import BoundQuery, Relation, Schema
from sql.types.datatypes import JSON, TEXT, SqlType
from views.model.arrow_schema import arrow_schema
from views.upkeep.refresh import Reader

if TYPE_CHECKING:
    from engine.sessions.session import Session


NOTHING_GIVEN: Mapping[str, pa.Table] = MappingProxyType({})


def once(bind: Callable[[CatalogImage], BoundQuery]) -> Callable[[CatalogImage], BoundQuery]:
    """Return what binds one statement, for who asks for it several times: anew only to another image."""
    known: list[tuple[CatalogImage, BoundQuery]] = []

    def bound_to(image: CatalogImage) -> BoundQuery:
        if not known or known[-1][0] is not image:
            known.append((image, bind(image)))
        return known[-1][1]

    return bound_to


class ReadStatements:
    """Runs the reading statements of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._database = session.database

    async def select(
        self, statement: Select, transaction: Transaction, parameters: tuple[Literal, ...], prepared: Prepared | None
    ) -> Outcome:
        """Do SELECT or VALUES."""
        if await self._session.with_text(statement.text, asks_catalog, statement.text, statement.query):
            if prepared is not None:
                prepared.refresh(self._session.runner.image(), self._session.settings)
            declared = () if prepared is None else prepared.declared
            image, captured = self._session.runner.image(), self._session.settings.captured()
            if await self._session.with_text(statement.text, reads_others, statement.query, image, captured):
                return await self._beside_catalog(statement, transaction, parameters, declared)
            return await read_catalog(self._session, statement, parameters, declared)
        settings = self._session.settings

        @once
        def bound_to(image: CatalogImage) -> BoundQuery:
            if prepared is None:
                return bind_query(statement.query, image, settings.captured(), locks=True)
            prepared.refresh(image, settings)
            assert isinstance(prepared.bound, BoundQuery)
            return prepared.bound

        passing = await self._passing(statement.text, bound_to, transaction, parameters)
        if passing is not None:
            schema, more = passing
            return Outcome("SELECT #", schema, arrow_schema(schema).empty_table(), more=more)
        image, _, reading = await self._read(statement.text, bound_to, transaction, parameters)
        if not parameters and transaction.image is None:
            keep(self._database.answers, statement.text, image, reading, settings)
        return reading.outcome

    async def _beside_catalog(
        self,
        statement: Select,
        transaction: Transaction,
        parameters: tuple[Literal, ...],
        declared: Sequence[SqlType | None],
    ) -> Outcome:
        """Do a SELECT on the catalog and on relations of users: what it asks of the catalog first."""
        session = self._session
        parts = parts_of(self._database.system_catalog, session.runner.image(), session.settings, session)
        query = await session.in_worker(parts.without, statement.query)

        def bound_to(image: CatalogImage) -> BoundQuery:
            return bind_query(query, replace(parts, image=image), session.settings.captured(), declared)

        _, _, reading = await self._read(statement.text, bound_to, transaction, parameters, parts.rows)
        return reading.outcome

    async def _passing(
        self,
        text: str,
        bound_to: Callable[[CatalogImage], BoundQuery],
        transaction: Transaction,
        parameters: tuple[Literal, ...],
    ) -> tuple[Schema, Callable[[], Awaitable[pa.Table | None]]] | None:
        """Return the columns of a query whose rows go to the client while its stream is scanned, and what makes them; else None.

        Among the statements of one Query a row that fails has to undo those before it, so that none of their answers may be out.
        """
        session = self._session
        if session.runner.in_sequence:
            return None
        image = session.runner.image()
        settings = scan_settings(session.settings, transaction)

        def found() -> tuple[BoundQuery, Stream, Relation] | None:
            bound = bound_to(image)
            session.identity.require(image, bound)
            streams = streams_among(bound.relations, image)
            if len(streams) != 1 or len(bound.relations) != 1:
                return None
            root = settled_query(bound, parameters, transaction.now_us)
            passes = not uses_sequences(root) and passes_rows(root, streams[0], settings)
            return (bound, streams[0], root) if passes else None

        passing = await session.with_text(text, found)
        if passing is None:
            return None
        bound, stream, root = passing
        rows = PassingRows(self._database.tables, stream, root, settings, session.check_cancelled, session)

        async def more() -> pa.Table | None:
            return await session.in_thread(rows.next)

        return with_origins(bound, session.runner.image()), more

    async def copy_to(self, statement: CopyTo, transaction: Transaction) -> Outcome:
        """Do COPY ... TO."""
        session = self._session

        query = copied_catalog(statement, session.runner.image(), session.settings.captured())
        if query is not None:
            return await copy_catalog(session, statement, query)

        @once
        def bound_to(image: CatalogImage) -> BoundQuery:
            return bind_copied(statement, image, session.settings.captured())

        forms, encoding = Forms(*session.settings.shown), session.settings.encoding
        if statement.file is None:
            passing = await self._passing(statement.text, bound_to, transaction, ())
            if passing is not None:
                return passing_outcome(statement, *passing, forms, encoding)
        _, bound, reading = await self._read(statement.text, bound_to, transaction, ())
        table, directory = reading.outcome.table, self._database.config.copy_directory
        return await session.in_worker(
            copy_outcome, statement, bound.root.schema, table, forms, encoding, directory, session.in_thread
        )

    async def explain(self, statement: Explain, transaction: Transaction) -> Outcome:
        """Do EXPLAIN, and with ANALYZE the SELECT itself."""
        session, explained = self._session, statement.statement
        if isinstance(explained, Select) and asks_catalog(explained.text, explained.query):
            if reads_others(explained.query, session.runner.image(), session.settings.captured()):
                raise not_supported("EXPLAIN of a query on the catalog and on other relations")
            return await explain_catalog(session, statement, explained)
        measured = await self._measured(statement, transaction) if is_on(statement, "analyze") else None
        settings, scanning = session.settings.captured(), scan_settings(session.settings, transaction)
        lines = await session.in_worker(
            explain, statement, self._database, session.runner.image(), settings, scanning, session.identity, measured
        )
        kind = JSON if statement.options.get("format") == "json" else TEXT
        return text_outcome("EXPLAIN", ["QUERY PLAN"], [[line] for line in lines], kind)

    async def _measured(self, statement: Explain, transaction: Transaction) -> Measured:
        session, select = self._session, statement.statement
        if not isinstance(select, Select):
            hint = "Create it; EXPLAIN ANALYZE of a SELECT from it runs its pipelines."
            raise not_supported("EXPLAIN ANALYZE CREATE VIEW", hint=hint)
        before = {view: view.upkeep.versions_count for view in session.runner.image().continuous_views}

        def bound_to(image: CatalogImage) -> BoundQuery:
            return bind_query(select.query, image, session.settings.captured())

        began_s = perf_counter()
        image, bound, reading = await self._read(select.text, bound_to, transaction, ())
        passed_s = perf_counter() - began_s
        facts = {}
        for name in sorted(bound.relations):
            entry = image.entries.get(name)
            if isinstance(entry, ViewEntry):
                known = before.get(entry.view, 0)
                now_us, check = transaction.now_us, session.check_cancelled
                facts[name] = await session.in_worker(facts_measured, entry, image, known, now_us, check)
        rows = reading.outcome.table
        return Measured(0 if rows is None else rows.num_rows, passed_s, facts)

    def _looked_at(
        self, bound_to: Callable[[CatalogImage], BoundQuery], image: CatalogImage
    ) -> tuple[BoundQuery, bool]:
        """Return a query that the role may run, and whether it may wait as long as it likes."""
        bound = bound_to(image)
        self._session.identity.require(image, bound)
        waits = streams_among(bound.relations, image) or bound.locked or uses_sequences(bound.root, WAITING)
        return bound, bool(waits)

    async def _read(
        self,
        text: str,
        bound_to: Callable[[CatalogImage], BoundQuery],
        transaction: Transaction,
        parameters: tuple[Literal, ...],
        given: Mapping[str, pa.Table] = NOTHING_GIVEN,
    ) -> tuple[CatalogImage, BoundQuery, Reading]:
        """Bind and run a query; once more if the snapshot of the transaction's tables turns out to have another catalog.

        given: rows that are there already, by the names of their scans.
        """
        session = self._session
        while True:
            image = session.runner.image()
            bound, waits = await session.with_text(text, self._looked_at, bound_to, image)
            begins = transaction.tables is None
            run = session.in_thread if waits else session.in_worker
            scanning = scan_settings(session.settings, transaction)
            staleness_us = session.settings.view_staleness_ms * 1000
            reader = Reader(transaction.now_us, session.check_cancelled, session, staleness_us)
            reading = await run(read, self._database, transaction, image, bound, parameters, reader, scanning, given)
            if begins and not bound.relations and not transaction.is_durable:
                # It has read nothing: what comes after a wait for a lock is to see what those before have done.
                transaction.end_tables()
            if reading is not None:
                return image, bound, reading
