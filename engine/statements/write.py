"""INSERT, UPDATE and DELETE.

Enters: statements, and the work. Leaves: outcomes; the effects are in the transaction's part on
tables, or staged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa

from engine.catalog.image import CatalogImage, Entry, StreamEntry, TableEntry
from engine.catalog.joined_tables import refuse_joined
from engine.commit.staging import StatementStage
from engine.execution.outcome import Outcome
from engine.execution.reading import read_locked, views_among
from engine.execution.registry import handles
from engine.execution.work import Work
from engine.ingest.insert import InsertTarget, evaluate_rows, make_target
from engine.statements.literal_insert import LiteralInsert, bind_literal_insert, with_rows
from engine.statements.table_writes import BoundWrite, TableWriter, queries_of, settled, told, with_queries
from engine.streams.stream import seen
from engine.system_catalog.told_forms import told as with_names
from engine.tables.sequence_functions import ANSWERED, uses_sequences
from ringbuffer.memory.arrow import morsel_from_arrow
from sql.bind.substitute import substitute_parameters
from sql.bind.writes.delete import BoundDelete, bind_delete
from sql.bind.writes.insert import BoundInsert, bind_insert
from sql.bind.writes.update import BoundUpdate, bind_update
from sql.bind.writes.write_target import columns_schema
from sql.catalog.catalog import SessionSettings
from sql.catalog.schemas import found_key
from sql.errors import SqlError
from sql.parse.statements.delete import Delete
from sql.parse.statements.insert import Insert
from sql.parse.statements.update import Update
from sql.tree.relations import Values
from views.model.arrow_schema import arrow_schema

MORSEL_ROWS = 65_536
Write = Insert | LiteralInsert | Update | Delete
BINDING: dict[type[Write], Callable[[Any, CatalogImage, SessionSettings], BoundWrite]] = {
    Insert: bind_insert,
    LiteralInsert: bind_literal_insert,
    Update: bind_update,
    Delete: bind_delete,
}


def target_of(statement: Insert, image: CatalogImage, settings: SessionSettings) -> Entry | None:
    """Return the relation that an INSERT goes into, if it exists."""
    return image.entries.get(found_key(statement.name, settings, image.entries.get))


@handles(Insert)
async def insert(statement: Insert, work: Work) -> Outcome:
    """Insert the rows of a list or of a query."""
    image = work.image
    entry = target_of(statement, image, work.settings.captured())
    if statement.query is not None or statement.returning or not isinstance(entry, StreamEntry):
        return await write(statement, work)
    bound = await work.threads.with_text(statement.text, bound_write, statement, image, work)
    assert isinstance(bound, BoundInsert)
    work.identity.require(image, bound)
    if bound.relations or uses_sequences(bound.source, ANSWERED):
        return await write(statement, work)
    root = substitute_parameters(bound.source, work.parameters) if work.parameters else bound.source
    assert isinstance(root, Values)
    now_us, target = work.transaction.now_us, insert_target(entry, bound, work)
    tables, zone = work.server.engines.tables, work.settings.time_zone
    rows = await work.threads.in_worker(evaluate_rows, tables, target, root, now_us, zone, work.client)
    stage = work.server.transactions.stage(entry, image, now_us)
    await work.threads.in_worker(stage.add, rows)
    work.transaction.operations.append(stage)
    return Outcome(f"INSERT 0 {rows.rows_count}")


@handles(LiteralInsert, Update, Delete)
async def write(statement: Write, work: Work) -> Outcome:
    """Write the rows of a query."""
    image = work.image
    bound = await work.threads.with_text(statement.text, bound_write, statement, image, work)
    # The statement may wait: for room in a stream, or for sessions that have locks.
    return await work.threads.in_thread(write_bound, statement, image, bound, work)


def bound_write(statement: Write, image: CatalogImage, work: Work) -> BoundWrite:
    """Return a statement bound to an image."""
    if work.prepared is not None:
        work.prepared.refresh(image, work.settings)
        bound = work.prepared.bound
        assert isinstance(bound, BoundInsert | BoundUpdate | BoundDelete)
        if isinstance(statement, LiteralInsert):
            assert isinstance(bound, BoundInsert)
            return with_rows(statement, bound, image)
        return bound
    return BINDING[type(statement)](statement, image, work.settings.captured())


def write_bound(statement: Write, image: CatalogImage, bound: BoundWrite, work: Work) -> Outcome:
    """Read the rows of a statement, and write them.

    image: the image to which the statement is bound.
    """
    transaction, now_us = work.transaction, work.transaction.now_us
    tables = work.server.transactions.begin_tables(transaction, views_among(bound.relations, image))
    # The snapshot of the rows has a catalog of its own.
    if work.image is not image:
        image = work.image
        bound = bound_write(statement, image, work)
    work.identity.require(image, bound)
    entry = image.entries[bound.relation.name]
    if isinstance(entry, StreamEntry) and bound.relation.name in bound.relations:
        raise SqlError(
            "0A000",
            f'cannot insert into stream "{bound.relation.name}" from a query that reads it',
            hint="Keep the query's rows with CREATE TABLE AS, and insert from the table.",
        )
    bound = settled(bound, work.parameters, now_us)
    reader = work.reader(image)
    versions = reader.version_rows(bound.versions, bound.relations, work.parameters)
    roots, inputs = reader.scan_inputs(bound.relations, queries_of(bound))
    inputs |= versions
    work.threads.check_cancelled()
    if isinstance(statement, LiteralInsert):
        inputs |= statement.inputs
    bound = with_queries(bound, roots)
    inputs |= read_locked(tables, bound.locked, inputs, read_only=False)
    if isinstance(entry, StreamEntry):
        assert isinstance(bound, BoundInsert), bound
        stage, rows = staged(entry, bound, tables.query(bound.source, inputs), image, work)
        try:
            outcome = told(f"INSERT 0 {stage.rows_count}", bound.returning, bound.relation, rows, tables, inputs)
        except BaseException:
            stage.close()
            raise
        transaction.operations.append(stage)
        return outcome
    assert isinstance(entry, TableEntry), entry
    refuse_joined(entry.description.name, image.entries.values())
    tables.announce(entry)
    outcome = TableWriter(tables, entry, inputs, now_us, work.settings.time_zone).run(bound)
    if outcome.table is None or bound.returning is None:
        return outcome
    return replace(outcome, table=with_names(outcome.table, bound.returning.schema, work.sequences.context))


def staged(
    entry: StreamEntry, bound: BoundInsert, rows: pa.Table, image: CatalogImage, work: Work
) -> tuple[StatementStage, pa.Table]:
    """Return a query's rows on their way into a stream, staged morsel by morsel, and for RETURNING
    these rows with all columns that are seen.
    """
    written = [arrow_schema(columns_schema(bound.relation)).empty_table()]
    now_us, zone = work.transaction.now_us, work.settings.time_zone
    target = insert_target(entry, bound, work)
    stage = work.server.transactions.stage(entry, image, now_us)
    try:
        for start in range(0, rows.num_rows, MORSEL_ROWS):
            work.threads.check_cancelled()
            piece = morsel_from_arrow(rows.slice(start, min(MORSEL_ROWS, rows.num_rows - start)), target.layout)
            made = target.rows(piece, now_us, zone)
            if bound.returning is not None:
                written.append(seen(entry.stream, made))
            stage.add(made)
    except BaseException:
        stage.close()
        raise
    return stage, pa.concat_tables(written)


def insert_target(entry: StreamEntry, bound: BoundInsert, work: Work) -> InsertTarget:
    """Return the target that makes whole rows of a stream of the inserted ones."""
    names = [(entry.stream.row[index].name, 0) for index in bound.targets]
    return make_target(entry, names, work.server.engines.tables, work.transaction.now_us, work.settings.time_zone)
